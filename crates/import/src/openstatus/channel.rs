//! Notifications of OpenStatus. It has the same thirteen kinds of channels.

use rules::monitor::HeaderDraft;
use rules::notification::{
    ChannelDraft, NtfyDraft, OpsgenieDraft, PagerdutyDraft, PhoneDraft, TelegramDraft, WebhookDraft,
};
use rules::{ProviderType, Secret};

use super::word;
use crate::assembly::Assembly;
use crate::channel::{draft, emails, incoming, sms};
use crate::preview::{Entry, ObjectKind};
use crate::record::Record;

/// Fields of the settings by their kind.
const KINDS: [(&str, ProviderType); 13] = [
    ("discord", ProviderType::Discord),
    ("email", ProviderType::Email),
    ("slack", ProviderType::Slack),
    ("pagerduty", ProviderType::Pagerduty),
    ("opsgenie", ProviderType::Opsgenie),
    ("webhook", ProviderType::Webhook),
    ("telegram", ProviderType::Telegram),
    ("sms", ProviderType::Sms),
    ("whatsapp", ProviderType::Whatsapp),
    ("googleChat", ProviderType::GoogleChat),
    ("grafanaOncall", ProviderType::GrafanaOncall),
    ("ntfy", ProviderType::Ntfy),
    ("msTeams", ProviderType::MsTeams),
];

/// Imports a notification with its settings.
pub(super) fn import(mut record: Record, assembly: &mut Assembly) {
    let name = record.text("name").unwrap_or_default();
    let mut entry = Entry::new(ObjectKind::Channel, &name);
    let mut data = record.record("data").unwrap_or_default();
    let known = KINDS.iter().find(|(field, _)| data.has(field));
    let Some((field, kind)) = known else {
        let provider = record.text("provider").unwrap_or_default();
        entry.lose(format!("the provider `{provider}` without settings"), "save its answer again");
        return assembly.note(entry);
    };
    let mut settings = data.record(field).unwrap_or_default();
    let mut drafts = drafts(*kind, &mut settings);
    for draft in &mut drafts {
        draft.name = Some(name.clone());
    }
    if *kind == ProviderType::Webhook {
        let why = "events are signed and documented in docs/reference/webhook.md";
        entry.change("body", "events of OpenStatus", "events of Aloft", why);
    }
    entry.close(settings);
    let monitors = record.texts("monitorIds");
    record.ignore(&["id", "provider", "createdAt", "updatedAt"]);
    entry.close(record);
    assembly.channels(drafts, &monitors, entry);
}

fn drafts(kind: ProviderType, settings: &mut Record) -> Vec<ChannelDraft> {
    let mut one = draft(kind);
    match kind {
        ProviderType::Discord
        | ProviderType::Slack
        | ProviderType::GoogleChat
        | ProviderType::GrafanaOncall
        | ProviderType::MsTeams => one = incoming(kind, settings.text("webhookUrl")),
        ProviderType::Email => return emails(settings.text("email").into_iter().collect()),
        ProviderType::Pagerduty => {
            let integration_key = settings.text("integrationKey").map(Secret::new);
            one.blocks.pagerduty = Some(PagerdutyDraft { integration_key });
        }
        ProviderType::Opsgenie => {
            let api_key = settings.text("apiKey").map(Secret::new);
            let region = settings.text("region").map(|region| word(&region, "OPSGENIE_REGION_"));
            one.blocks.opsgenie = Some(OpsgenieDraft { api_key, region });
        }
        ProviderType::Webhook => {
            let headers = settings.records("headers").into_iter();
            let headers = headers.map(|mut header| HeaderDraft {
                key: header.text("key"),
                value: Some(header.text("value").unwrap_or_default()),
            });
            let headers = headers.collect();
            one.blocks.webhook =
                Some(WebhookDraft { endpoint: settings.text("endpoint"), headers });
        }
        ProviderType::Telegram => {
            one.blocks.telegram = Some(TelegramDraft { chat_id: settings.text("chatId") });
        }
        ProviderType::Sms => one = sms(settings.text("phoneNumber")),
        ProviderType::Whatsapp => {
            one.blocks.whatsapp = Some(PhoneDraft { phone_number: settings.text("phoneNumber") });
        }
        ProviderType::Ntfy => {
            one.blocks.ntfy = Some(NtfyDraft {
                topic: settings.text("topic"),
                server_url: settings.text("serverUrl"),
                token: settings.text("token").map(Secret::new),
            });
        }
    }
    vec![one]
}
