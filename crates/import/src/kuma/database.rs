//! Opens the SQLite database of Uptime Kuma without writing to it, and reads its rows.
//! Format of the header: <https://www.sqlite.org/fileformat.html#the_database_header>

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use serde_json::{Map, Value};

use super::Rows;
use crate::ImportError;
use crate::record::Record;

/// First bytes of every SQLite database.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Length of the header of a database.
const HEADER_BYTES: usize = 100;
/// Version to read, in the header of a database with a write-ahead log.
const USES_LOG: u8 = 2;
/// Time to wait for a lock of the running program.
const LOCKED_FOR_MAX: Duration = Duration::from_secs(5);
/// Days of the first warning before the expiry of a certificate if nobody changed them.
pub(super) const WARN_DAYS_DEFAULT: Option<u16> = Some(21);
/// The tables and columns that an import needs, each with the version that added it.
const NEEDED: [(&str, &str, &str); 14] = [
    ("monitor", "type", "1.0"),
    ("monitor", "maxretries", "1.0"),
    ("monitor", "accepted_statuscodes_json", "1.1"),
    ("monitor", "headers", "1.9"),
    ("monitor", "parent", "1.22"),
    ("monitor", "invert_keyword", "1.23"),
    ("monitor", "timeout", "1.23"),
    ("notification", "config", "1.0"),
    ("monitor_notification", "notification_id", "1.0"),
    ("tag", "name", "1.7"),
    ("status_page", "slug", "1.13"),
    ("group", "status_page_id", "1.13"),
    ("monitor_group", "send_url", "1.18"),
    ("maintenance", "timezone", "1.21.2"),
];
/// Objects that people create again by hand: table and words.
const COUNTED: [(&str, &str); 9] = [
    ("user", "user"),
    ("api_key", "API key"),
    ("proxy", "proxy"),
    ("docker_host", "Docker host"),
    ("remote_browser", "remote browser"),
    ("setting", "setting of the program"),
    ("stat_daily", "daily statistic"),
    ("stat_hourly", "hourly statistic"),
    ("stat_minutely", "statistic of a minute"),
];

/// Links of maintenance: table, object and words.
const MAINTAINED: &[(&str, &str, &str)] = &[
    ("monitor_maintenance", "monitor", "monitor"),
    ("maintenance_status_page", "status_page", "status page"),
];

/// Returns whether a file is a database. Fails if it cannot be read, or is empty.
pub(super) fn is_sqlite(path: &Path) -> Result<bool, ImportError> {
    let header = header(path)?;
    if header.is_empty() {
        let remedy = "copy `kuma.db` again while Uptime Kuma is stopped";
        return Err(ImportError::unusable(path, "is empty", remedy));
    }
    Ok(header.starts_with(MAGIC))
}

/// Opens a database for reading only, and begins a transaction, so that all tables are of one moment.
/// Beside a database with a write-ahead log, SQLite may create its file for shared memory.
pub(super) fn open(path: &Path) -> Result<Connection, ImportError> {
    check_size(path)?;
    // SQLite looks for the log at the name that it gets, so it must not be a link.
    let real = path.canonicalize().map_err(|error| ImportError::read(path, error))?;
    if beside(&real, "-journal").metadata().is_ok_and(|journal| journal.len() > 0) {
        let problem = "is in the middle of a transaction (a `-journal` file lies beside it)";
        let remedy = "stop Uptime Kuma properly, and copy `kuma.db` again";
        return Err(ImportError::unusable(path, problem, remedy));
    }
    let log = beside(&real, "-wal").metadata();
    let uses_log = header(path)?.get(18) == Some(&USES_LOG);
    if uses_log && log.is_err() {
        // A program that has it open would have its log too. SQLite would create an empty one.
        return connect(&real, true).map_err(|error| refused(path, &error));
    }
    match connect(&real, false) {
        Ok(connection) => Ok(connection),
        Err(error) if cannot_lock(&error) && log.map_or(true, |log| log.len() == 0) => {
            connect(&real, true).map_err(|error| refused(path, &error))
        }
        Err(error) => Err(refused(path, &error)),
    }
}

/// Returns whether SQLite could not use its locks, as in a folder without permission to write.
fn cannot_lock(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
}

/// Connects, and begins to read. `is_unused` skips locks and the log.
fn connect(path: &Path, is_unused: bool) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = if is_unused {
        Connection::open_with_flags(immutable(path), flags | OpenFlags::SQLITE_OPEN_URI)?
    } else {
        Connection::open_with_flags(path, flags)?
    };
    connection.busy_timeout(LOCKED_FOR_MAX)?;
    connection.execute_batch("BEGIN")?;
    connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))?;
    Ok(connection)
}

/// Reads all rows that an import needs.
pub(super) fn rows(path: &Path) -> Result<Rows, ImportError> {
    let connection = open(path)?;
    check_schema(path, &connection)?;
    let all = |sql: &str| records(&connection, sql).map_err(|error| refused(path, &error));
    let mut rows = Rows {
        monitors: all("SELECT * FROM monitor ORDER BY id")?,
        notifications: all("SELECT * FROM notification ORDER BY id")?,
        pages: all("SELECT * FROM status_page ORDER BY id")?,
        page_groups: all("SELECT * FROM [group] ORDER BY weight, id")?,
        page_monitors: all("SELECT * FROM monitor_group ORDER BY weight, id")?,
        maintenance: all("SELECT * FROM maintenance ORDER BY id")?,
        incidents: all("SELECT * FROM incident ORDER BY id")?,
        domains: all("SELECT * FROM status_page_cname ORDER BY id")?,
        ..Rows::default()
    };
    let tags = "SELECT mt.monitor_id, t.name, mt.value FROM monitor_tag mt JOIN tag t ON t.id = mt.tag_id \
        ORDER BY mt.monitor_id, t.name";
    for mut tag in all(tags)? {
        let (Some(monitor), Some(name)) = (tag.id("monitor_id"), tag.text("name")) else {
            continue;
        };
        let words = tag.text("value").map_or(name.clone(), |value| format!("{name}: {value}"));
        rows.tags.entry(monitor).or_default().push(words);
    }
    for mut link in all("SELECT * FROM monitor_notification ORDER BY monitor_id")? {
        let ids = (link.id("monitor_id"), link.id("notification_id"));
        if let (Some(monitor), Some(notification)) = ids {
            rows.notified.entry(notification).or_default().push(monitor);
        }
    }
    let tables = tables(&connection).map_err(|error| refused(path, &error))?;
    rows.warn_days = WARN_DAYS_DEFAULT;
    if tables.contains("setting") {
        let found = all("SELECT value FROM setting WHERE [key] = 'tlsExpiryNotifyDays'")?;
        if let Some(days) = warn_days(found) {
            rows.warn_days = days.into_iter().max();
        }
    }
    for (table, object, words) in MAINTAINED {
        if !tables.contains(*table) {
            continue;
        }
        let sql = format!(
            "SELECT l.maintenance_id, o.{name} AS name FROM [{table}] l JOIN [{object}] o \
             ON o.id = l.{object}_id ORDER BY l.id",
            name = if *object == "monitor" { "name" } else { "title" },
        );
        for mut link in all(&sql)? {
            if let (Some(id), Some(name)) = (link.id("maintenance_id"), link.text("name")) {
                rows.maintained.entry(id).or_default().push(format!("the {words} `{name}`"));
            }
        }
    }
    for (table, words) in COUNTED {
        if tables.contains(table) {
            let sql = format!("SELECT count(*) FROM [{table}]");
            let count = connection.query_row(&sql, [], |row| row.get::<_, i64>(0));
            let count = count.map_err(|error| refused(path, &error))?;
            rows.counts.push((words, count.unsigned_abs()));
        }
    }
    Ok(rows)
}

/// Returns the days before the expiry of a certificate on which Uptime Kuma warns. `None` if nobody changed
/// them.
fn warn_days(settings: Vec<Record>) -> Option<Vec<u16>> {
    serde_json::from_str(&settings.into_iter().next()?.text("value")?).ok()
}

/// Explains an error of SQLite.
pub(super) fn refused(path: &Path, error: &rusqlite::Error) -> ImportError {
    let copy =
        "stop Uptime Kuma, and copy `kuma.db` with `kuma.db-wal` and `kuma.db-shm` beside it";
    let (problem, remedy) = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            ("is locked by another program".to_owned(), copy)
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            (format!("is damaged ({error})"), copy)
        }
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly) => {
            let problem = format!("cannot be opened for reading only ({error})");
            (problem, "copy it to a folder that you can write to, together with `kuma.db-wal`")
        }
        Some(_) | None => (format!("cannot be read ({error})"), copy),
    };
    ImportError::unusable(path, problem, remedy)
}

/// Fails if the database lacks a table or column.
fn check_schema(path: &Path, connection: &Connection) -> Result<(), ImportError> {
    let refused = |error| refused(path, &error);
    let tables = tables(connection).map_err(refused)?;
    for (table, column, version) in NEEDED {
        if tables.contains(table) && columns(connection, table).map_err(refused)?.contains(column) {
            continue;
        }
        if table == "monitor" && !tables.contains(table) {
            let remedy = "give the file `kuma.db` of Uptime Kuma's folder `data`";
            return Err(ImportError::unusable(path, "is not a database of Uptime Kuma", remedy));
        }
        let problem = format!(
            "lacks the column `{column}` of the table `{table}`, which Uptime Kuma {version} added"
        );
        let remedy = "start Uptime Kuma 1.23 or newer once with this database, which upgrades it";
        return Err(ImportError::unusable(path, problem, remedy));
    }
    Ok(())
}

fn tables(connection: &Connection) -> rusqlite::Result<HashSet<String>> {
    let mut statement =
        connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table'")?;
    statement.query_map([], |row| row.get(0))?.collect()
}

fn columns(connection: &Connection, table: &str) -> rusqlite::Result<HashSet<String>> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    statement.query_map([table], |row| row.get(0))?.collect()
}

fn records(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<Record>> {
    let mut statement = connection.prepare(sql)?;
    let names: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
    let records = statement.query_map([], |row| {
        let mut fields = Map::new();
        for (index, name) in names.iter().enumerate() {
            fields.insert(name.clone(), value(row.get_ref(index)?));
        }
        Ok(Record::from(fields))
    })?;
    records.collect()
}

fn value(cell: ValueRef<'_>) -> Value {
    match cell {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into(),
    }
}

/// Fails if a file is shorter than its header says: somebody copied it only in part.
fn check_size(path: &Path) -> Result<(), ImportError> {
    let header = header(path)?;
    let number = |at: usize| -> u64 {
        header
            .get(at..at + 4)
            .map_or(0, |bytes| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    };
    let page_bytes = match header.get(16..18) {
        Some([0, 1]) => 65_536,
        Some([high, low]) => u64::from(*high) << 8 | u64::from(*low),
        Some(_) | None => 0,
    };
    let (pages, changed_at, counted_at) = (number(28), number(24), number(92));
    let length = path.metadata().map_err(|error| ImportError::read(path, error))?.len();
    let is_short = changed_at == counted_at && length < pages * page_bytes;
    if is_short || header.len() < HEADER_BYTES {
        let problem = format!("has {length} bytes of {}", pages * page_bytes);
        let remedy = "copy the whole file again while Uptime Kuma is stopped";
        return Err(ImportError::unusable(path, problem, remedy));
    }
    Ok(())
}

fn header(path: &Path) -> Result<Vec<u8>, ImportError> {
    let refused = |error| ImportError::read(path, error);
    let file = File::open(path).map_err(refused)?;
    let mut header = Vec::new();
    file.take(HEADER_BYTES as u64).read_to_end(&mut header).map_err(refused)?;
    Ok(header)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Returns the URI of a file that does not change while it is read.
fn immutable(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            write!(uri, "%{byte:02x}").expect("a string takes all writes");
        }
    }
    uri + "?immutable=1"
}
