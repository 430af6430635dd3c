//! Wire format of `incident.v1`. `rules` validates comments; the store defines incidents.

/// Messages, service and client generated from `proto/incident/v1/incident.proto`.
pub mod wire {
    pub use crate::generated::incident::v1::*;
}
