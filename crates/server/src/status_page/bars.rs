//! Bars of days as HTML: a link for each day, full where all was well, in parts where it was not. What
//! is equal from row to row is written equally, so that it compresses to almost nothing.

use std::fmt::{self, Write as _};

use domain::history::Uptime;
use domain::page::{DAYS, Day, PageView};
use rules::Timestamp;

use super::words::{Words, iso_date};

/// Height of a bar in its own units.
const HEIGHT: f64 = 40.0;
/// Least height of a part that is there: a minute of a day is seen, too.
const PART_MIN: f64 = 9.0;

/// The bars of one page: what all components have in common is made once.
pub(super) struct Bars<'a> {
    words: &'static Words,
    base: &'a str,
    days: Vec<Usual>,
    /// Where the bars begin: on wide, middle and narrow screens.
    pub(super) ago: [String; 3],
}

/// A day with what it is called, and as most components have it: nothing happened, or nothing is
/// known.
struct Usual {
    begins: Timestamp,
    iso: String,
    date: String,
    well: String,
    silent: String,
}

/// The bars of one component or group, as HTML.
pub(super) struct Drawn<'a> {
    bars: &'a Bars<'a>,
    days: &'a [Day],
    label: String,
    /// Whether each leads to its day.
    is_link: bool,
}

impl<'a> Bars<'a> {
    /// For what a page shows, with links that begin with `base`.
    pub(super) fn of(view: &PageView, words: &'static Words, base: &'a str) -> Self {
        let first = view.components().find_map(|component| component.days.as_deref());
        let days = first.unwrap_or_default();
        let ago = |days: usize| words.days_ago.replace("{}", &days.to_string());
        let ago = [ago(DAYS - 1), ago(DAYS - 31), ago(DAYS - 61)];
        let mut bars = Self { words, base, days: Vec::with_capacity(days.len()), ago };
        for (place, day) in days.iter().enumerate() {
            let silent = Day {
                up_ms: 0,
                degraded_ms: 0,
                down_ms: 0,
                maintenance_ms: 0,
                uptime: None,
                ..*day
            };
            let known = Uptime { known_ms: 1, error_ms: 0 };
            let well = Day { up_ms: 1, uptime: Some(known), ..silent };
            let is_last = place + 1 == days.len();
            let (begins, iso, date) = (day.begins, iso_date(day.begins), words.date(day.begins));
            let [well, silent] = [well, silent].map(|day| bars.link(&day, (&iso, &date), is_last));
            bars.days.push(Usual { begins, iso, date, well, silent });
        }
        bars
    }

    /// The bars of a component, each of which leads to its day.
    pub(super) const fn component(&'a self, days: &'a [Day], label: String) -> Drawn<'a> {
        Drawn { bars: self, days, label, is_link: true }
    }

    /// The bars of a group, which are only looked at.
    pub(super) const fn group(&'a self, days: &'a [Day], label: String) -> Drawn<'a> {
        Drawn { bars: self, days, label, is_link: false }
    }

    /// One bar that leads to its day, which is called so by machines and by people.
    fn link(&self, day: &Day, (iso, date): (&str, &str), is_last: bool) -> String {
        let (class, inner) = drawing(day);
        // One of them is walked to by the keyboard; from there the script leads on.
        let tab = if is_last { "0" } else { "-1" };
        format!(
            "<li{class}><a href=\"{}/day/{iso}\" tabindex=\"{tab}\" title=\"{}\">{inner}</a></li>",
            self.base,
            escaped(&told(day, date, self.words))
        )
    }
}

impl fmt::Display for Drawn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<ol class=\"bars\" aria-label=\"{}\">", escaped(&self.label))?;
        for (place, day) in self.days.iter().enumerate() {
            if self.is_link { self.linked(f, place, day)? } else { looked_at(f, day)? }
        }
        f.write_str("</ol>")
    }
}

impl Drawn<'_> {
    fn linked(&self, f: &mut fmt::Formatter<'_>, place: usize, day: &Day) -> fmt::Result {
        let is_last = place + 1 == self.days.len();
        let usual = self.bars.days.get(place).filter(|usual| usual.begins == day.begins);
        let Some(usual) = usual else {
            let (iso, date) = (iso_date(day.begins), self.bars.words.date(day.begins));
            return f.write_str(&self.bars.link(day, (&iso, &date), is_last));
        };
        match happened(day) {
            Happened::Nothing => f.write_str(&usual.well),
            Happened::Unknown => f.write_str(&usual.silent),
            Happened::Something => {
                f.write_str(&self.bars.link(day, (&usual.iso, &usual.date), is_last))
            }
        }
    }
}

/// A bar that leads nowhere.
fn looked_at(f: &mut fmt::Formatter<'_>, day: &Day) -> fmt::Result {
    match happened(day) {
        Happened::Nothing => f.write_str("<li><span></span></li>"),
        Happened::Unknown => f.write_str("<li class=\"n\"><span></span></li>"),
        Happened::Something => {
            let (class, inner) = drawing(day);
            write!(f, "<li{class}><span>{inner}</span></li>")
        }
    }
}

/// How a day is told.
enum Happened {
    Nothing,
    Unknown,
    Something,
}

fn happened(day: &Day) -> Happened {
    let troubled = day.down_ms + day.degraded_ms + day.maintenance_ms;
    match day.uptime {
        Some(uptime) if troubled == 0 && uptime.error_ms == 0 => Happened::Nothing,
        None if troubled == 0 && day.up_ms == 0 => Happened::Unknown,
        Some(_) | None => Happened::Something,
    }
}

/// What happened on a day, in words.
pub(super) fn title(day: &Day, words: &Words) -> String {
    told(day, &words.date(day.begins), words)
}

/// The same of a day whose date is said already.
fn told(day: &Day, date: &str, words: &Words) -> String {
    let mut text = format!("{date}: ");
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
                "<rect class=\"{class}\" y=\"{}\" width=\"8\" height=\"{}\"/>",
                Tenths(top),
                Tenths(height)
            );
        }
    }
    if day.up_ms > 0 {
        let _ = write!(svg, "<rect class=\"fu\" width=\"8\" height=\"{}\"/>", Tenths(top));
    }
    svg.push_str("</svg>");
    (" class=\"p\"", svg)
}

/// A height with one digit after the point: there are thousands, and nobody measures closer.
struct Tenths(f64);

impl fmt::Display for Tenths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0).round() as u32;
        write!(f, "{}.{}", tenths / 10, tenths % 10)
    }
}

/// Text in an attribute or between tags, of HTML and of XML: letters that XML 1.0 does not know are left
/// out, because one of them makes a whole feed unreadable.
pub(super) fn escaped(text: &str) -> String {
    let is_unknown = |letter: char| {
        letter.is_ascii_control() && !matches!(letter, '\t' | '\n' | '\r')
            || matches!(letter, '\u{fffe}' | '\u{ffff}')
    };
    let is_plain =
        |letter: char| !matches!(letter, '&' | '<' | '>' | '"' | '\'') && !is_unknown(letter);
    if text.chars().all(is_plain) {
        return text.to_owned();
    }
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter if is_unknown(letter) => {}
            letter => escaped.push(letter),
        }
    }
    escaped
}
