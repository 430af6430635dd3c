//! The search index: a table of all sections in memory, with SQLite's full-text index (FTS5). SQLite
//! splits texts into words, finds words by their beginning, and ranks sections by BM25.

use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, params};

use super::query::{Query, identifier, split_words};
use super::section::{Section, sections};
use super::snippet::{CUT, MARK_BEGIN, MARK_END, Piece, pieces};
use super::{HITS_MAX, HITS_OF_ONE_MAX, Hit, SearchResults};
use crate::catalog;
use crate::document::Document;

/// The first columns are searched. The others are returned, or compared with the whole query.
const TABLE: &str = "CREATE VIRTUAL TABLE sections USING fts5(
    title, heading, names, text, joined,
    address UNINDEXED, document UNINDEXED, section UNINDEXED,
    whole_heading UNINDEXED, whole_names UNINDEXED,
    tokenize = 'unicode61')";

/// Sections that match, best first: by their heading or a name of theirs that equals the query, then by
/// the weights of the searched columns. Equal ones keep the reading order.
const MATCHES: &str = "SELECT rowid, address, document, section FROM sections
    WHERE sections MATCH ?1
    ORDER BY whole_heading = ?2 DESC, instr(whole_names, ?3) > 0 DESC,
        bm25(sections, 3.0, 10.0, 8.0, 1.0, 0.5), rowid";

/// Approximate length of a snippet, in words.
const SNIPPET_WORDS: u8 = 26;

/// All searchable sections.
#[derive(Debug)]
pub(crate) struct Index {
    connection: Mutex<Connection>,
}

impl Index {
    /// Builds the index of all documents.
    pub(crate) fn for_documentation() -> Self {
        Self::from_documents(catalog::documents())
    }

    pub(super) fn from_documents<'a>(documents: impl Iterator<Item = &'a Document>) -> Self {
        let connection = filled(documents.flat_map(sections)).expect("memory takes the index");
        Self { connection: Mutex::new(connection) }
    }

    /// Returns the best sections for a query.
    pub(crate) fn search(&self, written: &str) -> SearchResults {
        let query = Query::parse(written);
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let found = query.expression().map(|expression| find(&connection, &query, &expression));
        let (total, hits) = found.transpose().expect("queries are quoted").unwrap_or_default();
        SearchResults { query: query.written, total, hits }
    }
}

/// Returns a new database with these sections.
fn filled(sections: impl Iterator<Item = Section>) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    connection.execute_batch(TABLE)?;
    let transaction = connection.transaction()?;
    let mut insert =
        transaction.prepare("INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    for section in sections {
        let heading = if section.heading.is_empty() { &section.title } else { &section.heading };
        let whole_names: String = section.names.iter().map(|name| delimited(name)).collect();
        insert.execute(params![
            searchable(&section.title),
            searchable(heading),
            searchable(&section.names.join(" ")),
            split_words(&section.text),
            joined(&section.text),
            section.address,
            section.title,
            section.heading,
            whole(heading),
            whole_names,
        ])?;
    }
    drop(insert);
    transaction.commit()?;
    Ok(connection)
}

/// Returns a text with its identifiers as single words behind it.
fn searchable(text: &str) -> String {
    format!("{} {}", split_words(text), joined(text))
}

/// Returns the identifiers of several words as single words: `listmonitors`, `degradedat`.
fn joined(text: &str) -> String {
    let is_mark = |letter: char| !letter.is_alphanumeric() && letter != '_';
    let identifiers = text.split(is_mark).filter_map(identifier);
    identifiers.collect::<Vec<_>>().join(" ")
}

/// Returns a text in small letters without spaces, for comparisons with a whole query.
fn whole(text: &str) -> String {
    text.split_whitespace().collect::<String>().to_lowercase()
}

/// Returns a name for comparisons, so that it is not found as a part of another.
fn delimited(name: &str) -> String {
    format!("\n{}\n", whole(name))
}

/// Returns the number of matching sections and the best of them.
fn find(
    connection: &Connection,
    query: &Query,
    expression: &str,
) -> rusqlite::Result<(usize, Vec<Hit>)> {
    let mut matches = connection.prepare(MATCHES)?;
    let whole = whole(&query.words.concat());
    let mut rows = matches.query(params![expression, whole, delimited(&whole)])?;
    let (mut total, mut hits): (usize, Vec<Hit>) = (0, Vec::new());
    while let Some(row) = rows.next()? {
        total += 1;
        let address: String = row.get(1)?;
        // Compare addresses: titles may repeat.
        let of_one = hits.iter().filter(|hit| page(&hit.address) == page(&address)).count();
        if of_one < HITS_OF_ONE_MAX && hits.len() < HITS_MAX {
            let snippet = snippet(connection, expression, row.get(0)?)?;
            hits.push(Hit { address, document: row.get(2)?, section: row.get(3)?, snippet });
        }
    }
    Ok((total, hits))
}

/// Returns the part of a section's text that matches.
fn snippet(connection: &Connection, expression: &str, rowid: i64) -> rusqlite::Result<Vec<Piece>> {
    let mut cut = connection.prepare_cached(
        "SELECT snippet(sections, 3, ?3, ?4, ?5, ?6) FROM sections
            WHERE sections MATCH ?1 AND rowid = ?2",
    )?;
    let marks = [MARK_BEGIN, MARK_END, CUT].map(String::from);
    let values = params![expression, rowid, marks[0], marks[1], marks[2], SNIPPET_WORDS];
    cut.query_row(values, |row| row.get(0)).map(|cut: String| pieces(&cut))
}

/// Returns the address without its fragment.
fn page(address: &str) -> &str {
    address.split_once('#').map_or(address, |(page, _)| page)
}
