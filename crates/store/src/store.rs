//! The store as the server holds it: opened once, cheap to clone, with one handle per aggregate.
//! The aggregate's file defines its handle, its data and its queries.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rules::WorkspaceId;
use rules::plan::Plans;
use tokio::sync::watch;

use crate::StoreError;
use crate::access_versions::{AccessVersion, AccessVersions};
use crate::db::{self, Connection, query};
use crate::engine::{Database, Heartbeat, READER_WAIT, Readers};
use crate::generations::{Generation, Generations};
use crate::latest_successes::LatestSuccesses;
use crate::marker::Marker;
use crate::outbox_cache::Listener;
use crate::plans::OperatorPlans;
use crate::quarantine::Quarantine;
use crate::recent_index::RecentIndex;
use crate::subject_watches::{Subject, SubjectWatch, SubjectWatches};
use crate::vault::{MasterKeySource, Vault};
use crate::writer::{Begin, Durability, Session, Work, Writer};

/// Time after which a database that does not answer is not ready.
const READY_WITHIN: Duration = Duration::from_secs(5);

/// Location of the store and the source of its master key.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Data folder. Created if it does not exist.
    pub folder: PathBuf,
    pub database: Database,
    /// Source of the key that encrypts all secrets in the database.
    pub master_key: MasterKeySource,
}

/// Database of a server. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

/// Parts of an open store.
pub(crate) struct Inner {
    pub(crate) writer: Writer,
    /// Shows to standbys that this server runs. `None` if none may wait.
    pub(crate) heartbeat: Option<Heartbeat>,
    pub(crate) readers: Readers,
    /// Number of reads so far.
    pub(crate) reads: AtomicU64,
    pub(crate) vault: Arc<Vault>,
    pub(crate) recent_index: RecentIndex,
    pub(crate) successes: LatestSuccesses,
    pub(crate) generations: Arc<Generations>,
    pub(crate) outbox: Arc<Listener>,
    pub(crate) page_changes: watch::Sender<u64>,
    pub(crate) probe_changes: watch::Sender<u64>,
    pub(crate) subject_watches: Arc<SubjectWatches>,
    pub(crate) access_versions: AccessVersions,
    pub(crate) marker: Marker,
    pub(crate) quarantine: Arc<Quarantine>,
    /// Plans of the operator. Nothing is limited until they are set.
    pub(crate) plans: OnceLock<OperatorPlans>,
}

impl Store {
    pub(crate) fn new(inner: Inner) -> Self {
        Self { inner: Arc::new(inner) }
    }

    /// Applies these plans to workspaces from now on. `default_days` is the retention of a
    /// workspace that set none. Only the first call has an effect.
    pub fn set_plans(&self, plans: Plans, default_days: u32) {
        let _ = self.inner.plans.set(OperatorPlans { plans: Arc::new(plans), default_days });
    }

    /// Returns the plans of the operator.
    pub fn plans(&self) -> Arc<Plans> {
        self.operator_plans().map(|held| Arc::clone(&held.plans)).unwrap_or_default()
    }

    pub(crate) fn operator_plans(&self) -> Option<&OperatorPlans> {
        self.inner.plans.get()
    }

    /// Closes the store in order: commits waiting work, checkpoints and syncs the write-ahead log,
    /// and unlocks the data folder. Dropping the store loses no committed data either.
    pub async fn close(self) -> Result<(), StoreError> {
        self.inner.readers.close().await;
        self.inner.heartbeat.iter().for_each(Heartbeat::end);
        self.inner.writer.close().await
    }

    /// Checks that the database answers and that the writer works. For `/readyz`.
    pub async fn ready(&self) -> Result<(), StoreError> {
        self.inner.writer.ready()?;
        let has_disk_fault = self.inner.writer.has_disk_fault()?;
        let check = async {
            if has_disk_fault {
                self.write(rewrite).await?;
                self.inner.writer.disk_works();
            }
            query("SELECT 1").execute(&mut self.read().await?).await?;
            Ok(())
        };
        match tokio::time::timeout(READY_WITHIN, check).await {
            Ok(result) => result,
            Err(_) => Err(db::timeout_error(READY_WITHIN).into()),
        }
    }

    /// Waits until another server owns the database, which may never happen. After that, this
    /// server can no longer write to the database, and its cached state is stale.
    pub async fn wait_for_takeover(&self) {
        self.inner.writer.wait_for_takeover().await;
    }

    /// Returns the number of this owner of the database, which grows with each one. `None` if no other
    /// server may wait.
    pub fn owner_number(&self) -> Option<i64> {
        self.inner.heartbeat.as_ref().and_then(Heartbeat::number)
    }

    /// Records that a later owner replaced this server, as [`Self::wait_for_takeover`] then reports. Returns
    /// false if the other one is not later.
    pub fn end_ownership(&self, replaced_by: i64) -> bool {
        self.inner.heartbeat.as_ref().is_some_and(|it| it.replaced(replaced_by))
    }

    /// Returns the number of servers that wait to take over this database.
    pub fn standbys(&self) -> u32 {
        self.inner.heartbeat.as_ref().map_or(0, Heartbeat::standbys)
    }

    /// Returns the generation of the workspace's resources and their status, or `None` while a
    /// commit changes them. Results and data derived from them are not counted, because they change
    /// constantly. Take the generation before reading. If it is still the same when a cached
    /// response is served, the response matches the stored data.
    pub fn generation(&self, workspace: rules::WorkspaceId) -> Option<Generation> {
        self.inner.generations.get(workspace)
    }

    /// Returns the unreadable rows that reads and writes came across so far.
    pub fn quarantine(&self) -> &Quarantine {
        &self.inner.quarantine
    }

    /// Returns the number of reads of the database so far, of one or more statements each.
    pub fn read_count(&self) -> u64 {
        self.inner.reads.load(Ordering::Relaxed)
    }

    /// Returns the key that signs visitors' sessions. It survives restarts.
    pub fn session_key(&self) -> rules::Secret<[u8; 32]> {
        self.vault().sessions().clone()
    }

    /// Returns a receiver that sees a new value after each change, or possible change, of status
    /// pages.
    pub fn page_changes(&self) -> watch::Receiver<u64> {
        self.inner.page_changes.subscribe()
    }

    /// Returns the number of changes, and possible changes, of status pages so far.
    pub fn page_change_count(&self) -> u64 {
        *self.inner.page_changes.borrow()
    }

    /// Returns the access version of a page. See [`AccessVersion`].
    pub fn access_version(&self, page: rules::PageId) -> AccessVersion {
        self.inner.access_versions.get(page)
    }

    /// Does `work` in a transaction and returns after the commit.
    pub(crate) async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'s> FnOnce(&'s mut Session) -> Work<'s, T> + Send + 'static,
    {
        self.inner.writer.write(Begin::First, work).await
    }

    /// Like [`Self::write`], for work that begins its own transaction or is a single statement.
    pub(crate) async fn write_with<T, F>(
        &self,
        durable: Durability,
        work: F,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'s> FnOnce(&'s mut Session) -> Work<'s, T> + Send + 'static,
    {
        self.inner.writer.write(Begin::ByWork(durable), work).await
    }

    /// Like [`Self::write_with`], but on the calling thread if possible: see
    /// [`Writer::write_inline`].
    pub(crate) async fn write_inline<T, F>(
        &self,
        durable: Durability,
        work: F,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'s> FnOnce(&'s mut Session) -> Work<'s, T> + Send + 'static,
    {
        self.inner.writer.write_inline(Begin::ByWork(durable), work).await
    }

    /// Like [`Self::write`], for work that only changes data that callers of this workspace read.
    pub(crate) async fn write_in<T, F>(
        &self,
        workspace: WorkspaceId,
        work: F,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'s> FnOnce(&'s mut Session) -> Work<'s, T> + Send + 'static,
    {
        self.write(move |session| {
            session.declare_change(workspace);
            work(session)
        })
        .await
    }

    /// Returns a connection that reads committed data.
    pub(crate) async fn read(&self) -> Result<Connection, StoreError> {
        self.inner.reads.fetch_add(1, Ordering::Relaxed);
        match self.inner.readers.acquire().await {
            Err(sqlx::Error::PoolClosed) => Err(StoreError::Closed),
            Err(sqlx::Error::PoolTimedOut) => Err(db::timeout_error(READER_WAIT).into()),
            acquired => Ok(acquired?),
        }
    }

    /// Returns the index of the newest results.
    pub(crate) fn recent_index(&self) -> &RecentIndex {
        &self.inner.recent_index
    }

    /// Details of the latest successes.
    pub(crate) fn successes(&self) -> &LatestSuccesses {
        &self.inner.successes
    }

    /// Returns the listener that wakes the delivery workers.
    pub(crate) fn outbox_listener(&self) -> &Listener {
        &self.inner.outbox
    }

    /// Records that the set of people who may view a page changed, or may have changed.
    pub(crate) fn record_access_change(&self, page: rules::PageId) {
        self.inner.access_versions.record_change(page);
    }

    /// Records that status pages changed, or may have changed.
    pub(crate) fn record_page_change(&self) {
        self.inner.page_changes.send_modify(|count| *count += 1);
    }

    /// Returns a receiver that sees a new value after each change, or possible change, of probes.
    pub(crate) fn probe_changes(&self) -> watch::Receiver<u64> {
        self.inner.probe_changes.subscribe()
    }

    /// Records that probes changed, or may have changed.
    pub(crate) fn record_probe_change(&self) {
        self.inner.probe_changes.send_modify(|count| *count += 1);
    }

    /// Watches subjects until the watch is dropped.
    pub fn watch_subjects(&self, subjects: Vec<Subject>) -> SubjectWatch {
        self.inner.subject_watches.watch(subjects)
    }

    /// Signals to watches that these subjects changed.
    pub(crate) fn signal_change(&self, changed: impl IntoIterator<Item = Subject>) {
        self.inner.subject_watches.signal(changed);
    }

    pub(crate) fn marker(&self) -> &Marker {
        &self.inner.marker
    }

    pub(crate) fn vault(&self) -> &Vault {
        &self.inner.vault
    }

    #[cfg(test)]
    pub(crate) fn writer(&self) -> &Writer {
        &self.inner.writer
    }
}

/// Writes without changing anything, to learn whether the disk accepts writes again. SQLite skips
/// an update that changes nothing, but not this pragma, which nothing else uses.
fn rewrite(session: &mut Session) -> Work<'_, ()> {
    session.declare_no_change();
    Box::pin(async move {
        let is_embedded = session.db.is_embedded();
        let again = if is_embedded {
            "PRAGMA user_version = 0"
        } else {
            "UPDATE vault SET canary = canary"
        };
        query(again).execute(&mut session.db).await?;
        Ok(())
    })
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Store")
    }
}
