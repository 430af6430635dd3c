//! `region.v1` on the wire. What a region is stands in `rules`; who serves it knows the server.

/// Messages, service and client as generated from `proto/region/v1/region.proto`.
pub mod wire {
    pub use crate::generated::region::v1::*;
}
