//! Decodes requests with a monitor. Values are not validated. `rules` parses a draft; its violations need
//! `under("monitor")`.

use buffa_types::google::protobuf::FieldMask;
use rules::monitor::MonitorDraft;
use rules::{Violation, Violations};

use crate::IntoDraft;

/// Returns the draft in a request's `monitor` (`request.monitor.into_option()`). Rejects a request
/// without it.
pub fn decode<Message: IntoDraft<Draft = MonitorDraft>>(
    given: Option<Message>,
) -> Result<MonitorDraft, Violations> {
    given
        .map(IntoDraft::into_draft)
        .ok_or_else(|| Violation::without_value("monitor", "is required").into())
}

/// Returns the names in an update's mask (`request.update_mask.as_option()`), as the specification
/// spells them. `None` means no mask. An empty mask changes nothing.
pub fn mask(given: Option<&FieldMask>) -> Option<&[String]> {
    given.map(|mask| mask.paths.as_slice())
}
