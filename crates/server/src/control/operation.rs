//! The operations, their answers and errors: what travels through the socket as JSON, and what the
//! command line sees either way.

use std::path::PathBuf;

use rules::{KeyId, Scope, Secret, Timestamp, WorkspaceId};
use serde::{Deserialize, Serialize};

use super::WorkspaceDetails;

/// A new workspace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CreateWorkspace {
    /// Its name in addresses and commands.
    pub slug: String,
    /// Its name for people.
    pub name: String,
    /// Its plan; `None` is `free`.
    #[serde(default)]
    pub plan: Option<String>,
}

/// Other names of a workspace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RenameWorkspace {
    /// Slug of the workspace.
    pub workspace: String,
    /// Its new slug; `None` keeps the old one.
    pub slug: Option<String>,
    /// Its new name for people; `None` keeps the old one.
    pub name: Option<String>,
}

/// A change that was made, as the audit has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRow {
    /// When.
    pub happened_at: Timestamp,
    /// Who: the identifier of a key, `command line` or `server`.
    pub actor: String,
    /// What was done, such as `monitor.update`.
    pub action: String,
    /// Identifier of the resource.
    pub resource_id: String,
    /// What changed, in words; empty where the action says it all.
    pub detail: String,
}

/// How long a workspace's results are kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeepResults {
    /// Slug of the workspace.
    pub workspace: String,
    /// For so many days; `None` is as the server's setting says.
    pub days: Option<u32>,
}

/// A new key.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CreateKey {
    /// Slug of its workspace.
    pub workspace: String,
    /// What it is for.
    pub name: String,
    /// What it may do.
    pub scope: Scope,
    /// Seconds for which it holds; `None` is for good.
    pub expires_in_seconds: Option<u64>,
}

/// A key that was just created: the one time that it is shown.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CreatedKey {
    /// Its identifier.
    pub id: KeyId,
    /// The key itself.
    #[serde(with = "exposed")]
    pub key: Secret<String>,
}

/// A workspace as it is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceRow {
    /// Its identifier.
    pub id: WorkspaceId,
    /// Its name in addresses and commands.
    pub slug: String,
    /// Its name for people.
    pub name: String,
    /// Its plan.
    pub plan: String,
    /// When it was created.
    pub created_at: Timestamp,
}

/// A key as it is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyRow {
    /// Its identifier.
    pub id: KeyId,
    /// Slug of its workspace.
    pub workspace: String,
    /// What it is for.
    pub name: String,
    /// What it may do; `None` is a key from before there were scopes, which may write (spec §5.6).
    pub scope: Option<Scope>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
    /// When it was last used.
    pub last_used_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

/// A row that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadableRow {
    /// Its table.
    pub table: String,
    /// Its key there.
    pub key: String,
    /// Why it cannot be read.
    pub why: String,
    /// All of its columns; bytes as hexadecimal digits.
    pub columns: serde_json::Value,
}

/// What an operator may ask.
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
    DeleteWorkspace {
        workspace: String,
    },
    /// The newest changes of a workspace.
    Audit {
        workspace: String,
        limit: u32,
    },
    KeepResults(KeepResults),
    CreateKey(CreateKey),
    /// The keys of the workspace with this slug, or of all.
    ListKeys {
        workspace: Option<String>,
    },
    RevokeKey {
        id: KeyId,
    },
    /// The rows that cannot be read.
    Examine,
    /// Puts rows back that can be read again.
    PutBack,
    /// Removes a row that cannot be read.
    RemoveRow {
        table: String,
        key: String,
    },
    /// A copy of the embedded database, in this file.
    BackUp {
        file: PathBuf,
    },
}

/// What came of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "answer", content = "of", rename_all = "snake_case")]
pub(super) enum Answer {
    Workspace(WorkspaceRow),
    Workspaces(Vec<WorkspaceDetails>),
    Details(Box<WorkspaceDetails>),
    /// The workspace is gone.
    Deleted,
    Audited(Vec<AuditRow>),
    Created(CreatedKey),
    Keys(Vec<KeyRow>),
    Revoked,
    Unreadable(Vec<UnreadableRow>),
    /// So many rows are back.
    PutBack(u64),
    Removed,
    /// The results are kept so from now on.
    Keeps,
    /// A copy of so many bytes was written.
    BackedUp(u64),
    Refused(String),
}

/// Why an operation was not done.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The operation breaks a rule, or names what there is not.
    #[error("{0}")]
    Refused(String),
    /// The store could not be opened.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// The running server did not answer.
    #[error("the server of `{folder}` did not answer: {why}")]
    Unreachable {
        /// Its data folder.
        folder: String,
        /// Why.
        why: String,
    },
}

/// A secret on its way through the socket, which only its owner may open.
mod exposed {
    use rules::Secret;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        secret: &Secret<String>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(secret.expose())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Secret<String>, D::Error> {
        String::deserialize(deserializer).map(Secret::new)
    }
}
