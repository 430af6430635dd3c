//! Audit log: one row for each change of a resource, in the transaction of the change, with its
//! actor and time. Rows never hold secrets.

mod changes;
mod export;

use std::fmt::Write as _;
use std::net::IpAddr;
use std::time::Duration;

use domain::check::ProbeName;
use rules::{KeyId, Timestamp, UserId, WorkspaceId};
use sqlx::AssertSqlSafe;

use crate::db::{Connection, Query, Row, query};
use crate::list::Listed;
use crate::writer::Session;
use crate::{Page, Store, StoreError};

pub use self::changes::{FieldChange, FieldChanges, ResourceVersions, UpdateContext};
pub use self::export::{ExportFormat, ExportedPage};

/// Actions of people and keys in a workspace that is about to be deleted, beside those of people with
/// their own accounts.
const ALLOWED_BEFORE_DELETION: [&str; 5] = [
    "workspace.schedule_deletion",
    "workspace.cancel_deletion",
    "key.revoke",
    "member.delete",
    "invitation.revoke",
];
/// Beginning of the actions of people with their own accounts.
const ACCOUNT_ACTION: &str = "user.";

/// Actor, time and origin of a change. Every function that changes a resource takes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditContext {
    pub actor: Actor,
    /// Time by the server's clock.
    pub at: Timestamp,
    /// Address of the client. `None` for changes from within the server.
    pub address: Option<IpAddr>,
}

impl AuditContext {
    /// Creates the context of a change from within the server or from its command line.
    pub const fn new(actor: Actor, at: Timestamp) -> Self {
        Self { actor, at, address: None }
    }

    /// Returns the same context for a client at this address.
    #[must_use]
    pub const fn from_address(self, address: Option<IpAddr>) -> Self {
        Self { address, ..self }
    }

    /// Returns the same context with the fields that the change sets, for updates of resources.
    pub const fn with_changes(self, changes: FieldChanges) -> UpdateContext {
        UpdateContext { change: self, changes }
    }

    /// Returns the time of the change for an object last changed at `seen`. It is always later than
    /// `seen`, because it distinguishes edits.
    pub(crate) fn after(self, seen: Timestamp) -> Timestamp {
        self.at.max(seen + Duration::from_millis(1))
    }
}

/// Actor of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// Caller with this key.
    Key(KeyId),
    /// Person in the dashboard.
    User(UserId),
    /// User of the server's command line.
    CommandLine,
    /// The server itself.
    Server,
}

/// Entry of the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// Position in the order of changes.
    pub number: i64,
    pub at: Timestamp,
    /// Identifier of a key or a user, `command line` or `server`.
    pub actor: String,
    /// Action, such as `monitor.update`.
    pub action: String,
    /// Identifier of the resource.
    pub resource_id: String,
    /// Description of the change. Empty if the action is sufficient.
    pub detail: String,
    /// Name of the key or the user that made it.
    pub actor_name: Option<String>,
    /// Address of the client that made it.
    pub address: Option<String>,
    /// Changed fields of an update. Empty for other changes, and for entries of older versions.
    pub changes: FieldChanges,
}

/// Which changes are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Changes of this resource.
    pub resource_id: Option<String>,
    /// Changes by this actor.
    pub actor: Option<Actor>,
    /// Changes at this time or later.
    pub from: Option<Timestamp>,
    /// Changes before this time.
    pub to: Option<Timestamp>,
}

impl AuditFilter {
    fn actor(&self) -> Option<String> {
        self.actor.map(|actor| actor.to_string())
    }
}

/// Audit entry about a probe, for a workspace whose monitors it checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeEvent {
    pub workspace: WorkspaceId,
    pub probe: ProbeName,
    pub turn: ProbeTransition,
    pub at: Timestamp,
    /// Reason, as text.
    pub detail: String,
}

/// Change of a probe's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeTransition {
    /// The probe became suspect. `probe.suspect` in the audit log.
    Suspected,
    /// The probe is no longer suspect. `probe.recovered` in the audit log.
    Recovered,
}

/// Handle of the audit log.
#[derive(Clone, Copy, Debug)]
pub struct Audit<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the audit log.
    pub const fn audit(&self) -> Audit<'_> {
        Audit { store: self }
    }
}

impl Audit<'_> {
    /// Records changes of probes. Repeating a call has no effect.
    pub async fn record_probes(&self, events: Vec<ProbeEvent>) -> Result<(), StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    for record in &events {
                        record_probe(&mut session.db, record).await?;
                    }
                    Ok(())
                })
            })
            .await
    }

    /// Returns the newest entries of the workspace, newest first, at most `limit`.
    pub async fn newest(
        &self,
        workspace: WorkspaceId,
        limit: u32,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let page = Page { limit, offset: 0, after: None };
        Ok(self.list(workspace, &AuditFilter::default(), page).await?.rows)
    }

    /// Lists changes of the workspace, newest first. The total is not counted.
    pub async fn list(
        &self,
        workspace: WorkspaceId,
        filter: &AuditFilter,
        page: Page<i64>,
    ) -> Result<Listed<AuditEntry>, StoreError> {
        let mut statement = "SELECT a.number, a.at, a.actor, a.action, a.resource_id, a.detail, \
             COALESCE(k.name, u.name) AS name, a.address, a.changes_sealed, a.workspace_id FROM audit a \
             LEFT JOIN keys k ON k.id = a.actor AND k.workspace_id = a.workspace_id \
             LEFT JOIN users u ON u.id = a.actor \
             WHERE a.workspace_id = $1 AND a.number < $2 AND a.at >= $3 AND a.at < $4"
            .to_owned();
        let texts = [("resource_id", filter.resource_id.clone()), ("actor", filter.actor())];
        let texts = texts.into_iter().filter_map(|(column, text)| Some((column, text?)));
        let mut values = Vec::new();
        for (column, text) in texts {
            values.push(text);
            write!(statement, " AND a.{column} = ${}", 4 + values.len())
                .expect("writing to a String does not fail");
        }
        let index = 5 + values.len();
        write!(statement, " ORDER BY a.number DESC LIMIT ${index} OFFSET ${}", index + 1)
            .expect("writing to a String does not fail");
        let asked = query(AssertSqlSafe(statement))
            .bind(workspace.to_string())
            .bind(page.after.unwrap_or(i64::MAX))
            .bind(filter.from.map_or(i64::MIN, Timestamp::as_millis))
            .bind(filter.to.map_or(i64::MAX, Timestamp::as_millis));
        let rows = values
            .into_iter()
            .fold(asked, Query::bind)
            .bind(i64::from(page.limit))
            .bind(i64::from(page.offset))
            .fetch_all(&mut self.store.read().await?)
            .await?;
        let read = |row: &Row| {
            Ok(AuditEntry {
                number: row.try_get("number")?,
                at: Timestamp::from_millis(row.try_get("at")?),
                actor: row.try_get("actor")?,
                action: row.try_get("action")?,
                resource_id: row.try_get("resource_id")?,
                detail: row.try_get("detail")?,
                actor_name: row.try_get("name")?,
                address: row.try_get("address")?,
                changes: changes::read(self.store.vault(), row)?,
            })
        };
        Listed::from_rows((self.store.quarantine(), "audit"), &rows, None, read)
    }
}

/// Contents of a new entry.
pub(crate) struct NewAuditEntry<'n> {
    pub(crate) workspace: WorkspaceId,
    pub(crate) change: AuditContext,
    pub(crate) action: &'static str,
    pub(crate) resource_id: String,
    pub(crate) detail: &'n str,
}

/// Writes the entry of a change, in the transaction of the change. Rejects a change of a workspace
/// that is about to be deleted.
pub(crate) async fn record(
    db: &mut Connection,
    record: NewAuditEntry<'_>,
) -> Result<(), StoreError> {
    require_lasting(db, &record).await?;
    query(
        "INSERT INTO audit (workspace_id, at, actor, action, resource_id, detail, address) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(record.workspace.to_string())
    .bind(record.change.at.as_millis())
    .bind(record.change.actor.to_string())
    .bind(record.action)
    .bind(record.resource_id)
    .bind(record.detail)
    .bind(record.change.address.map(|address| address.to_string()))
    .execute(db)
    .await?;
    Ok(())
}

/// Adds the changed fields of an update to its entry, the newest of the resource, in the
/// transaction of the update.
pub(crate) async fn attach_changes(
    session: &mut Session,
    (workspace, resource_id): (WorkspaceId, &str),
    changes: &FieldChanges,
) -> Result<(), StoreError> {
    let sealed = changes::seal(&session.vault, (workspace, resource_id), changes)?;
    let Some(sealed) = sealed else { return Ok(()) };
    query(
        "UPDATE audit SET changes_sealed = $3 WHERE number = (SELECT MAX(number) FROM audit \
         WHERE workspace_id = $1 AND resource_id = $2)",
    )
    .bind(workspace.to_string())
    .bind(resource_id)
    .bind(sealed)
    .execute(&mut session.db)
    .await?;
    Ok(())
}

/// Rejects changes of a workspace that is about to be deleted, except those that the operator or
/// the server makes, that take away access, or that concern the deletion.
async fn require_lasting(db: &mut Connection, new: &NewAuditEntry<'_>) -> Result<(), StoreError> {
    let stays_allowed = match new.change.actor {
        Actor::CommandLine | Actor::Server => true,
        Actor::Key(_) | Actor::User(_) => {
            new.action.starts_with(ACCOUNT_ACTION) || ALLOWED_BEFORE_DELETION.contains(&new.action)
        }
    };
    if stays_allowed {
        return Ok(());
    }
    let leaving = query("SELECT 1 FROM workspaces WHERE id = $1 AND deletes_at IS NOT NULL")
        .bind(new.workspace.to_string())
        .fetch_optional(db)
        .await?;
    leaving.map_or(Ok(()), |_| Err(StoreError::DeletionScheduled))
}

async fn record_probe(db: &mut Connection, probe: &ProbeEvent) -> Result<(), StoreError> {
    let action = match probe.turn {
        ProbeTransition::Suspected => "probe.suspect",
        ProbeTransition::Recovered => "probe.recovered",
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
    let change = AuditContext::new(Actor::Server, probe.at);
    let resource_id = probe.probe.0.to_string();
    record(
        db,
        NewAuditEntry {
            workspace: probe.workspace,
            change,
            action,
            resource_id,
            detail: &probe.detail,
        },
    )
    .await
}

impl std::fmt::Display for Actor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Key(id) => id.fmt(f),
            Self::User(id) => id.fmt(f),
            Self::CommandLine => f.write_str("command line"),
            Self::Server => f.write_str("server"),
        }
    }
}
