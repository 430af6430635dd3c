//! Decodes a draft. Values are not validated, and outputs in a request are dropped. `rules` parses
//! a draft; its violations need `under("notification")`.

use rules::notification::{ChannelDraft, NotificationPreferencesDraft, QuietHoursDraft};

use super::{blocks, wire};
use crate::IntoDraft;

impl IntoDraft for wire::Notification {
    type Draft = ChannelDraft;

    fn into_draft(mut self) -> ChannelDraft {
        ChannelDraft {
            blocks: blocks::decode(&mut self),
            name: self.name,
            provider_type: self.provider_type,
            monitor_ids: self.monitor_ids,
            preferences: NotificationPreferencesDraft {
                events: self.events,
                remind_every: self.remind_every,
                quiet_hours: self.quiet_hours.into_option().map(IntoDraft::into_draft),
            },
        }
    }
}

impl IntoDraft for wire::QuietHours {
    type Draft = QuietHoursDraft;

    fn into_draft(self) -> QuietHoursDraft {
        QuietHoursDraft {
            from: self.from,
            until: self.until,
            time_zone: self.time_zone,
            applies_to: self.applies_to,
        }
    }
}
