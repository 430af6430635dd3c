//! Wire format of `grpc.health.v1`. The server decides which services serve.

/// Messages and service generated from `proto/grpc/health/v1/health.proto`.
pub mod wire {
    pub use proto::grpc::health::v1::*;
}
