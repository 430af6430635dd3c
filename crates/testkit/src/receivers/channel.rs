//! Channels that lead to the receivers, as domain values and as API requests.

use rules::notification::{
    Email, IncomingWebhook, Ntfy, Opsgenie, Pagerduty, Phone, Provider, Telegram, Webhook,
    WebhookHeader,
};
use rules::{OpsgenieRegion, ProviderType, Secret};
use serde_json::{Value, json};

use super::{
    Receiver, discord, google_chat, grafana_oncall, ntfy, opsgenie, pagerduty, slack, webhook,
};

impl Receiver {
    /// Returns a channel for this receiver. Kinds with a vendor's address use the one in the
    /// server's settings.
    pub fn provider(&self) -> Provider {
        let hook = |path: &str| IncomingWebhook { webhook_url: Secret::new(self.base() + path) };
        let phone = || Phone { phone_number: "+4915112345678".to_owned() };
        match self.kind {
            ProviderType::Discord => {
                let (id, token) = (discord::WEBHOOK, discord::TOKEN);
                Provider::Discord(hook(&format!("/api/webhooks/{id}/{token}?thread_id=7")))
            }
            ProviderType::Slack => Provider::Slack(hook(slack::HOOK)),
            ProviderType::GoogleChat => {
                let token = google_chat::TOKEN.replace(' ', "%20").replace('=', "%3D");
                let (space, key) = (google_chat::SPACE, google_chat::KEY);
                let path = format!("/v1/spaces/{space}/messages?key={key}&token={token}");
                Provider::GoogleChat(hook(&path))
            }
            ProviderType::GrafanaOncall => {
                let key = grafana_oncall::KEY;
                Provider::GrafanaOncall(hook(&format!("/integrations/v1/formatted_webhook/{key}/")))
            }
            ProviderType::Pagerduty => Provider::Pagerduty(Pagerduty {
                integration_key: Secret::new(pagerduty::KEY.to_owned()),
            }),
            ProviderType::Opsgenie => Provider::Opsgenie(Opsgenie {
                api_key: Secret::new(opsgenie::KEY.to_owned()),
                region: OpsgenieRegion::Eu,
            }),
            ProviderType::Webhook => Provider::Webhook(Webhook {
                endpoint: format!("{}/{}", self.base(), webhook::PATH),
                headers: vec![WebhookHeader {
                    key: webhook::OWN_HEADER.0.to_owned(),
                    value: Secret::new(webhook::OWN_HEADER.1.to_owned()),
                }],
            }),
            ProviderType::Telegram => {
                Provider::Telegram(Telegram { chat_id: "-1001234567890".to_owned() })
            }
            ProviderType::Sms => Provider::Sms(phone()),
            ProviderType::Whatsapp => Provider::Whatsapp(phone()),
            ProviderType::Ntfy => Provider::Ntfy(Ntfy {
                topic: "alerts".to_owned(),
                server_url: Some(self.base()),
                token: Some(Secret::new(ntfy::TOKEN.to_owned())),
            }),
            ProviderType::Email => unreachable!("`start` rejects emails"),
        }
    }
}

/// Returns the channel as `CreateNotification` expects it: the kind and its settings block.
pub fn json_of(provider: &Provider) -> Value {
    let hook = |hook: &IncomingWebhook| json!({ "webhookUrl": hook.webhook_url.expose() });
    let phone = |phone: &Phone| json!({ "phoneNumber": phone.phone_number });
    let (kind, name, block) = match provider {
        Provider::Discord(it) => ("discord", "discord", hook(it)),
        Provider::Slack(it) => ("slack", "slack", hook(it)),
        Provider::GoogleChat(it) => ("google_chat", "googleChat", hook(it)),
        Provider::GrafanaOncall(it) => ("grafana_oncall", "grafanaOncall", hook(it)),
        Provider::Email(Email { email }) => ("email", "email", json!({ "email": email })),
        Provider::Pagerduty(it) => {
            let key = it.integration_key.expose();
            ("pagerduty", "pagerduty", json!({ "integrationKey": key }))
        }
        Provider::Opsgenie(it) => {
            let block = json!({ "apiKey": it.api_key.expose(), "region": it.region.as_str() });
            ("opsgenie", "opsgenie", block)
        }
        Provider::Webhook(it) => {
            let header = |it: &WebhookHeader| json!({ "key": it.key, "value": it.value.expose() });
            let headers: Vec<Value> = it.headers.iter().map(header).collect();
            ("webhook", "webhook", json!({ "endpoint": it.endpoint, "headers": headers }))
        }
        Provider::Telegram(it) => ("telegram", "telegram", json!({ "chatId": it.chat_id })),
        Provider::Sms(it) => ("sms", "sms", phone(it)),
        Provider::Whatsapp(it) => ("whatsapp", "whatsapp", phone(it)),
        Provider::Ntfy(it) => {
            let mut block = json!({ "topic": it.topic });
            if let Some(server) = &it.server_url {
                block["serverUrl"] = json!(server);
            }
            if let Some(token) = &it.token {
                block["token"] = json!(token.expose());
            }
            ("ntfy", "ntfy", block)
        }
    };
    json!({ "providerType": kind, name: block })
}
