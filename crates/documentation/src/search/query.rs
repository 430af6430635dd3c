//! Parses a query, and writes it in the syntax of FTS5.

use super::synonyms;

/// Maximum number of characters of a query. The rest is ignored.
pub(crate) const QUERY_CHARS_MAX: usize = 200;
/// Maximum number of words of a query. The rest is ignored.
pub(super) const WORDS_MAX: usize = 8;
/// Invisible character that FTS5 takes for a space: it separates the words of an identifier.
const SEPARATOR: char = '\u{200b}';

/// A parsed query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Query {
    /// Original text, without spaces around it.
    pub(super) written: String,
    pub(super) words: Vec<String>,
}

impl Query {
    pub(super) fn parse(written: &str) -> Self {
        let written: String = written.trim().chars().take(QUERY_CHARS_MAX).collect();
        let is_mark = |letter: char| !letter.is_alphanumeric() && letter != '_';
        let is_space = |letter: char| letter.is_whitespace() || letter.is_control();
        let words = written.split(is_space).map(|word| word.trim_matches(is_mark));
        let words = words.filter(|word| !word.is_empty()).take(WORDS_MAX);
        Self { words: words.map(str::to_owned).collect(), written }
    }

    /// Returns the expression that finds sections with all words, or `None` without a word. One of the
    /// words must be outside of the document's title: only the title's own section is about it alone.
    /// Adjacent words count more.
    pub(super) fn expression(&self) -> Option<String> {
        let words: Vec<String> = self.words.iter().map(|word| alternatives(word)).collect();
        let (all, any) = (words.join(" AND "), words.join(" OR "));
        let phrase = quoted(&self.words.join(" "));
        let expression = format!("{all} AND {{heading names text joined}}: ({any} OR {phrase})");
        (!words.is_empty()).then_some(expression)
    }
}

/// Returns the expression of a word: as a whole, which counts more, as a beginning, or as a synonym.
fn alternatives(word: &str) -> String {
    let word_itself = quoted(word);
    let ours =
        synonyms::for_word(&word.to_lowercase()).iter().map(|it| format!("{} *", quoted(it)));
    let all = [word_itself.clone(), format!("{word_itself} *")].into_iter().chain(ours);
    format!("({})", all.collect::<Vec<_>>().join(" OR "))
}

fn quoted(word: &str) -> String {
    format!("\"{}\"", split_words(word).replace('"', " "))
}

/// Returns a text with a separator between the words of each identifier: `Create`, `Http` and `Monitor`
/// in `CreateHttpMonitor`. FTS5 separates those of `base_url` itself.
pub(super) fn split_words(text: &str) -> String {
    let mut split = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_uppercase() && split.ends_with(char::is_lowercase) {
            split.push(SEPARATOR);
        }
        split.push(letter);
    }
    split
}

/// Returns the text without the separators.
pub(super) fn unsplit_words(text: &str) -> String {
    text.replace(SEPARATOR, "")
}

/// Returns an identifier of several words as one word, or `None` for other words.
pub(super) fn identifier(word: &str) -> Option<String> {
    let has_several = word.contains('_') || split_words(word).contains(SEPARATOR);
    has_several.then(|| word.replace('_', "").to_lowercase())
}
