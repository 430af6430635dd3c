//! Reading columns: texts and integers of a row as the types of `rules`.

use rules::{DomainName, Timestamp};

use crate::StoreError;
use crate::db::Row;
use crate::quarantine::Quarantine;

/// A part of a list, in the order of identifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<T> {
    /// What stands in this part.
    pub rows: Vec<T>,
    /// How many more there are in this part that cannot be read.
    pub left_out: usize,
    /// How many the whole list has.
    pub total: u32,
}

impl<T> Listed<T> {
    /// Reads the rows of a part of this table, whose first column is its key; `total` as the database
    /// counted.
    pub(crate) fn of(
        (quarantine, table): (&Quarantine, &'static str),
        rows: &[Row],
        total: Option<i64>,
        read: impl Fn(&Row) -> Result<T, StoreError>,
    ) -> Result<Self, StoreError> {
        let all = rows.len();
        let rows = quarantine.sift_all(table, rows, read)?;
        let left_out = all - rows.len();
        Ok(Self { rows, left_out, total: counted(total) })
    }
}

/// How many a whole list has, as the database counted.
pub(crate) fn counted(total: Option<i64>) -> u32 {
    u32::try_from(total.unwrap_or_default()).unwrap_or(u32::MAX)
}

/// The identifier or word in a column.
pub(crate) fn id<T, E: ToString>(
    row: &Row,
    column: usize,
    parse: fn(&str) -> Result<T, E>,
) -> Result<T, StoreError> {
    let text: &str = row.try_get(column)?;
    parse(text).map_err(|why| StoreError::corrupt(format!("column {column}"), why.to_string()))
}

/// The domain name in a column.
pub(crate) fn domain(row: &Row, column: usize) -> Result<DomainName, StoreError> {
    id(row, column, |text| DomainName::parse(text).map_err(|refusal| refusal.0))
}

/// The word in a column that may be empty.
pub(crate) fn optional<T, E: ToString>(
    row: &Row,
    column: usize,
    parse: fn(&str) -> Result<T, E>,
) -> Result<Option<T>, StoreError> {
    let text: Option<&str> = row.try_get(column)?;
    text.map(parse)
        .transpose()
        .map_err(|why| StoreError::corrupt(format!("column {column}"), why.to_string()))
}

/// The instant in a column.
pub(crate) fn instant(row: &Row, column: usize) -> Result<Timestamp, StoreError> {
    Ok(Timestamp::from_millis(row.try_get(column)?))
}

/// The instant in a column that may be empty.
pub(crate) fn maybe_instant(row: &Row, column: usize) -> Result<Option<Timestamp>, StoreError> {
    let millis: Option<i64> = row.try_get(column)?;
    Ok(millis.map(Timestamp::from_millis))
}

/// The number in a column, as the narrower type it was written from.
pub(crate) fn narrow<T: TryFrom<i64>>(row: &Row, column: usize) -> Result<T, StoreError> {
    let wide: i64 = row.try_get(column)?;
    T::try_from(wide).map_err(|_| {
        StoreError::corrupt(format!("column {column}"), format!("`{wide}` is out of range"))
    })
}
