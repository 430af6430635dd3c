//! Recognizes the kind of a channel by the one text that a person pastes: a webhook's URL or an email
//! address.

use rules::ProviderType;
use rules::field::json_name;
use serde_json::{Map, Value as Json, json};
use url::Url;

/// Message beside a text that is neither.
pub(super) const EXPECTED: &str =
    "Enter the URL of a webhook, such as https://example.com/hook, or an email address.";

/// Hosts of vendors whose webhooks have a format of their own. A name that starts with a dot includes
/// everything below it.
const VENDORS: &[(&str, ProviderType)] = &[
    ("hooks.slack.com", ProviderType::Slack),
    ("discord.com", ProviderType::Discord),
    ("discordapp.com", ProviderType::Discord),
    ("chat.googleapis.com", ProviderType::GoogleChat),
    (".webhook.office.com", ProviderType::MsTeams),
    (".logic.azure.com", ProviderType::MsTeams),
    (".api.powerplatform.com", ProviderType::MsTeams),
];

/// Receiver of alerts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChannelAddress {
    pub(super) kind: ProviderType,
    address: String,
}

impl ChannelAddress {
    /// Recognizes an address. `None` if it is neither a URL nor an email address.
    pub(super) fn parse(given: &str) -> Option<Self> {
        let given = given.trim();
        let address = given.to_owned();
        if given.contains('@') && !given.contains("://") {
            return Some(Self { kind: ProviderType::Email, address });
        }
        let url = Url::parse(given).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
        let host = url.host_str()?;
        let is_at = |vendor: &&(&str, ProviderType)| {
            host == vendor.0 || vendor.0.starts_with('.') && host.ends_with(vendor.0)
        };
        let vendor = VENDORS.iter().find(is_at);
        Some(Self { kind: vendor.map_or(ProviderType::Webhook, |(_, kind)| *kind), address })
    }

    /// Returns the channel in the JSON of the contract.
    pub(super) fn notification(&self) -> Json {
        let field = if self.kind == ProviderType::Webhook {
            "endpoint"
        } else if self.kind == ProviderType::Email {
            "email"
        } else {
            "webhookUrl"
        };
        let settings = json!({ field: self.address });
        let mut json = Map::new();
        json.insert("providerType".to_owned(), json!(self.kind.as_str()));
        json.insert(json_name(self.kind.as_str()), settings);
        Json::Object(json)
    }
}

#[cfg(test)]
mod tests {
    use rules::tables;

    use super::*;

    #[test]
    fn kind_follows_from_the_address() {
        for (given, expected) in [
            ("https://example.com/hook", Some(ProviderType::Webhook)),
            (" http://127.0.0.1:8080/ ", Some(ProviderType::Webhook)),
            ("https://hooks.slack.com/services/T/B/x", Some(ProviderType::Slack)),
            ("https://discord.com/api/webhooks/1/x", Some(ProviderType::Discord)),
            ("https://chat.googleapis.com/v1/spaces/x", Some(ProviderType::GoogleChat)),
            ("https://acme.webhook.office.com/x", Some(ProviderType::MsTeams)),
            ("https://evil-discord.com/hook", Some(ProviderType::Webhook)),
            ("https://ada@example.com/hook", Some(ProviderType::Webhook)),
            ("ada@example.com", Some(ProviderType::Email)),
            ("example.com/hook", None),
            ("ftp://example.com", None),
            ("", None),
        ] {
            assert_eq!(ChannelAddress::parse(given).map(|it| it.kind), expected, "{given}");
        }
    }

    #[test]
    fn vendors_need_only_the_url() {
        for (_, kind) in VENDORS {
            let block = tables::NOTIFICATION.block(kind.as_str());
            let fields: Vec<&str> = block.fields.iter().map(|field| field.name).collect();
            assert_eq!(
                (fields.as_slice(), block.blocks.len()),
                (&["webhook_url"][..], 0),
                "{kind}"
            );
        }
    }

    #[test]
    fn channel_has_the_block_of_its_kind() {
        let json = |given: &str| ChannelAddress::parse(given).unwrap().notification();
        assert_eq!(
            json("ada@example.com"),
            json!({ "providerType": "email", "email": { "email": "ada@example.com" } })
        );
        let url = "https://acme.webhook.office.com/x";
        let kind = ProviderType::MsTeams.as_str();
        assert_eq!(
            json(url),
            json!({ "providerType": kind, json_name(kind): { "webhookUrl": url } })
        );
    }
}
