//! The store as the server holds it: opened once, cheap to clone, one handle per aggregate. What
//! each holds and asks stands in the aggregate's file.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rules::WorkspaceId;
use rules::plan::Plans;
use tokio::sync::watch;

use crate::accesses::{Access, Accesses};
use crate::db::{self, Connection, query};
use crate::engine::{Database, READER_WAIT, Readers};
use crate::generations::{Generation, Generations};
use crate::history::{HistoryStore, Tail};
use crate::marker::Marker;
use crate::outbox::{Listener, Outbox};
use crate::plans::Held;
use crate::quarantine::Quarantine;
use crate::vault::{MasterKeySource, Vault};
use crate::writer::{Begin, Durable, Session, Work, Writer};
use crate::{
    Audit, Certificates, Channels, Components, Doctor, EvidenceStore, Groups, Incidents,
    JudgeStates, Keys, Logs, Maintenances, Missed, Monitors, Pages, ReportTemplates, Reports,
    Results, Retention, Shown, SigningSecrets, StoreError, Subscribers, Workspaces,
};

/// A database that takes longer than this for nothing at all is not ready.
const READY_WITHIN: Duration = Duration::from_secs(5);

/// Where the store lives and what it is encrypted with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The data folder; made where there is none.
    pub folder: PathBuf,
    /// The database.
    pub database: Database,
    /// The key of everything secret in the database.
    pub master_key: MasterKeySource,
}

/// The database of a server. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

/// The parts of an open store.
pub(crate) struct Inner {
    pub(crate) writer: Writer,
    pub(crate) readers: Readers,
    pub(crate) vault: Arc<Vault>,
    pub(crate) tail: Tail,
    pub(crate) generations: Arc<Generations>,
    pub(crate) outbox: Arc<Listener>,
    pub(crate) page_changes: watch::Sender<u64>,
    pub(crate) accesses: Accesses,
    pub(crate) marker: Marker,
    pub(crate) quarantine: Arc<Quarantine>,
    /// Plans of the operator; nothing is limited until they are set.
    pub(crate) plans: OnceLock<Held>,
}

impl Store {
    pub(crate) fn new(inner: Inner) -> Self {
        Self { inner: Arc::new(inner) }
    }

    /// Holds workspaces to these plans from now on. `default_days` is the retention of a workspace that
    /// set none. Only the first call counts.
    pub fn hold_to(&self, plans: Plans, default_days: u32) {
        let _ = self.inner.plans.set(Held { plans: Arc::new(plans), default_days });
    }

    /// Returns the plans of the operator.
    pub fn plans(&self) -> Arc<Plans> {
        self.held().map(|held| Arc::clone(&held.plans)).unwrap_or_default()
    }

    pub(crate) fn held(&self) -> Option<&Held> {
        self.inner.plans.get()
    }

    /// Ends everything in order: what waits is committed, the log is copied into the database and
    /// synced, the folder is unlocked. A store that is dropped instead loses nothing either.
    pub async fn close(self) -> Result<(), StoreError> {
        self.inner.readers.close().await;
        self.inner.writer.close().await
    }

    /// Whether the database answers and the writer works: for `/readyz`.
    pub async fn ready(&self) -> Result<(), StoreError> {
        self.inner.writer.ready()?;
        let asked = async {
            query("SELECT 1").execute(&mut self.read().await?).await?;
            Ok(())
        };
        match tokio::time::timeout(READY_WITHIN, asked).await {
            Ok(answer) => answer,
            Err(_) => Err(db::unanswered(READY_WITHIN).into()),
        }
    }

    /// Ends when another server owns the database, which need never be: this one cannot write to it
    /// any more, and what it knows is no longer so.
    pub async fn taken_over(&self) {
        self.inner.writer.taken_over().await;
    }

    /// The generation of what the workspace's callers read of its resources and their status; `None`
    /// while a commit is changing it. Results and what is made of them are not counted: they come
    /// all the time. Asked for before reading, and the same when the answer is given again, it says
    /// that the answer is still what is stored.
    pub fn generation(&self, workspace: rules::WorkspaceId) -> Option<Generation> {
        self.inner.generations.of(workspace)
    }

    /// The rows that cannot be read, as far as they were met.
    pub fn quarantine(&self) -> &Quarantine {
        &self.inner.quarantine
    }

    /// What an operator does about rows that cannot be read.
    pub const fn doctor(&self) -> Doctor<'_> {
        Doctor { store: self }
    }

    /// Workspaces.
    pub const fn workspaces(&self) -> Workspaces<'_> {
        Workspaces { store: self }
    }

    /// API keys.
    pub const fn keys(&self) -> Keys<'_> {
        Keys { store: self }
    }

    /// Monitors.
    pub const fn monitors(&self) -> Monitors<'_> {
        Monitors { store: self }
    }

    /// Notification channels.
    pub const fn channels(&self) -> Channels<'_> {
        Channels { store: self }
    }

    /// The key that visitors' sessions are signed with; the same after a restart.
    pub fn session_key(&self) -> rules::Secret<[u8; 32]> {
        self.vault().sessions().clone()
    }

    /// What status pages show.
    pub const fn shown(&self) -> Shown<'_> {
        Shown { store: self }
    }

    /// Status pages.
    pub const fn pages(&self) -> Pages<'_> {
        Pages { store: self }
    }

    /// Certificates of the names that the server answers to.
    pub const fn certificates(&self) -> Certificates<'_> {
        Certificates { store: self }
    }

    /// Sees a new value whenever status pages were changed, or may have been.
    pub fn page_changes(&self) -> watch::Receiver<u64> {
        self.inner.page_changes.subscribe()
    }

    /// How often status pages were changed, or may have been.
    pub fn pages_changed_so_far(&self) -> u64 {
        *self.inner.page_changes.borrow()
    }

    /// How often it was changed who may see this page; see [`Access`].
    pub fn access(&self, page: rules::PageId) -> Access {
        self.inner.accesses.of(page)
    }

    /// Components of status pages.
    pub const fn components(&self) -> Components<'_> {
        Components { store: self }
    }

    /// Component groups of status pages.
    pub const fn groups(&self) -> Groups<'_> {
        Groups { store: self }
    }

    /// Status reports.
    pub const fn reports(&self) -> Reports<'_> {
        Reports { store: self }
    }

    /// Templates of status reports.
    pub const fn report_templates(&self) -> ReportTemplates<'_> {
        ReportTemplates { store: self }
    }

    /// What webhooks are signed with.
    pub const fn signing_secrets(&self) -> SigningSecrets<'_> {
        SigningSecrets { store: self }
    }

    /// Who changed what.
    pub const fn audit(&self) -> Audit<'_> {
        Audit { store: self }
    }

    /// Results of checks.
    pub const fn results(&self) -> Results<'_> {
        Results { store: self }
    }

    /// What is kept of checks for people who ask why.
    pub const fn evidence(&self) -> EvidenceStore<'_> {
        EvidenceStore { store: self }
    }

    /// Slots that nobody ran.
    pub const fn missed(&self) -> Missed<'_> {
        Missed { store: self }
    }

    /// What the judge knows of each monitor.
    pub const fn judge_states(&self) -> JudgeStates<'_> {
        JudgeStates { store: self }
    }

    /// Incidents.
    pub const fn incidents(&self) -> Incidents<'_> {
        Incidents { store: self }
    }

    /// Who is told what, and what came of it.
    pub const fn outbox(&self) -> Outbox<'_> {
        Outbox { store: self }
    }

    /// Subscribers of status pages.
    pub const fn subscribers(&self) -> Subscribers<'_> {
        Subscribers { store: self }
    }

    /// Planned maintenance.
    pub const fn maintenances(&self) -> Maintenances<'_> {
        Maintenances { store: self }
    }

    /// Sums of results, and the course of statuses.
    pub const fn history(&self) -> HistoryStore<'_> {
        HistoryStore { store: self }
    }

    /// Results of one monitor, one by one.
    pub const fn logs(&self) -> Logs<'_> {
        Logs { store: self }
    }

    /// Taking away what is old.
    pub const fn retention(&self) -> Retention<'_> {
        Retention { store: self }
    }

    /// Does `work` in a transaction; the answer comes after the commit.
    pub(crate) async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'s> FnOnce(&'s mut Session) -> Work<'s, T> + Send + 'static,
    {
        self.inner.writer.write(Begin::First, work).await
    }

    /// Like [`Self::write`], for work that begins its transaction itself, or is one statement.
    pub(crate) async fn write_at_once<T, F>(
        &self,
        durable: Durable,
        work: F,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'s> FnOnce(&'s mut Session) -> Work<'s, T> + Send + 'static,
    {
        self.inner.writer.write(Begin::ByWork(durable), work).await
    }

    /// Like [`Self::write_at_once`], in the thread that asks where it may be: see
    /// [`Writer::write_here`].
    pub(crate) async fn write_here<T, F>(&self, durable: Durable, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'s> FnOnce(&'s mut Session) -> Work<'s, T> + Send + 'static,
    {
        self.inner.writer.write_here(Begin::ByWork(durable), work).await
    }

    /// Like [`Self::write`], for work that changes nothing but what this workspace reads.
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
            session.touches(workspace);
            work(session)
        })
        .await
    }

    /// A connection to read with, of what is committed.
    pub(crate) async fn read(&self) -> Result<Connection, StoreError> {
        match self.inner.readers.acquire().await {
            Err(sqlx::Error::PoolClosed) => Err(StoreError::Closed),
            Err(sqlx::Error::PoolTimedOut) => Err(db::unanswered(READER_WAIT).into()),
            acquired => Ok(acquired?),
        }
    }

    /// Where the newest results are.
    pub(crate) fn tail(&self) -> &Tail {
        &self.inner.tail
    }

    /// Where the sender listens.
    pub(crate) fn outbox_listener(&self) -> &Listener {
        &self.inner.outbox
    }

    /// Says that others may see a page than before, or that it may be so.
    pub(crate) fn access_changed(&self, page: rules::PageId) {
        self.inner.accesses.changed(page);
    }

    /// Says that status pages were changed, or may have been.
    pub(crate) fn pages_changed(&self) {
        self.inner.page_changes.send_modify(|count| *count += 1);
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

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Store")
    }
}
