//! What can go wrong in the store, so that a caller can act on it. What it means on the wire
//! belongs to `server`.

use std::path::PathBuf;

use rules::{Violation, WorkspaceId};
use sqlx::error::DatabaseError;

/// Why the store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Nothing of that identifier in the caller's workspace.
    #[error("{what} `{id}` not found")]
    NotFound {
        /// Which noun.
        what: &'static str,
        /// As the caller named it.
        id: String,
    },
    /// What must be unique is taken.
    #[error("{what} `{name}` already exists; choose another name")]
    AlreadyExists {
        /// Which noun.
        what: &'static str,
        /// What is taken.
        name: String,
    },
    /// The same call created it before, and it was deleted since.
    #[error(
        "this idempotency key created {what} `{id}`, which has been deleted; send another key to create a new one"
    )]
    Gone {
        /// Which noun.
        what: &'static str,
        /// What was created.
        id: String,
    },
    /// A field has a value that must be unique, and something else has it: the field's path below its
    /// resource, what was given, and what it would have to be.
    #[error("{0}")]
    Taken(Violation),
    /// A field breaks a rule that only the stored things can show, such as naming one that is there.
    #[error("{0}")]
    Refused(Violation),
    /// The plan of the workspace allows no more of these.
    #[error(
        "the plan `{plan}` allows {most} {what}; delete one, or ask the operator of this server for another plan"
    )]
    PlanLimit {
        /// Name of the plan.
        plan: String,
        /// How many it allows.
        most: u32,
        /// Of what.
        what: &'static str,
    },
    /// The idempotency key belongs to another request.
    #[error("this idempotency key was used by another `{method}` request; send a new key")]
    KeyReused {
        /// Name of the method.
        method: &'static str,
    },
    /// Somebody else changed it between reading and writing: read again and repeat.
    #[error("{what} `{id}` was modified concurrently; fetch it and retry")]
    Conflict {
        /// Which noun.
        what: &'static str,
        /// Which one.
        id: String,
    },
    /// The database was written by a newer version of the product.
    #[error(
        "the database has version {found}, and this program knows versions up to {known}; start the newer program, or restore the copy `aloft.db.before-…` beside the database"
    )]
    NewerDatabase {
        /// Version of the database.
        found: i64,
        /// Newest version this program knows.
        known: i64,
    },
    /// A migration that ran once reads differently today.
    #[error(
        "migration {version} of the database is not the one this program has; use the program that made the database"
    )]
    ChangedMigration {
        /// Which migration.
        version: i64,
    },
    /// Another server holds the data folder.
    #[error(
        "the data folder `{}` is in use by {holder}; stop that server or choose another folder", .folder.display()
    )]
    Locked {
        /// The folder.
        folder: PathBuf,
        /// Who holds it, as far as is known: `process 4711`.
        holder: String,
    },
    /// Another server holds the database.
    #[error("the database is in use by {holder}; stop that server or choose another database")]
    DatabaseInUse {
        /// Who holds it, as far as is known: `aloft process 4711 at 10.0.0.7`.
        holder: String,
    },
    /// The connection was lost, and another server owned the database before it was back.
    #[error(
        "another server took the database over while the connection was lost; start this one anew"
    )]
    TakenOver,
    /// The address of the database cannot be read. Never holds the address, which has a password.
    #[error("the address of the database cannot be read: {why}")]
    Address {
        /// What is wrong.
        why: String,
    },
    /// The database that was to be filled holds something.
    #[error("the database that is to be filled has rows in `{table}`; name an empty one")]
    NotEmpty {
        /// The first table that has rows.
        table: String,
    },
    /// The database does not exist, and is not to be created.
    #[error(
        "there is no database at `{place}`; name the server's data folder with --data, ALOFT_DATA or the configuration file, or create a database with `aloft serve --data '{}'`", .folder.display()
    )]
    NoDatabase {
        /// The file or the address of the database.
        place: String,
        /// The data folder.
        folder: PathBuf,
    },
    /// The folder held workspaces, and its database is missing or empty.
    #[error(
        "the data folder `{0}` has held workspaces, and its database is missing or empty; put the database back, restore a backup with `aloft restore --data '{0}' FILE`, or start with nothing by `aloft serve --fresh`", .folder.display()
    )]
    Emptied {
        /// The folder.
        folder: PathBuf,
    },
    /// An empty database was asked for, and there is one with workspaces.
    #[error(
        "`--fresh` starts with an empty database, and the one of `{}` has {count} workspaces; leave `--fresh` out, or name another folder", .folder.display()
    )]
    NotFresh {
        /// The data folder.
        folder: PathBuf,
        /// How many workspaces it has.
        count: u64,
    },
    /// Everything of the folder's database was carried over to another, which is served now.
    #[error(
        "the database of the data folder `{}` was carried over to PostgreSQL: name that one with ALOFT_DATABASE or `--database`; or, to go back to how it was then, rename `aloft.db.moved` in the folder to `aloft.db`", .folder.display()
    )]
    Moved {
        /// The folder.
        folder: PathBuf,
    },
    /// What only the embedded database has.
    #[error("the database is PostgreSQL's: pg_dump makes copies of it, pg_restore puts them back")]
    NotEmbedded,
    /// The data folder cannot be used.
    #[error("`{}` cannot be used: {why}", .path.display())]
    Folder {
        /// File or folder.
        path: PathBuf,
        /// Why.
        why: std::io::Error,
    },
    /// The file with the master key cannot be used.
    #[error("the key file `{}` {why}", .path.display())]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and the way out.
        why: String,
    },
    /// The database was encrypted with another master key.
    #[error(
        "the database was encrypted with another master key; give the server the key it was created with"
    )]
    WrongMasterKey,
    /// A row does not read as what it was written as.
    #[error("{what} in the database cannot be read: {why}")]
    Corrupt {
        /// Which row and column.
        what: String,
        /// Why.
        why: String,
    },
    /// The transaction was not committed; nothing of it is stored.
    #[error("failed to commit: {why}")]
    NotCommitted {
        /// What the database said.
        why: String,
    },
    /// The connection was lost while the transaction was committed. What is tried again is stored
    /// once for batches, and for creations that have a key of their own.
    #[error("commit outcome unknown: {why}")]
    Unconfirmed {
        /// What became of the connection.
        why: String,
    },
    /// The store was closed.
    #[error("the database is closed")]
    Closed,
    /// Anything else the database said.
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

    /// Whether what this is the answer to may be stored all the same.
    pub(crate) const fn may_be_stored(&self) -> bool {
        matches!(self, Self::Unconfirmed { .. } | Self::TakenOver | Self::Closed)
    }

    /// What a refused insert means: something unique is `taken`, or its owner is not there.
    pub(crate) fn of_insert(error: sqlx::Error, taken: Self, owner: Option<WorkspaceId>) -> Self {
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
    fn what_nobody_confirmed_may_be_stored_and_what_was_refused_is_not() {
        let (id, why) = ("page_1".to_owned(), "gone".to_owned());
        for (error, may_be) in [
            (StoreError::Unconfirmed { why: why.clone() }, true),
            (StoreError::TakenOver, true),
            (StoreError::Closed, true),
            (StoreError::NotCommitted { why }, false),
            (StoreError::NotFound { what: "status page", id: id.clone() }, false),
            (StoreError::Conflict { what: "status page", id }, false),
            (StoreError::Refused(Violation::new("slug", "a", "must be new")), false),
        ] {
            assert_eq!(error.may_be_stored(), may_be, "{error}");
        }
    }
}
