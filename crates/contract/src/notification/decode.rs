//! Decodes a draft. Values are not validated, and outputs in a request are dropped. `rules` parses
//! a draft; its violations need `under("notification")`.

use rules::Secret;
use rules::monitor::HeaderDraft;
use rules::notification::{
    ChannelDraft, EmailDraft, HookDraft, NotificationPreferencesDraft, NtfyDraft, OpsgenieDraft,
    PagerdutyDraft, PhoneDraft, QuietHoursDraft, TelegramDraft, WebhookDraft,
};

use super::wire;

impl From<wire::Notification> for ChannelDraft {
    fn from(given: wire::Notification) -> Self {
        Self {
            name: given.name,
            provider_type: given.provider_type,
            monitor_ids: given.monitor_ids,
            discord: given.discord.into_option().map(Into::into),
            email: given.email.into_option().map(Into::into),
            slack: given.slack.into_option().map(Into::into),
            pagerduty: given.pagerduty.into_option().map(Into::into),
            opsgenie: given.opsgenie.into_option().map(Into::into),
            webhook: given.webhook.into_option().map(Into::into),
            telegram: given.telegram.into_option().map(Into::into),
            sms: given.sms.into_option().map(Into::into),
            whatsapp: given.whatsapp.into_option().map(Into::into),
            google_chat: given.google_chat.into_option().map(Into::into),
            grafana_oncall: given.grafana_oncall.into_option().map(Into::into),
            ntfy: given.ntfy.into_option().map(Into::into),
            preferences: NotificationPreferencesDraft {
                events: given.events,
                remind_every: given.remind_every,
                quiet_hours: given.quiet_hours.into_option().map(Into::into),
            },
        }
    }
}

/// Converts blocks whose fields have the same names on both sides. Fields after `secret` become
/// secrets.
macro_rules! drafts {
    ($($block:ident => $draft:ident { $($field:ident),* } $(secret { $($secret:ident),+ })?;)+) => {$(
        impl From<wire::$block> for $draft {
            fn from(given: wire::$block) -> Self {
                Self {
                    $($field: given.$field,)*
                    $($($secret: given.$secret.map(Secret::new),)+)?
                }
            }
        }
    )+};
}

drafts! {
    Discord => HookDraft {} secret { webhook_url };
    Email => EmailDraft { email };
    Slack => HookDraft {} secret { webhook_url };
    Pagerduty => PagerdutyDraft {} secret { integration_key };
    Opsgenie => OpsgenieDraft { region } secret { api_key };
    Telegram => TelegramDraft { chat_id };
    Sms => PhoneDraft { phone_number };
    Whatsapp => PhoneDraft { phone_number };
    GoogleChat => HookDraft {} secret { webhook_url };
    GrafanaOncall => HookDraft {} secret { webhook_url };
    Ntfy => NtfyDraft { topic, server_url } secret { token };
    Header => HeaderDraft { key, value };
    QuietHours => QuietHoursDraft { from, until, time_zone, applies_to };
}

impl From<wire::Webhook> for WebhookDraft {
    fn from(given: wire::Webhook) -> Self {
        let headers = given.headers.into_iter().map(HeaderDraft::from).collect();
        Self { endpoint: given.endpoint, headers }
    }
}
