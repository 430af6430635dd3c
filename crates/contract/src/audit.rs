//! Wire format of `audit.v1`. The store writes the entries.

/// Messages and service generated from `proto/audit/v1/audit.proto`.
pub mod wire {
    pub use proto::audit::v1::*;
}
