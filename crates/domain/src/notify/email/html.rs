//! The HTML of an email: one column that is readable on phones, inline styles because mail programs
//! drop others, no external resources, and no text that the plain version lacks.

use std::fmt::Write as _;

use super::super::alert_text::{AlertText, LINK_TEXT, SENDER, format_time};
use super::super::truncate::{List, Unit, escaped, html};
use super::style::{BODY, BUTTON, CARD, HEADING, SMALL};

/// Regions or events: Gmail shows the first 102 KB of a message.
pub(super) const LINES: List =
    List { escape: html, unit: Unit::Bytes, around: ("<li>", "</li>"), max: 40_000 };

pub(super) fn page(alert_text: &AlertText) -> String {
    let title = escaped(&alert_text.title, html);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title></head>\n\
         <body style=\"{BODY}\"><div style=\"{CARD};border-top:6px solid #{colour:06x}\">\n\
         <h1 style=\"{HEADING}\">{sign} {title}</h1>\n",
        colour = alert_text.severity.colour(),
        sign = alert_text.severity.sign(),
    );
    if let Some(why) = &alert_text.why {
        let why = escaped(why, html);
        let _ = writeln!(page, "<p style=\"overflow-wrap:anywhere\">{why}</p>");
    }
    page.push_str(&facts(alert_text));
    if !alert_text.lines.is_empty() {
        let lines = LINES.format(&alert_text.lines);
        let _ = writeln!(page, "<ul style=\"padding-left:20px\">{lines}</ul>");
    }
    if let Some(link) = &alert_text.link {
        let link = escaped(link, html);
        let _ = writeln!(page, "<p><a style=\"{BUTTON}\" href=\"{link}\">{LINK_TEXT}</a></p>");
    }
    let time = escaped(&format_time(alert_text.at), html);
    let _ = writeln!(
        page,
        "<p style=\"{SMALL}\">{SENDER} · {time}</p>\n\
         </div></body></html>"
    );
    page
}

fn facts(alert_text: &AlertText) -> String {
    let mut rows = String::new();
    for (label, value) in alert_text.all_facts() {
        let value = escaped(value, html);
        let _ = writeln!(
            rows,
            "<tr><th style=\"padding:2px 16px 2px 0;text-align:left;vertical-align:top\">\
             {label}</th><td style=\"overflow-wrap:anywhere\">{value}</td></tr>"
        );
    }
    if rows.is_empty() { rows } else { format!("<table>\n{rows}</table>\n") }
}
