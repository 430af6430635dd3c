//! Who changed what, and when: one row for each change of a resource, in the change's own
//! transaction. Secrets never stand here.

use std::time::Duration;

use domain::check::ProbeId;
use rules::{KeyId, Timestamp, WorkspaceId};

use crate::db::{Connection, Row, query};
use crate::{Store, StoreError};

/// A change that is being made: by whom and when. Whatever changes a resource asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Who makes it.
    pub actor: Actor,
    /// When, by the server's clock.
    pub at: Timestamp,
}

impl Change {
    /// When the change counts as made, of what was last changed at `seen`: later than that in any
    /// case, because it tells edits apart.
    pub(crate) fn after(self, seen: Timestamp) -> Timestamp {
        self.at.max(seen + Duration::from_millis(1))
    }
}

/// Who makes a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A caller with this key.
    Key(KeyId),
    /// Somebody at the server's command line.
    CommandLine,
    /// The server itself.
    Server,
}

/// One change that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// Place in the order of changes.
    pub number: i64,
    /// When.
    pub at: Timestamp,
    /// Who: the identifier of a key, `command line` or `server`.
    pub actor: String,
    /// What was done, such as `monitor.update`.
    pub action: String,
    /// Identifier of the resource.
    pub resource_id: String,
    /// What changed, in words; empty where the action says it all.
    pub detail: String,
}

/// What the owners of a workspace are told of a probe that checks their monitors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeNote {
    /// Which workspace.
    pub workspace: WorkspaceId,
    /// Which probe.
    pub probe: ProbeId,
    /// What became of it.
    pub turn: ProbeTurn,
    /// When.
    pub at: Timestamp,
    /// Why, in words.
    pub detail: String,
}

/// What may become of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeTurn {
    /// It doubts itself: its votes are void. `probe.doubt` in the audit.
    Doubts,
    /// It doubts itself no more. `probe.recover` in the audit.
    Recovered,
}

/// The handle of the audit.
#[derive(Clone, Copy, Debug)]
pub struct Audit<'s> {
    pub(crate) store: &'s Store,
}

impl Audit<'_> {
    /// Writes down what became of probes, once however often it is tried.
    pub async fn note_probes(&self, notes: Vec<ProbeNote>) -> Result<(), StoreError> {
        self.store
            .write(move |session| {
                session.touches_nothing();
                Box::pin(async move {
                    for note in &notes {
                        note_probe(&mut session.db, note).await?;
                    }
                    Ok(())
                })
            })
            .await
    }

    /// The newest changes of the workspace, newest first; at most `limit`.
    pub async fn newest(
        &self,
        workspace: WorkspaceId,
        limit: u32,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let rows = query(
            "SELECT number, at, actor, action, resource_id, detail FROM audit \
             WHERE workspace_id = $1 ORDER BY number DESC LIMIT $2",
        )
        .bind(workspace.to_string())
        .bind(i64::from(limit))
        .fetch_all(&mut self.store.read().await?)
        .await?;
        let read = |row: &Row| {
            Ok(AuditEntry {
                number: row.try_get(0)?,
                at: Timestamp::from_millis(row.try_get(1)?),
                actor: row.try_get(2)?,
                action: row.try_get(3)?,
                resource_id: row.try_get(4)?,
                detail: row.try_get(5)?,
            })
        };
        self.store.quarantine().sift_all("audit", &rows, read)
    }
}

/// What is to be written of a change.
pub(crate) struct Note<'n> {
    pub(crate) workspace: WorkspaceId,
    pub(crate) change: Change,
    pub(crate) action: &'static str,
    pub(crate) resource_id: String,
    pub(crate) detail: &'n str,
}

/// Writes the row of a change, in the change's transaction.
pub(crate) async fn note(db: &mut Connection, note: Note<'_>) -> Result<(), StoreError> {
    query(
        "INSERT INTO audit (workspace_id, at, actor, action, resource_id, detail) \
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(note.workspace.to_string())
    .bind(note.change.at.as_millis())
    .bind(note.change.actor.to_string())
    .bind(note.action)
    .bind(note.resource_id)
    .bind(note.detail)
    .execute(db)
    .await?;
    Ok(())
}

async fn note_probe(db: &mut Connection, probe: &ProbeNote) -> Result<(), StoreError> {
    let action = match probe.turn {
        ProbeTurn::Doubts => "probe.doubt",
        ProbeTurn::Recovered => "probe.recover",
    };
    let written = query(
        "SELECT 1 FROM audit \
         WHERE workspace_id = $1 AND at = $2 AND action = $3 AND resource_id = $4",
    )
    .bind(probe.workspace.to_string())
    .bind(probe.at.as_millis())
    .bind(action)
    .bind(probe.probe.0.as_ref())
    .fetch_optional(&mut *db)
    .await?;
    if written.is_some() {
        return Ok(());
    }
    let change = Change { actor: Actor::Server, at: probe.at };
    let resource_id = probe.probe.0.to_string();
    note(
        db,
        Note { workspace: probe.workspace, change, action, resource_id, detail: &probe.detail },
    )
    .await
}

impl std::fmt::Display for Actor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Key(id) => id.fmt(f),
            Self::CommandLine => f.write_str("command line"),
            Self::Server => f.write_str("server"),
        }
    }
}
