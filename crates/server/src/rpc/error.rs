//! Errors of the store as errors of calls.

use contract::rpc::{self, Reason};
use store::StoreError;

/// Converts an error of the store into an RPC error.
pub(crate) fn rpc_error(error: StoreError) -> rpc::Error {
    match error {
        StoreError::NotFound { what, id } => rpc::not_found(what, &id),
        StoreError::AlreadyExists { .. }
        | StoreError::RegionServed { .. }
        | StoreError::Gone { .. }
        | StoreError::KeyReused { .. } => rpc::already_exists(error.to_string()),
        StoreError::Taken(violation) => rpc::taken(&violation.into()),
        StoreError::Refused(violation) => rpc::invalid(&violation.into()),
        StoreError::Conflict { .. } => rpc::conflict(error.to_string()),
        StoreError::RoleRequired { .. } => {
            rpc::right_required(Reason::RoleRequired, error.to_string())
        }
        StoreError::OperatorRequired => {
            rpc::right_required(Reason::OperatorRequired, error.to_string())
        }
        StoreError::PlanLimit { .. }
        | StoreError::LastOwner
        | StoreError::InvitationForOther
        | StoreError::NotSetUp
        | StoreError::DeletionScheduled => rpc::failed_precondition(error.to_string()),
        StoreError::Closed => rpc::deferred("the server is stopping; try again"),
        StoreError::NoSpace { .. } => {
            tracing::error!(%error, "a call failed: {error}");
            rpc::deferred(error.to_string())
        }
        StoreError::NotCommitted { .. }
        | StoreError::Database(_)
        | StoreError::NewerDatabase { .. }
        | StoreError::ChangedMigration { .. }
        | StoreError::Locked { .. }
        | StoreError::DatabaseInUse { .. }
        | StoreError::TakenOver
        | StoreError::NotEmpty { .. }
        | StoreError::Moved { .. }
        | StoreError::NoDatabase { .. }
        | StoreError::Emptied { .. }
        | StoreError::NotFresh { .. }
        | StoreError::NotEmbedded
        | StoreError::Address { .. }
        | StoreError::Unconfirmed { .. }
        | StoreError::Folder { .. }
        | StoreError::KeyFile { .. }
        | StoreError::WrongMasterKey
        | StoreError::Corrupt { .. } => {
            tracing::error!(%error, "a call failed: {error}");
            rpc::internal()
        }
    }
}
