//! Transfers a database from one engine to the other: every row of every table, in one transaction
//! of the target, with counts and checksums compared before the commit. Secrets stay sealed. The
//! key stays in the data folder, which serves both databases. The transferred database of a folder
//! is renamed, so that it is not used by mistake.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, TryFutureExt as _, TryStreamExt as _, future, stream};
use sha2::{Digest as _, Sha256};
use sqlx::AssertSqlSafe;

use crate::buckets::BucketSize;
use crate::db::{self, Connection, EngineConnection, Row, Value, embedded, query};
use crate::engine::{self, DATABASE_FILE, Database, Engine, MOVED_FILE};
use crate::history::days;
use crate::migrate::{self, MIGRATIONS};
use crate::{MasterKeySource, Settings, StoreError, data_dir, vault};

/// Number of rows per insert.
const ROWS_AT_ONCE: usize = 64;
/// Tables that are not transferred.
const OWN_TABLES: &str = "('migrations', 'owner')";

/// Table that was transferred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transferred {
    pub table: String,
    /// Number of rows, equal on both sides.
    pub rows: u64,
}

/// Transfers all data from one database to an empty one. Both are locked meanwhile, so that no
/// server runs. The source stays unchanged except for its migrations. After success, the source
/// file of a data folder is renamed to `aloft.db.moved`. After a failure it stays in place.
pub async fn transfer(
    folder: &Path,
    master_key: &MasterKeySource,
    from: Database,
    to: Database,
) -> Result<Vec<Transferred>, StoreError> {
    let settings =
        |database| Settings { folder: folder.to_owned(), database, master_key: master_key.clone() };
    let _lock = data_dir::lock(folder)?;
    let leaves_folder = matches!(from, Database::Embedded);
    if leaves_folder {
        check_source(folder)?;
    }
    let (from, to) = (settings(from), settings(to));
    let mut source = Engine::new(&from.database, &from.folder)?.streaming_connection().await?;
    migrate::migrate(&mut source, folder, MIGRATIONS).await?;
    db::run(&mut source, "COMMIT").await?;
    let mut target = Engine::new(&to.database, &to.folder)?.streaming_connection().await?;
    migrate::migrate(&mut target, folder, MIGRATIONS).await?;

    let tables = tables(&mut source).await?;
    make_room(&mut target, &tables).await?;
    let mut done = Vec::with_capacity(tables.len());
    for table in tables {
        let rows = transfer_table(&mut source, &mut target, &table).await?;
        done.push(Transferred { table, rows });
    }
    vault::unlock_vault(&to.master_key, &to.folder, &mut target).await?;
    db::run(&mut target, "COMMIT").await?;
    target.close().await?;
    engine::checkpoint(&mut source).await?;
    source.close().await?;
    if leaves_folder {
        engine::set_aside(folder, MOVED_FILE).map_err(data_dir::at(folder))?;
    }
    Ok(done)
}

/// Checks that the data folder has a database, and that `aloft.db.moved` is not in use.
fn check_source(folder: &Path) -> Result<(), StoreError> {
    engine::refuse_moved(folder)?;
    // Opening would create an empty database and transfer that.
    let database = folder.join(DATABASE_FILE);
    fs::metadata(&database).map_err(data_dir::at(&database))?;
    let moved = folder.join(MOVED_FILE);
    if moved.exists() {
        let why = "left by an earlier transfer; move it elsewhere first";
        return Err(data_dir::at(&moved)(io::Error::new(io::ErrorKind::AlreadyExists, why)));
    }
    Ok(())
}

/// Column and its type on each side.
struct TransferColumn {
    name: String,
    source: ColumnKind,
    target: ColumnKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ColumnKind {
    Integer,
    Boolean,
    Text,
    Bytes,
}

/// Number of rows and their checksum, independent of the order.
#[derive(Debug, Default, PartialEq, Eq)]
struct TableChecksum {
    rows: u64,
    sum: u128,
}

/// Returns the tables in order of creation, so that referenced tables come first.
async fn tables(db: &mut Connection) -> Result<Vec<String>, StoreError> {
    let statement = if db.is_embedded() {
        format!(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' \
             AND name NOT IN {OWN_TABLES} ORDER BY rowid"
        )
    } else {
        format!(
            "SELECT c.relname::TEXT AS name FROM pg_class c JOIN pg_namespace n \
             ON n.oid = c.relnamespace \
             WHERE n.nspname = 'aloft' AND c.relkind IN ('r', 'p') AND NOT c.relispartition \
             AND c.relname NOT IN {OWN_TABLES} ORDER BY c.oid"
        )
    };
    let rows = query(AssertSqlSafe(statement)).fetch_all(db).await?;
    rows.iter().map(|row| Ok(row.try_get("name")?)).collect()
}

/// Rejects a target with any rows. Removes the key check of the target's own key.
async fn make_room(target: &mut Connection, tables: &[String]) -> Result<(), StoreError> {
    query("DELETE FROM vault").execute(target).await?;
    for table in tables {
        let first = format!("SELECT 1 FROM {table} LIMIT 1");
        if query(AssertSqlSafe(first)).fetch_optional(target).await?.is_some() {
            return Err(StoreError::NotEmpty { table: table.clone() });
        }
    }
    Ok(())
}

/// Transfers one table and compares both sides.
async fn transfer_table(
    source: &mut Connection,
    target: &mut Connection,
    table: &str,
) -> Result<u64, StoreError> {
    let columns = columns(source, target, table).await?;
    if table == BucketSize::TenMinutes.table() {
        days::create_like(target, source).await?;
    }
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let select = format!("SELECT {} FROM {table}", names.join(", "));
    let insert = format!("INSERT INTO {table} ({}) VALUES ", names.join(", "));

    let mut read = TableChecksum::default();
    let mut waiting = Vec::with_capacity(ROWS_AT_ONCE);
    let mut rows = rows_of(source, select.clone());
    while let Some(row) = rows.try_next().await? {
        let cells = cells(&row, columns.iter().map(|column| column.source))?;
        read.add(&cells);
        waiting.push(cells);
        if waiting.len() == ROWS_AT_ONCE {
            write(target, &insert, &columns, std::mem::take(&mut waiting)).await?;
        }
    }
    drop(rows);
    write(target, &insert, &columns, waiting).await?;

    let mut written = TableChecksum::default();
    let mut rows = rows_of(target, select);
    while let Some(row) = rows.try_next().await? {
        written.add(&cells(&row, columns.iter().map(|column| column.target))?);
    }
    drop(rows);
    if read != written {
        let why = format!("the {} written rows differ from the rows read", read.rows);
        return Err(StoreError::corrupt(format!("table `{table}`"), why));
    }
    set_sequence(target, table).await?;
    Ok(read.rows)
}

async fn write(
    target: &mut Connection,
    insert: &str,
    columns: &[TransferColumn],
    rows: Vec<Vec<Value>>,
) -> Result<(), StoreError> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut statement = insert.to_owned();
    for row in 0..rows.len() {
        let placeholders =
            (1..=columns.len()).map(|column| format!("${}", row * columns.len() + column));
        let comma = if row == 0 { "" } else { ", " };
        write!(statement, "{comma}({})", placeholders.collect::<Vec<_>>().join(", "))
            .expect("writing to a String never fails");
    }
    let mut insert = query(AssertSqlSafe(statement));
    for cells in rows {
        for (cell, column) in cells.into_iter().zip(columns) {
            insert = insert.bind(match (cell, column.target) {
                (Value::Integer(Some(number)), ColumnKind::Boolean) => Value::Boolean(number != 0),
                (
                    cell,
                    ColumnKind::Integer
                    | ColumnKind::Boolean
                    | ColumnKind::Text
                    | ColumnKind::Bytes,
                ) => cell,
            });
        }
    }
    insert.execute(target).await?;
    Ok(())
}

/// Sets the table's sequence to the highest row ID.
async fn set_sequence(target: &mut Connection, table: &str) -> Result<(), StoreError> {
    if target.is_embedded() {
        return Ok(());
    }
    let counted: Option<String> = query(
        "SELECT column_name::TEXT FROM information_schema.columns \
         WHERE table_schema = 'aloft' AND table_name = $1 AND is_identity = 'YES'",
    )
    .bind(table)
    .scalar(target)
    .await?;
    let Some(column) = counted else { return Ok(()) };
    let statement = format!(
        "SELECT setval(pg_get_serial_sequence('aloft.{table}', '{column}'), \
         COALESCE(MAX({column}), 1), MAX({column}) IS NOT NULL) FROM {table}"
    );
    query(AssertSqlSafe(statement)).execute(target).await?;
    Ok(())
}

/// Returns the columns of a table. Both sides must have the same ones.
async fn columns(
    source: &mut Connection,
    target: &mut Connection,
    table: &str,
) -> Result<Vec<TransferColumn>, StoreError> {
    let (ours, theirs) = (kinds(source, table).await?, kinds(target, table).await?);
    if ours.len() != theirs.len() {
        return Err(StoreError::corrupt(format!("table `{table}`"), "its columns differ"));
    }
    ours.into_iter()
        .map(|(name, source)| {
            let found = theirs.iter().find(|(theirs, _)| *theirs == name);
            let (_, target) = found.ok_or_else(|| {
                StoreError::corrupt(
                    format!("table `{table}`"),
                    format!("only one side has `{name}`"),
                )
            })?;
            Ok(TransferColumn { name, source, target: *target })
        })
        .collect()
}

async fn kinds(db: &mut Connection, table: &str) -> Result<Vec<(String, ColumnKind)>, StoreError> {
    let statement = if db.is_embedded() {
        "SELECT name, lower(type) AS type FROM pragma_table_info($1)"
    } else {
        "SELECT column_name::TEXT AS name, data_type::TEXT AS type FROM information_schema.columns \
         WHERE table_schema = 'aloft' AND table_name = $1 ORDER BY ordinal_position"
    };
    let rows = query(statement).bind(table).fetch_all(db).await?;
    rows.iter()
        .map(|row| {
            let kind = match row.try_get("type")? {
                "integer" | "bigint" | "smallint" => ColumnKind::Integer,
                "boolean" => ColumnKind::Boolean,
                "text" => ColumnKind::Text,
                "blob" | "bytea" => ColumnKind::Bytes,
                other => {
                    let why = format!("unknown type `{other}`");
                    return Err(StoreError::corrupt(format!("table `{table}`"), why));
                }
            };
            Ok((row.try_get("name")?, kind))
        })
        .collect()
}

fn rows_of(db: &mut Connection, statement: String) -> BoxStream<'_, Result<Row, sqlx::Error>> {
    let db = match db.link() {
        Ok(db) => db,
        Err(lost) => return stream::once(future::ready(Err(lost))).boxed(),
    };
    match db {
        // All at once: large transfers use a streaming connection instead.
        EngineConnection::Embedded(db) => {
            let rows = future::ready(embedded::fetch(db, &statement, &[], usize::MAX));
            let rows = rows.map_ok(|rows| stream::iter(rows).map(Row::from).map(Ok));
            rows.try_flatten_stream().boxed()
        }
        EngineConnection::Sqlite(db) => {
            sqlx::query(AssertSqlSafe(statement)).fetch(db).map_ok(Row::from).boxed()
        }
        EngineConnection::Postgres(db) => {
            sqlx::query(AssertSqlSafe(statement)).fetch(db).map_ok(Row::from).boxed()
        }
    }
}

/// Returns the values of a row. Booleans are 1 and 0.
fn cells(row: &Row, kinds: impl Iterator<Item = ColumnKind>) -> Result<Vec<Value>, sqlx::Error> {
    kinds
        .enumerate()
        .map(|(column, kind)| {
            Ok(match kind {
                ColumnKind::Integer => Value::Integer(row.at(column)?),
                ColumnKind::Boolean => Value::Integer(Some(i64::from(row.at::<bool>(column)?))),
                ColumnKind::Text => Value::Text(row.at(column)?),
                ColumnKind::Bytes => Value::Bytes(row.at(column)?),
            })
        })
        .collect()
}

impl TableChecksum {
    fn add(&mut self, cells: &[Value]) {
        let mut digest = Sha256::new();
        for cell in cells {
            match cell {
                Value::Integer(value) => hash_value(&mut digest, value.map(i64::to_be_bytes)),
                Value::Text(value) => hash_value(&mut digest, value.as_ref()),
                Value::Bytes(value) => hash_value(&mut digest, value.as_ref()),
                Value::Boolean(value) => hash_value(&mut digest, Some([u8::from(*value)])),
            }
        }
        let digest = digest.finalize();
        let mut low = [0; 16];
        low.copy_from_slice(&digest[..16]);
        self.rows += 1;
        self.sum = self.sum.wrapping_add(u128::from_be_bytes(low));
    }
}

/// Hashes a value of a row: its presence, length and bytes.
fn hash_value(digest: &mut Sha256, value: Option<impl AsRef<[u8]>>) {
    match value {
        None => digest.update([0]),
        Some(value) => {
            digest.update([1]);
            digest.update((value.as_ref().len() as u64).to_be_bytes());
            digest.update(value);
        }
    }
}
