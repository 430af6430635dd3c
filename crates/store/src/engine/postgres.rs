//! Opens PostgreSQL connections for the writer and the readers, and ensures that one server at a
//! time owns the database. The writer's session holds an advisory lock, which the database releases
//! when the session ends. An owner number grows with each owner, so a server that lost its session
//! can detect that another one took over. All tables are in a separate schema, so that the database
//! can be shared.

use std::io;
use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use rules::{Secret, Timestamp};
use sqlx::error::DatabaseError;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, Connection as _, PgConnection, PgPool, Row};

use crate::db::{self, Connection, query};
use crate::{ClockOffset, StoreError};

/// Number of concurrent readers. Each is a process of the database server.
const READERS_MAX: u32 = 8;
/// Idle time after which a reader is closed.
const READER_IDLE: Duration = Duration::from_mins(1);
/// Idle time after which a reader is checked before its next use.
const READER_CHECK_AFTER: Duration = Duration::from_secs(1);
/// Time limit for acquiring a reader.
pub(crate) const READER_WAIT: Duration = Duration::from_secs(10);
/// Time limit for connecting, including the lock.
const CONNECT: Duration = Duration::from_secs(10);
/// Maximum number of former sessions of the writer that a reconnect ends.
const SESSIONS_MAX: usize = 16;
/// Advisory lock of the server that owns the database: `aloft` in ASCII, and its version.
const LOCK: i64 = 0x0061_6c6f_6674_0001;
/// SQLSTATE of a lock timeout.
const LOCK_NOT_AVAILABLE: &str = "55P03";

/// Time of the database server, in milliseconds since 1970.
macro_rules! database_time {
    () => {
        "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT"
    };
}
/// Process ID of the current session, and its start in microseconds since 1970.
macro_rules! this_session {
    () => {
        "pg_backend_pid()::BIGINT AS pid, \
         (SELECT (EXTRACT(EPOCH FROM backend_start) * 1000000)::BIGINT \
         FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS started"
    };
}
/// Session that holds the lock, whose halves are `$1` and `$2`.
macro_rules! lock_holder {
    () => {
        "FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid \
         JOIN pg_database d ON d.oid = l.database AND d.datname = current_database() \
         WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 \
         AND l.classid::BIGINT = $1 AND l.objid::BIGINT = $2"
    };
}

mod replicas;

pub(crate) use replicas::Heartbeat;
pub use replicas::{DatabaseOwner, Standby};

/// This server, as the owner of a database.
pub(crate) struct Owner {
    options: PgConnectOptions,
    number: i64,
    /// Sessions of the writer that may hold the lock, newest last.
    sessions: Vec<ServerSession>,
}

/// Session of the writer in the database server. Sessions of the same process ID differ by start.
struct ServerSession {
    pid: i64,
    /// In microseconds since 1970.
    started: i64,
}

/// Parses the address of a database into connection options.
pub(super) fn options(address: &Secret<String>) -> Result<PgConnectOptions, StoreError> {
    let options = PgConnectOptions::from_str(address.expose())
        .map_err(|why| StoreError::Address { why: why.to_string() })?;
    Ok(options
        .application_name(&format!("aloft process {}", std::process::id()))
        .options([
            ("search_path", "aloft"),
            ("synchronous_commit", "on"),
            // If a server's machine fails, its lock is released after half a minute.
            ("tcp_keepalives_idle", "15"),
            ("tcp_keepalives_interval", "5"),
            ("tcp_keepalives_count", "3"),
        ])
        .statement_cache_capacity(200)
        .disable_statement_logging())
}

/// Opens the connection that writes, takes the lock, and creates the schema.
pub(super) async fn writer(options: &PgConnectOptions) -> Result<PgConnection, StoreError> {
    let opened = tokio::time::timeout(CONNECT, open(options)).await;
    opened.unwrap_or_else(|_| Err(db::timeout_error(CONNECT).into()))
}

async fn open(options: &PgConnectOptions) -> Result<PgConnection, StoreError> {
    let mut db = options.connect().await?;
    lock(&mut db).await?;
    let has_schema = sqlx::query("SELECT 1 FROM pg_namespace WHERE nspname = 'aloft'")
        .fetch_optional(&mut db)
        .await?
        .is_some();
    if !has_schema {
        sqlx::raw_sql("CREATE SCHEMA aloft").execute(&mut db).await?;
    }
    Ok(db)
}

/// Returns whether the database has our tables. Takes no lock.
pub(super) async fn exists(options: &PgConnectOptions) -> Result<bool, StoreError> {
    let asked = tokio::time::timeout(CONNECT, async {
        let mut db = options.connect().await?;
        let table =
            "SELECT 1 FROM pg_tables WHERE schemaname = 'aloft' AND tablename = 'migrations'";
        let found = sqlx::query(table).fetch_optional(&mut db).await?.is_some();
        db.close().await?;
        Ok(found)
    });
    asked.await.unwrap_or_else(|_| Err(db::timeout_error(CONNECT).into()))
}

/// Compares this machine's clock with the database server's. Takes no lock.
pub(super) async fn clock_offset(
    address: &Secret<String>,
    now: impl Fn() -> Timestamp + Send,
) -> Result<ClockOffset, StoreError> {
    let options = options(address)?;
    let compared = tokio::time::timeout(CONNECT, async {
        let mut db = options.connect().await?;
        let clock = concat!("SELECT ", database_time!(), " AS now");
        let asked = now();
        let row = sqlx::query(clock).fetch_one(&mut db).await?;
        let answered = now();
        db.close().await?;
        let there = Timestamp::from_millis(row.try_get("now")?);
        // The database server read its clock at any time between the two.
        Ok(match asked.since(there) {
            ahead if !ahead.is_zero() => ClockOffset::Ahead(ahead),
            _ => ClockOffset::Behind(there.since(answered)),
        })
    });
    compared.await.unwrap_or_else(|_| Err(db::timeout_error(CONNECT).into()))
}

/// Returns the address of a database without its password.
pub(super) fn location(address: &Secret<String>) -> String {
    let Ok(options) = PgConnectOptions::from_str(address.expose()) else {
        return "postgres://…".to_owned();
    };
    let database = options.get_database().unwrap_or(options.get_username());
    let (user, host, port) = (options.get_username(), options.get_host(), options.get_port());
    format!("postgres://{user}@{host}:{port}/{database}")
}

pub(super) fn readers(options: &PgConnectOptions) -> PgPool {
    PgPoolOptions::new()
        .min_connections(0)
        .max_connections(READERS_MAX)
        .idle_timeout(READER_IDLE)
        .acquire_timeout(READER_WAIT)
        .test_before_acquire(false)
        .before_acquire(|db, about| {
            Box::pin(async move {
                if about.idle_for > READER_CHECK_AFTER {
                    db.ping().await?;
                }
                Ok(true)
            })
        })
        .connect_lazy_with(options.clone().options([("default_transaction_read_only", "on")]))
}

impl Owner {
    /// Records in the opening transaction that this server owns the database. `address` is where it
    /// takes the connections of standbys, if it has any.
    pub(super) async fn claim(
        options: PgConnectOptions,
        db: &mut Connection,
        address: Option<SocketAddr>,
    ) -> Result<Self, StoreError> {
        let row = query(concat!(
            "INSERT INTO owner (one, number, address, seen_at) \
             VALUES (1, 1, $1::TEXT, CASE WHEN $1::TEXT IS NULL THEN NULL ELSE ",
            database_time!(),
            " END) ON CONFLICT (one) DO UPDATE SET number = owner.number + 1, \
             address = EXCLUDED.address, seen_at = EXCLUDED.seen_at RETURNING number, ",
            this_session!()
        ))
        .bind(address.map(|it| it.to_string()))
        .fetch_one(db)
        .await?;
        let session = ServerSession { pid: row.try_get("pid")?, started: row.try_get("started")? };
        Ok(Self { options, number: row.try_get("number")?, sessions: vec![session] })
    }

    /// Returns the number of this owner, which grows with each one.
    pub(crate) const fn number(&self) -> i64 {
        self.number
    }

    /// Tells standbys that this server ends.
    pub(crate) async fn release(&self, db: &mut Connection) -> Result<(), sqlx::Error> {
        replicas::release(db, self.number).await
    }

    /// Restores the lost connection of the writer. Fails if another server owned the database
    /// meanwhile, because this server's cached state is stale then.
    pub(crate) async fn reconnect(&mut self) -> Result<Connection, StoreError> {
        let opened = tokio::time::timeout(CONNECT, self.reopen()).await;
        opened.unwrap_or_else(|_| Err(db::timeout_error(CONNECT).into()))
    }

    async fn reopen(&mut self) -> Result<Connection, StoreError> {
        let mut db = self.options.connect().await?;
        // A server that took over holds the lock as long as it runs. Do not wait for that.
        let session = self.still_owns(&mut db).await?;
        let mut is_own = false;
        for former in &self.sessions {
            is_own |= former.end(&mut db).await?;
        }
        // Recorded before it takes the lock: if the response is lost, the next attempt ends it.
        self.sessions.push(session);
        if self.sessions.len() > SESSIONS_MAX {
            self.sessions.remove(0);
        }
        match lock(&mut db).await {
            Err(StoreError::DatabaseInUse { .. }) if is_own => {
                let why = "the session of the lost connection has not ended yet";
                return Err(sqlx::Error::Io(io::Error::other(why)).into());
            }
            locked => locked?,
        }
        // Another server may have taken over before the lock was acquired.
        let session = self.still_owns(&mut db).await?;
        self.sessions = vec![session];
        Ok(Connection::Postgres(db))
    }

    /// Returns the session of this connection. Fails if another server owned the database
    /// meanwhile.
    async fn still_owns(&self, db: &mut PgConnection) -> Result<ServerSession, StoreError> {
        let owner = concat!("SELECT number, ", this_session!(), " FROM owner");
        match sqlx::query(owner).fetch_optional(db).await? {
            Some(row) if row.try_get::<i64, _>("number")? == self.number => {
                Ok(ServerSession { pid: row.try_get("pid")?, started: row.try_get("started")? })
            }
            Some(_) | None => Err(StoreError::TakenOver),
        }
    }
}

impl ServerSession {
    /// Ends this session if it holds the lock, and returns whether it does. If the network or a
    /// proxy fails, the database server learns late, or never, that the connection was closed.
    async fn end(&self, db: &mut PgConnection) -> Result<bool, StoreError> {
        let ended = sqlx::query(concat!(
            "SELECT pg_terminate_backend(a.pid) ",
            lock_holder!(),
            " AND a.pid = $3 AND (EXTRACT(EPOCH FROM a.backend_start) * 1000000)::BIGINT = $4"
        ))
        .bind(LOCK >> 32)
        .bind(LOCK & 0xffff_ffff)
        .bind(self.pid)
        .bind(self.started)
        .fetch_optional(db)
        .await?;
        Ok(ended.is_some())
    }
}

/// Takes the lock, or fails with its holder. A session that just ended may hold it for a moment.
async fn lock(db: &mut PgConnection) -> Result<(), StoreError> {
    sqlx::raw_sql("SET lock_timeout = '3s'").execute(&mut *db).await?;
    let locked = sqlx::query("SELECT pg_advisory_lock($1)").bind(LOCK).execute(&mut *db).await;
    match locked {
        Ok(_) => {}
        Err(error) if is_held(error.as_database_error()) => {
            return Err(StoreError::DatabaseInUse { holder: holder(db).await? });
        }
        Err(error) => return Err(error.into()),
    }
    sqlx::raw_sql("RESET lock_timeout").execute(db).await?;
    Ok(())
}

fn is_held(error: Option<&dyn DatabaseError>) -> bool {
    error.and_then(DatabaseError::code).is_some_and(|code| code == LOCK_NOT_AVAILABLE)
}

/// Returns the holder of the lock, if known: `aloft process 4711 at 10.0.0.7`.
async fn holder(db: &mut PgConnection) -> Result<String, StoreError> {
    let row = sqlx::query(concat!(
        "SELECT a.application_name || COALESCE(' at ' || host(a.client_addr), '') AS name ",
        lock_holder!()
    ))
    .bind(LOCK >> 32)
    .bind(LOCK & 0xffff_ffff)
    .fetch_optional(db)
    .await?;
    let named: Option<String> = row.map(|row| row.try_get("name")).transpose()?.flatten();
    Ok(named.unwrap_or_else(|| "another server".to_owned()))
}
