//! Searches the documentation for sections that contain all words, and returns the best ones first.
//! The index stays in memory while searches arrive.
//!
//! `section` splits documents, `index` keeps the sections and ranks them, `query` (with `synonyms`) is
//! what a visitor searches for, and `snippet` is the part of a section that matches. `words` splits
//! texts for all of them.

mod index;
mod query;
mod section;
mod snippet;
mod synonyms;
mod words;

#[cfg(test)]
mod tests;

use serde_json::{Value, json};

pub(super) use self::index::Index;
pub(super) use self::query::QUERY_CHARS_MAX;
pub(super) use self::snippet::Piece;

/// Maximum number of results.
const HITS_MAX: usize = 30;
/// Maximum number of results from one document. The others are near them.
const HITS_OF_ONE_MAX: usize = 6;

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
    pub(super) title: String,
    /// Heading, empty at the beginning of the document.
    pub(super) heading: String,
    pub(super) snippet: Vec<Piece>,
}

impl SearchResults {
    /// Returns the results as JSON for the script that searches during typing.
    pub(super) fn json(&self) -> Value {
        let piece = |piece: &Piece| json!({ "text": piece.text, "marked": piece.marked });
        let hit = |hit: &Hit| {
            json!({
                "address": hit.address, "title": hit.title, "heading": hit.heading,
                "snippet": hit.snippet.iter().map(piece).collect::<Vec<_>>(),
            })
        };
        let hits: Vec<_> = self.hits.iter().map(hit).collect();
        json!({ "query": self.query, "total": self.total, "hits": hits })
    }
}
