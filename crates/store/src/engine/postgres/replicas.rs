//! Servers that share a database. One owns it and shows every few seconds that it runs
//! ([`Heartbeat`]). The others wait for their turn ([`Standby`]): until the owner releases the database,
//! or is silent for so long that they end its session. A server whose session ended can write nothing
//! more, however slow it is, because its lock and its transaction end together.
//! A standby counts silence by its own clock, and only while the database answers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rules::Secret;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, PgConnection, Row};
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::{LOCK, options};
use crate::StoreError;
use crate::db::{self, Connection, query};

/// Interval in which the owner shows that it runs.
const BEAT: Duration = Duration::from_secs(2);
/// Time limit for a statement of this module.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);
/// Silence of an owner after which a standby ends its session.
const SILENCE_MAX: Duration = Duration::from_secs(8);
/// Silence of an owner without a session after which a standby takes the database. The owner may have
/// lost its connection for a moment, as after a restart of the database.
const ABSENCE_MAX: Duration = Duration::from_secs(5);
/// Value of `seen_at` after an owner has released the database in order.
const RELEASED: i64 = 0;
/// Name of a standby's session, followed by its address.
const STANDBY: &str = "aloft standby";
/// SQLSTATE of a table that does not exist.
const UNDEFINED_TABLE: &str = "42P01";

/// Shows that the owner of a database runs, until it is dropped.
pub(crate) struct Heartbeat {
    owner: watch::Sender<Option<ConfirmedOwner>>,
    standbys: Arc<AtomicU32>,
    task: AbortOnDropHandle<()>,
}

/// An owner whose number is committed.
#[derive(Clone)]
struct ConfirmedOwner {
    number: i64,
    taken_over: Arc<watch::Sender<bool>>,
    /// Returns whether the server can still write. If not, another one must take over.
    can_write: Arc<dyn Fn() -> bool + Send + Sync>,
}

/// A server that waits for the database that another one owns.
#[derive(Debug)]
pub struct Standby {
    options: PgConnectOptions,
    db: Option<PgConnection>,
    /// The owner at the last look, and since when it has shown nothing new.
    seen: Option<(SeenOwner, Instant)>,
}

/// Owner of a database, as a standby sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseOwner {
    /// Nobody owns it now, so a standby may.
    Nobody,
    /// Another server owns it.
    Another {
        /// Where the owner takes connections that others pass on, if it takes any.
        address: Option<SocketAddr>,
    },
}

impl Heartbeat {
    /// Shows from now on that the server runs that has just taken the lock.
    pub(crate) async fn start(options: PgConnectOptions) -> Self {
        let (owner, confirmed) = watch::channel(None);
        let standbys = Arc::<AtomicU32>::default();
        let options = quick(options);
        let mut beats = Beats {
            options,
            db: None,
            confirmed,
            standbys: Arc::clone(&standbys),
            is_failing: false,
        };
        // A standby must not take this server for the silent one that it replaces.
        beats.beat().await;
        let task = AbortOnDropHandle::new(tokio::spawn(beats.run()));
        Self { owner, standbys, task }
    }

    /// Records the committed number of the owner. If it changes later, another server took over, which
    /// sets `taken_over`. The heartbeat ends once the server cannot write.
    pub(crate) fn confirm(
        &self,
        number: i64,
        taken_over: Arc<watch::Sender<bool>>,
        can_write: impl Fn() -> bool + Send + Sync + 'static,
    ) {
        let can_write = Arc::new(can_write);
        self.owner.send_replace(Some(ConfirmedOwner { number, taken_over, can_write }));
    }

    /// Returns the number of this owner.
    pub(crate) fn number(&self) -> Option<i64> {
        self.owner.borrow().as_ref().map(|it| it.number)
    }

    /// Records that the owner with this number replaced this one. Returns whether that is a later owner.
    pub(crate) fn replaced(&self, by: i64) -> bool {
        let owner = self.owner.borrow();
        let Some(owner) = owner.as_ref().filter(|it| it.number < by) else { return false };
        owner.taken_over.send_replace(true);
        true
    }

    /// Ends, before the lock is released. A standby then takes the database at once.
    pub(crate) fn end(&self) {
        self.task.abort();
    }

    /// Returns the number of standbys at the last beat.
    pub(crate) fn standbys(&self) -> u32 {
        self.standbys.load(Ordering::Relaxed)
    }
}

struct Beats {
    options: PgConnectOptions,
    db: Option<PgConnection>,
    confirmed: watch::Receiver<Option<ConfirmedOwner>>,
    standbys: Arc<AtomicU32>,
    is_failing: bool,
}

impl Beats {
    async fn run(mut self) {
        let mut beats = interval(BEAT);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            beats.tick().await;
            self.beat().await;
        }
    }

    /// Writes the time. A failure is repeated with the next beat; the writer reports a lost database.
    async fn beat(&mut self) {
        let confirmed = self.confirmed.borrow().clone();
        if confirmed.as_ref().is_some_and(|it| !(it.can_write)()) {
            return;
        }
        let number = confirmed.as_ref().map(|it| it.number);
        let Self { options, db, .. } = self;
        let beat = async { write_beat(connected(db, options).await?, number).await };
        let beat = timeout(ANSWER_WITHIN, beat).await;
        let beat = beat.unwrap_or_else(|_| Err(db::timeout_error(ANSWER_WITHIN)));
        match (beat, confirmed) {
            (Ok(Some(standbys)), _) => {
                self.is_failing = false;
                self.standbys.store(u32::try_from(standbys).unwrap_or(u32::MAX), Ordering::Relaxed);
            }
            (Ok(None), Some(owner)) => {
                owner.taken_over.send_replace(true);
            }
            (Ok(None), None) => {}
            (Err(error), confirmed) => {
                self.db = None;
                // A new database has no table for it yet.
                if !self.is_failing && confirmed.is_some() {
                    self.is_failing = true;
                    tracing::warn!(%error, "failed to show that this server runs: {error}");
                }
            }
        }
    }
}

/// Writes the time of an owner. Returns the number of standbys, or `None` if another server is the owner.
async fn write_beat(
    db: &mut PgConnection,
    number: Option<i64>,
) -> Result<Option<i64>, sqlx::Error> {
    let written = sqlx::query(concat!(
        "UPDATE owner SET seen_at = ",
        database_time!(),
        " WHERE number = $1 OR $1 IS NULL RETURNING (SELECT COUNT(*) FROM pg_stat_activity \
         WHERE datname = current_database() AND application_name LIKE $2) AS standbys"
    ))
    .bind(number)
    .bind(format!("{STANDBY} %"))
    .fetch_optional(db)
    .await?;
    written.map(|row| row.try_get("standbys")).transpose()
}

impl Standby {
    /// Returns a standby of the database at this address. `own` is where this server will take
    /// connections once it is the owner.
    pub fn new(address: &Secret<String>, own: SocketAddr) -> Result<Self, StoreError> {
        let options = quick(options(address)?).application_name(&format!("{STANDBY} {own}"));
        Ok(Self { options, db: None, seen: None })
    }

    /// Looks who owns the database. Ends the session of an owner that is silent for too long; the
    /// database is free soon after.
    pub async fn look(&mut self) -> Result<DatabaseOwner, StoreError> {
        let looked = timeout(ANSWER_WITHIN, self.look_and_replace()).await;
        let looked = looked.unwrap_or_else(|_| Err(db::timeout_error(ANSWER_WITHIN)));
        if looked.is_err() {
            self.db = None;
            // While the database does not answer, the owner cannot show anything.
            self.seen = None;
        }
        Ok(looked?)
    }

    /// Returns whether the owner ended in order when it was seen last.
    pub fn was_released(&self) -> bool {
        self.seen.is_none_or(|(owner, _)| owner.seen_at == Some(RELEASED))
    }

    async fn look_and_replace(&mut self) -> Result<DatabaseOwner, sqlx::Error> {
        let db = connected(&mut self.db, &self.options).await?;
        let held = sqlx::query(concat!("SELECT a.pid ", lock_holder!()));
        let is_held = bind_lock(held).fetch_optional(&mut *db).await?.is_some();
        let Some(owner) = read_owner(db).await? else {
            return Ok(if is_held {
                DatabaseOwner::Another { address: None }
            } else {
                DatabaseOwner::Nobody
            });
        };
        let since = match self.seen {
            Some((known, since)) if known == owner => since,
            Some(_) | None => Instant::now(),
        };
        self.seen = Some((owner, since));
        let Some(seen_at) = owner.seen_at else {
            let another = DatabaseOwner::Another { address: owner.address };
            return Ok(if is_held { another } else { DatabaseOwner::Nobody });
        };
        if !is_held && (seen_at == RELEASED || since.elapsed() > ABSENCE_MAX) {
            return Ok(DatabaseOwner::Nobody);
        }
        if is_held && since.elapsed() > SILENCE_MAX && end_silent(db, owner.number, seen_at).await?
        {
            tracing::warn!(
                "the owner of the database was silent for {} s; ended its session",
                SILENCE_MAX.as_secs()
            );
        }
        Ok(DatabaseOwner::Another { address: owner.address })
    }
}

/// Returns options of sessions whose statements take no longer than their callers wait, and whose commits
/// do not wait for the disk: a disk that hangs is not a silent server.
fn quick(options: PgConnectOptions) -> PgConnectOptions {
    options.options([("synchronous_commit", "off"), ("statement_timeout", "2s")])
}

/// Returns the open connection, or a new one.
async fn connected<'c>(
    db: &'c mut Option<PgConnection>,
    options: &PgConnectOptions,
) -> Result<&'c mut PgConnection, sqlx::Error> {
    match db {
        Some(open) => Ok(open),
        None => Ok(db.insert(options.connect().await?)),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SeenOwner {
    number: i64,
    address: Option<SocketAddr>,
    /// `None` if nothing shows whether the owner runs.
    seen_at: Option<i64>,
}

/// Reads the owner, also from a database whose owner does not know standbys yet.
async fn read_owner(db: &mut PgConnection) -> Result<Option<SeenOwner>, sqlx::Error> {
    let owner = "SELECT number, to_jsonb(owner) ->> 'address' AS address, \
        (to_jsonb(owner) ->> 'seen_at')::BIGINT AS seen_at FROM owner";
    let row = match sqlx::query(owner).fetch_optional(db).await {
        Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some(UNDEFINED_TABLE) => {
            return Ok(None);
        }
        read => read?,
    };
    let Some(row) = row else { return Ok(None) };
    let address: Option<String> = row.try_get("address")?;
    Ok(Some(SeenOwner {
        number: row.try_get("number")?,
        address: address.and_then(|it| it.parse().ok()),
        seen_at: row.try_get("seen_at")?,
    }))
}

/// Ends the session of a silent owner. Returns whether it did: only one of several standbys does, and
/// renews the time, so that the others wait for the next owner.
async fn end_silent(db: &mut PgConnection, number: i64, seen_at: i64) -> Result<bool, sqlx::Error> {
    let ended = sqlx::query(concat!(
        "WITH turn AS (UPDATE owner SET seen_at = ",
        database_time!(),
        " WHERE number = $3 AND seen_at = $4 RETURNING number) \
         SELECT pg_terminate_backend(a.pid) ",
        lock_holder!(),
        " AND EXISTS (SELECT 1 FROM turn)"
    ));
    Ok(bind_lock(ended).bind(number).bind(seen_at).fetch_optional(db).await?.is_some())
}

/// Marks the database as released, so that a standby takes it as soon as the lock is free.
pub(crate) async fn release(db: &mut Connection, number: i64) -> Result<(), sqlx::Error> {
    query("UPDATE owner SET seen_at = $1 WHERE number = $2 AND seen_at IS NOT NULL")
        .bind(RELEASED)
        .bind(number)
        .execute(db)
        .await?;
    Ok(())
}

/// Binds the halves of the lock, which `lock_holder!` names.
fn bind_lock(
    query: sqlx::query::Query<'_, sqlx::Postgres, sqlx::postgres::PgArguments>,
) -> sqlx::query::Query<'_, sqlx::Postgres, sqlx::postgres::PgArguments> {
    query.bind(LOCK >> 32).bind(LOCK & 0xffff_ffff)
}
