//! Reads some numbers and words of all monitors as one text. Reading 10,000 rows one by one takes ten
//! times as long. A text that cannot be read completely is damaged somewhere, and the caller reads
//! single rows instead, which tell where.

use sqlx::AssertSqlSafe;

use crate::db::{Connection, query};

/// Returns the columns of the rows that `FROM …` selects, with the workspace as `$1`. Every value is a
/// number or a word. `None` if a row is damaged.
pub(super) async fn read<const N: usize, T>(
    db: &mut Connection,
    columns: [&str; N],
    from: &str,
    workspace: &str,
    parse: impl Fn([&str; N]) -> Option<T>,
) -> Result<Option<Vec<T>>, sqlx::Error> {
    let row = columns.join(" || ' ' || ");
    let statement = format!("SELECT COUNT(*) AS count, string_agg({row}, ',') AS all_rows {from}");
    let read = query(AssertSqlSafe(statement)).bind(workspace.to_owned()).fetch_one(db).await?;
    let count: i64 = read.try_get("count")?;
    // Text that is not UTF-8 is damage.
    let Ok(all_rows) = read.try_get::<Option<&str>>("all_rows") else { return Ok(None) };
    let rows = all_rows.unwrap_or_default();
    let found: Option<Vec<T>> =
        rows.split(',').filter(|row| !row.is_empty()).map(|row| parse(split(row)?)).collect();
    // Rows with a missing value are left out of the text.
    Ok(found.filter(|found| i64::try_from(found.len()) == Ok(count)))
}

/// Splits a row into exactly this number of values.
fn split<const N: usize>(row: &str) -> Option<[&str; N]> {
    let mut values = row.split(' ');
    let mut columns = [""; N];
    for column in &mut columns {
        *column = values.next()?;
    }
    values.next().is_none().then_some(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_has_exactly_its_columns() {
        assert_eq!(split("1 active 7"), Some(["1", "active", "7"]));
        assert_eq!(split::<3>("1 active"), None);
        assert_eq!(split::<3>("1 active 7 8"), None);
    }
}
