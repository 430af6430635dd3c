//! Encodes values that many messages have.

use buffa::{Inline, MessageField};
use buffa_types::google::protobuf::Timestamp as WireTimestamp;
use rules::Timestamp;

/// Returns the revision of an object that was last changed at this time. Each change has its own
/// time.
pub fn revision(updated_at: Timestamp) -> String {
    updated_at.as_millis().to_string()
}

/// Encodes an instant.
pub fn encode_instant(at: Timestamp) -> MessageField<WireTimestamp, Inline<WireTimestamp>> {
    let millis = at.as_millis();
    MessageField::some(WireTimestamp {
        seconds: millis.div_euclid(1000),
        nanos: millis.rem_euclid(1000) as i32 * 1_000_000,
        ..WireTimestamp::default()
    })
}
