//! The HTML of an email: one column that reads on telephones, styles inline because mail programs
//! drop others, nothing loaded from anywhere, and every word also in the plain text.

use std::fmt::Write as _;

use super::super::fit::{List, Unit, escaped, html};
use super::super::story::{LINK_WORDS, SENDER, Story, shown_time};

/// Regions or events: Gmail shows the first 102 KB of a message.
pub(super) const LINES: List =
    List { escape: html, unit: Unit::Bytes, around: ("<li>", "</li>"), max: 40_000 };

/// Styles that all our emails share.
pub(in super::super) const BODY: &str = "margin:0;padding:16px;background:#f4f5f7;color:#16191d;\
    font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif";
/// The column that everything stands in.
pub(in super::super) const CARD: &str =
    "max-width:600px;margin:0 auto;padding:24px;background:#ffffff";
/// The link that matters.
pub(in super::super) const BUTTON: &str = "display:inline-block;padding:10px 16px;background:#16191d;color:#ffffff;\
    text-decoration:none;border-radius:4px";

pub(super) fn page(story: &Story) -> String {
    let title = escaped(&story.title, html);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title></head>\n\
         <body style=\"{BODY}\"><div style=\"{CARD};border-top:6px solid #{colour:06x}\">\n\
         <h1 style=\"margin:0 0 16px;font-size:20px;overflow-wrap:anywhere\">{sign} {title}</h1>\n",
        colour = story.tone.colour(),
        sign = story.tone.sign(),
    );
    if let Some(why) = &story.why {
        let why = escaped(why, html);
        let _ = writeln!(page, "<p style=\"overflow-wrap:anywhere\">{why}</p>");
    }
    page.push_str(&facts(story));
    if !story.lines.is_empty() {
        let lines = LINES.of(&story.lines);
        let _ = writeln!(page, "<ul style=\"padding-left:20px\">{lines}</ul>");
    }
    if let Some(link) = &story.link {
        let link = escaped(link, html);
        let _ = writeln!(page, "<p><a style=\"{BUTTON}\" href=\"{link}\">{LINK_WORDS}</a></p>");
    }
    let time = escaped(&shown_time(story.at), html);
    let _ = writeln!(
        page,
        "<p style=\"margin:16px 0 0;color:#5b6470;font-size:13px\">{SENDER} · {time}</p>\n\
         </div></body></html>"
    );
    page
}

fn facts(story: &Story) -> String {
    let mut rows = String::new();
    for (label, value) in story.all_facts() {
        let value = escaped(value, html);
        let _ = writeln!(
            rows,
            "<tr><th style=\"padding:2px 16px 2px 0;text-align:left;vertical-align:top\">\
             {label}</th><td style=\"overflow-wrap:anywhere\">{value}</td></tr>"
        );
    }
    if rows.is_empty() { rows } else { format!("<table>\n{rows}</table>\n") }
}
