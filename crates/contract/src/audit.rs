//! `audit.v1` on the wire. What is noted of a change is the store's.

/// Messages, service and client as generated from `proto/audit/v1/audit.proto`.
pub mod wire {
    pub use crate::generated::audit::v1::*;
}
