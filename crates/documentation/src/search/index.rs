//! The search index: all sections, and SQLite's full-text index (FTS5) of their words in memory. FTS5
//! splits texts into words, finds words by their beginning, and scores sections by BM25.

use std::cmp::Ordering;
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, params};

use super::query::{Expressions, Query};
use super::section::{Section, sections};
use super::snippet::snippet;
use super::words::{joined_identifier, split_identifiers};
use super::{HITS_MAX, HITS_OF_ONE_MAX, Hit, SearchResults};
use crate::catalog;
use crate::document::Document;

/// The row number is the position in `Index::sections`. FTS5 stores no texts (`content = ''`), and
/// has lists of the words that begin with the same one to three letters (`prefix`).
const TABLE: &str = "CREATE VIRTUAL TABLE sections USING fts5(
    title, heading, names, text, joined,
    content = '', prefix = '1 2 3', tokenize = 'unicode61')";

/// Sections that match the first expression but not the second, each with its score: lower is better.
const MATCHES: &str = "SELECT rowid, bm25(sections, 3.0, 20.0, 16.0, 2.0, 1.0) FROM sections
    WHERE sections MATCH ?1
        AND rowid NOT IN (SELECT rowid FROM sections WHERE sections MATCH ?2)
    ORDER BY rowid";

/// All searchable sections.
#[derive(Debug)]
pub(crate) struct Index {
    /// In reading order.
    sections: Vec<Section>,
    /// Locked by one search at a time, as `Docs` runs them.
    connection: Mutex<Connection>,
}

/// A section that matches.
struct Match<'a> {
    section: &'a Section,
    /// Whether its heading equals the query.
    is_heading: bool,
    /// Whether one of its names equals the query.
    is_name: bool,
    /// Score by the weights of the columns. Lower is better.
    score: f64,
}

impl Index {
    /// Builds the index of all documents.
    pub(crate) fn for_documentation() -> Self {
        Self::from_documents(catalog::documents())
    }

    pub(super) fn from_documents<'a>(documents: impl Iterator<Item = &'a Document>) -> Self {
        let sections: Vec<Section> = documents.flat_map(sections).collect();
        let connection =
            filled(&sections).expect("the statements are constant, and memory has no I/O errors");
        Self { sections, connection: Mutex::new(connection) }
    }

    /// Returns the best sections for a query.
    pub(crate) fn search(&self, written: &str) -> SearchResults {
        let query = Query::parse(written);
        let matches = query.expressions().map(|expressions| self.matches(&query, &expressions));
        let mut matches = matches
            .transpose()
            .expect("quoted terms are a valid expression, and memory has no I/O errors")
            .unwrap_or_default();
        matches.sort_by(Match::compare);
        let hit = |section: &Section| Hit {
            address: section.address.clone(),
            title: section.title.clone(),
            heading: section.heading.clone(),
            snippet: snippet(&section.text, &query.words),
        };
        let hits = best(&matches).into_iter().map(hit).collect();
        SearchResults { total: matches.len(), hits, query: query.written }
    }

    /// Returns all matching sections in reading order.
    fn matches(
        &self,
        query: &Query,
        expressions: &Expressions,
    ) -> rusqlite::Result<Vec<Match<'_>>> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let mut statement = connection.prepare_cached(MATCHES)?;
        let mut rows = statement.query(params![expressions.included, expressions.excluded])?;
        let mut matches = Vec::new();
        while let Some(row) = rows.next()? {
            let section = &self.sections[row.get::<_, u32>(0)? as usize];
            matches.push(Match {
                section,
                is_heading: equals(section.shown_heading(), &query.joined),
                is_name: section.names.iter().any(|name| equals(name, &query.joined)),
                score: row.get(1)?,
            });
        }
        Ok(matches)
    }
}

impl Match<'_> {
    /// Compares for the order of the results.
    fn compare(&self, other: &Self) -> Ordering {
        let by_equality = (other.is_heading, other.is_name).cmp(&(self.is_heading, self.is_name));
        by_equality.then(self.score.total_cmp(&other.score))
    }
}

/// Returns a new database with these sections.
fn filled(sections: &[Section]) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    connection.execute_batch(TABLE)?;
    let transaction = connection.transaction()?;
    let mut insert = transaction.prepare(
        "INSERT INTO sections (rowid, title, heading, names, text, joined) VALUES (?, ?, ?, ?, ?, ?)",
    )?;
    for (at, section) in (0_u32..).zip(sections) {
        insert.execute(params![
            at,
            searchable(&section.title),
            searchable(section.shown_heading()),
            searchable(&section.names.join(" ")),
            split_identifiers(&section.text),
            joined(&section.text),
        ])?;
    }
    drop(insert);
    transaction.commit()?;
    Ok(connection)
}

/// Returns a text with its identifiers as single words behind it.
fn searchable(text: &str) -> String {
    format!("{} {}", split_identifiers(text), joined(text))
}

/// Returns the identifiers of several words as single words: `listmonitors`, `degradedat`.
fn joined(text: &str) -> String {
    let is_mark = |letter: char| !letter.is_alphanumeric() && letter != '_';
    let identifiers = text.split(is_mark).filter_map(joined_identifier);
    identifiers.collect::<Vec<_>>().join(" ")
}

/// Returns the sections to show, of all in order: a limited number of each document.
fn best<'a>(matches: &[Match<'a>]) -> Vec<&'a Section> {
    let mut best: Vec<&Section> = Vec::new();
    for section in matches.iter().map(|it| it.section) {
        // Compare addresses: titles may repeat.
        let same_page = best.iter().filter(|it| page(&it.address) == page(&section.address));
        if same_page.count() < HITS_OF_ONE_MAX {
            best.push(section);
        }
        if best.len() == HITS_MAX {
            break;
        }
    }
    best
}

/// Returns whether a text equals the joined words of a query.
fn equals(text: &str, joined: &str) -> bool {
    let letters = text.chars().filter(|letter| !letter.is_whitespace());
    letters.flat_map(char::to_lowercase).eq(joined.chars())
}

/// Returns the address without its fragment.
fn page(address: &str) -> &str {
    address.split_once('#').map_or(address, |(page, _)| page)
}
