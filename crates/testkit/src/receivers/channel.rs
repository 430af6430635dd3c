//! Channels that lead to the receivers, as domain values and as API requests.

use rules::notification::{
    IncomingWebhook, Ntfy, Opsgenie, Pagerduty, Phone, Provider, Telegram, Webhook, WebhookHeader,
};
use rules::{OpsgenieRegion, ProviderType, Secret};
use serde_json::{Value, json};

use super::{
    Receiver, discord, google_chat, grafana_oncall, ms_teams, ntfy, opsgenie, pagerduty, slack,
    webhook,
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
            ProviderType::MsTeams => {
                let (path, signature) = (ms_teams::PATH, ms_teams::SIGNATURE);
                let query =
                    format!("api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sig={signature}");
                Provider::MsTeams(hook(&format!("{path}?{query}")))
            }
            ProviderType::Email => unreachable!("`start` rejects emails"),
        }
    }
}

/// Returns the channel as `CreateNotification` expects it: the kind and its settings block.
pub fn json_of(provider: &Provider) -> Value {
    let stored = serde_json::to_value(provider).expect("texts always serialize");
    let mut request = json!({ "providerType": provider.kind().as_str() });
    for (block, settings) in stored.as_object().expect("a channel is one block") {
        request[camel(block)] = in_camel_case(settings);
    }
    request
}

/// Renames fields from `snake_case` and omits absent ones.
fn in_camel_case(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let given = fields.iter().filter(|(_, value)| !value.is_null());
            given.map(|(name, value)| (camel(name), in_camel_case(value))).collect()
        }
        Value::Array(items) => items.iter().map(in_camel_case).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| name + &word[..1].to_uppercase() + &word[1..])
}
