//! Decodes a draft. Values are not validated, and outputs in a request are dropped. `rules` parses
//! a draft; its violations need `under("notification")`.

use rules::notification::{ChannelDraft, NotificationPreferencesDraft, QuietHoursDraft};

use super::{blocks, wire};

impl From<wire::Notification> for ChannelDraft {
    fn from(mut given: wire::Notification) -> Self {
        Self {
            blocks: blocks::decode(&mut given),
            name: given.name,
            provider_type: given.provider_type,
            monitor_ids: given.monitor_ids,
            preferences: NotificationPreferencesDraft {
                events: given.events,
                remind_every: given.remind_every,
                quiet_hours: given.quiet_hours.into_option().map(Into::into),
            },
        }
    }
}

impl From<wire::QuietHours> for QuietHoursDraft {
    fn from(given: wire::QuietHours) -> Self {
        Self {
            from: given.from,
            until: given.until,
            time_zone: given.time_zone,
            applies_to: given.applies_to,
        }
    }
}
