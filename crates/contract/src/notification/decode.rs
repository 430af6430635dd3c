//! Decodes a draft. Values are not validated, and outputs in a request are dropped. `rules` parses
//! a draft; its violations need `under("notification")`.

use rules::Secret;
use rules::monitor::HeaderDraft;
use rules::notification::{
    ChannelDraft, EmailDraft, HookDraft, NotificationPreferencesDraft, NtfyDraft, OpsgenieDraft,
    PagerdutyDraft, PhoneDraft, QuietHoursDraft, TelegramDraft, WebhookDraft,
};

use super::wire;
use crate::IntoDraft;

impl IntoDraft for wire::Notification {
    type Draft = ChannelDraft;

    fn into_draft(self) -> ChannelDraft {
        ChannelDraft {
            name: self.name,
            provider_type: self.provider_type,
            monitor_ids: self.monitor_ids,
            discord: self.discord.into_option().map(IntoDraft::into_draft),
            email: self.email.into_option().map(IntoDraft::into_draft),
            slack: self.slack.into_option().map(IntoDraft::into_draft),
            pagerduty: self.pagerduty.into_option().map(IntoDraft::into_draft),
            opsgenie: self.opsgenie.into_option().map(IntoDraft::into_draft),
            webhook: self.webhook.into_option().map(IntoDraft::into_draft),
            telegram: self.telegram.into_option().map(IntoDraft::into_draft),
            sms: self.sms.into_option().map(IntoDraft::into_draft),
            whatsapp: self.whatsapp.into_option().map(IntoDraft::into_draft),
            google_chat: self.google_chat.into_option().map(IntoDraft::into_draft),
            grafana_oncall: self.grafana_oncall.into_option().map(IntoDraft::into_draft),
            ntfy: self.ntfy.into_option().map(IntoDraft::into_draft),
            preferences: NotificationPreferencesDraft {
                events: self.events,
                remind_every: self.remind_every,
                quiet_hours: self.quiet_hours.into_option().map(IntoDraft::into_draft),
            },
        }
    }
}

/// Converts blocks whose fields have the same names on both sides. Fields after `secret` become
/// secrets.
macro_rules! drafts {
    ($($block:ident => $draft:ident { $($field:ident),* } $(secret { $($secret:ident),+ })?;)+) => {$(
        impl IntoDraft for wire::$block {
            type Draft = $draft;

            fn into_draft(self) -> $draft {
                $draft {
                    $($field: self.$field,)*
                    $($($secret: self.$secret.map(Secret::new),)+)?
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

impl IntoDraft for wire::Webhook {
    type Draft = WebhookDraft;

    fn into_draft(self) -> WebhookDraft {
        let headers = self.headers.into_iter().map(IntoDraft::into_draft).collect();
        WebhookDraft { endpoint: self.endpoint, headers }
    }
}
