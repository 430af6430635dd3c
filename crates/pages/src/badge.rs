//! Badges: the state, the uptime or the latency of a page or a component as a small SVG image to
//! embed elsewhere. A badge is drawn text with a text alternative. `query` parses the query.

mod query;

use domain::history::{Sketch, Uptime};
use domain::page::{ComponentView, Day, State, uptime_of};
use unicode_segmentation::UnicodeSegmentation as _;

pub(crate) use self::query::BadgeMetric;
pub(super) use self::query::BadgeQuery;
use self::query::Style;
use super::i18n::Strings;
use super::og_image::font;
use super::snapshot::PageSnapshot;
use web::escape::escaped;

const HEIGHT: u32 = 20;
const FONT_SIZE: f32 = 11.0;
/// Padding at both sides of a text.
const SIDE: f32 = 7.0;
/// Maximum length of a name in characters.
const NAME_MAX: usize = 32;
/// Minimum uptimes, in millionths, that are drawn in the colours of "up" and "degraded".
const UP_MIN: u32 = 999_000;
const DEGRADED_MIN: u32 = 990_000;
/// Period of latencies in hours.
pub(super) const LATENCY_HOURS: u64 = 24;

/// Content of a badge: its label, its value and its colour.
struct BadgeText {
    left: String,
    right: String,
    /// Text alternative.
    alternative: String,
    colour: State,
}

/// Returns whether the page has the component of a badge.
pub(super) fn has_component(snapshot: &PageSnapshot, badge_query: &BadgeQuery) -> bool {
    badge_query.component.is_none_or(|id| snapshot.view.components().any(|it| it.id == id))
}

/// Returns the error for a component that the page does not have.
pub(super) fn unknown_component(badge_query: &BadgeQuery) -> String {
    let id = badge_query.component.map(|id| id.to_string()).unwrap_or_default();
    format!("the page has no component `{id}`")
}

/// Renders a badge as SVG. `latencies` is given for badges that show latencies.
pub(super) fn badge(
    snapshot: &PageSnapshot,
    words: &Strings,
    badge_query: &BadgeQuery,
    latencies: Option<&Sketch>,
) -> String {
    let about =
        badge_query.component.and_then(|id| snapshot.view.components().find(|it| it.id == id));
    let name = truncate(about.map_or(&snapshot.page.settings.title, |it| &it.name));
    let text = match badge_query.metric {
        BadgeMetric::State => {
            let state = about.map_or(snapshot.view.overall_status.state, |it| it.state);
            let word = words.state(state).to_owned();
            BadgeText {
                alternative: format!("{name}: {word}"),
                left: name,
                right: word,
                colour: state,
            }
        }
        BadgeMetric::Uptime => uptime(&name, about, snapshot, (words, badge_query)),
        BadgeMetric::Latency => response_time(&name, latencies, (words, badge_query)),
    };
    draw(&text, badge_query.style)
}

fn uptime(
    name: &str,
    about: Option<&ComponentView>,
    snapshot: &PageSnapshot,
    (words, badge_query): (&Strings, &BadgeQuery),
) -> BadgeText {
    let last = |it: &ComponentView| -> Vec<Day> {
        let days = it.days.as_deref().unwrap_or_default();
        days[days.len().saturating_sub(badge_query.days)..].to_vec()
    };
    let days: Vec<Day> = match about {
        Some(it) => last(it),
        None => snapshot.view.components().flat_map(last).collect(),
    };
    let uptime = uptime_of(&days);
    let right = uptime.map_or_else(
        || words.no_data.to_owned(),
        |uptime| words.uptime.replace("{}", &uptime.to_string()),
    );
    let span = words.last_days.replace("{}", &badge_query.days.to_string());
    let left = format!("{name} · {span}");
    BadgeText { alternative: format!("{left}: {right}"), left, right, colour: quality(uptime) }
}

fn response_time(
    name: &str,
    latencies: Option<&Sketch>,
    (words, badge_query): (&Strings, &BadgeQuery),
) -> BadgeText {
    let value = latencies.and_then(|sketch| sketch.percentile(badge_query.percentile));
    let right = value.map_or_else(|| words.no_data.to_owned(), milliseconds);
    let hours = words.hours.replace("{}", &LATENCY_HOURS.to_string());
    let percentile = format!("p{}", badge_query.percentile);
    BadgeText {
        alternative: format!("{name}, {} ({percentile}, {hours}): {right}", words.response_time),
        left: format!("{name} · {percentile} · {hours}"),
        right,
        colour: if value.is_some() { State::Up } else { State::Unknown },
    }
}

/// Formats microseconds as milliseconds.
fn milliseconds(micros: u32) -> String {
    match micros {
        0..1_000 => "< 1 ms".to_owned(),
        1_000..10_000_000 => format!("{} ms", micros.div_ceil(1_000)),
        10_000_000.. => format!("{} s", micros.div_ceil(1_000_000)),
    }
}

fn quality(uptime: Option<Uptime>) -> State {
    match uptime {
        None => State::Unknown,
        Some(uptime) => match uptime.millionths() {
            UP_MIN.. => State::Up,
            DEGRADED_MIN..UP_MIN => State::Degraded,
            0..DEGRADED_MIN => State::Down,
        },
    }
}

/// Draws two texts side by side. Each has an explicit width, so that it fits in any font.
fn draw(text: &BadgeText, style: Style) -> String {
    let (wide_left, wide_right) =
        (font::width(&text.left, FONT_SIZE), font::width(&text.right, FONT_SIZE));
    let (left, right) = ((wide_left + 2.0 * SIDE).ceil(), (wide_right + 2.0 * SIDE).ceil());
    let (whole, ink, fill) = (left + right, ink(text.colour), fill(text.colour));
    let (at_left, at_right) = ((left - wide_left) / 2.0, left + (right - wide_right) / 2.0);
    let round = match style {
        Style::Flat => 4,
        Style::FlatSquare => 0,
    };
    let alternative = escaped(&text.alternative);
    let (first, second) = (escaped(&text.left), escaped(&text.right));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{whole}\" height=\"{HEIGHT}\" \
         role=\"img\" aria-label=\"{alternative}\"><title>{alternative}</title>\
         <clipPath id=\"r\"><rect width=\"{whole}\" height=\"{HEIGHT}\" rx=\"{round}\"/></clipPath>\
         <g clip-path=\"url(#r)\"><rect width=\"{left}\" height=\"{HEIGHT}\" fill=\"#2b3640\"/>\
         <rect x=\"{left}\" width=\"{right}\" height=\"{HEIGHT}\" fill=\"{fill}\"/></g>\
         <g font-family=\"Roboto,Helvetica,Arial,sans-serif\" font-size=\"{FONT_SIZE}\" \
         font-weight=\"500\">\
         <text x=\"{at_left:.1}\" y=\"14\" fill=\"#fff\" textLength=\"{wide_left:.1}\" \
         lengthAdjust=\"spacingAndGlyphs\">{first}</text>\
         <text x=\"{at_right:.1}\" y=\"14\" fill=\"{ink}\" textLength=\"{wide_right:.1}\" \
         lengthAdjust=\"spacingAndGlyphs\">{second}</text></g></svg>\n"
    )
}

/// Truncates a long name.
fn truncate(name: &str) -> String {
    let mut letters = name.graphemes(true);
    let mut truncated: String = letters.by_ref().take(NAME_MAX).collect();
    if letters.next().is_some() {
        truncated.push('…');
    }
    truncated
}

const fn fill(state: State) -> &'static str {
    match state {
        State::Up => "#00a089",
        State::Degraded => "#ffd01d",
        State::Down => "#840017",
        State::Maintenance => "#4d44a3",
        State::Unknown => "#53616e",
    }
}

const fn ink(state: State) -> &'static str {
    match state {
        // Black has more contrast than white on these colours.
        State::Up | State::Degraded => "#0f1419",
        State::Down | State::Maintenance | State::Unknown => "#fff",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn badge_text(right: &str) -> BadgeText {
        let (left, alternative) = ("A & B".to_owned(), "A & B: <up>".to_owned());
        BadgeText { left, right: right.to_owned(), alternative, colour: State::Up }
    }

    #[test]
    fn badge_fits_text_and_has_text_alternative() {
        let narrow = draw(&badge_text("Up"), Style::Flat);
        insta::assert_snapshot!(narrow, @r##"<svg xmlns="http://www.w3.org/2000/svg" width="69" height="20" role="img" aria-label="A &amp; B: &lt;up&gt;"><title>A &amp; B: &lt;up&gt;</title><clipPath id="r"><rect width="69" height="20" rx="4"/></clipPath><g clip-path="url(#r)"><rect width="41" height="20" fill="#2b3640"/><rect x="41" width="28" height="20" fill="#00a089"/></g><g font-family="Roboto,Helvetica,Arial,sans-serif" font-size="11" font-weight="500"><text x="7.1" y="14" fill="#fff" textLength="26.8" lengthAdjust="spacingAndGlyphs">A &amp; B</text><text x="48.3" y="14" fill="#0f1419" textLength="13.4" lengthAdjust="spacingAndGlyphs">Up</text></g></svg>"##);
        let wide = draw(&badge_text("In Ordnung"), Style::FlatSquare);
        assert!(wide.contains(" rx=\"0\"") && narrow.contains(" rx=\"4\""));
        let width = |svg: &str| -> f32 {
            svg.split_once(" width=\"").unwrap().1.split_once('"').unwrap().0.parse().unwrap()
        };
        assert!(width(&wide) > width(&narrow) + 30.0);
    }

    #[test]
    fn latencies_have_readable_units() {
        let text = [0, 999, 1_000, 12_345, 999_001, 1_500_000, 120_000_000].map(milliseconds);
        let due = ["< 1 ms", "< 1 ms", "1 ms", "13 ms", "1000 ms", "1500 ms", "120 s"];
        assert_eq!(text, due);
    }

    #[test]
    fn the_colour_of_an_uptime_has_bounds() {
        let uptime = |error_ms| Some(Uptime { known_ms: 1_000_000, error_ms });
        let colours =
            [None, uptime(0), uptime(1_000), uptime(1_001), uptime(10_000), uptime(10_001)];
        let due =
            [State::Unknown, State::Up, State::Up, State::Degraded, State::Degraded, State::Down];
        assert_eq!(colours.map(quality), due);
    }
}
