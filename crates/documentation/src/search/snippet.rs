//! Extracts the part of a section that matches the query, with the words marked.

use super::Word;
use super::index::Folded;
use super::rank::find_matches;

/// Approximate length of a snippet, in characters.
const CHARS: usize = 180;
/// Characters before the first match.
const CHARS_BEFORE: usize = 50;

/// A part of a snippet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) text: String,
    /// Whether it matches the query.
    pub(crate) marked: bool,
}

/// Returns the text around the first match, or the beginning of the text without a match.
pub(super) fn snippet(text: &Folded, words: &[Word]) -> Vec<Piece> {
    let mut marks: Vec<(usize, usize)> = words
        .iter()
        .flat_map(|word| find_matches(text, word).map(|place| (place.at, place.end)))
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

/// Returns the range of bytes around a position, in whole words.
fn window(text: &str, around: usize) -> (usize, usize) {
    let from = text[..around].char_indices().rev().nth(CHARS_BEFORE).map_or(0, |(at, _)| at);
    // Omit a cut word at the beginning, unless it is the match.
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
