//! Wire format of `configuration.v1`. `rules::configuration` validates names, kinds and keys.

/// Messages and service generated from `proto/configuration/v1/configuration.proto`.
pub mod wire {
    pub use proto::configuration::v1::*;
}
