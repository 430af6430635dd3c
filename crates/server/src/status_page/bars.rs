//! Bars of days as HTML: a link for each day, full where all was well, in parts where it was not. What
//! is equal from row to row is written equally, so that it compresses to almost nothing.

use std::fmt::Write as _;

use domain::page::Day;

use super::words::{Words, iso_date};

/// Height of a bar in its own units.
const HEIGHT: f64 = 40.0;
/// Least height of a part that is there: a minute of a day is seen, too.
const PART_MIN: f64 = 9.0;

/// The bars of a component, with links to the days where it has an address.
pub(super) fn bars(days: &[Day], label: &str, words: &Words, base: Option<&str>) -> String {
    let mut html = String::with_capacity(days.len() * 110);
    let _ = write!(html, "<ol class=\"bars\" aria-label=\"{}\">", escaped(label));
    for (place, day) in days.iter().enumerate() {
        let (class, inner) = drawing(day);
        let text = title(day, words);
        let date = iso_date(day.begins);
        let _ = match base {
            // One of them is walked to by the keyboard; from there the script leads on.
            Some(base) => {
                let tab = if place + 1 == days.len() { "0" } else { "-1" };
                write!(
                    html,
                    "<li{class}><a href=\"{base}/day/{date}\" tabindex=\"{tab}\" title=\"{}\">\
                     {inner}</a></li>",
                    escaped(&text)
                )
            }
            None => write!(html, "<li{class}><span>{inner}</span></li>"),
        };
    }
    html.push_str("</ol>");
    html
}

/// What happened on a day, in words.
pub(super) fn title(day: &Day, words: &Words) -> String {
    let mut text = format!("{}: ", words.date(day.begins));
    match day.uptime {
        Some(uptime) => text.push_str(&words.uptime.replace("{}", &uptime.to_string())),
        None if day.maintenance_ms > 0 => text.push_str(words.maintenance),
        None => text.push_str(words.no_data),
    }
    for (word, millis) in [(words.down, day.down_ms), (words.degraded, day.degraded_ms)] {
        if millis > 0 {
            let _ = write!(text, ", {word} {}", words.long(millis));
        }
    }
    text
}

/// The class of a bar and what is in it: nothing where it is of one piece.
fn drawing(day: &Day) -> (&'static str, String) {
    let parts = [("fh", day.down_ms), ("fg", day.degraded_ms), ("fm", day.maintenance_ms)];
    let troubled: u64 = parts.iter().map(|(_, millis)| millis).sum();
    if troubled == 0 {
        return if day.up_ms == 0 { (" class=\"n\"", String::new()) } else { ("", String::new()) };
    }
    let whole = (troubled + day.up_ms) as f64;
    let mut svg = String::from("<svg viewBox=\"0 0 8 40\" preserveAspectRatio=\"none\">");
    let mut top = HEIGHT;
    for (class, millis) in parts {
        if millis > 0 {
            let height = (millis as f64 / whole * HEIGHT).max(PART_MIN).min(top);
            top -= height;
            // Hatched: colour never speaks alone.
            let _ = write!(
                svg,
                "<rect class=\"{class}\" y=\"{top:.1}\" width=\"8\" height=\"{height:.1}\"/>"
            );
        }
    }
    if day.up_ms > 0 {
        let _ = write!(svg, "<rect class=\"fu\" width=\"8\" height=\"{top:.1}\"/>");
    }
    svg.push_str("</svg>");
    (" class=\"p\"", svg)
}

/// Text in an attribute or between tags.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}
