//! Parses a query, and writes it in the syntax of FTS5. The number of its words, terms and phrases is
//! limited, because FTS5 reads the index once for each of them.

use super::synonyms;
use super::words::{is_stop_word, word_positions};

/// Maximum number of characters of a query. The rest is ignored.
pub(crate) const QUERY_CHARS_MAX: usize = 200;
/// Maximum number of words of a query. The rest is ignored.
pub(super) const WORDS_MAX: usize = 8;
/// Maximum number of terms of a query: identifiers have several. The rest is ignored.
pub(super) const TERMS_MAX: usize = 16;
/// Maximum number of synonyms that are searched for a query. The rest is ignored.
pub(super) const SYNONYMS_MAX: usize = 6;

/// A parsed query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Query {
    /// Original text, without spaces around it.
    pub(super) written: String,
    /// All words without spaces between them, in lower case, for comparisons with whole headings.
    pub(super) joined: String,
    /// Each word once, without stop words if there are others.
    pub(super) words: Vec<QueryWord>,
    /// All terms in their order. Sections in which they are adjacent count more.
    phrase: Option<Vec<String>>,
}

/// A word of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct QueryWord {
    /// The word and its synonyms, each as terms in lower case.
    pub(super) spellings: Vec<Vec<String>>,
    /// Whether it also matches the beginning of longer words.
    pub(super) is_prefix: bool,
}

/// A query in the syntax of FTS5.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expressions {
    /// Matches the sections with all words.
    pub(super) included: String,
    /// Matches the sections that have the words only in the title of their document.
    pub(super) excluded: String,
}

impl Query {
    pub(super) fn parse(written: &str) -> Self {
        let written: String = written.trim().chars().take(QUERY_CHARS_MAX).collect();
        let is_mark = |letter: char| !letter.is_alphanumeric() && letter != '_';
        let is_space = |letter: char| letter.is_whitespace() || letter.is_control();
        let words = written.split(is_space).map(|word| word.trim_matches(is_mark));
        let joined = words.clone().collect::<String>().to_lowercase();
        let all: Vec<Vec<String>> = words.map(split_terms).filter(|it| !it.is_empty()).collect();
        let words = searched(&all);
        let terms = all.concat();
        let phrase = (words.len() > 1 && terms.len() <= TERMS_MAX).then_some(terms);
        Self { written, joined, words, phrase }
    }

    /// Returns the expressions that match sections, or `None` without a word. One of the words must be
    /// outside of the document's title: only the title's own section is about it alone.
    pub(super) fn expressions(&self) -> Option<Expressions> {
        let each: Vec<String> = self.words.iter().map(QueryWord::expression).collect();
        let (all, any) = (each.join(" AND "), each.join(" OR "));
        let phrase = self.phrase.as_ref().map(|terms| format!(" OR {}", quoted(terms)));
        let included = format!("({all}){}", phrase.unwrap_or_default());
        let excluded = format!("({{title}}: ({all})) NOT {{heading names text joined}}: ({any})");
        (!each.is_empty()).then_some(Expressions { included, excluded })
    }
}

impl QueryWord {
    /// Returns the phrases of the word: the word itself, which counts more, as a prefix, and synonyms.
    fn expression(&self) -> String {
        let prefix = |terms: &Vec<String>| format!("{} *", quoted(terms));
        let mut phrases = vec![quoted(&self.spellings[0])];
        phrases.extend(self.spellings.iter().filter(|_| self.is_prefix).map(prefix));
        format!("({})", phrases.join(" OR "))
    }
}

/// Returns the words that are searched, of all words of a query.
fn searched(all: &[Vec<String>]) -> Vec<QueryWord> {
    let is_stop = |terms: &Vec<String>| matches!(terms.as_slice(), [word] if is_stop_word(word));
    let only_stop_words = all.iter().all(is_stop);
    let (mut terms_left, mut synonyms_left) = (TERMS_MAX, SYNONYMS_MAX);
    let mut words: Vec<QueryWord> = Vec::new();
    for terms in all.iter().filter(|terms| only_stop_words || !is_stop(terms)) {
        let terms = &terms[..terms.len().min(terms_left)];
        let is_repeated = words.iter().any(|it| it.spellings[0] == terms);
        if is_repeated || terms.is_empty() || words.len() == WORDS_MAX {
            continue;
        }
        let synonyms = synonyms::for_word(&terms.concat()).iter().take(synonyms_left);
        let synonyms: Vec<Vec<String>> = synonyms.map(|word| split_terms(word)).collect();
        (terms_left, synonyms_left) = (terms_left - terms.len(), synonyms_left - synonyms.len());
        // Many words begin with the same letter, or with a stop word.
        let is_prefix = !only_stop_words && terms.concat().chars().nth(1).is_some();
        let spellings = [terms.to_vec()].into_iter().chain(synonyms).collect();
        words.push(QueryWord { spellings, is_prefix });
    }
    // A visitor may still be typing the last word.
    if let Some(last) = words.last_mut() {
        last.is_prefix = true;
    }
    words
}

/// Returns the terms of a word in lower case: `base` and `url` of `base_url`.
fn split_terms(word: &str) -> Vec<String> {
    word_positions(word).map(|at| word[at].to_lowercase()).collect()
}

/// Returns the phrase of adjacent terms. Terms contain no quotes.
fn quoted(terms: &[String]) -> String {
    format!("\"{}\"", terms.join(" "))
}
