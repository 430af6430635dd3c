//! What belongs to the server and not to a channel: accounts that messages are sent through, and
//! addresses of the vendors.

use rules::{ProviderType, Secret};

/// Settings that channels take, as the configuration file names them.
pub mod setting {
    /// The server for emails.
    pub const SMTP: &str = "smtp_url";
    /// Where people reach the server.
    pub const PUBLIC_URL: &str = "public_url";
    /// Token of the bot.
    pub const TELEGRAM: &str = "telegram_token";
    /// The account for text messages.
    pub const TELEPHONE: &str = "telephone_account";
    /// Number that text messages come from.
    pub const SMS_FROM: &str = "sms_from";
    /// Sender number of WhatsApp messages.
    pub const WHATSAPP_FROM: &str = "whatsapp_from";
    /// Approved template that opens a conversation in WhatsApp.
    pub const WHATSAPP_TEMPLATE: &str = "whatsapp_template";
    /// What its variables are.
    pub const WHATSAPP_PARAMETERS: &str = "whatsapp_parameters";

    /// The variable of the environment that a setting of this name is taken from: the one place where each
    /// of them can be set, also those that are secrets.
    pub fn variable(name: &str) -> String {
        format!("ALOFT_{}", name.to_uppercase())
    }
}

/// The server's side of all kinds of channels. Base addresses end without a slash.
#[derive(Clone, Debug)]
pub struct Servers {
    /// Whether emails can be sent; the account itself is the sender's.
    pub has_mail: bool,
    /// The bot that speaks in Telegram.
    pub telegram: Option<BotAccount>,
    /// The account that text messages go through.
    pub telephone: Option<TelephoneAccount>,
    /// PagerDuty's Events API, by default `https://events.pagerduty.com`.
    pub pagerduty: String,
    /// Opsgenie in the United States, by default `https://api.opsgenie.com`.
    pub opsgenie_us: String,
    /// Opsgenie in the European Union, by default `https://api.eu.opsgenie.com`.
    pub opsgenie_eu: String,
    /// The ntfy server of channels that name none, by default `https://ntfy.sh`.
    pub ntfy: String,
}

/// A bot of Telegram.
#[derive(Clone, Debug)]
pub struct BotAccount {
    /// Bot API, by default `https://api.telegram.org`.
    pub base: String,
    /// The bot's token.
    pub token: Secret<String>,
}

/// An account for text messages with an API like Twilio's.
#[derive(Clone, Debug)]
pub struct TelephoneAccount {
    /// The API, by default `https://api.twilio.com`.
    pub base: String,
    /// Identifier of the account.
    pub account: String,
    /// Its token.
    pub token: Secret<String>,
    /// Number that text messages come from, or the id of a messaging service (`MG…`); `None` where it sends none.
    pub sms_from: Option<String>,
    /// Number that WhatsApp messages come from; `None` where it sends none.
    pub whatsapp_from: Option<String>,
    /// What WhatsApp messages are written in; `None` sends text, which is delivered only where the person
    /// wrote within a day.
    pub whatsapp_template: Option<WhatsappTemplate>,
}

/// A template that WhatsApp approved, in one language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhatsappTemplate {
    /// Its id at the account: `HX…`.
    pub id: String,
    /// What its variables `{{1}}`, `{{2}}` and so on are.
    pub parameters: Vec<TemplateParameter>,
}

/// What a variable of a template is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateParameter {
    /// What happened and to what.
    Title,
    /// All the rest but the link.
    Text,
    /// Why.
    Reason,
    /// What is checked.
    Target,
    /// Where to read on.
    Link,
}

impl TemplateParameter {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Title, Self::Text, Self::Reason, Self::Target, Self::Link];

    /// Its name in the settings.
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

/// A kind of channel whose server side is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "channels of the kind `{kind}` cannot send on this server: set `{}`", setting::variable(.setting)
)]
pub struct Unconfigured {
    /// The kind.
    pub kind: ProviderType,
    /// The setting that it takes, as docs/reference/settings names it.
    pub setting: &'static str,
}

/// The setting with the account of this server that channels of this kind send through; `None` where a
/// channel has what it takes itself.
pub const fn account(kind: ProviderType) -> Option<&'static str> {
    match kind {
        ProviderType::Email => Some(setting::SMTP),
        ProviderType::Telegram => Some(setting::TELEGRAM),
        ProviderType::Sms | ProviderType::Whatsapp => Some(setting::TELEPHONE),
        ProviderType::Discord
        | ProviderType::Slack
        | ProviderType::Pagerduty
        | ProviderType::Opsgenie
        | ProviderType::Webhook
        | ProviderType::GoogleChat
        | ProviderType::GrafanaOncall
        | ProviderType::Ntfy => None,
    }
}

impl Servers {
    /// Whether WhatsApp messages are sent as text, for want of a template: they reach only people who wrote
    /// to the sender within the last 24 hours.
    pub fn is_without_template(&self) -> bool {
        let account = self.telephone.as_ref();
        account.is_some_and(|it| it.whatsapp_from.is_some() && it.whatsapp_template.is_none())
    }

    /// What a channel of this kind lacks on this server, as [`super::compose`] would refuse it;
    /// `None` where it can send.
    pub fn lacking(&self, kind: ProviderType) -> Option<Unconfigured> {
        let missing = |setting| Some(Unconfigured { kind, setting });
        let telephone = self.telephone.as_ref();
        let number = |of: fn(&TelephoneAccount) -> &Option<String>, setting| match telephone {
            None => missing(setting::TELEPHONE),
            Some(account) if of(account).is_none() => missing(setting),
            Some(_) => None,
        };
        match kind {
            ProviderType::Email if !self.has_mail => missing(setting::SMTP),
            ProviderType::Telegram if self.telegram.is_none() => missing(setting::TELEGRAM),
            ProviderType::Sms => number(|account| &account.sms_from, setting::SMS_FROM),
            ProviderType::Whatsapp => {
                number(|account| &account.whatsapp_from, setting::WHATSAPP_FROM)
            }
            ProviderType::Email
            | ProviderType::Telegram
            | ProviderType::Discord
            | ProviderType::Slack
            | ProviderType::Pagerduty
            | ProviderType::Opsgenie
            | ProviderType::Webhook
            | ProviderType::GoogleChat
            | ProviderType::GrafanaOncall
            | ProviderType::Ntfy => None,
        }
    }
}

impl Default for Servers {
    fn default() -> Self {
        Self {
            has_mail: false,
            telegram: None,
            telephone: None,
            pagerduty: "https://events.pagerduty.com".to_owned(),
            opsgenie_us: "https://api.opsgenie.com".to_owned(),
            opsgenie_eu: "https://api.eu.opsgenie.com".to_owned(),
            ntfy: "https://ntfy.sh".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::tests::{CHANNEL, a_channel, an_event, servers};
    use crate::notify::{Envelope, EventKind, Notice, compose};

    #[test]
    fn what_a_kind_lacks_is_what_composing_is_refused_with() {
        let full = servers();
        let without = |change: fn(&mut TelephoneAccount)| {
            let mut servers = full.clone();
            change(servers.telephone.as_mut().unwrap());
            servers
        };
        let all = [
            Servers::default(),
            without(|account| account.sms_from = None),
            without(|account| account.whatsapp_from = None),
            full.clone(),
        ];
        let event = an_event(EventKind::Error);
        for servers in all {
            for &kind in ProviderType::ALL {
                let envelope = Envelope {
                    channel: CHANNEL,
                    key: "key",
                    thread: "thread",
                    now: event.at,
                    signing: &[],
                    link: None,
                };
                let composed =
                    compose(&a_channel(kind), None, &servers, Notice::One(&event), &envelope);
                assert_eq!(composed.err(), servers.lacking(kind), "{kind}");
            }
        }
        assert_eq!(
            Servers::default().lacking(ProviderType::Sms).unwrap().to_string(),
            "channels of the kind `sms` cannot send on this server: set `ALOFT_TELEPHONE_ACCOUNT`"
        );
    }
}
