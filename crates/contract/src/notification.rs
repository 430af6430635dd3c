//! Converts `notification.v1` between the wire and `rules`: requests to drafts, stored channels to
//! responses. Validation belongs to `rules`.

mod blocks;
mod decode;
mod encode;

pub use encode::encode;

/// Messages and service generated from `proto/notification/v1/notification.proto`. A
/// message becomes a field by `into()`.
pub mod wire {
    pub use crate::monitor::wire::{FieldMask, MessageField, Timestamp};
    pub use proto::notification::v1::*;
}

#[cfg(test)]
mod tests;
