//! Wire format of `grpc.health.v1`. The server decides which services serve.

/// Messages, service and client generated from `proto/grpc/health/v1/health.proto`.
pub mod wire {
    pub use crate::generated::grpc::health::v1::*;
}
