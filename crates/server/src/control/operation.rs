//! The operations with their results and errors: JSON on the socket, and types for the command
//! line.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rules::plan::Plan;
use rules::{KeyId, Periodicity, Role, Scope, Secret, Timestamp, UserId, WorkspaceId};
use serde::{Deserialize, Serialize};
use store::FieldChange;

use super::exposed;
use super::probe_operation::{ProbeOperation, ProbeReply};

/// The fields of a new workspace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CreateWorkspace {
    /// Name in addresses and commands.
    pub slug: String,
    /// Name for people.
    pub name: String,
    /// Plan; `None` means `free`.
    #[serde(default)]
    pub plan: Option<String>,
}

/// New names of a workspace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RenameWorkspace {
    /// Current slug.
    pub workspace: String,
    /// New slug; `None` keeps the current one.
    pub slug: Option<String>,
    /// New name for people; `None` keeps the current one.
    pub name: Option<String>,
}

/// A change in the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRow {
    pub at: Timestamp,
    /// ID of a key or a user, `command_line` or `server`.
    pub actor: String,
    /// Name of the key, empty for other actors.
    pub actor_name: String,
    /// Action, such as `monitor.update`.
    pub action: String,
    pub resource_id: String,
    /// Description of the change, empty if the action is enough.
    pub detail: String,
    /// Address of the client; `None` for changes from within the server.
    #[serde(default)]
    pub address: Option<String>,
    /// Changed fields of an update.
    #[serde(default)]
    pub changes: Vec<FieldChange>,
}

/// The changes to list.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct AuditQuery {
    /// Slug of the workspace.
    pub workspace: String,
    /// Maximum number of changes.
    pub limit: u32,
    /// Only changes of this resource.
    pub resource_id: Option<String>,
    /// Only changes by this actor, as in [`AuditRow`].
    pub actor: Option<String>,
    /// Only changes at this time or later.
    pub from: Option<Timestamp>,
    /// Only changes before this time.
    pub to: Option<Timestamp>,
}

/// The retention of a workspace's results.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeepResults {
    pub workspace: String,
    /// Retention in days; `None` uses the server's setting.
    pub days: Option<u32>,
}

/// The fields of a new key.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CreateKey {
    pub workspace: String,
    /// Purpose of the key.
    pub name: String,
    pub scope: Scope,
    /// Lifetime in seconds; `None` means unlimited.
    pub expires_in_seconds: Option<u64>,
}

/// A key directly after its creation, the only time that it is shown.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CreatedKey {
    pub id: KeyId,
    #[serde(with = "exposed")]
    pub key: Secret<String>,
}

/// A workspace in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceRow {
    pub id: WorkspaceId,
    /// Name in addresses and commands.
    pub slug: String,
    /// Name for people.
    pub name: String,
    pub plan: String,
    pub created_at: Timestamp,
    /// Time of its deletion, if it is scheduled.
    #[serde(default)]
    pub deletes_at: Option<Timestamp>,
}

/// A workspace with its limits and its usage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceDetails {
    #[serde(flatten)]
    pub workspace: WorkspaceRow,
    /// Limits of its plan; `None` means unlimited.
    pub limits: Plan,
    /// Usage of the same quantities.
    pub usage: WorkspaceUsage,
    /// Whether it is one of the operator's: its members manage what all workspaces share.
    #[serde(default)]
    pub is_operator: bool,
}

/// The usage of a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceUsage {
    /// Number of monitors, including paused ones.
    pub monitors: u32,
    /// Shortest period of a monitor; `None` without monitors.
    pub shortest_period: Option<Periodicity>,
    pub pages: u32,
    pub channels: u32,
    /// Retention of results, in days.
    pub retention_days: u32,
}

/// A key in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyRow {
    pub id: KeyId,
    pub workspace: String,
    /// Purpose of the key.
    pub name: String,
    /// Scope; `None` for a key from before scopes, which may write (spec §5.6).
    pub scope: Option<Scope>,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

/// A user in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserRow {
    pub id: UserId,
    pub email: String,
    /// Name for people.
    pub name: String,
    pub created_at: Timestamp,
    /// Role in each workspace, by the workspace's slug.
    pub roles: BTreeMap<String, Role>,
}

/// A new password, the only time that it is shown.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NewPassword {
    pub id: UserId,
    pub email: String,
    #[serde(with = "exposed")]
    pub password: Secret<String>,
    pub removed_passkeys: u32,
}

/// A row that cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadableRow {
    pub table: String,
    /// Key in its table.
    pub key: String,
    /// Reason, for people.
    pub why: String,
    /// All columns; bytes as hexadecimal digits.
    pub columns: serde_json::Value,
}

/// An operation of an operator.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "operation", rename_all = "snake_case")]
pub(super) enum Operation {
    CreateWorkspace(CreateWorkspace),
    ListWorkspaces,
    ShowWorkspace {
        workspace: String,
    },
    RenameWorkspace(RenameWorkspace),
    SetPlan {
        workspace: String,
        plan: String,
    },
    /// Makes a workspace one of the operator's, or ends that.
    SetOperator {
        workspace: String,
        is_operator: bool,
    },
    DeleteWorkspace {
        workspace: String,
    },
    /// Lists the latest changes of a workspace.
    Audit(AuditQuery),
    KeepResults(KeepResults),
    CreateKey(CreateKey),
    /// Lists the keys of the workspace with this slug, or of all.
    ListKeys {
        workspace: Option<String>,
    },
    RevokeKey {
        id: KeyId,
    },
    ListUsers,
    /// Gives the user with this address a new password.
    ResetUser {
        email: String,
        keeps_passkeys: bool,
    },
    /// Lists the rows that cannot be decoded.
    Examine,
    /// Restores quarantined rows that can be decoded again.
    PutBack,
    /// Removes a row that cannot be decoded.
    RemoveRow {
        table: String,
        key: String,
    },
    /// Copies the embedded database to this file.
    BackUp {
        file: PathBuf,
    },
    Probe(ProbeOperation),
}

/// The result of an operation.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "answer", content = "of", rename_all = "snake_case")]
pub(super) enum OperationReply {
    Workspace(WorkspaceRow),
    Workspaces(Vec<WorkspaceDetails>),
    Details(Box<WorkspaceDetails>),
    Deleted,
    Audited(Vec<AuditRow>),
    Created(CreatedKey),
    Keys(Vec<KeyRow>),
    Revoked,
    Users(Vec<UserRow>),
    Password(NewPassword),
    Unreadable(Vec<UnreadableRow>),
    /// Number of restored rows.
    PutBack(u64),
    Removed,
    /// The retention has changed.
    Keeps,
    /// Size of the copy in bytes.
    BackedUp(u64),
    Probe(ProbeReply),
    Refused(String),
}

/// A failure of an operation.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The operation breaks a rule, or its target does not exist.
    #[error("{0}")]
    Refused(String),
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// The running server does not answer.
    #[error("the server of `{folder}` did not answer: {why}")]
    Unreachable {
        folder: String,
        /// Reason, for people.
        why: String,
    },
}
