//! Bars of days as HTML, one SVG image per row. The background means that all was well. A day on
//! which something happened is a link with a text, and the style sheet divides the row into days. A
//! script adds the other links when the pointer or the focus comes near (`live.js`). It takes them
//! from one list shared by all rows, which keeps the page small.

use std::fmt::{self, Write as _};

use domain::history::Uptime;
use domain::page::{DAYS, Day, PageView};
use rules::Timestamp;
use web::escape::escaped;

use super::i18n::{Strings, iso_date};

/// Width of a day in SVG units.
const WIDTH: usize = 8;
/// Height of a bar in SVG units.
const HEIGHT: f64 = 40.0;
/// Minimum height of a part, so that one minute of a day remains visible.
const PART_MIN: f64 = 9.0;

/// Bars of one page. Holds what all components share.
pub(super) struct Bars<'a> {
    words: &'static Strings,
    base: &'a str,
    days: Vec<BarDate>,
    /// Start of the bars on wide, medium and narrow screens.
    pub(super) ago: [String; 3],
}

/// A date, formatted for machines and for people.
struct BarDate {
    begins: Timestamp,
    iso: String,
    date: String,
}

/// Bars of one component or group, rendered as HTML.
pub(super) struct DrawnBars<'a> {
    bars: &'a Bars<'a>,
    days: &'a [Day],
    label: String,
    /// Whether each bar links to its day.
    is_link: bool,
}

/// List of days that the script turns into links.
pub(super) struct DayIndex<'a>(&'a Bars<'a>);

impl<'a> Bars<'a> {
    /// Creates the bars of a page, with links that begin with `base`.
    pub(super) fn new(view: &PageView, words: &'static Strings, base: &'a str) -> Self {
        let first = view.components().find_map(|component| component.days.as_deref());
        let ago = |days: usize| words.days_ago.replace("{}", &days.to_string());
        let bar_date = |day: &Day| BarDate {
            begins: day.begins,
            iso: iso_date(day.begins),
            date: words.date(day.begins),
        };
        Self {
            words,
            base,
            days: first.unwrap_or_default().iter().map(bar_date).collect(),
            ago: [ago(DAYS - 1), ago(DAYS - 31), ago(DAYS - 61)],
        }
    }

    /// Returns the bars of a component, which link to their days.
    pub(super) const fn component(&'a self, days: &'a [Day], label: String) -> DrawnBars<'a> {
        DrawnBars { bars: self, days, label, is_link: true }
    }

    /// Returns the bars of a group, which have no links.
    pub(super) const fn group(&'a self, days: &'a [Day], label: String) -> DrawnBars<'a> {
        DrawnBars { bars: self, days, label, is_link: false }
    }

    /// Returns the list of days for the script, or `None` if there are no bars.
    pub(super) fn day_index(&'a self) -> Option<DayIndex<'a>> {
        (!self.days.is_empty()).then_some(DayIndex(self))
    }

    /// Returns the date of a day for machines and for people. Dates in the common list are
    /// formatted once.
    fn formatted_date(&self, place: usize, day: &Day) -> (String, String) {
        let bar_date = self.days.get(place).filter(|bar_date| bar_date.begins == day.begins);
        bar_date.map_or_else(
            || (iso_date(day.begins), self.words.date(day.begins)),
            |bar_date| (bar_date.iso.clone(), bar_date.date.clone()),
        )
    }
}

impl fmt::Display for DayIndex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bars { words, base, days, .. } = self.0;
        let always = Uptime { known_ms: 1, error_ms: 0 };
        let well = words.uptime.replace("{}", &always.to_string());
        let (well, none) = (escaped(&well), escaped(words.no_data));
        write!(f, "<template id=\"days\" data-well=\"{well}\" data-none=\"{none}\">")?;
        for BarDate { iso, date, .. } in days {
            let date = escaped(date);
            write!(f, "<a href=\"{base}/day/{iso}\" tabindex=\"-1\" title=\"{date}\"></a>")?;
        }
        f.write_str("</template>")
    }
}

impl fmt::Display for DrawnBars<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds: Vec<DayKind> = self.days.iter().map(day_kind).collect();
        let (role, label) = (if self.is_link { "group" } else { "img" }, escaped(&self.label));
        write!(f, "<div class=\"bars\" role=\"{role}\" aria-label=\"{label}\">")?;
        let width = WIDTH * self.days.len();
        write!(f, "<svg viewBox=\"0 0 {width} 40\" preserveAspectRatio=\"none\">")?;
        write_unknown_days(f, &kinds)?;
        for (place, day) in self.days.iter().enumerate() {
            if kinds[place] == DayKind::Something {
                self.write_day(f, place, day)?;
            }
        }
        f.write_str("</svg></div>")
    }
}

impl DrawnBars<'_> {
    /// Writes a day on which something happened.
    fn write_day(&self, f: &mut fmt::Formatter<'_>, place: usize, day: &Day) -> fmt::Result {
        if !self.is_link {
            return parts(f, place, day);
        }
        let Bars { words, base, .. } = self.bars;
        let (iso, date) = self.bars.formatted_date(place, day);
        let title = escaped(&describe_day_with_date(day, &date, words));
        write!(f, "<a href=\"{base}/day/{iso}\"><title>{title}</title>")?;
        parts(f, place, day)?;
        f.write_str("</a>")
    }
}

/// Writes the days without data. Each run is one element, by which the script recognizes them.
fn write_unknown_days(f: &mut fmt::Formatter<'_>, kinds: &[DayKind]) -> fmt::Result {
    let mut x = 0;
    for run in kinds.chunk_by(|a, b| a == b) {
        let width = WIDTH * run.len();
        if run[0] == DayKind::Unknown {
            write!(f, "<rect class=\"fn\" x=\"{x}\" width=\"{width}\" height=\"40\"/>")?;
        }
        x += width;
    }
    Ok(())
}

/// How a day is rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DayKind {
    Nothing,
    Unknown,
    Something,
}

fn day_kind(day: &Day) -> DayKind {
    let troubled = day.down_ms + day.degraded_ms + day.maintenance_ms;
    match day.uptime {
        Some(uptime) if troubled == 0 && uptime.error_ms == 0 => DayKind::Nothing,
        None if troubled == 0 && day.up_ms == 0 => DayKind::Unknown,
        Some(_) | None => DayKind::Something,
    }
}

/// Describes a day in words.
pub(super) fn describe_day(day: &Day, words: &Strings) -> String {
    describe_day_with_date(day, &words.date(day.begins), words)
}

/// Describes a day with an already formatted date.
fn describe_day_with_date(day: &Day, date: &str, words: &Strings) -> String {
    let mut text = format!("{date}: ");
    match day.uptime {
        Some(uptime) => text.push_str(&words.uptime.replace("{}", &uptime.to_string())),
        None if day.maintenance_ms > 0 => text.push_str(words.maintenance),
        None => text.push_str(words.no_data),
    }
    for (word, millis) in [(words.down, day.down_ms), (words.degraded, day.degraded_ms)] {
        if millis > 0 {
            let _ = write!(text, ", {word} {}", words.format_duration(millis));
        }
    }
    text
}

/// Writes the parts of a day with problems, from the bottom up.
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
            // The style adds a pattern, because no meaning may depend on colour alone.
            write!(
                f,
                "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"8\" height=\"{height}\"/>"
            )?;
        }
    }
    Ok(())
}

/// A height with one decimal place. There are thousands, and more digits would be invisible.
struct Tenths(f64);

impl fmt::Display for Tenths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0).round() as u32;
        write!(f, "{}.{}", tenths / 10, tenths % 10)
    }
}
