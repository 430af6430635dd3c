//! A channel as sent by a caller: not validated, every field optional, any number of blocks. RPC,
//! forms and the provider create drafts; [`ChannelDraft::parse`] validates them.

use super::{
    ChannelSettings, Email, IncomingWebhook, NotificationPreferencesDraft, Ntfy, Opsgenie,
    Pagerduty, Phone, Provider, Telegram, Webhook,
};
use crate::Secret;
use crate::monitor::HeaderDraft;

/// Arguments and blocks of a channel, as written; `None` and empty lists mean omitted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChannelDraft {
    pub name: Option<String>,
    /// A name of [`crate::ProviderType`].
    pub provider_type: Option<String>,
    pub monitor_ids: Vec<String>,
    pub discord: Option<HookDraft>,
    pub email: Option<EmailDraft>,
    pub slack: Option<HookDraft>,
    pub pagerduty: Option<PagerdutyDraft>,
    pub opsgenie: Option<OpsgenieDraft>,
    pub webhook: Option<WebhookDraft>,
    pub telegram: Option<TelegramDraft>,
    pub sms: Option<PhoneDraft>,
    pub whatsapp: Option<PhoneDraft>,
    pub google_chat: Option<HookDraft>,
    pub grafana_oncall: Option<HookDraft>,
    pub ntfy: Option<NtfyDraft>,
    pub preferences: NotificationPreferencesDraft,
}

/// A webhook URL issued by a provider, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HookDraft {
    pub webhook_url: Option<Secret<String>>,
}

/// An email address, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EmailDraft {
    pub email: Option<String>,
}

/// A PagerDuty service, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PagerdutyDraft {
    pub integration_key: Option<Secret<String>>,
}

/// An Opsgenie team, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpsgenieDraft {
    pub api_key: Option<Secret<String>>,
    /// A name of [`crate::OpsgenieRegion`].
    pub region: Option<String>,
}

/// An HTTP endpoint of the user, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WebhookDraft {
    /// URL.
    pub endpoint: Option<String>,
    /// Headers of every request.
    pub headers: Vec<HeaderDraft>,
}

/// A Telegram chat, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TelegramDraft {
    pub chat_id: Option<String>,
}

/// A phone, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhoneDraft {
    pub phone_number: Option<String>,
}

/// A topic of an ntfy server, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NtfyDraft {
    pub topic: Option<String>,
    pub server_url: Option<String>,
    pub token: Option<Secret<String>>,
}

impl From<&ChannelSettings> for ChannelDraft {
    /// Creates the draft that parses to these settings, the base of a masked update.
    fn from(settings: &ChannelSettings) -> Self {
        let mut draft = Self {
            name: settings.name.clone(),
            provider_type: Some(settings.provider.kind().to_string()),
            monitor_ids: settings.monitor_ids.iter().map(ToString::to_string).collect(),
            preferences: (&settings.preferences).into(),
            ..Self::default()
        };
        match &settings.provider {
            Provider::Discord(hook) => draft.discord = Some(hook.into()),
            Provider::Email(Email { email }) => {
                draft.email = Some(EmailDraft { email: Some(email.clone()) });
            }
            Provider::Slack(hook) => draft.slack = Some(hook.into()),
            Provider::Pagerduty(Pagerduty { integration_key }) => {
                let integration_key = Some(integration_key.clone());
                draft.pagerduty = Some(PagerdutyDraft { integration_key });
            }
            Provider::Opsgenie(Opsgenie { api_key, region }) => {
                draft.opsgenie = Some(OpsgenieDraft {
                    api_key: Some(api_key.clone()),
                    region: Some(region.to_string()),
                });
            }
            Provider::Webhook(webhook) => draft.webhook = Some(webhook.into()),
            Provider::Telegram(Telegram { chat_id }) => {
                draft.telegram = Some(TelegramDraft { chat_id: Some(chat_id.clone()) });
            }
            Provider::Sms(phone) => draft.sms = Some(phone.into()),
            Provider::Whatsapp(phone) => draft.whatsapp = Some(phone.into()),
            Provider::GoogleChat(hook) => draft.google_chat = Some(hook.into()),
            Provider::GrafanaOncall(hook) => draft.grafana_oncall = Some(hook.into()),
            Provider::Ntfy(ntfy) => draft.ntfy = Some(ntfy.into()),
        }
        draft
    }
}

impl From<&IncomingWebhook> for HookDraft {
    fn from(hook: &IncomingWebhook) -> Self {
        Self { webhook_url: Some(hook.webhook_url.clone()) }
    }
}

impl From<&Webhook> for WebhookDraft {
    fn from(webhook: &Webhook) -> Self {
        let headers = webhook.headers.iter();
        Self {
            endpoint: Some(webhook.endpoint.clone()),
            headers: headers
                .map(|header| HeaderDraft {
                    key: Some(header.key.clone()),
                    value: Some(header.value.expose().clone()),
                })
                .collect(),
        }
    }
}

impl From<&Phone> for PhoneDraft {
    fn from(phone: &Phone) -> Self {
        Self { phone_number: Some(phone.phone_number.clone()) }
    }
}

impl From<&Ntfy> for NtfyDraft {
    fn from(ntfy: &Ntfy) -> Self {
        Self {
            topic: Some(ntfy.topic.clone()),
            server_url: ntfy.server_url.clone(),
            token: ntfy.token.clone(),
        }
    }
}
