//! The piece of a section's text that shows why it was found, with the words marked.

use super::Word;
use super::index::Folded;
use super::rank::places;

/// Letters of a snippet, about.
const CHARS: usize = 180;
/// Letters of it that stand before the first word.
const CHARS_BEFORE: usize = 50;

/// A stretch of a snippet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::docs) struct Piece {
    pub(in crate::docs) text: String,
    /// Whether it was searched for.
    pub(in crate::docs) marked: bool,
}

/// What stands around the first of the words; where none is in the text, its beginning.
pub(super) fn snippet(text: &Folded, words: &[Word]) -> Vec<Piece> {
    let mut marks: Vec<(usize, usize)> = words
        .iter()
        .flat_map(|word| places(text, word).map(|place| (place.at, place.end)))
        .collect();
    marks.sort_unstable();
    let (from, to) = window(&text.original, marks.first().map_or(0, |mark| mark.0));
    let mut pieces = Vec::new();
    let mut push = |text: &str, marked| {
        if !text.is_empty() {
            pieces.push(Piece { text: text.to_owned(), marked });
        }
    };
    push(if from > 0 { "… " } else { "" }, false);
    let mut at = from;
    for (begin, end) in marks {
        if begin >= at && end <= to {
            push(&text.original[at..begin], false);
            push(&text.original[begin..end], true);
            at = end;
        }
    }
    push(text.original[at..to].trim_end(), false);
    push(if to < text.original.trim_end().len() { " …" } else { "" }, false);
    pieces
}

/// The bytes to show around this one: whole words.
fn window(text: &str, around: usize) -> (usize, usize) {
    let from = text[..around].char_indices().rev().nth(CHARS_BEFORE).map_or(0, |(at, _)| at);
    // A word that is cut at the beginning is left out, unless it is what was found.
    let from = match text[from..around].find(' ') {
        Some(space) if from > 0 => from + space + 1,
        _ if from > 0 => around,
        _ => 0,
    };
    let to = text[from..].char_indices().nth(CHARS).map_or(text.len(), |(at, _)| from + at);
    if to == text.len() {
        return (from, to);
    }
    let last_space = text[from..to].rfind(' ').map(|space| from + space);
    (from, last_space.filter(|space| *space > around).unwrap_or(to))
}
