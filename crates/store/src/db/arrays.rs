//! Statements that take any number of rows. PostgreSQL gets the values of each column as an array,
//! so that all rows are one statement and one wait for the network. The embedded database is in
//! this process and gets the rows one by one.

use std::fmt::Write as _;

use sqlx::postgres::PgArguments;
use sqlx::{Arguments as _, PgConnection, SqlSafeStr};

use super::{Connection, EngineConnection, Query, Row, Value, await_response, query};

/// Statement that reads from a table of given rows, which is called `r`. The rows of one call must
/// not write the same row twice.
pub(crate) struct RowsStatement {
    /// Statement for one row.
    embedded: String,
    /// Statement for an array of each column.
    postgres: String,
}

impl RowsStatement {
    /// Creates a statement from the parts before and after the table of rows with these columns.
    pub(crate) fn new(before: &str, columns: &[&str], after: &str) -> Self {
        let mut one = "(SELECT ".to_owned();
        let mut arrays = "UNNEST(".to_owned();
        for (index, column) in columns.iter().enumerate() {
            let (comma, place) = (if index == 0 { "" } else { ", " }, index + 1);
            write!(one, "{comma}${place} AS {column}").expect("writing to a String never fails");
            write!(arrays, "{comma}${place}").expect("writing to a String never fails");
        }
        let columns = columns.join(", ");
        Self {
            embedded: format!("{before}{one}) AS r{after}"),
            postgres: format!("{before}{arrays}) AS r ({columns}){after}"),
        }
    }

    /// Runs the statement on these rows.
    pub(crate) async fn execute<const N: usize>(
        &'static self,
        db: &mut Connection,
        rows: Vec<[Value; N]>,
    ) -> Result<(), sqlx::Error> {
        match db.link()? {
            EngineConnection::Embedded(_) | EngineConnection::Sqlite(_) => {
                for row in rows {
                    self.one(row).execute(db).await?;
                }
                Ok(())
            }
            EngineConnection::Postgres(db) => execute(db, self.postgres.as_str(), rows).await,
        }
    }

    /// Returns the rows that the statement finds for these rows.
    pub(crate) async fn fetch_all<const N: usize>(
        &'static self,
        db: &mut Connection,
        rows: Vec<[Value; N]>,
    ) -> Result<Vec<Row>, sqlx::Error> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        match db.link()? {
            EngineConnection::Embedded(_) | EngineConnection::Sqlite(_) => {
                let mut found = Vec::with_capacity(rows.len());
                for row in rows {
                    found.extend(self.one(row).fetch_all(db).await?);
                }
                Ok(found)
            }
            EngineConnection::Postgres(db) => {
                let query = sqlx::query_with(self.postgres.as_str(), arguments(rows)?);
                let found = await_response(query.fetch_all(db)).await?;
                Ok(found.into_iter().map(Row::from).collect())
            }
        }
    }

    fn one<const N: usize>(&'static self, row: [Value; N]) -> Query {
        row.into_iter().fold(query(self.embedded.as_str()), Query::bind)
    }
}

/// Runs a statement whose placeholders are arrays, one for each column of these rows.
pub(crate) async fn execute<const N: usize>(
    db: &mut PgConnection,
    statement: impl SqlSafeStr,
    rows: Vec<[Value; N]>,
) -> Result<(), sqlx::Error> {
    if rows.is_empty() {
        return Ok(());
    }
    let query = sqlx::query_with(statement, arguments(rows)?);
    await_response(query.execute(db)).await?;
    Ok(())
}

/// Returns an array for each column. The first row decides the types.
fn arguments<const N: usize>(mut rows: Vec<[Value; N]>) -> Result<PgArguments, sqlx::Error> {
    let mut arguments = PgArguments::default();
    for column in 0..N {
        let values = rows.iter_mut().map(|row| std::mem::replace(&mut row[column], NOTHING));
        let mut values = values.peekable();
        match values.peek() {
            None | Some(Value::Integer(_)) => arguments.add(array(values, Value::integer)?),
            Some(Value::Text(_)) => arguments.add(array(values, Value::text)?),
            Some(Value::Bytes(_)) => arguments.add(array(values, Value::bytes)?),
            Some(Value::Boolean(_)) => arguments.add(array(values, Value::boolean)?),
        }
        .map_err(sqlx::Error::Encode)?;
    }
    Ok(arguments)
}

/// Placeholder of a value that was moved into its array.
const NOTHING: Value = Value::Integer(None);

/// Reads all values by their type. Fails if one has another type.
fn array<T>(
    values: impl Iterator<Item = Value>,
    read: fn(Value) -> Result<T, sqlx::Error>,
) -> Result<Vec<T>, sqlx::Error> {
    values.map(read).collect()
}

/// Returns the error of rows whose values of a column have different types.
fn mixed_types() -> sqlx::Error {
    sqlx::Error::Encode("the values of a column have different types".into())
}

impl Value {
    fn integer(self) -> Result<Option<i64>, sqlx::Error> {
        if let Self::Integer(value) = self { Ok(value) } else { Err(mixed_types()) }
    }

    fn text(self) -> Result<Option<String>, sqlx::Error> {
        if let Self::Text(value) = self { Ok(value) } else { Err(mixed_types()) }
    }

    fn bytes(self) -> Result<Option<Vec<u8>>, sqlx::Error> {
        if let Self::Bytes(value) = self { Ok(value) } else { Err(mixed_types()) }
    }

    fn boolean(self) -> Result<bool, sqlx::Error> {
        if let Self::Boolean(value) = self { Ok(value) } else { Err(mixed_types()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_a_subquery_or_arrays() {
        let statement = RowsStatement::new("SELECT r.a FROM ", &["a", "b"], " WHERE r.b");
        assert_eq!(statement.embedded, "SELECT r.a FROM (SELECT $1 AS a, $2 AS b) AS r WHERE r.b");
        assert_eq!(statement.postgres, "SELECT r.a FROM UNNEST($1, $2) AS r (a, b) WHERE r.b");
    }

    #[test]
    fn values_of_different_types_are_rejected() {
        let same = vec![[Value::from(1)], [Value::from(None::<i64>)]];
        assert!(arguments(same).is_ok());
        let mixed = vec![[Value::from(1)], [Value::from("2")]];
        assert!(matches!(arguments(mixed), Err(sqlx::Error::Encode(_))));
    }
}
