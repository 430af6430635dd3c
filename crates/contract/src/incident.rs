//! Wire format of `incident.v1`. `rules` validates comments; the store defines incidents.

/// Messages and service generated from `proto/incident/v1/incident.proto`.
pub mod wire {
    pub use proto::incident::v1::*;
}
