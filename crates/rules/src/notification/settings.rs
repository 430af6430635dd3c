//! The settings of the channel kinds. Kinds with the same fields share them. The store encrypts
//! these structs as JSON: a new field needs `#[serde(default)]`, because stored channels lack it.

use super::secret_serde;
use crate::argument::{FieldValue, settings};
use crate::field::Shape;
use crate::monitor::{HeaderDraft, header, one_host};
use crate::{FormatError, OpsgenieRegion, Secret, Validator};

settings! {
    /// A webhook URL issued by a vendor.
    IncomingWebhook, IncomingWebhookDraft {
        /// As written; the whole URL is a secret.
        #[serde(with = "secret_serde::text")]
        webhook_url: Secret<String>,
    }

    /// An email address.
    Email, EmailDraft {
        email: String,
    }

    /// A PagerDuty service.
    Pagerduty, PagerdutyDraft {
        /// Integration key of the service.
        #[serde(with = "secret_serde::text")]
        integration_key: Secret<String>,
    }

    /// An Opsgenie team.
    Opsgenie, OpsgenieDraft {
        /// API key of the integration.
        #[serde(with = "secret_serde::text")]
        api_key: Secret<String>,
        /// Region of the account.
        region: OpsgenieRegion,
    }

    /// An HTTP endpoint of the user.
    Webhook, WebhookDraft {
        /// Absolute URL as written.
        endpoint: String,
        /// Headers of every request, in order.
        headers: Vec<WebhookHeader>,
    }

    /// A Telegram chat.
    Telegram, TelegramDraft {
        /// ID of the chat, or @name of a channel.
        chat_id: String,
    }

    /// A phone.
    Phone, PhoneDraft {
        /// Number in international format.
        phone_number: String,
    }

    /// A topic of an ntfy server.
    Ntfy, NtfyDraft {
        topic: String,
        /// URL of the server as written; the public one if omitted.
        server_url: Option<String>,
        /// Access token of the server.
        #[serde(with = "secret_serde::maybe_text")]
        token: Option<Secret<String>>,
    }
}

/// A header of every request to a webhook.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct WebhookHeader {
    /// As written.
    pub key: String,
    /// As written; may be empty.
    #[serde(with = "secret_serde::text")]
    pub value: Secret<String>,
}

impl FieldValue for Vec<WebhookHeader> {
    type Draft = Vec<HeaderDraft>;

    fn read(validator: &mut Validator, name: &'static str, draft: Self::Draft) -> Option<Self> {
        let headers = validator.blocks(name, draft, header);
        one_host(validator, &headers);
        let headers = headers.into_iter();
        let headers = headers
            .map(|header| WebhookHeader { key: header.key, value: Secret::new(header.value) });
        Some(headers.collect())
    }

    fn draft(&self) -> Self::Draft {
        let draft = |header: &WebhookHeader| HeaderDraft {
            key: Some(header.key.clone()),
            value: Some(header.value.expose().clone()),
        };
        self.iter().map(draft).collect()
    }
}

impl Phone {
    /// Validates a phone number.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        Shape::PhoneNumber.check_format(text)?;
        Ok(Self { phone_number: text.to_owned() })
    }
}
