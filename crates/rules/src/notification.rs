//! A notification channel: what a user wrote of it ([`ChannelDraft`]), and the same once every rule
//! held ([`ChannelSettings`]). What is sent through it, and whether it arrives, belongs to notify.

mod draft;
mod mask;
mod parse;
mod sealed;
mod wishes;

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

pub use draft::{
    ChannelDraft, EmailDraft, HookDraft, NtfyDraft, OpsgenieDraft, PagerdutyDraft, PhoneDraft,
    TelegramDraft, WebhookDraft,
};
pub use parse::{MONITORS, MONITORS_ALLOWED};
pub use wishes::{Held, QuietHours, QuietHoursDraft, WishedEvent, Wishes, WishesDraft};

use crate::field::Shape;
use crate::{
    ChannelId, MonitorId, OpsgenieRegion, ProviderType, Refusal, Secret, Timestamp, WorkspaceId,
    form,
};

/// A channel as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Its identifier.
    pub id: ChannelId,
    /// Who owns it.
    pub workspace: WorkspaceId,
    /// What the user wrote.
    pub settings: ChannelSettings,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// The arguments of §2.4 and the wishes of ours, valid. Only [`ChannelDraft::parse`] and the store make one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelSettings {
    /// Name as written, at most 256 characters.
    pub name: Option<String>,
    /// Monitors whose incidents it tells about: sorted, without duplicates.
    pub monitor_ids: Vec<MonitorId>,
    /// Whom it tells, and how.
    pub provider: Provider,
    /// What it wants to hear, and when; ours, beside §2.4.
    pub wishes: Wishes,
}

/// Whom a channel tells, and how: the one block of §2.4. Its JSON has the secrets, for the store's
/// vault alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// A Discord channel.
    Discord(Hook),
    /// A mailbox.
    Email(Email),
    /// A Slack channel.
    Slack(Hook),
    /// A PagerDuty service.
    Pagerduty(Pagerduty),
    /// An Opsgenie team.
    Opsgenie(Opsgenie),
    /// An HTTP endpoint of the user's.
    Webhook(Webhook),
    /// A Telegram chat.
    Telegram(Telegram),
    /// A telephone, by text message.
    Sms(Phone),
    /// A telephone, by WhatsApp message.
    Whatsapp(Phone),
    /// A Google Chat space.
    GoogleChat(Hook),
    /// A Grafana OnCall integration.
    GrafanaOncall(Hook),
    /// A topic of an ntfy server.
    Ntfy(Ntfy),
}

/// A URL that a provider gave out to post to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hook {
    /// The URL as written, which is a secret as a whole.
    #[serde(with = "sealed::text")]
    pub webhook_url: Secret<String>,
}

/// A mailbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Email {
    /// Its address.
    pub email: String,
}

/// A PagerDuty service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pagerduty {
    /// Integration key of the service.
    #[serde(with = "sealed::text")]
    pub integration_key: Secret<String>,
}

/// An Opsgenie team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opsgenie {
    /// API key of the integration.
    #[serde(with = "sealed::text")]
    pub api_key: Secret<String>,
    /// Where the account lives.
    pub region: OpsgenieRegion,
}

/// An HTTP endpoint of the user's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    /// Absolute URL as written.
    pub endpoint: String,
    /// Headers of every request, in order.
    pub headers: Vec<WebhookHeader>,
}

/// A header of every request to a webhook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookHeader {
    /// Name as written.
    pub key: String,
    /// Value as written; may be empty.
    #[serde(with = "sealed::text")]
    pub value: Secret<String>,
}

/// A Telegram chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Telegram {
    /// Identifier of the chat, or @name of a channel.
    pub chat_id: String,
}

/// A telephone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phone {
    /// Its number in international form.
    pub phone_number: String,
}

/// A topic of an ntfy server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ntfy {
    /// The topic.
    pub topic: String,
    /// URL of the server as written; left out, it is the public one.
    pub server_url: Option<String>,
    /// Access token of the server.
    #[serde(with = "sealed::maybe_text")]
    pub token: Option<Secret<String>>,
}

impl Phone {
    /// The telephone with this number, or what a number has to be.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        form::check(Shape::PhoneNumber, text)?;
        Ok(Self { phone_number: text.to_owned() })
    }
}

impl Provider {
    /// The kind's word.
    pub const fn kind(&self) -> ProviderType {
        match self {
            Self::Discord(_) => ProviderType::Discord,
            Self::Email(_) => ProviderType::Email,
            Self::Slack(_) => ProviderType::Slack,
            Self::Pagerduty(_) => ProviderType::Pagerduty,
            Self::Opsgenie(_) => ProviderType::Opsgenie,
            Self::Webhook(_) => ProviderType::Webhook,
            Self::Telegram(_) => ProviderType::Telegram,
            Self::Sms(_) => ProviderType::Sms,
            Self::Whatsapp(_) => ProviderType::Whatsapp,
            Self::GoogleChat(_) => ProviderType::GoogleChat,
            Self::GrafanaOncall(_) => ProviderType::GrafanaOncall,
            Self::Ntfy(_) => ProviderType::Ntfy,
        }
    }

    /// The address that the URL of the block names outright, with the field's name. Where a name
    /// leads is only known when something is sent.
    pub fn literal_address(&self) -> Option<(&'static str, IpAddr)> {
        let (field, url) = match self {
            Self::Discord(Hook { webhook_url })
            | Self::Slack(Hook { webhook_url })
            | Self::GoogleChat(Hook { webhook_url })
            | Self::GrafanaOncall(Hook { webhook_url }) => {
                ("webhook_url", webhook_url.expose().as_str())
            }
            Self::Webhook(Webhook { endpoint, .. }) => ("endpoint", endpoint.as_str()),
            Self::Ntfy(Ntfy { server_url, .. }) => ("server_url", server_url.as_deref()?),
            Self::Email(_)
            | Self::Pagerduty(_)
            | Self::Opsgenie(_)
            | Self::Telegram(_)
            | Self::Sms(_)
            | Self::Whatsapp(_) => return None,
        };
        literal_address(url).map(|address| (field, address))
    }
}

/// The address that a URL names outright.
pub fn literal_address(url: &str) -> Option<IpAddr> {
    match url::Url::parse(url).ok()?.host()? {
        url::Host::Ipv4(address) => Some(address.into()),
        url::Host::Ipv6(address) => Some(address.into()),
        url::Host::Domain(_) => None,
    }
}
