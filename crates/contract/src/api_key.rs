//! Wire format of `api_key.v1`. The store defines keys.

/// Messages and service generated from `proto/api_key/v1/api_key.proto`.
pub mod wire {
    pub use proto::api_key::v1::*;
}
