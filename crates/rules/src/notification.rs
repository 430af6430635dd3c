//! Notification channels: the draft of a caller ([`ChannelDraft`]) and the validated settings
//! ([`ChannelSettings`]). The domain's `notify` decides what to send.

mod draft;
mod mask;
mod parse;
mod preferences;
mod secret_serde;

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

pub use draft::{
    ChannelDraft, EmailDraft, HookDraft, NtfyDraft, OpsgenieDraft, PagerdutyDraft, PhoneDraft,
    TelegramDraft, WebhookDraft,
};
pub use parse::{MONITORS, MONITORS_ALLOWED};
pub use preferences::{
    AlertEvent, NotificationPreferences, NotificationPreferencesDraft, QuietHours, QuietHoursDraft,
    QuietHoursScope,
};

use crate::field::Shape;
use crate::{
    ChannelId, FormatError, MonitorId, OpsgenieRegion, ProviderType, Secret, Timestamp,
    WorkspaceId, format,
};

/// A stored channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    pub id: ChannelId,
    pub workspace: WorkspaceId,
    /// The user's settings.
    pub settings: ChannelSettings,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// The valid arguments of §2.4 and our preferences. Only [`ChannelDraft::parse`] and the store
/// create them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelSettings {
    /// As written, at most 256 characters.
    pub name: Option<String>,
    /// Monitors with alerts to this channel: sorted, without duplicates.
    pub monitor_ids: Vec<MonitorId>,
    pub provider: Provider,
    /// Which events it gets, and when; our addition to §2.4.
    pub preferences: NotificationPreferences,
}

/// The provider of a channel, with its settings: the one block of §2.4. Its JSON contains the
/// secrets and is only for the store's vault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    Discord(IncomingWebhook),
    Email(Email),
    Slack(IncomingWebhook),
    Pagerduty(Pagerduty),
    Opsgenie(Opsgenie),
    Webhook(Webhook),
    Telegram(Telegram),
    /// SMS to a phone.
    Sms(Phone),
    /// WhatsApp messages to a phone.
    Whatsapp(Phone),
    GoogleChat(IncomingWebhook),
    GrafanaOncall(IncomingWebhook),
    Ntfy(Ntfy),
}

/// A webhook URL issued by a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IncomingWebhook {
    /// As written; the whole URL is a secret.
    #[serde(with = "secret_serde::text")]
    pub webhook_url: Secret<String>,
}

/// An email address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Email {
    pub email: String,
}

/// A PagerDuty service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pagerduty {
    /// Integration key of the service.
    #[serde(with = "secret_serde::text")]
    pub integration_key: Secret<String>,
}

/// An Opsgenie team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opsgenie {
    /// API key of the integration.
    #[serde(with = "secret_serde::text")]
    pub api_key: Secret<String>,
    /// Region of the account.
    pub region: OpsgenieRegion,
}

/// An HTTP endpoint of the user.
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
    /// As written.
    pub key: String,
    /// As written; may be empty.
    #[serde(with = "secret_serde::text")]
    pub value: Secret<String>,
}

/// A Telegram chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Telegram {
    /// ID of the chat, or @name of a channel.
    pub chat_id: String,
}

/// A phone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phone {
    /// Number in international format.
    pub phone_number: String,
}

/// A topic of an ntfy server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ntfy {
    pub topic: String,
    /// URL of the server as written; the public one if omitted.
    pub server_url: Option<String>,
    /// Access token of the server.
    #[serde(with = "secret_serde::maybe_text")]
    pub token: Option<Secret<String>>,
}

impl Phone {
    /// Validates a phone number.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        format::check(Shape::PhoneNumber, text)?;
        Ok(Self { phone_number: text.to_owned() })
    }
}

impl Provider {
    /// Returns the kind of provider.
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

    /// Returns the value of the field that the table marks as sensitive.
    pub const fn secret(&self) -> Option<&Secret<String>> {
        match self {
            Self::Discord(hook)
            | Self::Slack(hook)
            | Self::GoogleChat(hook)
            | Self::GrafanaOncall(hook) => Some(&hook.webhook_url),
            Self::Pagerduty(service) => Some(&service.integration_key),
            Self::Opsgenie(team) => Some(&team.api_key),
            Self::Ntfy(topic) => topic.token.as_ref(),
            Self::Email(_)
            | Self::Webhook(_)
            | Self::Telegram(_)
            | Self::Sms(_)
            | Self::Whatsapp(_) => None,
        }
    }

    /// Returns the IP address in the block's URL with the name of its field, if the host is an
    /// address. Names are resolved only when a message is sent.
    pub fn literal_address(&self) -> Option<(&'static str, IpAddr)> {
        let (field, url) = match self {
            Self::Discord(IncomingWebhook { webhook_url })
            | Self::Slack(IncomingWebhook { webhook_url })
            | Self::GoogleChat(IncomingWebhook { webhook_url })
            | Self::GrafanaOncall(IncomingWebhook { webhook_url }) => {
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

/// Returns the host of a URL if it is an IP address.
pub fn literal_address(url: &str) -> Option<IpAddr> {
    match url::Url::parse(url).ok()?.host()? {
        url::Host::Ipv4(address) => Some(address.into()),
        url::Host::Ipv6(address) => Some(address.into()),
        url::Host::Domain(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables;

    #[test]
    fn secret_is_the_sensitive_field_of_the_table() {
        for block in tables::NOTIFICATION.blocks {
            let mut fields =
                serde_json::Map::from_iter([("headers".to_owned(), [0; 0][..].into())]);
            for field in block.fields {
                let value = if field.name == "region" { "us" } else { field.name };
                fields.insert(field.name.to_owned(), value.into());
            }
            let provider = serde_json::json!({ block.name: fields });
            let provider: Provider = serde_json::from_value(provider).unwrap();
            let secret = provider.secret().map(|secret| secret.expose().as_str());
            let sensitive = block.fields.iter().filter(|field| field.sensitive);
            let sensitive: Vec<&str> = sensitive.map(|field| field.name).collect();
            assert_eq!(Vec::from_iter(secret), sensitive, "{}", block.name);
        }
    }
}
