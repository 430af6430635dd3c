//! Wire format of `region.v1`. `rules` defines regions; the server knows their probes.

/// Messages, service and client generated from `proto/region/v1/region.proto`.
pub mod wire {
    pub use crate::generated::region::v1::*;
}
