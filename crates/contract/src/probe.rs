//! Wire format of `probe.v1`. The store defines probes.

/// Messages and service generated from `proto/probe/v1/probe.proto`.
pub mod wire {
    pub use proto::probe::v1::*;
}
