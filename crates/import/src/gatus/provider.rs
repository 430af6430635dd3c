//! Settings of alert providers as drafts of channels (`alerting/provider/*`).

use rules::monitor::HeaderDraft;
use rules::notification::{
    ChannelDraft, NtfyDraft, OpsgenieDraft, PagerdutyDraft, TelegramDraft, WebhookDraft,
};
use rules::{ProviderType, Secret};

use crate::channel::{addresses, draft, emails, incoming, sms};
use crate::preview::Entry;
use crate::record::Record;

/// Server of ntfy if none is set.
const NTFY_DEFAULT: &str = "https://ntfy.sh";

/// Returns the drafts of a provider, or `None` if there is no such kind of channel.
pub(super) fn drafts(
    kind: &str,
    settings: &mut Record,
    entry: &mut Entry,
) -> Option<Vec<ChannelDraft>> {
    settings.ignore(&["client"]);
    let mut webhook_of = |kind| incoming(kind, settings.text("webhook-url"));
    let one = match kind {
        "slack" => webhook_of(ProviderType::Slack),
        "discord" => webhook_of(ProviderType::Discord),
        "googlechat" => webhook_of(ProviderType::GoogleChat),
        "teams" | "teams-workflows" => webhook_of(ProviderType::MsTeams),
        "pagerduty" => {
            let integration_key = settings.text("integration-key").map(Secret::new);
            let mut draft = draft(ProviderType::Pagerduty);
            draft.blocks.pagerduty = Some(PagerdutyDraft { integration_key });
            draft
        }
        "opsgenie" => {
            let api_key = settings.text("api-key").map(Secret::new);
            let mut draft = draft(ProviderType::Opsgenie);
            draft.blocks.opsgenie = Some(OpsgenieDraft { api_key, region: Some("us".to_owned()) });
            draft
        }
        "telegram" => telegram(settings, entry),
        "ntfy" => {
            let server_url = settings.text("url").filter(|url| url != NTFY_DEFAULT);
            let token = settings.text("token").map(Secret::new);
            let mut draft = draft(ProviderType::Ntfy);
            draft.blocks.ntfy =
                Some(NtfyDraft { topic: settings.text("topic"), server_url, token });
            draft
        }
        "custom" => custom(settings, entry),
        "twilio" => {
            account(settings, &["sid", "token", "from"], entry);
            sms(settings.text("to"))
        }
        "email" | "aws-ses" | "sendgrid" => {
            let own = [
                "from",
                "username",
                "password",
                "host",
                "port",
                "api-key",
                "access-key-id",
                "secret-access-key",
                "region",
            ];
            account(settings, &own, entry);
            return Some(emails(addresses(&settings.text("to").unwrap_or_default())));
        }
        _ => return None,
    };
    Some(vec![one])
}

/// Notes an account of the provider. The server has its own.
fn account(settings: &mut Record, fields: &[&str], entry: &mut Entry) {
    let given: Vec<&str> = fields.iter().copied().filter(|field| settings.has(field)).collect();
    if !given.is_empty() {
        let why = "the server's settings have the account that sends";
        entry.change(&given.join(", "), "an account of your own", "that of the server", why);
    }
    settings.ignore(fields);
}

fn telegram(settings: &mut Record, entry: &mut Entry) -> ChannelDraft {
    let mut draft = draft(ProviderType::Telegram);
    draft.blocks.telegram = Some(TelegramDraft { chat_id: settings.text("id") });
    if settings.take("token").is_some() {
        let why = "a server has one bot; add it to the chat";
        entry.change("token", "a bot of your own", "the bot of the server", why);
    }
    draft
}

/// A provider that sends any request. A webhook gets the event of Aloft instead.
fn custom(settings: &mut Record, entry: &mut Entry) -> ChannelDraft {
    let mut draft = draft(ProviderType::Webhook);
    let headers = settings.pairs("headers").into_iter();
    let headers = headers.map(|(key, value)| HeaderDraft { key: Some(key), value: Some(value) });
    let endpoint = settings.text("url");
    draft.blocks.webhook = Some(WebhookDraft { endpoint, headers: headers.collect() });
    let method = settings.text("method").unwrap_or_else(|| "GET".to_owned());
    settings.ignore(&["body", "placeholders"]);
    let why = "events are signed and documented in docs/reference/webhook.md";
    entry.change(
        "body",
        format_args!("{method} with a body of your own"),
        "POST of Aloft's event",
        why,
    );
    draft
}
