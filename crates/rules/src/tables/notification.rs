//! `service_notification` (§2.4): a notification channel and the blocks of its kinds.

use super::http_monitor::{HEADER_NAME_CHARS_MAX, HEADER_VALUE_CHARS_MAX};
use super::monitor::TARGET_CHARS_MAX;
use super::revision;
use crate::field::{Block, Field, Redaction, Resource, Rule, Shape};
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
    description: "Sends alerts about incidents of its monitors to one receiver.",
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
    blocks: BLOCKS,
    rules: &[Rule::ExactlyOneBlock { named_by: "provider_type" }],
    import: Some("<notification_id>"),
};

pub(super) const PROVIDER_TYPE: Field = Field::required(
    "provider_type",
    Shape::OneOf(ProviderType::WORDS),
    "Kind of the channel; the one block given must have the same name.",
);

/// The fields and inner blocks of the settings of a kind.
struct SettingsTable {
    fields: &'static [Field],
    blocks: &'static [Block],
}

/// Returns the table of the settings with this name. The types of the settings are in
/// `notification`, which is above the tables.
macro_rules! settings_table {
    (IncomingWebhook) => {
        INCOMING_WEBHOOK
    };
    (Email) => {
        EMAIL
    };
    (Pagerduty) => {
        PAGERDUTY
    };
    (Opsgenie) => {
        OPSGENIE
    };
    (Webhook) => {
        WEBHOOK
    };
    (Telegram) => {
        TELEGRAM
    };
    (Phone) => {
        PHONE
    };
    (Ntfy) => {
        NTFY
    };
}

/// Declares the block of each kind.
macro_rules! blocks {
    ($($(#[doc = $meaning:literal])+ $variant:ident $block:ident $name:literal:
        $settings:ident { $($field:ident),+ } = $description:literal;)+) => {
        const BLOCKS: &[Block] = &[$(Block {
            name: $name,
            max: Some(1),
            fields: settings_table!($settings).fields,
            blocks: settings_table!($settings).blocks,
            description: $description,
        },)+];
    };
}

crate::channel_kinds!(blocks);

const INCOMING_WEBHOOK: SettingsTable = SettingsTable {
    fields: &[Field::required(
        "webhook_url",
        Shape::HttpUrl { max: TARGET_CHARS_MAX },
        "URL of the webhook, as the vendor shows it; at most 2048 characters.",
    )
    .sensitive()],
    blocks: &[],
};

const EMAIL: SettingsTable = SettingsTable {
    fields: &[Field::required(
        "email",
        Shape::EmailAddress { max: EMAIL_CHARS_MAX },
        "Address that messages are sent to.",
    )],
    blocks: &[],
};

const PAGERDUTY: SettingsTable = SettingsTable {
    fields: &[token("integration_key", "Integration key of the service.")],
    blocks: &[],
};

const OPSGENIE: SettingsTable = SettingsTable {
    fields: &[
        token("api_key", "API key of the integration."),
        Field::required(
            "region",
            Shape::OneOf(OpsgenieRegion::WORDS),
            "Region of the account: us or eu.",
        ),
    ],
    blocks: &[],
};

const WEBHOOK: SettingsTable = SettingsTable {
    fields: &[Field::required(
        "endpoint",
        Shape::HttpUrl { max: TARGET_CHARS_MAX },
        "URL that events are posted to; at most 2048 characters.",
    )
    .redacted(Redaction::Path)],
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
            )
            .redacted(Redaction::Absent),
        ],
        blocks: &[],
        description: "A header of every request to the endpoint.",
    }],
};

const TELEGRAM: SettingsTable = SettingsTable {
    fields: &[Field::required(
        "chat_id",
        Shape::Line { min: 1, max: WORD_CHARS_MAX },
        "Identifier of the chat, or @name of a channel.",
    )],
    blocks: &[],
};

const PHONE: SettingsTable = SettingsTable {
    fields: &[Field::required(
        "phone_number",
        Shape::PhoneNumber,
        "Telephone number in international form, such as +4915112345678.",
    )],
    blocks: &[],
};

const NTFY: SettingsTable = SettingsTable {
    fields: &[
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
    blocks: &[],
};

const fn token(name: &'static str, description: &'static str) -> Field {
    Field::required(name, Shape::Line { min: 1, max: TOKEN_CHARS_MAX }, description).sensitive()
}
