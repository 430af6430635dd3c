//! From what happened to what goes over the wire: asks the file of the channel's kind.

use rules::ProviderType;
use rules::notification::Provider;

use super::event::Notice;
use super::message::{Envelope, Message};
use super::servers::{Servers, Unconfigured, setting};
use super::story::Story;
use super::telephone::{self, Way};
use super::{
    discord, email, google_chat, grafana_oncall, ntfy, opsgenie, pagerduty, slack, telegram,
    webhook,
};

/// The message that tells `notice` on the channel called `channel_name`. It keeps to every limit
/// that the vendor documents, whatever is in names, addresses and reasons.
///
/// A storm is told by kinds that [`keeps_alerts`] too, as an alert of its own that nothing closes:
/// policy never makes one for them.
pub fn compose(
    provider: &Provider,
    channel_name: Option<&str>,
    servers: &Servers,
    notice: Notice<'_>,
    envelope: &Envelope<'_>,
) -> Result<Message, Unconfigured> {
    let story = &Story::of(channel_name, notice, envelope);
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
            telephone::compose(Way::Sms, phone, servers.telephone.as_ref(), story)?
        }
        Provider::Whatsapp(phone) => {
            telephone::compose(Way::Whatsapp, phone, servers.telephone.as_ref(), story)?
        }
        Provider::GoogleChat(hook) => google_chat::compose(hook, story, envelope),
        Provider::GrafanaOncall(hook) => grafana_oncall::compose(hook, story, envelope),
        Provider::Ntfy(topic) => ntfy::compose(topic, &servers.ntfy, story),
    };
    Ok(Message::Http(message))
}

/// Whether channels of this kind keep an alert until they are told that it is over. They group by
/// themselves and get no storms; and what a test opened there is closed by a second message: the
/// same event with [`super::Event::closed`] set.
pub const fn keeps_alerts(kind: ProviderType) -> bool {
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
