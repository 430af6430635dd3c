//! Reads columns of a row as the types of `rules`.

use rules::{DomainName, Timestamp};

use crate::StoreError;
use crate::db::Row;

/// Converts a count from the database.
pub(crate) fn to_count(total: Option<i64>) -> u32 {
    u32::try_from(total.unwrap_or_default()).unwrap_or(u32::MAX)
}

/// Reads an identifier or an enumeration value.
pub(crate) fn id<T, E: ToString>(
    row: &Row,
    column: &str,
    parse: fn(&str) -> Result<T, E>,
) -> Result<T, StoreError> {
    let text: &str = row.try_get(column)?;
    parse(text).map_err(|why| StoreError::corrupt(format!("column `{column}`"), why.to_string()))
}

/// Reads a domain name.
pub(crate) fn domain(row: &Row, column: &str) -> Result<DomainName, StoreError> {
    id(row, column, |text| DomainName::parse(text).map_err(|refusal| refusal.0))
}

/// Reads an enumeration value from a nullable column.
pub(crate) fn optional<T, E: ToString>(
    row: &Row,
    column: &str,
    parse: fn(&str) -> Result<T, E>,
) -> Result<Option<T>, StoreError> {
    let text: Option<&str> = row.try_get(column)?;
    text.map(parse)
        .transpose()
        .map_err(|why| StoreError::corrupt(format!("column `{column}`"), why.to_string()))
}

/// Reads a timestamp.
pub(crate) fn instant(row: &Row, column: &str) -> Result<Timestamp, StoreError> {
    Ok(Timestamp::from_millis(row.try_get(column)?))
}

/// Reads a timestamp from a nullable column.
pub(crate) fn optional_instant(row: &Row, column: &str) -> Result<Option<Timestamp>, StoreError> {
    let millis: Option<i64> = row.try_get(column)?;
    Ok(millis.map(Timestamp::from_millis))
}

/// Reads an integer as the narrower type it was written from.
pub(crate) fn narrow<T: TryFrom<i64>>(row: &Row, column: &str) -> Result<T, StoreError> {
    to_narrow(column, row.try_get(column)?)
}

/// Reads an integer from a nullable column as the narrower type it was written from.
pub(crate) fn optional_narrow<T: TryFrom<i64>>(
    row: &Row,
    column: &str,
) -> Result<Option<T>, StoreError> {
    let wide: Option<i64> = row.try_get(column)?;
    wide.map(|wide| to_narrow(column, wide)).transpose()
}

fn to_narrow<T: TryFrom<i64>>(column: &str, wide: i64) -> Result<T, StoreError> {
    T::try_from(wide).map_err(|_| {
        StoreError::corrupt(format!("column `{column}`"), format!("`{wide}` is out of range"))
    })
}
