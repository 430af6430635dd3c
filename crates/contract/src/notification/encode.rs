//! Encodes a stored channel. Unset arguments are absent, and so are secrets for read keys (design
//! §4).

use rules::Secret;
use rules::notification::{
    Channel, Email, IncomingWebhook, Ntfy, Opsgenie, Pagerduty, Phone, Provider, QuietHours,
    Telegram, Webhook,
};

use super::wire;
use crate::monitor::{SecretVisibility, encode_endpoint, encode_instant, encode_url, revision};

/// Encodes a channel.
pub fn encode(channel: &Channel, secrets: SecretVisibility) -> wire::Notification {
    let settings = &channel.settings;
    let preferences = &settings.preferences;
    let mut encode = wire::Notification {
        id: Some(channel.id.to_string()),
        name: settings.name.clone(),
        provider_type: Some(settings.provider.kind().to_string()),
        monitor_ids: settings.monitor_ids.iter().map(ToString::to_string).collect(),
        created_at: encode_instant(channel.created_at),
        updated_at: encode_instant(channel.updated_at),
        revision: Some(revision(channel.updated_at)),
        events: preferences.events.iter().map(ToString::to_string).collect(),
        remind_every: preferences.remind_every.map(|every| every.to_string()),
        quiet_hours: preferences.quiet_hours.as_ref().map(quiet_hours).into(),
        ..wire::Notification::default()
    };
    set_block(&mut encode, &settings.provider, secrets);
    encode
}

fn quiet_hours(hours: &QuietHours) -> wire::QuietHours {
    wire::QuietHours {
        from: Some(hours.from.to_string()),
        until: Some(hours.until.to_string()),
        time_zone: Some(hours.time_zone.to_string()),
        applies_to: Some(hours.applies_to.to_string()),
    }
}

/// Returns the secret, or `None` for a read key.
fn encode_secret(secrets: SecretVisibility, secret: &Secret<String>) -> Option<String> {
    (secrets == SecretVisibility::Visible).then(|| secret.expose().clone())
}

/// Sets the block of the channel's provider.
fn set_block(encode: &mut wire::Notification, provider: &Provider, secrets: SecretVisibility) {
    let hook = |hook: &IncomingWebhook| encode_secret(secrets, &hook.webhook_url);
    let number = |phone: &Phone| Some(phone.phone_number.clone());
    match provider {
        Provider::Discord(block) => {
            encode.discord = wire::Discord { webhook_url: hook(block) }.into();
        }
        Provider::Email(Email { email }) => {
            encode.email = wire::Email { email: Some(email.clone()) }.into();
        }
        Provider::Slack(block) => encode.slack = wire::Slack { webhook_url: hook(block) }.into(),
        Provider::Pagerduty(Pagerduty { integration_key }) => {
            let integration_key = encode_secret(secrets, integration_key);
            encode.pagerduty = wire::Pagerduty { integration_key }.into();
        }
        Provider::Opsgenie(Opsgenie { api_key, region }) => {
            let api_key = encode_secret(secrets, api_key);
            encode.opsgenie = wire::Opsgenie { api_key, region: Some(region.to_string()) }.into();
        }
        Provider::Webhook(block) => encode.webhook = webhook(block, secrets).into(),
        Provider::Telegram(Telegram { chat_id }) => {
            encode.telegram = wire::Telegram { chat_id: Some(chat_id.clone()) }.into();
        }
        Provider::Sms(block) => encode.sms = wire::Sms { phone_number: number(block) }.into(),
        Provider::Whatsapp(block) => {
            encode.whatsapp = wire::Whatsapp { phone_number: number(block) }.into();
        }
        Provider::GoogleChat(block) => {
            encode.google_chat = wire::GoogleChat { webhook_url: hook(block) }.into();
        }
        Provider::GrafanaOncall(block) => {
            encode.grafana_oncall = wire::GrafanaOncall { webhook_url: hook(block) }.into();
        }
        Provider::Ntfy(Ntfy { topic, server_url, token }) => {
            encode.ntfy = wire::Ntfy {
                topic: Some(topic.clone()),
                server_url: server_url.as_deref().map(|url| encode_url(url, secrets)),
                token: token.as_ref().and_then(|token| encode_secret(secrets, token)),
            }
            .into();
        }
    }
}

fn webhook(block: &Webhook, secrets: SecretVisibility) -> wire::Webhook {
    let headers = block.headers.iter();
    wire::Webhook {
        endpoint: Some(encode_endpoint(&block.endpoint, secrets)),
        headers: headers
            .map(|header| wire::Header {
                key: Some(header.key.clone()),
                value: encode_secret(secrets, &header.value),
            })
            .collect(),
    }
}
