//! The state as a picture for other pages: text that is drawn, with its words for those who do not see
//! it.

use domain::page::State;
use unicode_segmentation::UnicodeSegmentation as _;

use super::bars::escaped;
use super::shelf::Shown;
use super::words::Words;

const HEIGHT: usize = 20;
/// Room around each text.
const SIDE: usize = 8;
/// Characters of the title that are shown.
const TITLE_MAX: usize = 32;

/// Title and state side by side.
pub(super) fn state(shown: &Shown, words: &Words) -> String {
    let title = fit(&shown.page.settings.title);
    let state = shown.view.verdict.state;
    let word = words.state(state);
    let (left, right) = (width(&title) + 2 * SIDE, width(word) + 2 * SIDE);
    let (whole, ink, fill) = (left + right, ink(state), fill(state));
    let (title, word) = (escaped(&title), escaped(word));
    let (at_left, at_right) = (left / 2, left + right / 2);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{whole}\" height=\"{HEIGHT}\" \
         role=\"img\" aria-label=\"{title}: {word}\"><title>{title}: {word}</title>\
         <clipPath id=\"r\"><rect width=\"{whole}\" height=\"{HEIGHT}\" rx=\"4\"/></clipPath>\
         <g clip-path=\"url(#r)\"><rect width=\"{left}\" height=\"{HEIGHT}\" fill=\"#2b3640\"/>\
         <rect x=\"{left}\" width=\"{right}\" height=\"{HEIGHT}\" fill=\"{fill}\"/></g>\
         <g font-family=\"Verdana,Geneva,DejaVu Sans,sans-serif\" font-size=\"11\" \
         text-anchor=\"middle\"><text x=\"{at_left}\" y=\"14\" fill=\"#fff\">{title}</text>\
         <text x=\"{at_right}\" y=\"14\" fill=\"{ink}\">{word}</text></g></svg>\n"
    )
}

/// The title, cut where it is long.
fn fit(title: &str) -> String {
    let mut letters = title.graphemes(true);
    let mut kept: String = letters.by_ref().take(TITLE_MAX).collect();
    if letters.next().is_some() {
        kept.push('…');
    }
    kept
}

/// About how wide a text is drawn, in pixels: letters outside of Latin are as wide as high.
fn width(text: &str) -> usize {
    let wide = |letter: &str| letter.chars().any(|letter| letter >= '\u{1100}');
    text.graphemes(true).map(|letter| if wide(letter) { 12 } else { 7 }).sum()
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
        // Black on these has more contrast than white.
        State::Up | State::Degraded => "#0f1419",
        State::Down | State::Maintenance | State::Unknown => "#fff",
    }
}
