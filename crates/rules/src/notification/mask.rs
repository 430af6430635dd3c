//! Partial updates: what an `update_mask` names is taken over, everything else stays as it is
//! (design §4). Whether the outcome is valid is asked afterwards, by `parse`.

use super::{ChannelDraft, WishesDraft};
use crate::mask::{check_all, replace};
use crate::{ProviderType, Violations, tables};

impl ChannelDraft {
    /// Takes from `other` the arguments of §2.4, and leaves what is ours alone: an update without a
    /// mask (design §4).
    pub fn take_arguments(&mut self, other: Self) {
        *self = Self { wishes: std::mem::take(&mut self.wishes), ..other };
    }

    /// Takes from `other` the fields and blocks that `mask` names (the specification's names), also
    /// where `other` leaves them out: that clears them. A kind changes together with its block (§2.4):
    /// where `provider_type` is named and changes, the block of the kind before leaves by itself. A
    /// name that no channel has is refused; nothing is taken then.
    pub fn take(&mut self, other: Self, mask: &[String]) -> Result<(), Violations> {
        check_all(&[&tables::NOTIFICATION, &tables::NOTIFICATION_WISHES], mask)?;
        let named = |name: &str| mask.iter().any(|named| named == name);
        let before = self.provider_type.clone();
        self.take_named(other, named);
        if self.provider_type != before
            && let Some(Ok(kind)) = before.as_deref().map(ProviderType::parse)
            && !named(kind.as_str())
        {
            self.clear(kind);
        }
        Ok(())
    }

    fn take_named(&mut self, other: Self, named: impl Fn(&str) -> bool) {
        // Taken apart by name, so that a new field cannot be forgotten here.
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
            wishes: WishesDraft { events, remind_every, quiet_hours },
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
        replace(&mut self.wishes.events, events, named("events"));
        replace(&mut self.wishes.remind_every, remind_every, named("remind_every"));
        replace(&mut self.wishes.quiet_hours, quiet_hours, named("quiet_hours"));
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
