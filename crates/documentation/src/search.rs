//! Searches the documentation for sections that contain all words, and returns the best ones first.
//!
//! Each search scans the whole text, which takes about a millisecond. The text stays in memory while
//! searches arrive.

mod index;
mod rank;
mod snippet;
mod synonyms;

#[cfg(test)]
mod tests;

use serde_json::{Value, json};

pub(super) use self::index::Index;
pub(super) use self::snippet::Piece;

/// Maximum number of characters of a query. The rest is ignored.
pub(super) const QUERY_CHARS_MAX: usize = 200;
/// Maximum number of words of a query. The rest is ignored.
const WORDS_MAX: usize = 8;
/// Maximum number of results.
const HITS_MAX: usize = 30;
/// Maximum number of results from one document. The others are near them.
const HITS_OF_ONE_MAX: usize = 6;

/// A parsed query.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Query {
    /// Original text, without spaces around it.
    written: String,
    words: Vec<Word>,
}

/// A word of a query, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Word {
    /// Spelling in the query, then its variants in Terraform and JSON (`degraded_at` and `degradedat`),
    /// then synonyms.
    spellings: Vec<String>,
}

/// The results of a search.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SearchResults {
    /// Original text of the query.
    pub(super) query: String,
    /// Number of matching sections, which may exceed the number of results.
    pub(super) total: usize,
    pub(super) hits: Vec<Hit>,
}

/// A matching section.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// Address with its anchor.
    pub(super) address: String,
    /// Title of its document.
    pub(super) document: String,
    /// Heading, empty at the beginning of the document.
    pub(super) section: String,
    pub(super) snippet: Vec<Piece>,
}

impl Query {
    fn parse(written: &str) -> Self {
        let written: String = written.trim().chars().take(QUERY_CHARS_MAX).collect();
        let bare = |word: &str| {
            let is_mark = |letter: char| !letter.is_alphanumeric() && letter != '_';
            word.trim_matches(is_mark).to_owned()
        };
        let words = written.split_whitespace().map(bare).filter(|word| !word.is_empty());
        Self { words: words.take(WORDS_MAX).map(|word| Word::new(&word)).collect(), written }
    }

    /// Returns the words as in the query, in lower case.
    fn written_words(&self) -> Vec<&str> {
        self.words.iter().map(|word| word.spellings[0].as_str()).collect()
    }
}

impl Word {
    fn new(written: &str) -> Self {
        let mut with_underscores = String::with_capacity(written.len() + 4);
        for letter in written.chars() {
            let is_after_small = with_underscores.ends_with(|it: char| it.is_ascii_lowercase());
            if letter.is_ascii_uppercase() && is_after_small {
                with_underscores.push('_');
            }
            with_underscores.push(letter);
        }
        let all = [written.to_owned(), with_underscores, written.replace('_', "")];
        let ours =
            synonyms::for_word(&written.to_ascii_lowercase()).iter().map(|it| (*it).to_owned());
        let mut spellings: Vec<String> = Vec::new();
        for spelling in all.map(|it| it.to_ascii_lowercase()).into_iter().chain(ours) {
            if !spelling.is_empty() && !spellings.contains(&spelling) {
                spellings.push(spelling);
            }
        }
        Self { spellings }
    }
}

impl Index {
    /// Returns the best sections for a query.
    pub(super) fn search(&self, written: &str) -> SearchResults {
        let query = Query::parse(written);
        let mut ranked: Vec<(u32, usize)> = self
            .sections
            .iter()
            .enumerate()
            .filter_map(|(at, section)| Some((rank::score(section, &query)?, at)))
            .collect();
        // Equal scores keep the reading order.
        ranked.sort_by_key(|(score, at)| (std::cmp::Reverse(*score), *at));
        let total = ranked.len();
        let mut hits: Vec<Hit> = Vec::new();
        for section in ranked.into_iter().map(|(_, at)| &self.sections[at]) {
            // Compare addresses: titles may repeat.
            let is_of_it = |hit: &&Hit| page(&hit.address) == page(&section.address);
            let of_one = hits.iter().filter(is_of_it).count();
            if of_one < HITS_OF_ONE_MAX {
                hits.push(Hit {
                    address: section.address.clone(),
                    document: section.title.clone(),
                    section: section.heading.original.clone(),
                    snippet: snippet::snippet(&section.text, &query.words),
                });
            }
            if hits.len() == HITS_MAX {
                break;
            }
        }
        SearchResults { query: query.written, total, hits }
    }
}

/// Returns the address without its fragment.
fn page(address: &str) -> &str {
    address.split_once('#').map_or(address, |(page, _)| page)
}

impl SearchResults {
    /// Returns the results as JSON for the script that searches during typing.
    pub(super) fn json(&self) -> Value {
        let piece = |piece: &Piece| json!({ "text": piece.text, "marked": piece.marked });
        let hit = |hit: &Hit| {
            json!({
                "address": hit.address, "document": hit.document, "section": hit.section,
                "snippet": hit.snippet.iter().map(piece).collect::<Vec<_>>(),
            })
        };
        let hits: Vec<_> = self.hits.iter().map(hit).collect();
        json!({ "query": self.query, "total": self.total, "hits": hits })
    }
}
