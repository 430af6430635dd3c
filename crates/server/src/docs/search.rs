//! Search in the documentation: sections in which all words occur, the best first. Everything is looked
//! through for each search, which takes about a millisecond; the text lies in memory while somebody searches.

mod index;
mod rank;
mod snippet;
mod synonyms;

#[cfg(test)]
mod tests;

use serde_json::{Value, json};

pub(super) use self::index::Index;
pub(super) use self::snippet::Piece;

/// Letters of a search that are looked at.
pub(super) const QUERY_CHARS_MAX: usize = 200;
/// Words of a search that are looked at.
const WORDS_MAX: usize = 8;
/// Sections that are shown.
const HITS_MAX: usize = 30;
/// Sections of one document that are shown: the others are near them.
const HITS_OF_ONE_MAX: usize = 6;

/// What is searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Query {
    /// As it was written, without spaces around it.
    written: String,
    /// Its words.
    words: Vec<Word>,
}

/// A word that is searched for, in small letters.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Word {
    /// As it is in Terraform and in JSON, `degraded_at` and `degradedat`, the written one first; then what
    /// else it is called.
    spellings: Vec<String>,
}

/// What was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// What was searched for, as it was written.
    pub(super) query: String,
    /// How many sections were found; fewer are shown where they are many.
    pub(super) total: usize,
    pub(super) hits: Vec<Hit>,
}

/// A section that was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// With its anchor.
    pub(super) address: String,
    /// The title of its document.
    pub(super) document: String,
    /// Its heading; nothing where it is the beginning of its document.
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
        Self { words: words.take(WORDS_MAX).map(|word| Word::of(&word)).collect(), written }
    }

    /// Its words as they were written, in small letters.
    fn written_words(&self) -> Vec<&str> {
        self.words.iter().map(|word| word.spellings[0].as_str()).collect()
    }
}

impl Word {
    fn of(written: &str) -> Self {
        let mut with_underscores = String::with_capacity(written.len() + 4);
        for letter in written.chars() {
            let is_after_small = with_underscores.ends_with(|it: char| it.is_ascii_lowercase());
            if letter.is_ascii_uppercase() && is_after_small {
                with_underscores.push('_');
            }
            with_underscores.push(letter);
        }
        let all = [written.to_owned(), with_underscores, written.replace('_', "")];
        let ours = synonyms::of(&written.to_ascii_lowercase()).iter().map(|it| (*it).to_owned());
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
    /// The best sections for what somebody wrote.
    pub(super) fn search(&self, written: &str) -> Found {
        let query = Query::parse(written);
        let mut ranked: Vec<(u32, usize)> = self
            .sections
            .iter()
            .enumerate()
            .filter_map(|(at, section)| Some((rank::score(section, &query)?, at)))
            .collect();
        // What is equally good stands in the order in which it is read.
        ranked.sort_by_key(|(score, at)| (std::cmp::Reverse(*score), *at));
        let total = ranked.len();
        let mut hits: Vec<Hit> = Vec::new();
        for section in ranked.into_iter().map(|(_, at)| &self.sections[at]) {
            // Titles need not differ, addresses do.
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
        Found { query: query.written, total, hits }
    }
}

/// Where the whole document is of which this is a place.
fn page(address: &str) -> &str {
    address.split_once('#').map_or(address, |(page, _)| page)
}

impl Found {
    /// For the script that shows what is found while somebody types.
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
