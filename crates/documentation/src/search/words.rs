//! Splits texts into the words that FTS5 finds in them, and identifiers into their words.

use std::ops::Range;

/// Invisible character that FTS5 takes for a space: it separates the words of an identifier.
const SEPARATOR: char = '\u{200b}';

/// Words that most sections contain. A query ignores them if it has others.
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "for", "from", "how", "i", "in",
    "is", "it", "my", "of", "on", "or", "that", "the", "this", "to", "what", "when", "where",
    "with", "you", "your",
];

/// Returns whether a word in lower case is a stop word.
pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word)
}

/// Returns the positions of the words of a text, in bytes. Identifiers have several: `Create` and
/// `Http` in `CreateHttp`, `base` and `url` in `base_url`.
pub(super) fn word_positions(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut letters = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, mut last) = letters.find(|(_, letter)| letter.is_alphanumeric())?;
        let continues = |last, next: char| next.is_alphanumeric() && !begins_word(last, next);
        let mut end = start + last.len_utf8();
        while let Some((at, next)) = letters.next_if(|(_, next)| continues(last, *next)) {
            (end, last) = (at + next.len_utf8(), next);
        }
        Some(start..end)
    })
}

/// Returns a text with a separator between the words of each identifier: `Create`, `Http` and `Monitor`
/// in `CreateHttpMonitor`. FTS5 separates those of `base_url` itself.
pub(super) fn split_identifiers(text: &str) -> String {
    let mut split = String::with_capacity(text.len());
    for letter in text.chars() {
        if split.chars().next_back().is_some_and(|last| begins_word(last, letter)) {
            split.push(SEPARATOR);
        }
        split.push(letter);
    }
    split
}

/// Returns an identifier of several words as one word, or `None` for other words.
pub(super) fn joined_identifier(word: &str) -> Option<String> {
    let has_several = word.contains('_') || split_identifiers(word).contains(SEPARATOR);
    has_several.then(|| word.replace('_', "").to_lowercase())
}

/// Returns whether a letter after another begins a new word of an identifier.
fn begins_word(last: char, next: char) -> bool {
    last.is_lowercase() && next.is_uppercase()
}
