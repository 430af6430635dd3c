//! Cuts a snippet from the text of a section, with the words of the query marked.

use std::ops::Range;

use super::query::QueryWord;
use super::words::word_positions;

/// Approximate length of a snippet, in characters.
const SNIPPET_CHARS: usize = 180;
/// Maximum distance of words that fit into one snippet, in bytes. Most characters are one byte.
const NEAR_BYTES: usize = SNIPPET_CHARS - CHARS_BEFORE;
/// Characters before the first marked word.
const CHARS_BEFORE: usize = 50;
/// Maximum number of words of a text that are compared with the query. Later ones are not found.
pub(super) const WORDS_SCANNED_MAX: usize = 1_000;

/// A part of a snippet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) text: String,
    /// Whether it matches the query.
    pub(crate) marked: bool,
}

/// A word of a text that matches the query.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WordMatch {
    /// Position in the text, in bytes.
    bytes: Range<usize>,
    /// Number of the word in the query.
    word: usize,
}

/// Returns the first part of a text with the most words of the query, or its beginning without any.
pub(super) fn snippet(text: &str, words: &[QueryWord]) -> Vec<Piece> {
    let cut = window(text, densest(text, words).unwrap_or(0));
    let (shown, mut shown_to) = (&text[cut.clone()], 0);
    let mut pieces: Vec<Piece> = Vec::new();
    let mut push = |text: &str, marked| match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(last) if marked && last.marked => last.text.push_str(text),
        _ => pieces.push(Piece { text: text.to_owned(), marked }),
    };
    push(if cut.start > 0 { "… " } else { "" }, false);
    for WordMatch { bytes, .. } in matches(shown, words) {
        if bytes.start >= shown_to {
            push(&shown[shown_to..bytes.start], false);
            push(&shown[bytes.clone()], true);
            shown_to = bytes.end;
        }
    }
    push(shown[shown_to..].trim_end(), false);
    push(if cut.end < text.trim_end().len() { " …" } else { "" }, false);
    pieces
}

/// Returns the position, in bytes, where most words of the query are near each other. Stops at the
/// first place with all of them.
fn densest(text: &str, words: &[QueryWord]) -> Option<usize> {
    let mut near: Vec<WordMatch> = Vec::new();
    let mut best: Option<(usize, usize)> = None;
    for found in matches(text, words) {
        near.retain(|it| it.bytes.start + NEAR_BYTES >= found.bytes.end);
        near.push(found);
        let different =
            near.iter().fold(0_u32, |words, it| words | 1 << it.word).count_ones() as usize;
        if best.is_none_or(|(most, _)| different > most) {
            best = Some((different, near[0].bytes.start));
        }
        if different == words.len() {
            break;
        }
    }
    best.map(|(_, start)| start)
}

/// Returns the words of a text that match the query, in order.
fn matches(text: &str, words: &[QueryWord]) -> impl Iterator<Item = WordMatch> {
    let positions: Vec<Range<usize>> = word_positions(text).take(WORDS_SCANNED_MAX).collect();
    (0..positions.len()).filter_map(move |at| {
        let (word, length) = words.iter().enumerate().find_map(|(number, word)| {
            let matches =
                |terms: &&Vec<String>| matches_at(text, &positions[at..], terms, word.is_prefix);
            Some((number, word.spellings.iter().find(matches)?.len()))
        })?;
        Some(WordMatch { bytes: positions[at].start..positions[at + length - 1].end, word })
    })
}

/// Returns whether the words at these positions begin with the terms. `is_prefix`: the last word may be
/// longer than its term.
fn matches_at(text: &str, positions: &[Range<usize>], terms: &[String], is_prefix: bool) -> bool {
    positions.len() >= terms.len()
        && terms.iter().zip(positions).enumerate().all(|(at, (term, position))| {
            let may_be_longer = is_prefix && at + 1 == terms.len();
            let mut letters = text[position.clone()].chars().flat_map(char::to_lowercase);
            term.chars().all(|letter| letters.next() == Some(letter))
                && (may_be_longer || letters.next().is_none())
        })
}

/// Returns the range of bytes around a position, in whole words.
fn window(text: &str, around: usize) -> Range<usize> {
    let start = text[..around].char_indices().rev().nth(CHARS_BEFORE).map_or(0, |(at, _)| at);
    // Omit a cut word at the beginning, unless it is the match.
    let start = match text[start..around].find(' ') {
        _ if start == 0 => 0,
        Some(space) => start + space + 1,
        None => around,
    };
    let end = text[start..].char_indices().nth(SNIPPET_CHARS).map(|(at, _)| start + at);
    let Some(end) = end else { return start..text.len() };
    let last_space = text[start..end].rfind(' ').map(|space| start + space);
    start..last_space.filter(|space| *space > around).unwrap_or(end)
}
