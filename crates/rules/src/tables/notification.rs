//! `service_notification` (§2.4): a notification channel and its twelve kinds of provider.

use super::http_monitor::{HEADER_NAME_CHARS_MAX, HEADER_VALUE_CHARS_MAX};
use super::monitor::TARGET_CHARS_MAX;
use super::revision;
use crate::field::{Block, Field, Resource, Rule, Shape};
use crate::{ChannelId, MonitorId, OpsgenieRegion, ProviderType};

/// Maximum length of a channel's name and of its short texts, in characters (ours).
const WORD_CHARS_MAX: u32 = 256;
/// Maximum length of a provider's key or token, in characters (ours).
const TOKEN_CHARS_MAX: u32 = 1_024;
/// Maximum length of an email address, in characters (RFC 5321: a path of 256 octets with its angle
/// brackets).
pub(super) const EMAIL_CHARS_MAX: u32 = 254;
/// Maximum number of headers of a webhook (ours, the same as for a monitor).
const WEBHOOK_HEADERS_MAX: u32 = 20;

/// A notification channel (§2.4).
pub static NOTIFICATION: Resource = Resource {
    name: "service_notification",
    description: "Sends alerts about incidents of its monitors through one provider.",
    fields: &[
        Field::optional(
            "name",
            Shape::Line { min: 0, max: WORD_CHARS_MAX },
            "Name of the channel; at most 256 characters.",
        ),
        PROVIDER_TYPE,
        Field::optional(
            "monitor_ids",
            Shape::SetOfIds(MonitorId::PREFIX),
            "Monitors whose incidents are sent to the channel.",
        ),
        Field::output("id", Shape::Id(ChannelId::PREFIX), "Identifier of the channel."),
        Field::output("created_at", Shape::Instant, "When the channel was created."),
        Field::output("updated_at", Shape::Instant, "When the channel was last changed."),
    ],
    beyond: &[revision::OUTPUT],
    blocks: &[
        block("discord", "A Discord channel, through a webhook.", &[WEBHOOK_URL]),
        block(
            "email",
            "An email address.",
            &[Field::required(
                "email",
                Shape::EmailAddress { max: EMAIL_CHARS_MAX },
                "Address that messages are sent to.",
            )],
        ),
        block("slack", "A Slack channel, through an incoming webhook.", &[WEBHOOK_URL]),
        block(
            "pagerduty",
            "A PagerDuty service, through its Events API.",
            &[token("integration_key", "Integration key of the service.")],
        ),
        block(
            "opsgenie",
            "An Opsgenie team.",
            &[
                token("api_key", "API key of the integration."),
                Field::required(
                    "region",
                    Shape::OneOf(OpsgenieRegion::WORDS),
                    "Region of the account: us or eu.",
                ),
            ],
        ),
        WEBHOOK,
        block(
            "telegram",
            "A Telegram chat.",
            &[Field::required(
                "chat_id",
                Shape::Line { min: 1, max: WORD_CHARS_MAX },
                "Identifier of the chat, or @name of a channel.",
            )],
        ),
        block("sms", "SMS to a phone.", &[PHONE_NUMBER]),
        block("whatsapp", "WhatsApp messages to a phone.", &[PHONE_NUMBER]),
        block("google_chat", "A Google Chat space, through a webhook.", &[WEBHOOK_URL]),
        block("grafana_oncall", "A Grafana OnCall integration.", &[WEBHOOK_URL]),
        NTFY,
    ],
    rules: &[Rule::ExactlyOneBlock { named_by: "provider_type" }],
    import: Some("<notification_id>"),
};

pub(super) const PROVIDER_TYPE: Field = Field::required(
    "provider_type",
    Shape::OneOf(ProviderType::WORDS),
    "Kind of provider; the one block given must have the same name.",
);

const WEBHOOK_URL: Field = Field::required(
    "webhook_url",
    Shape::HttpUrl { max: TARGET_CHARS_MAX },
    "URL of the webhook, as the provider shows it; at most 2048 characters.",
)
.sensitive();

const PHONE_NUMBER: Field = Field::required(
    "phone_number",
    Shape::PhoneNumber,
    "Telephone number in international form, such as +4915112345678.",
);

const WEBHOOK: Block = Block {
    name: "webhook",
    max: Some(1),
    fields: &[Field::required(
        "endpoint",
        Shape::HttpUrl { max: TARGET_CHARS_MAX },
        "URL that events are posted to; at most 2048 characters.",
    )],
    blocks: &[Block {
        name: "headers",
        max: Some(WEBHOOK_HEADERS_MAX),
        fields: &[
            Field::required(
                "key",
                Shape::HeaderName { max: HEADER_NAME_CHARS_MAX },
                "Name of the header.",
            ),
            Field::required(
                "value",
                Shape::HeaderValue { max: HEADER_VALUE_CHARS_MAX },
                "Value of the header; may be empty.",
            ),
        ],
        blocks: &[],
        description: "A header of every request to the endpoint.",
    }],
    description: "An HTTP endpoint of your own; requests are signed as Standard Webhooks.",
};

const NTFY: Block = block(
    "ntfy",
    "A topic of an ntfy server.",
    &[
        Field::required(
            "topic",
            Shape::Line { min: 1, max: WORD_CHARS_MAX },
            "Topic to publish to.",
        ),
        Field::optional(
            "server_url",
            Shape::HttpUrl { max: TARGET_CHARS_MAX },
            "URL of the server; defaults to the public one.",
        ),
        Field::optional(
            "token",
            Shape::Line { min: 1, max: TOKEN_CHARS_MAX },
            "Access token of the server.",
        )
        .sensitive(),
    ],
);

const fn token(name: &'static str, description: &'static str) -> Field {
    Field::required(name, Shape::Line { min: 1, max: TOKEN_CHARS_MAX }, description).sensitive()
}

const fn block(name: &'static str, description: &'static str, fields: &'static [Field]) -> Block {
    Block { name, max: Some(1), fields, blocks: &[], description }
}
