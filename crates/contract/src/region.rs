//! Wire format of `region.v1`. `rules` defines regions; the server knows their probes.

/// Messages and service generated from `proto/region/v1/region.proto`.
pub mod wire {
    pub use proto::region::v1::*;
}
