//! Wire format of `audit.v1`. The store writes the entries.

/// Messages, service and client generated from `proto/audit/v1/audit.proto`.
pub mod wire {
    pub use crate::generated::audit::v1::*;
}
