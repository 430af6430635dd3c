//! Bars of days as HTML: one picture for each row, whose ground is that all was well, and in which a day on
//! which something happened is a link with its words; the style cuts it into days. A script makes links of
//! the others when somebody comes near (`live.js`), of one list that all rows share: nobody needs
//! thousands of them to see a page.

use std::fmt::{self, Write as _};

use domain::history::Uptime;
use domain::page::{DAYS, Day, PageView};
use rules::Timestamp;

use super::words::{Words, iso_date};

/// Width of a day in units of the picture.
const WIDTH: usize = 8;
/// Height of a bar in them.
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

/// A day with what it is called by machines and by people.
struct Usual {
    begins: Timestamp,
    iso: String,
    date: String,
}

/// The bars of one component or group, as HTML.
pub(super) struct Drawn<'a> {
    bars: &'a Bars<'a>,
    days: &'a [Day],
    label: String,
    /// Whether each leads to its day.
    is_link: bool,
}

/// The list of days that the script makes links of.
pub(super) struct Walk<'a>(&'a Bars<'a>);

impl<'a> Bars<'a> {
    /// For what a page shows, with links that begin with `base`.
    pub(super) fn of(view: &PageView, words: &'static Words, base: &'a str) -> Self {
        let first = view.components().find_map(|component| component.days.as_deref());
        let ago = |days: usize| words.days_ago.replace("{}", &days.to_string());
        let usual = |day: &Day| Usual {
            begins: day.begins,
            iso: iso_date(day.begins),
            date: words.date(day.begins),
        };
        Self {
            words,
            base,
            days: first.unwrap_or_default().iter().map(usual).collect(),
            ago: [ago(DAYS - 1), ago(DAYS - 31), ago(DAYS - 61)],
        }
    }

    /// The bars of a component, each of which leads to its day.
    pub(super) const fn component(&'a self, days: &'a [Day], label: String) -> Drawn<'a> {
        Drawn { bars: self, days, label, is_link: true }
    }

    /// The bars of a group, which are only looked at.
    pub(super) const fn group(&'a self, days: &'a [Day], label: String) -> Drawn<'a> {
        Drawn { bars: self, days, label, is_link: false }
    }

    /// The days of all bars, for the script; nothing where there are no bars.
    pub(super) fn walk(&'a self) -> Option<Walk<'a>> {
        (!self.days.is_empty()).then_some(Walk(self))
    }

    /// What a day at this place is called by machines and by people.
    fn named(&self, place: usize, day: &Day) -> (String, String) {
        let usual = self.days.get(place).filter(|usual| usual.begins == day.begins);
        usual.map_or_else(
            || (iso_date(day.begins), self.words.date(day.begins)),
            |usual| (usual.iso.clone(), usual.date.clone()),
        )
    }
}

impl fmt::Display for Walk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bars { words, base, days, .. } = self.0;
        let always = Uptime { known_ms: 1, error_ms: 0 };
        let well = words.uptime.replace("{}", &always.to_string());
        let (well, none) = (escaped(&well), escaped(words.no_data));
        write!(f, "<template id=\"days\" data-well=\"{well}\" data-none=\"{none}\">")?;
        for Usual { iso, date, .. } in days {
            let date = escaped(date);
            write!(f, "<a href=\"{base}/day/{iso}\" tabindex=\"-1\" title=\"{date}\"></a>")?;
        }
        f.write_str("</template>")
    }
}

impl fmt::Display for Drawn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds: Vec<Happened> = self.days.iter().map(happened).collect();
        let (role, label) = (if self.is_link { "group" } else { "img" }, escaped(&self.label));
        write!(f, "<div class=\"bars\" role=\"{role}\" aria-label=\"{label}\">")?;
        let width = WIDTH * self.days.len();
        write!(f, "<svg viewBox=\"0 0 {width} 40\" preserveAspectRatio=\"none\">")?;
        silent(f, &kinds)?;
        for (place, day) in self.days.iter().enumerate() {
            if kinds[place] == Happened::Something {
                self.told(f, place, day)?;
            }
        }
        f.write_str("</svg></div>")
    }
}

impl Drawn<'_> {
    /// A day on which something happened.
    fn told(&self, f: &mut fmt::Formatter<'_>, place: usize, day: &Day) -> fmt::Result {
        if !self.is_link {
            return parts(f, place, day);
        }
        let Bars { words, base, .. } = self.bars;
        let (iso, date) = self.bars.named(place, day);
        let title = escaped(&told(day, &date, words));
        write!(f, "<a href=\"{base}/day/{iso}\"><title>{title}</title>")?;
        parts(f, place, day)?;
        f.write_str("</a>")
    }
}

/// Days of which nothing is known: each run of them is one piece, by which the script knows them, too.
fn silent(f: &mut fmt::Formatter<'_>, kinds: &[Happened]) -> fmt::Result {
    let mut x = 0;
    for run in kinds.chunk_by(|a, b| a == b) {
        let width = WIDTH * run.len();
        if run[0] == Happened::Unknown {
            write!(f, "<rect class=\"fn\" x=\"{x}\" width=\"{width}\" height=\"40\"/>")?;
        }
        x += width;
    }
    Ok(())
}

/// How a day is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// The parts of a day in which not all was well, from the ground up.
fn parts(f: &mut fmt::Formatter<'_>, place: usize, day: &Day) -> fmt::Result {
    let parts = [("fh", day.down_ms), ("fg", day.degraded_ms), ("fm", day.maintenance_ms)];
    let troubled: u64 = parts.iter().map(|(_, millis)| millis).sum();
    let whole = (troubled + day.up_ms).max(1) as f64;
    let x = WIDTH * place;
    let mut top = HEIGHT;
    for (class, millis) in parts {
        if millis > 0 {
            let height = (millis as f64 / whole * HEIGHT).max(PART_MIN).min(top);
            top -= height;
            let (y, height) = (Tenths(top), Tenths(height));
            // Hatched: colour never speaks alone.
            write!(
                f,
                "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"8\" height=\"{height}\"/>"
            )?;
        }
    }
    Ok(())
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
