//! Open Graph image of a page: the state with its sign and pattern, the summary, the title, the
//! number of components and the uptime. It is a PNG, because programs that fetch such images do not
//! support SVG. Images are drawn on a blocking thread, one at a time (decision 0034).

mod canvas;
pub(super) mod font;

use domain::page::{Day, PageView, uptime_of};
use tokio::sync::Mutex;

use self::canvas::{Canvas, INK, SOFT};
use super::i18n::Strings;

/// Size recommended by Open Graph: 1.91 to 1.
pub(super) const WIDTH: u32 = 1_200;
pub(super) const HEIGHT: u32 = 630;

/// Width of the stripe at the left that has the pattern of the state.
const BAND: f32 = 56.0;
const LEFT: f32 = 128.0;
const RIGHT: f32 = 64.0;
const SIGN: f32 = 104.0;
/// Font sizes to try for the summary, and its maximum number of lines.
const SIZES: [f32; 3] = [84.0, 68.0, 54.0];
const LINES_MAX: usize = 3;
const SMALL: f32 = 38.0;

/// Lock held while an image is drawn. It bounds the memory to that of one image.
pub(super) static DRAW_LOCK: Mutex<()> = Mutex::const_new(());

/// Texts of an image, in characters that the font has.
#[derive(Debug, PartialEq, Eq)]
struct Texts {
    /// `None` if the font lacks some of its characters.
    title: Option<String>,
    sentence: String,
    facts: String,
}

/// Draws the image as PNG.
pub(super) fn draw(title: &str, view: &PageView, words: &'static Strings) -> Vec<u8> {
    let texts = texts(title, view, words);
    let state = view.overall_status.state;
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    canvas.band(state, (BAND, HEIGHT as f32));
    let room = WIDTH as f32 - LEFT - RIGHT;
    canvas.sign(state, (LEFT + SIGN / 2.0, 64.0 + SIGN / 2.0), SIGN);
    if let Some(title) = texts.title {
        let beside = LEFT + SIGN + 36.0;
        let title = truncate(&title, WIDTH as f32 - beside - RIGHT, 48.0);
        canvas.text(&title, (beside, 64.0 + SIGN / 2.0 + 17.0), 48.0, INK);
    }
    let (lines, size) = fit(&texts.sentence, room);
    for (place, line) in lines.iter().enumerate() {
        let y = 280.0 + size * 0.72 + place as f32 * size * 1.2 - 40.0;
        canvas.text(line, (LEFT, y), size, INK);
    }
    canvas.text(&truncate(&texts.facts, room, SMALL), (LEFT, HEIGHT as f32 - 64.0), SMALL, SOFT);
    canvas.png()
}

/// Returns the text alternative of the image.
pub(super) fn alternative(title: &str, view: &PageView, words: &Strings) -> String {
    format!("{title}: {}", words.summary(&view.overall_status.summary))
}

/// Returns the texts in the visitor's language, or in English if the font lacks its characters.
/// Omits names that the font cannot draw.
fn texts(title: &str, view: &PageView, words: &'static Strings) -> Texts {
    let words = if font::has_glyphs(words.all_up) { words } else { Strings::english() };
    let sentence = words.summary(&view.overall_status.summary);
    let sentence = if font::has_glyphs(&sentence) {
        sentence
    } else {
        words.state(view.overall_status.state).to_owned()
    };
    let mut facts = words.components_in_all(view.components().count());
    let days = view.components().filter_map(|it| it.days.as_deref());
    let days: Vec<Day> = days.flatten().copied().collect();
    if let Some(uptime) = uptime_of(&days) {
        facts = format!("{facts} · {}", words.uptime.replace("{}", &uptime.to_string()));
    }
    Texts { title: font::has_glyphs(title).then(|| title.to_owned()), sentence, facts }
}

/// Returns the lines of a text at the largest size at which they fit, and that size.
fn fit(text: &str, room: f32) -> (Vec<String>, f32) {
    for size in SIZES {
        let lines = wrap(text, room, size);
        if lines.len() <= LINES_MAX {
            return (lines, size);
        }
    }
    let size = SIZES[SIZES.len() - 1];
    let mut lines = wrap(text, room, size);
    let rest = lines.split_off(LINES_MAX - 1).join(" ");
    lines.push(truncate(&rest, room, size));
    (lines, size)
}

/// Breaks a text into lines. A word that is wider than a line is truncated.
fn wrap(text: &str, room: f32, size: f32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let longer = lines.last().map(|line| format!("{line} {word}"));
        match longer.filter(|line| font::width(line, size) <= room) {
            Some(longer) => *lines.last_mut().expect("it was made longer") = longer,
            None => lines.push(truncate(word, room, size)),
        }
    }
    lines
}

/// Truncates a text to this width.
fn truncate(text: &str, room: f32, size: f32) -> String {
    if font::width(text, size) <= room {
        return text.to_owned();
    }
    let mut truncated = String::new();
    for letter in text.chars() {
        let longer = format!("{truncated}{letter}");
        if font::width(&longer, size) + font::width("…", size) > room {
            break;
        }
        truncated = longer;
    }
    truncated.truncate(truncated.trim_end().len());
    truncated + "…"
}

#[cfg(test)]
mod tests {
    use domain::page::{DataAge, OverallStatus, State, StatusSummary};
    use rules::Timestamp;

    use super::*;
    use crate::i18n::choose;

    /// Returns a page with nothing but a summary.
    fn saying(summary: StatusSummary) -> PageView {
        let data_age = DataAge { checked_at: None, stale: Vec::new() };
        PageView {
            at: Timestamp::from_millis(0),
            overall_status: OverallStatus { state: State::Down, summary, data_age },
            reports: Vec::new(),
            open_incidents: Vec::new(),
            sections: Vec::new(),
            planned: Vec::new(),
            history: Vec::new(),
        }
    }

    // decision 0034: a box in the place of each letter would be worse than no letter
    #[test]
    fn text_without_glyphs_is_omitted() {
        let down = |name: &str| saying(StatusSummary::SomeDown(vec![name.to_owned()]));
        let describe = |title: &str, view: &PageView, language: &str| {
            let texts = texts(title, view, choose(Some(language)));
            format!("{:?}: {} ({})", texts.title, texts.sentence, texts.facts)
        };
        let descriptions = [
            describe("Acme", &down("Größe"), "de"),
            describe("アクメ", &down("API"), "ja"),
            describe("Acme", &down("支付"), "en"),
            describe("Acme 🚀", &saying(StatusSummary::AllDown), "zh"),
        ];
        insta::assert_snapshot!(descriptions.join("\n"), @r#"
        Some("Acme"): Größe ist ausgefallen (0 Komponenten)
        None: API is down (0 components)
        Some("Acme"): Down (0 components)
        None: All systems are down (0 components)
        "#);
    }

    #[test]
    fn sentence_uses_the_largest_fitting_size() {
        let room = 1_000.0;
        let (lines, size) = fit("Everything works", room);
        assert_eq!((lines.len(), size as u32), (1, 84));
        let long =
            "API, Checkout and 12 more are down, and nobody knows for how long that will be "
                .repeat(4);
        let (lines, size) = fit(&long, room);
        assert_eq!((lines.len(), size as u32), (3, 54));
        assert!(lines[2].ends_with('…'), "{lines:?}");
        assert!(lines.iter().all(|line| font::width(line, size) <= room), "{lines:?}");
        let (lines, size) = fit(&"W".repeat(300), room);
        assert!(lines.iter().all(|line| font::width(line, size) <= room), "{lines:?}");
    }
}
