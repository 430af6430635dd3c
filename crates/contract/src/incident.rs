//! `incident.v1` on the wire. What a comment may be stands in `rules`; what an incident is knows the
//! store.

/// Messages, service and client as generated from `proto/incident/v1/incident.proto`.
pub mod wire {
    pub use crate::generated::incident::v1::*;
}
