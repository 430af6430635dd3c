//! Composes the message of an event by calling the file of the channel's kind.

use rules::ProviderType;
use rules::notification::Provider;

use super::alert_text::AlertText;
use super::event::EventBatch;
use super::message::{Envelope, HttpMessage, Message};
use super::phone::{self, PhoneTransport};
use super::vendors::{Unconfigured, VendorConfig, setting};
use super::{
    discord, email, google_chat, grafana_oncall, ntfy, opsgenie, pagerduty, slack, telegram,
    webhook,
};

/// Composes the message of `notice` for the channel named `channel_name`. It respects every limit
/// that the vendor documents, for any names, addresses and reasons.
///
/// A digest for kinds that [`is_stateful`] would open an alert that nothing closes, but the policy
/// never creates one for them.
pub fn compose(
    provider: &Provider,
    channel_name: Option<&str>,
    servers: &VendorConfig,
    notice: EventBatch<'_>,
    envelope: &Envelope<'_>,
) -> Result<Message, Unconfigured> {
    let story = &AlertText::new(channel_name, notice, envelope);
    let message = match provider {
        Provider::Discord(hook) => discord::compose(hook, story),
        Provider::Email(_) if !servers.has_mail => {
            return Err(Unconfigured { kind: ProviderType::Email, setting: setting::SMTP });
        }
        Provider::Email(mailbox) => {
            return Ok(Message::Mail(email::compose(mailbox, story, envelope)));
        }
        Provider::Slack(hook) => slack::compose(hook, story),
        Provider::Pagerduty(service) => pagerduty::compose(service, servers, story, envelope),
        Provider::Opsgenie(team) => opsgenie::compose(team, servers, story, envelope),
        Provider::Webhook(endpoint) => webhook::compose(endpoint, notice, envelope),
        Provider::Telegram(chat) => {
            let missing = Unconfigured { kind: ProviderType::Telegram, setting: setting::TELEGRAM };
            telegram::compose(chat, servers.telegram.as_ref().ok_or(missing)?, story)
        }
        Provider::Sms(phone) => {
            phone::compose(PhoneTransport::Sms, phone, servers.twilio.as_ref(), story)?
        }
        Provider::Whatsapp(phone) => {
            phone::compose(PhoneTransport::Whatsapp, phone, servers.twilio.as_ref(), story)?
        }
        Provider::GoogleChat(hook) => google_chat::compose(hook, story, envelope),
        Provider::GrafanaOncall(hook) => grafana_oncall::compose(hook, story, envelope),
        Provider::Ntfy(topic) => ntfy::compose(topic, &servers.ntfy, story),
    };
    Ok(Message::Http(HttpMessage { secret: provider.secret().cloned(), ..message }))
}

/// Returns whether channels of this kind keep an alert open until it is closed. They group alerts
/// themselves and get no digests. A test alert there is closed by a second message: the same event
/// with [`super::Event::closed`] set.
pub const fn is_stateful(kind: ProviderType) -> bool {
    match kind {
        ProviderType::Pagerduty | ProviderType::Opsgenie | ProviderType::GrafanaOncall => true,
        ProviderType::Discord
        | ProviderType::Email
        | ProviderType::Slack
        | ProviderType::Webhook
        | ProviderType::Telegram
        | ProviderType::Sms
        | ProviderType::Whatsapp
        | ProviderType::GoogleChat
        | ProviderType::Ntfy => false,
    }
}
