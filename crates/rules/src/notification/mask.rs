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
        check_all(&[&tables::NOTIFICATION, &tables::NOTIFICATION_WISHES], mask)?;
        let named = |name: &str| mask.iter().any(|named| named == name);
        let before = self.provider_type.clone();
        self.apply_named(other, named);
        if self.provider_type != before
            && let Some(Ok(kind)) = before.as_deref().map(ProviderType::parse)
            && !named(kind.as_str())
        {
            self.clear(kind);
        }
        Ok(())
    }

    fn apply_named(&mut self, other: Self, named: impl Fn(&str) -> bool) {
        // Destructured, so that a new field cannot be forgotten here.
        let Self {
            name,
            provider_type,
            monitor_ids,
            discord,
            email,
            slack,
            pagerduty,
            opsgenie,
            webhook,
            telegram,
            sms,
            whatsapp,
            google_chat,
            grafana_oncall,
            ntfy,
            preferences: NotificationPreferencesDraft { events, remind_every, quiet_hours },
        } = other;
        replace(&mut self.name, name, named("name"));
        replace(&mut self.provider_type, provider_type, named("provider_type"));
        replace(&mut self.monitor_ids, monitor_ids, named("monitor_ids"));
        replace(&mut self.discord, discord, named("discord"));
        replace(&mut self.email, email, named("email"));
        replace(&mut self.slack, slack, named("slack"));
        replace(&mut self.pagerduty, pagerduty, named("pagerduty"));
        replace(&mut self.opsgenie, opsgenie, named("opsgenie"));
        replace(&mut self.webhook, webhook, named("webhook"));
        replace(&mut self.telegram, telegram, named("telegram"));
        replace(&mut self.sms, sms, named("sms"));
        replace(&mut self.whatsapp, whatsapp, named("whatsapp"));
        replace(&mut self.google_chat, google_chat, named("google_chat"));
        replace(&mut self.grafana_oncall, grafana_oncall, named("grafana_oncall"));
        replace(&mut self.ntfy, ntfy, named("ntfy"));
        replace(&mut self.preferences.events, events, named("events"));
        replace(&mut self.preferences.remind_every, remind_every, named("remind_every"));
        replace(&mut self.preferences.quiet_hours, quiet_hours, named("quiet_hours"));
    }

    fn clear(&mut self, kind: ProviderType) {
        match kind {
            ProviderType::Discord => self.discord = None,
            ProviderType::Email => self.email = None,
            ProviderType::Slack => self.slack = None,
            ProviderType::Pagerduty => self.pagerduty = None,
            ProviderType::Opsgenie => self.opsgenie = None,
            ProviderType::Webhook => self.webhook = None,
            ProviderType::Telegram => self.telegram = None,
            ProviderType::Sms => self.sms = None,
            ProviderType::Whatsapp => self.whatsapp = None,
            ProviderType::GoogleChat => self.google_chat = None,
            ProviderType::GrafanaOncall => self.grafana_oncall = None,
            ProviderType::Ntfy => self.ntfy = None,
        }
    }
}
