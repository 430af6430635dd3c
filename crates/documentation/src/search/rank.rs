//! Scores how well a section matches a query, by the place of each word and by whole words or prefixes.

use super::index::{Folded, Section};
use super::{Query, Word};

/// Scores of a word in one place: as a whole word, and as a prefix.
struct Worth {
    whole: u32,
    begins: u32,
}

const IN_TITLE: Worth = Worth { whole: 14, begins: 7 };
const IN_HEADING: Worth = Worth { whole: 30, begins: 15 };
const IN_NAMES: Worth = Worth { whole: 24, begins: 10 };
const IN_TEXT: Worth = Worth { whole: 4, begins: 2 };
/// Score of a repetition in the text, and the number of repetitions that count.
const REPEAT_BONUS: u32 = 1;
const REPEATS_MAX: usize = 4;
/// Score if the query equals the heading, or one of the names, even if written as one word.
const IS_HEADING: u32 = 120;
const IS_NAME: u32 = 60;
/// Scores of adjacent words in the heading and in the text.
const PHRASE_IN_HEADING: u32 = 30;
const PHRASE_IN_TEXT: u32 = 8;

/// A match of a word in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WordMatch {
    pub(super) at: usize,
    pub(super) end: usize,
    /// Whether the match is a whole word, not a prefix.
    pub(super) is_whole: bool,
}

/// Returns the score of a section, or `None` if a word is missing.
pub(super) fn score(section: &Section, query: &Query) -> Option<u32> {
    if query.words.is_empty() {
        return None;
    }
    let heading =
        if section.heading.original.is_empty() { &section.folded_title } else { &section.heading };
    let (mut sum, mut is_own) = (0, false);
    for word in &query.words {
        let in_names = section.names.iter().map(|name| worth(name, word, &IN_NAMES)).max();
        let own = worth(heading, word, &IN_HEADING)
            + in_names.unwrap_or_default()
            + worth_of_text(&section.text, word);
        let all = own + worth(&section.folded_title, word, &IN_TITLE);
        if all == 0 {
            return None;
        }
        sum += all;
        is_own |= own > 0;
    }
    // A section that matches only by its document's title is omitted; the title's own section matches.
    is_own.then(|| sum + bonus(section, heading, query))
}

/// Returns the score beyond that of the single words.
fn bonus(section: &Section, heading: &Folded, query: &Query) -> u32 {
    let words = query.written_words();
    let (joined, phrase) = (words.concat(), words.join(" "));
    let is = |folded: &Folded| {
        let letters = folded.small.chars().filter(|letter| !letter.is_whitespace());
        folded.small == phrase || letters.eq(joined.chars())
    };
    let of_heading = if is(heading) {
        IS_HEADING
    } else if words.len() > 1 && heading.small.contains(&phrase) {
        PHRASE_IN_HEADING
    } else {
        0
    };
    let of_names = if section.names.iter().any(is) { IS_NAME } else { 0 };
    let is_in_text = words.len() > 1 && section.text.small.contains(&phrase);
    of_heading + of_names + if is_in_text { PHRASE_IN_TEXT } else { 0 }
}

fn worth(folded: &Folded, word: &Word, worth: &Worth) -> u32 {
    find_matches(folded, word)
        .map(|it| if it.is_whole { worth.whole } else { worth.begins })
        .max()
        .unwrap_or_default()
}

fn worth_of_text(text: &Folded, word: &Word) -> u32 {
    let more = find_matches(text, word).skip(1).take(REPEATS_MAX).count() as u32 * REPEAT_BONUS;
    match worth(text, word, &IN_TEXT) {
        0 => 0,
        once => once + more,
    }
}

/// Returns the matches of a word in all its spellings.
pub(super) fn find_matches<'a>(
    folded: &'a Folded,
    word: &'a Word,
) -> impl Iterator<Item = WordMatch> + 'a {
    word.spellings.iter().flat_map(|spelling| find_spelling(folded, spelling))
}

/// Returns the matches of one spelling. Parts of names are words too: `Http` in `CreateHttpMonitor`,
/// `url` in `base_url`.
fn find_spelling<'a>(folded: &'a Folded, word: &'a str) -> impl Iterator<Item = WordMatch> + 'a {
    folded.small.match_indices(word).filter_map(move |(at, _)| {
        let before = folded.original[..at].chars().next_back();
        let here = folded.original[at..].chars().next();
        let after = folded.original[at + word.len()..].chars().next();
        let in_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let is_hump =
            before.is_some_and(char::is_lowercase) && here.is_some_and(char::is_uppercase);
        let begins = is_hump || before.is_none_or(|letter| !letter.is_alphanumeric());
        let is_whole = !before.is_some_and(in_word) && !after.is_some_and(in_word);
        begins.then_some(WordMatch { at, end: at + word.len(), is_whole })
    })
}
