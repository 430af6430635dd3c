//! Partial updates: copies the fields in an `update_mask` and keeps all others (design §4). `parse`
//! validates the result.

use super::{ChannelDraft, NotificationPreferencesDraft};
use crate::mask::{check_all, replace};
use crate::{ProviderType, Violations, tables};

impl ChannelDraft {
    /// Copies the arguments of §2.4 from `other` and keeps our additions: an update without a mask
    /// (design §4).
    pub fn apply_arguments(&mut self, other: Self) {
        *self = Self { preferences: std::mem::take(&mut self.preferences), ..other };
    }

    /// Copies the fields and blocks in `mask` (the specification's names) from `other`, clearing
    /// those that `other` omits. If `provider_type` changes, also clears the block of the previous
    /// kind unless `mask` names it (§2.4). Rejects unknown names without copying anything.
    pub fn apply_mask(&mut self, other: Self, mask: &[String]) -> Result<(), Violations> {
        check_all(&[&tables::NOTIFICATION, &tables::NOTIFICATION_PREFERENCES], mask)?;
        let named = |name: &str| mask.iter().any(|named| named == name);
        let before = self.provider_type.clone();
        self.apply_named(other, named);
        if self.provider_type != before
            && let Some(Ok(kind)) = before.as_deref().map(ProviderType::parse)
            && !named(kind.as_str())
        {
            self.blocks.clear(kind);
        }
        Ok(())
    }

    fn apply_named(&mut self, other: Self, named: impl Fn(&str) -> bool) {
        // Destructured, so that a new field cannot be forgotten here.
        let Self {
            name,
            provider_type,
            monitor_ids,
            blocks,
            preferences: NotificationPreferencesDraft { events, remind_every, quiet_hours },
        } = other;
        replace(&mut self.name, name, named("name"));
        replace(&mut self.provider_type, provider_type, named("provider_type"));
        replace(&mut self.monitor_ids, monitor_ids, named("monitor_ids"));
        replace(&mut self.preferences.events, events, named("events"));
        replace(&mut self.preferences.remind_every, remind_every, named("remind_every"));
        replace(&mut self.preferences.quiet_hours, quiet_hours, named("quiet_hours"));
        self.blocks.apply_named(blocks, named);
    }
}
