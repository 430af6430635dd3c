//! `grpc.health.v1` on the wire. Which services serve is decided by the server.

/// Messages, service and client as generated from `proto/grpc/health/v1/health.proto`.
pub mod wire {
    pub use crate::generated::grpc::health::v1::*;
}
