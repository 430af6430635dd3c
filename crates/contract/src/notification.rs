//! `notification.v1` between the wire and `rules`: what a caller wrote becomes a draft, a stored
//! channel becomes an answer. Which fields are right belongs to `rules`.

mod answer;
mod draft;

pub use answer::shown;

/// Messages, service and client as generated from `proto/notification/v1/notification.proto`, and
/// what their fields are made of. A message becomes a field by `into()`.
pub mod wire {
    pub use buffa::MessageField;
    pub use buffa_types::google::protobuf::{FieldMask, Timestamp};

    pub use crate::generated::notification::v1::*;
}

#[cfg(test)]
mod tests;
