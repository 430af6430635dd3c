//! Server-side configuration of channels: accounts to send through, and base URLs of vendors.

use rules::{ProviderType, Secret};

/// Settings used by channels, as named in the configuration file.
pub mod setting {
    /// SMTP server for emails.
    pub const SMTP: &str = "smtp_url";
    /// Public URL of the server.
    pub const PUBLIC_URL: &str = "public_url";
    /// Token of the bot.
    pub const TELEGRAM: &str = "telegram_token";
    /// Account for text messages.
    pub const TWILIO: &str = "twilio_account";
    /// Sender number of text messages.
    pub const SMS_FROM: &str = "sms_from";
    /// Sender number of WhatsApp messages.
    pub const WHATSAPP_FROM: &str = "whatsapp_from";
    /// Approved template that opens a conversation in WhatsApp.
    pub const WHATSAPP_TEMPLATE: &str = "whatsapp_template";
    /// Parameters of the template.
    pub const WHATSAPP_PARAMETERS: &str = "whatsapp_parameters";

    /// Returns the environment variable of a setting: the one place where any of them can be set,
    /// including secrets.
    pub fn variable(name: &str) -> String {
        format!("ALOFT_{}", name.to_uppercase())
    }
}

/// Server-side configuration of all kinds of channels. Base URLs have no trailing slash.
#[derive(Clone, Debug)]
pub struct VendorConfig {
    /// Whether emails can be sent; the sender knows the account.
    pub has_mail: bool,
    pub telegram: Option<BotAccount>,
    pub twilio: Option<TwilioAccount>,
    /// PagerDuty's Events API, by default `https://events.pagerduty.com`.
    pub pagerduty: String,
    /// Opsgenie in the United States, by default `https://api.opsgenie.com`.
    pub opsgenie_us: String,
    /// Opsgenie in the European Union, by default `https://api.eu.opsgenie.com`.
    pub opsgenie_eu: String,
    /// Default ntfy server of channels, by default `https://ntfy.sh`.
    pub ntfy: String,
}

/// A Telegram bot.
#[derive(Clone, Debug)]
pub struct BotAccount {
    /// Bot API, by default `https://api.telegram.org`.
    pub base: String,
    pub token: Secret<String>,
}

/// An account for text messages with an API like Twilio's.
#[derive(Clone, Debug)]
pub struct TwilioAccount {
    /// API, by default `https://api.twilio.com`.
    pub base: String,
    /// ID of the account.
    pub account: String,
    pub token: Secret<String>,
    /// Sender number of text messages, or the ID of a messaging service (`MG…`).
    pub sms_from: Option<String>,
    /// Sender number of WhatsApp messages.
    pub whatsapp_from: Option<String>,
    /// Template for WhatsApp messages; `None` sends text, which is delivered only if the recipient
    /// wrote within a day.
    pub whatsapp_template: Option<WhatsappTemplate>,
}

/// A template approved by WhatsApp, in one language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhatsappTemplate {
    /// Its ID in the account: `HX…`.
    pub id: String,
    /// Values of its variables `{{1}}`, `{{2}}` and so on.
    pub parameters: Vec<TemplateParameter>,
}

/// Value of a template variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateParameter {
    /// The event and the monitor's name.
    Title,
    /// Everything else except the link.
    Text,
    Reason,
    /// Target of the monitor.
    Target,
    /// Link to the incident.
    Link,
}

impl TemplateParameter {
    /// All variants.
    pub const ALL: &[Self] = &[Self::Title, Self::Text, Self::Reason, Self::Target, Self::Link];

    /// Returns the name used in the settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Text => "text",
            Self::Reason => "reason",
            Self::Target => "target",
            Self::Link => "link",
        }
    }
}

/// Error for a kind of channel without server-side configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "channels of the kind `{kind}` cannot send on this server: set `{}`", setting::variable(.setting)
)]
pub struct Unconfigured {
    pub kind: ProviderType,
    /// The missing setting, as named in docs/reference/settings.
    pub setting: &'static str,
}

impl VendorConfig {
    /// Returns whether WhatsApp messages are sent as text, because no template is configured. They
    /// only reach people who wrote to the sender within the last 24 hours.
    pub fn is_without_template(&self) -> bool {
        let account = self.twilio.as_ref();
        account.is_some_and(|it| it.whatsapp_from.is_some() && it.whatsapp_template.is_none())
    }

    /// Returns the missing setting for messages through the telephone account. `number` selects the
    /// sender.
    pub(super) fn missing_number(
        &self,
        number: fn(&TwilioAccount) -> &Option<String>,
        setting: &'static str,
    ) -> Option<&'static str> {
        match &self.twilio {
            None => Some(setting::TWILIO),
            Some(account) => number(account).is_none().then_some(setting),
        }
    }
}

impl Default for VendorConfig {
    fn default() -> Self {
        Self {
            has_mail: false,
            telegram: None,
            twilio: None,
            pagerduty: "https://events.pagerduty.com".to_owned(),
            opsgenie_us: "https://api.opsgenie.com".to_owned(),
            opsgenie_eu: "https://api.eu.opsgenie.com".to_owned(),
            ntfy: "https://ntfy.sh".to_owned(),
        }
    }
}
