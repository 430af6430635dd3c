//! Errors of the store that a caller can act on. `server` maps them to the wire.

use std::path::PathBuf;

use rules::{Region, Role, Violation, WorkspaceId, counted};
use sqlx::error::DatabaseError;

/// Reason why the store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No object with that identifier in the caller's workspace.
    #[error("{what} `{id}` not found")]
    NotFound {
        /// Noun for the object.
        what: &'static str,
        /// Identifier as the caller sent it.
        id: String,
    },
    /// A name that must be unique is in use.
    #[error("{what} `{name}` already exists; choose another name")]
    AlreadyExists {
        /// Noun for the object.
        what: &'static str,
        name: String,
    },
    /// Another probe serves the region.
    #[error(
        "region `{region}` is served by the probe `{probe}`; leave the region out, or delete that probe first"
    )]
    RegionServed {
        region: Region,
        /// Name of the probe that serves it.
        probe: String,
    },
    /// An earlier request with this idempotency key created the object, and it was deleted since.
    #[error(
        "this idempotency key created {what} `{id}`, which has been deleted; send another key to create a new one"
    )]
    Gone {
        /// Noun for the object.
        what: &'static str,
        /// Identifier of the deleted object.
        id: String,
    },
    /// A field has a value that must be unique, and another object has it. The violation names the
    /// field's path within its resource, the given value, and the requirement.
    #[error("{0}")]
    Taken(Violation),
    /// A field breaks a rule that depends on stored data, such as a reference to an object that
    /// must exist.
    #[error("{0}")]
    Refused(Violation),
    /// The workspace has reached the limit of its plan.
    #[error(
        "the plan `{plan}` allows {}; delete one, or ask the operator of this server for another plan",
        counted(*.most, .what)
    )]
    PlanLimit {
        plan: String,
        most: u32,
        /// Noun for an object that the plan limits.
        what: &'static str,
    },
    /// The change would leave the workspace without an owner.
    #[error("a workspace keeps at least one owner; make another member an owner first")]
    LastOwner,
    /// The actor of the change is not a member with this role.
    #[error("this needs a person with the role `{role}`; ask a member who has it")]
    RoleRequired {
        /// Lowest role that may make the change.
        role: Role,
    },
    /// The change concerns all workspaces, and its author's workspace is not the operator's.
    #[error(
        "probes check for all workspaces, so only a workspace of this server's operator manages them; \
         use one, or `aloft probes` on the server"
    )]
    OperatorRequired,
    /// The invitation names an address, and the user has another one.
    #[error("the invitation is for another address; sign in with the address that was invited")]
    InvitationForOther,
    /// The server has no user yet. Its set-up link creates the first one.
    #[error("nobody has set this server up yet; open its set-up link first")]
    NotSetUp,
    /// The workspace is about to be deleted, and changes nothing until then.
    #[error("the workspace is scheduled for deletion; cancel the deletion first")]
    DeletionScheduled,
    /// The idempotency key was used by another request.
    #[error("this idempotency key was used by another `{method}` request; send a new key")]
    KeyReused {
        /// Name of that request's method.
        method: &'static str,
    },
    /// The object was modified between reading and writing. Fetch it and retry.
    #[error("{what} `{id}` was modified concurrently; fetch it and retry")]
    Conflict {
        /// Noun for the object.
        what: &'static str,
        id: String,
    },
    /// A newer version of the product wrote the database.
    #[error(
        "the database has version {found}, and this program supports versions up to {known}; start the newer program, or restore the copy `aloft.db.before-…` beside the database"
    )]
    NewerDatabase {
        /// Version of the database.
        found: i64,
        /// Newest version that this program supports.
        known: i64,
    },
    /// The SQL of an applied migration differs from this program's.
    #[error(
        "migration {version} of the database differs from this program's; use the program that created the database"
    )]
    ChangedMigration { version: i64 },
    /// Another server uses the data folder.
    #[error(
        "the data folder `{}` is in use by {holder}; stop that server or choose another folder", .folder.display()
    )]
    Locked {
        folder: PathBuf,
        /// Process that holds the lock, if known: `process 4711`.
        holder: String,
    },
    /// Another server uses the database.
    #[error("the database is in use by {holder}; stop that server or choose another database")]
    DatabaseInUse {
        /// Process that holds the lock, if known: `aloft process 4711 at 10.0.0.7`.
        holder: String,
    },
    /// The connection was lost, and another server took the database over before it was restored.
    #[error(
        "another server took over the database while the connection was lost; restart this one"
    )]
    TakenOver,
    /// The address of the database is invalid. The error omits the address, because it holds a
    /// password.
    #[error("invalid database address: {why}")]
    Address {
        /// Reason why it is invalid.
        why: String,
    },
    /// The target database of a transfer is not empty.
    #[error("the target database has rows in `{table}`; name an empty one")]
    NotEmpty {
        /// First table that has rows.
        table: String,
    },
    /// The database does not exist and must not be created.
    #[error(
        "there is no database at `{place}`; name the server's data folder with --data, ALOFT_DATA or the configuration file, or create a database with `aloft serve --data '{}'`", .folder.display()
    )]
    NoDatabase {
        /// File or address of the database.
        place: String,
        folder: PathBuf,
    },
    /// The data folder has held workspaces, and its database is missing or empty.
    #[error(
        "the data folder `{0}` has held workspaces, and its database is missing or empty; put the database back, restore a backup with `aloft restore --data '{0}' FILE`, or start with nothing by `aloft serve --data '{0}' --fresh`", .folder.display()
    )]
    Emptied { folder: PathBuf },
    /// An empty database was requested, and the existing one has workspaces.
    #[error(
        "`--fresh` starts with an empty database, and the one of `{}` has {}; leave `--fresh` out, or name another folder",
        .folder.display(), counted(*.count, "workspace")
    )]
    NotFresh { folder: PathBuf, count: u64 },
    /// The database was transferred to another one, which is in use now.
    #[error(
        "the database of the data folder `{}` was transferred to PostgreSQL: name that one with ALOFT_DATABASE or `--database`; or, to go back to how it was then, rename `aloft.db.moved` in the folder to `aloft.db`", .folder.display()
    )]
    Moved { folder: PathBuf },
    /// The operation needs the embedded database.
    #[error("the database is PostgreSQL; back it up with pg_dump and restore it with pg_restore")]
    NotEmbedded,
    /// The data folder, or a file in it, cannot be used.
    #[error("`{}` cannot be used: {why}", .path.display())]
    Folder {
        /// Path of the file or folder.
        path: PathBuf,
        why: std::io::Error,
    },
    /// The file with the master key cannot be used.
    #[error("the key file `{}` {why}", .path.display())]
    KeyFile {
        path: PathBuf,
        /// Problem, and how to fix it.
        why: String,
    },
    /// The database is encrypted with another master key.
    #[error(
        "the database was encrypted with another master key; give the server the key it was created with"
    )]
    WrongMasterKey,
    /// A row cannot be decoded.
    #[error("{what} in the database cannot be read: {why}")]
    Corrupt {
        /// Row and column.
        what: String,
        why: String,
    },
    /// The transaction was not committed. None of its changes are stored.
    #[error("failed to commit: {why}")]
    NotCommitted {
        /// Message of the database.
        why: String,
    },
    /// The disk is full. Nothing of the change is stored.
    #[error("no space left on {disk}; free some and retry")]
    NoSpace {
        /// Name of the disk.
        disk: &'static str,
    },
    /// The connection was lost during the commit. A retry stores batches, and creates with an
    /// idempotency key, only once.
    #[error("commit outcome unknown: {why}")]
    Unconfirmed {
        /// State of the connection.
        why: String,
    },
    /// The store was closed.
    #[error("the database is closed")]
    Closed,
    /// Any other error of the database.
    #[error("the database failed: {0}")]
    Database(#[from] sqlx::Error),
}

impl StoreError {
    pub(crate) fn not_found(what: &'static str, id: &(impl ToString + ?Sized)) -> Self {
        Self::NotFound { what, id: id.to_string() }
    }

    pub(crate) fn corrupt(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Corrupt { what: what.into(), why: why.into() }
    }

    /// Returns whether the failed change may be stored nevertheless.
    pub(crate) const fn may_be_stored(&self) -> bool {
        matches!(self, Self::Unconfirmed { .. } | Self::TakenOver | Self::Closed)
    }

    /// Returns whether the store has ended, so that no later call can succeed.
    pub const fn has_ended(&self) -> bool {
        matches!(self, Self::TakenOver | Self::Closed)
    }

    /// Converts the error of an insert: the name is `taken`, or the owner does not exist.
    pub(crate) fn from_insert(error: sqlx::Error, taken: Self, owner: Option<WorkspaceId>) -> Self {
        let cause = error.as_database_error();
        if cause.is_some_and(DatabaseError::is_unique_violation) {
            return taken;
        }
        match owner {
            Some(owner) if cause.is_some_and(DatabaseError::is_foreign_key_violation) => {
                Self::not_found("workspace", &owner)
            }
            Some(_) | None => Self::Database(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takeover_and_close_end_the_store() {
        let why = "gone".to_owned();
        assert!(StoreError::TakenOver.has_ended() && StoreError::Closed.has_ended());
        assert!(!StoreError::Unconfirmed { why }.has_ended());
    }

    #[test]
    fn unconfirmed_changes_may_be_stored_rejected_ones_not() {
        let (id, why) = ("page_1".to_owned(), "gone".to_owned());
        for (error, may_be) in [
            (StoreError::Unconfirmed { why: why.clone() }, true),
            (StoreError::TakenOver, true),
            (StoreError::Closed, true),
            (StoreError::NotCommitted { why }, false),
            (StoreError::NoSpace { disk: "the database's disk" }, false),
            (StoreError::NotFound { what: "status page", id: id.clone() }, false),
            (StoreError::Conflict { what: "status page", id }, false),
            (StoreError::Refused(Violation::new("slug", "a", "must be new")), false),
        ] {
            assert_eq!(error.may_be_stored(), may_be, "{error}");
        }
    }
}
