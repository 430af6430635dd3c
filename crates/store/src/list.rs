//! Lists: the page that a caller requests, and the rows that were read for it.

use std::fmt::Display;

use rules::MonitorId;

use crate::StoreError;
use crate::db::Row;
use crate::quarantine::{Quarantine, row_key};
use crate::row::to_count;

/// Requested page of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page<Id = MonitorId> {
    /// Maximum number of rows.
    pub limit: u32,
    /// Number of rows to skip.
    pub offset: u32,
    /// Only those that the list has after this one: older ones.
    pub after: Option<Id>,
}

impl<Id> Page<Id> {
    /// Requests the whole list.
    pub const fn all() -> Self {
        Self { limit: u32::MAX, offset: 0, after: None }
    }
}

impl<Id: Display> Page<Id> {
    /// Returns the text that the ids of this part sort before: newest first, an id after another is
    /// a smaller one. Without a bound it is a text that sorts after every id.
    pub(crate) fn before(&self) -> String {
        self.after.as_ref().map_or_else(|| "~".to_owned(), Id::to_string)
    }
}

/// A part of a list, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<T> {
    /// The readable rows of this part.
    pub rows: Vec<T>,
    /// Keys of the rows of this part that cannot be read.
    pub omitted: Vec<String>,
    /// Length of the whole list, unreadable rows included.
    pub total: u32,
}

impl<T> Listed<T> {
    /// Reads the rows of a page. The first column of each row is its key in the table. `total` is
    /// the count from the database.
    pub(crate) fn from_rows(
        (quarantine, table): (&Quarantine, &'static str),
        rows: &[Row],
        total: Option<i64>,
        read: impl Fn(&Row) -> Result<T, StoreError>,
    ) -> Result<Self, StoreError> {
        let (mut found, mut omitted) = (Vec::with_capacity(rows.len()), Vec::new());
        for row in rows {
            match quarantine.readable(table, || row_key(row), read(row))? {
                Some(read) => found.push(read),
                None => omitted.push(row_key(row)),
            }
        }
        Ok(Self { rows: found, omitted, total: to_count(total) })
    }
}
