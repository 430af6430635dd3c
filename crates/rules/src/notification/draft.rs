//! A channel as a caller wrote it: nothing checked, everything optional, any number of blocks. RPC,
//! forms and the provider fill one in; [`ChannelDraft::parse`] says what is wrong with it.

use super::{
    ChannelSettings, Email, Hook, Ntfy, Opsgenie, Pagerduty, Phone, Provider, Telegram, Webhook,
    WishesDraft,
};
use crate::Secret;
use crate::monitor::HeaderDraft;

/// Arguments and blocks of a channel, as written; `None` and empty lists were not written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChannelDraft {
    /// See [`ChannelSettings::name`].
    pub name: Option<String>,
    /// A word of [`crate::ProviderType`].
    pub provider_type: Option<String>,
    /// Identifiers of monitors.
    pub monitor_ids: Vec<String>,
    /// A Discord channel.
    pub discord: Option<HookDraft>,
    /// A mailbox.
    pub email: Option<EmailDraft>,
    /// A Slack channel.
    pub slack: Option<HookDraft>,
    /// A PagerDuty service.
    pub pagerduty: Option<PagerdutyDraft>,
    /// An Opsgenie team.
    pub opsgenie: Option<OpsgenieDraft>,
    /// An HTTP endpoint of the user's.
    pub webhook: Option<WebhookDraft>,
    /// A Telegram chat.
    pub telegram: Option<TelegramDraft>,
    /// A telephone, by text message.
    pub sms: Option<PhoneDraft>,
    /// A telephone, by WhatsApp message.
    pub whatsapp: Option<PhoneDraft>,
    /// A Google Chat space.
    pub google_chat: Option<HookDraft>,
    /// A Grafana OnCall integration.
    pub grafana_oncall: Option<HookDraft>,
    /// A topic of an ntfy server.
    pub ntfy: Option<NtfyDraft>,
    /// What the channel wants to hear, and when.
    pub wishes: WishesDraft,
}

/// A URL that a provider gave out, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HookDraft {
    /// URL.
    pub webhook_url: Option<Secret<String>>,
}

/// A mailbox, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EmailDraft {
    /// Address.
    pub email: Option<String>,
}

/// A PagerDuty service, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PagerdutyDraft {
    /// Integration key.
    pub integration_key: Option<Secret<String>>,
}

/// An Opsgenie team, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpsgenieDraft {
    /// API key.
    pub api_key: Option<Secret<String>>,
    /// A word of [`crate::OpsgenieRegion`].
    pub region: Option<String>,
}

/// An HTTP endpoint of the user's, as written.
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
    /// Identifier of the chat.
    pub chat_id: Option<String>,
}

/// A telephone, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhoneDraft {
    /// Number.
    pub phone_number: Option<String>,
}

/// A topic of an ntfy server, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NtfyDraft {
    /// Topic.
    pub topic: Option<String>,
    /// URL of the server.
    pub server_url: Option<String>,
    /// Access token.
    pub token: Option<Secret<String>>,
}

impl From<&ChannelSettings> for ChannelDraft {
    /// The draft that parses to these settings: where an update with a mask begins.
    fn from(settings: &ChannelSettings) -> Self {
        let mut draft = Self {
            name: settings.name.clone(),
            provider_type: Some(settings.provider.kind().to_string()),
            monitor_ids: settings.monitor_ids.iter().map(ToString::to_string).collect(),
            wishes: (&settings.wishes).into(),
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

impl From<&Hook> for HookDraft {
    fn from(hook: &Hook) -> Self {
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
