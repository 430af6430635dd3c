//! Heartbeat monitors: the tokens in their URLs, and what is known of the calls. The store has the SHA-256
//! of a token to find its monitor, and the sealed token to show the URL. `domain::check` decides what calls
//! mean.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::check::{HeartbeatFailure, HeartbeatState, Signal};
use rules::{MonitorId, Secret, Timestamp, WorkspaceId};

use crate::audit::{self, NewAuditEntry};
use crate::db::{Connection, Row, query};
use crate::row::{id, instant, optional_instant, optional_narrow};
use crate::vault::{self, EncryptionContext, Vault};
use crate::writer::Session;
use crate::{AuditContext, KeyHash, Store, StoreError};

/// Selects the columns of [`read_state`] from the table `h`.
macro_rules! state_columns {
    () => {
        "h.watched_since, h.received_at, h.succeeded_at, h.failed_at, h.exit_code, h.started_at, \
         h.unended_since"
    };
}
pub(crate) use state_columns;

/// URL and calls of a heartbeat monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredHeartbeat {
    /// Token in the URL.
    pub token: Secret<String>,
    pub state: HeartbeatState,
}

/// Monitor that a token belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeartbeatTarget {
    pub monitor: MonitorId,
    pub workspace: WorkspaceId,
    /// Row of the monitor.
    number: i64,
}

/// Call that was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedCall {
    /// Duration of the run that it ended, if its start was reported.
    pub ran_for: Option<Duration>,
    /// Calls of the monitor with this one.
    pub state: HeartbeatState,
}

/// Handle of the heartbeats.
#[derive(Clone, Copy, Debug)]
pub struct Heartbeats<'s> {
    store: &'s Store,
}

impl Store {
    /// Returns the handle of the heartbeats.
    pub const fn heartbeats(&self) -> Heartbeats<'_> {
        Heartbeats { store: self }
    }
}

impl Heartbeats<'_> {
    /// Returns the monitor whose URL has this token. `None` for an unknown token, and for a monitor of a
    /// workspace that is to be deleted.
    pub async fn find(&self, token: &str) -> Result<Option<HeartbeatTarget>, StoreError> {
        let row = query(
            "SELECT m.id, m.workspace_id, m.number FROM heartbeats h \
             JOIN monitors m ON m.number = h.monitor \
             JOIN workspaces w ON w.id = m.workspace_id \
             WHERE h.token_hash = $1 AND m.deleted_at IS NULL AND w.deletes_at IS NULL",
        )
        .bind(KeyHash::new(token).bytes())
        .fetch_optional(&mut self.store.read().await?)
        .await?;
        let read = |row: &Row| {
            Ok(HeartbeatTarget {
                monitor: id(row, "id", MonitorId::parse)?,
                workspace: id(row, "workspace_id", WorkspaceId::parse)?,
                number: row.try_get("number")?,
            })
        };
        row.as_ref().map(read).transpose()
    }

    /// Records a call, and returns when it is on disk. Returns `None` if the monitor was deleted since.
    pub async fn record(
        &self,
        target: HeartbeatTarget,
        signal: Signal,
        at: Timestamp,
    ) -> Result<Option<RecordedCall>, StoreError> {
        let HeartbeatTarget { number, workspace, .. } = target;
        self.store
            .write(move |session| {
                // Calls come often. Only the last call and the status change for those who read.
                session.declare_status_change(workspace);
                Box::pin(async move {
                    let db = &mut session.db;
                    let Some(mut state) = state_of(db, number).await? else { return Ok(None) };
                    let ran_for = state.record(signal, at);
                    replace(db, number, &state).await?;
                    Ok(Some(RecordedCall { ran_for, state }))
                })
            })
            .await
    }

    /// Returns what is known of a monitor's calls. `None` for a monitor of another kind.
    pub async fn state(&self, monitor: MonitorId) -> Result<Option<HeartbeatState>, StoreError> {
        let row = query(concat!(
            "SELECT ",
            state_columns!(),
            " FROM heartbeats h JOIN monitors m ON m.number = h.monitor WHERE m.id = $1"
        ))
        .bind(monitor.to_string())
        .fetch_optional(&mut self.store.read().await?)
        .await?;
        row.as_ref().map(read_state).transpose()
    }

    /// Replaces the token of a monitor. The previous one ends now.
    ///
    /// # Errors
    /// `NotFound`, even for a monitor of another kind.
    pub async fn rotate(
        &self,
        workspace: WorkspaceId,
        monitor: MonitorId,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    let token = NewToken::create(&session.vault, monitor)?;
                    // The row of a damaged monitor may be lost.
                    let replaced = query(
                        "INSERT INTO heartbeats (monitor, token_hash, token_sealed, watched_since) \
                         SELECT number, $1, $2, $3 FROM monitors \
                         WHERE workspace_id = $4 AND id = $5 AND kind = 'heartbeat' \
                         AND deleted_at IS NULL \
                         ON CONFLICT (monitor) DO UPDATE SET token_hash = excluded.token_hash, \
                         token_sealed = excluded.token_sealed",
                    )
                    .bind(token.hash.bytes())
                    .bind(token.sealed)
                    .bind(change.at.as_millis())
                    .bind(workspace.to_string())
                    .bind(monitor.to_string())
                    .execute(&mut session.db)
                    .await?;
                    if replaced == 0 {
                        return Err(StoreError::not_found("heartbeat monitor", &monitor));
                    }
                    let (action, resource_id) = ("monitor.rotate_url", monitor.to_string());
                    let note = NewAuditEntry { workspace, change, action, resource_id, detail: "" };
                    audit::record(&mut session.db, note).await
                })
            })
            .await
    }
}

/// A token to store.
struct NewToken {
    hash: KeyHash,
    sealed: Vec<u8>,
}

impl NewToken {
    /// Creates a token of 256 random bits.
    fn create(vault: &Vault, monitor: MonitorId) -> Result<Self, StoreError> {
        let token = URL_SAFE_NO_PAD.encode(vault::fresh_secret().expose());
        let sealed = vault.seal(token_context(&monitor.to_string()), &token)?;
        Ok(Self { hash: KeyHash::new(&token), sealed })
    }
}

/// Adds the URL of a new monitor, which waits from now on.
pub(crate) async fn insert(
    session: &mut Session,
    monitor: MonitorId,
    at: Timestamp,
) -> Result<(), StoreError> {
    let token = NewToken::create(&session.vault, monitor)?;
    query(
        "INSERT INTO heartbeats (monitor, token_hash, token_sealed, watched_since) \
         SELECT number, $1, $2, $3 FROM monitors WHERE id = $4",
    )
    .bind(token.hash.bytes())
    .bind(token.sealed)
    .bind(at.as_millis())
    .bind(monitor.to_string())
    .execute(&mut session.db)
    .await?;
    Ok(())
}

/// Starts the wait of a monitor anew after a change of its times.
pub(crate) async fn restart(
    session: &mut Session,
    monitor: MonitorId,
    at: Timestamp,
) -> Result<(), StoreError> {
    change(session, monitor, |state| state.restart(at)).await
}

/// Starts the wait of a monitor after a pause.
pub(crate) async fn resume(
    session: &mut Session,
    monitor: MonitorId,
    at: Timestamp,
) -> Result<(), StoreError> {
    change(session, monitor, |state| state.resume(at)).await
}

/// Changes what is known of the calls, if the monitor waits for any.
async fn change(
    session: &mut Session,
    monitor: MonitorId,
    change: impl FnOnce(&mut HeartbeatState) + Send,
) -> Result<(), StoreError> {
    let Some(number) = session.row_ids.monitor(&mut session.db, monitor).await? else {
        return Ok(());
    };
    let db = &mut session.db;
    let Some(mut state) = state_of(db, number).await? else { return Ok(()) };
    change(&mut state);
    replace(db, number, &state).await
}

/// Ends the URL of a deleted monitor.
pub(crate) async fn delete(db: &mut Connection, number: i64) -> Result<(), StoreError> {
    query("DELETE FROM heartbeats WHERE monitor = $1").bind(number).execute(db).await?;
    Ok(())
}

/// Reads the columns of the table if the monitor has a row.
pub(crate) fn read(vault: &Vault, row: &Row) -> Result<Option<StoredHeartbeat>, StoreError> {
    let sealed: Option<&[u8]> = row.try_get("token_sealed")?;
    let Some(sealed) = sealed else { return Ok(None) };
    let token: String = vault.open(token_context(row.try_get("id")?), sealed)?;
    Ok(Some(StoredHeartbeat { token: Secret::new(token), state: read_state(row)? }))
}

/// Reads the columns of the calls. `None` for a monitor without a row.
pub(crate) fn read_optional_state(row: &Row) -> Result<Option<HeartbeatState>, StoreError> {
    let has_row = optional_instant(row, "watched_since")?.is_some();
    has_row.then(|| read_state(row)).transpose()
}

/// Reads the columns of the calls.
pub(crate) fn read_state(row: &Row) -> Result<HeartbeatState, StoreError> {
    let exit_code = optional_narrow(row, "exit_code")?;
    let failed_at = optional_instant(row, "failed_at")?;
    Ok(HeartbeatState {
        watched_since: instant(row, "watched_since")?,
        received_at: optional_instant(row, "received_at")?,
        succeeded_at: optional_instant(row, "succeeded_at")?,
        failure: failed_at.map(|at| HeartbeatFailure { at, exit_code }),
        started_at: optional_instant(row, "started_at")?,
        unended_since: optional_instant(row, "unended_since")?,
    })
}

async fn state_of(db: &mut Connection, number: i64) -> Result<Option<HeartbeatState>, StoreError> {
    let row =
        query(concat!("SELECT ", state_columns!(), " FROM heartbeats h WHERE h.monitor = $1"))
            .bind(number)
            .fetch_optional(db)
            .await?;
    row.as_ref().map(read_state).transpose()
}

async fn replace(
    db: &mut Connection,
    number: i64,
    state: &HeartbeatState,
) -> Result<(), StoreError> {
    let millis = |at: Option<Timestamp>| at.map(Timestamp::as_millis);
    query(
        "UPDATE heartbeats SET watched_since = $1, received_at = $2, succeeded_at = $3, \
         failed_at = $4, exit_code = $5, started_at = $6, unended_since = $7 WHERE monitor = $8",
    )
    .bind(state.watched_since.as_millis())
    .bind(millis(state.received_at))
    .bind(millis(state.succeeded_at))
    .bind(state.failure.map(|failure| failure.at.as_millis()))
    .bind(state.failure.and_then(|failure| failure.exit_code).map(i64::from))
    .bind(millis(state.started_at))
    .bind(millis(state.unended_since))
    .bind(number)
    .execute(db)
    .await?;
    Ok(())
}

const fn token_context(monitor: &str) -> EncryptionContext<'_> {
    EncryptionContext { column: "heartbeats.token_sealed", row: monitor }
}
