//! Converts `monitor.v1` between the wire and `rules`: requests to drafts, stored monitors to
//! responses. Validation belongs to `rules`.

mod decode;
mod encode;
mod history;
mod messages;

pub use decode::{decode, mask};
pub use encode::{encode_instant, revision};
pub use history::{SummaryNumbers, decode_instant, micros};
pub use messages::{HeartbeatDetails, MonitorMessage, StoredMonitor};

/// Messages and service generated from `proto/monitor/v1/monitor.proto`, and the types of
/// their fields. A message becomes a field by `into()`.
pub mod wire {
    pub use buffa::MessageField;
    pub use buffa_types::google::protobuf::{FieldMask, Timestamp};

    pub use proto::monitor::v1::__buffa::oneof::monitor::Kind;
    pub use proto::monitor::v1::*;
}

#[cfg(test)]
mod tests;
