//! Alert contacts of UptimeRobot as channels.

use rules::ProviderType;
use rules::notification::{ChannelDraft, WebhookDraft};

use super::Links;
use crate::assembly::Assembly;
use crate::channel::{draft, emails, incoming, sms};
use crate::preview::{Entry, ObjectKind};
use crate::record::Record;

/// Hosts of webhooks, by the vendor that they belong to. A dot stands for all hosts of a domain.
const VENDORS: [(&str, ProviderType); 5] = [
    ("hooks.slack.com", ProviderType::Slack),
    ("discord.com", ProviderType::Discord),
    ("discordapp.com", ProviderType::Discord),
    ("chat.googleapis.com", ProviderType::GoogleChat),
    (".webhook.office.com", ProviderType::MsTeams),
];

/// Imports an alert contact.
pub(super) fn import(mut record: Record, links: &Links, assembly: &mut Assembly) {
    let id = record.id("id").unwrap_or_default();
    let value = record.text("value").unwrap_or_default();
    let kind = record.integer("type").unwrap_or(0);
    // The value may be a webhook with its secret, so it names nothing.
    let name = record.text("friendly_name").filter(|name| *name != value);
    let name = name.unwrap_or_else(|| name_of(kind).to_owned());
    let mut entry = Entry::new(ObjectKind::Channel, &name);
    let Some(mut drafts) = drafts(kind, value, &mut entry) else {
        let remedy = "use a `webhook` channel to a program that passes messages on";
        entry.lose(format!("alert contacts of the type {kind}"), remedy);
        return assembly.note(entry);
    };
    for draft in &mut drafts {
        draft.name = Some(name.clone());
    }
    if record.integer("status").is_some_and(|status| status != 2) {
        entry.change(
            "status",
            "paused or not activated",
            "active",
            "remove its monitors to pause it",
        );
    }
    let monitors = links.notified.iter().filter(|(contact, _)| *contact == id);
    let monitors: Vec<String> = monitors.map(|(_, monitor)| monitor.clone()).collect();
    record.ignore(&["status"]);
    entry.close(record);
    assembly.channels(drafts, &monitors, entry);
}

/// Returns the name of a contact without one.
const fn name_of(kind: i64) -> &'static str {
    match kind {
        1 | 8 => "SMS",
        2 => "Email",
        5 => "Webhook",
        11 => "Slack",
        21 => "Google Chat",
        _ => "Alert contact",
    }
}

/// Returns the channel of a contact. Webhooks of vendors are known by their address.
fn drafts(kind: i64, value: String, entry: &mut Entry) -> Option<Vec<ChannelDraft>> {
    let host = url::Url::parse(&value).ok().and_then(|url| url.host_str().map(str::to_owned));
    let vendor = VENDORS.iter().find(|(vendor, _)| {
        let is_below = |host: &str| vendor.starts_with('.') && host.ends_with(vendor);
        host.as_deref().is_some_and(|host| host == *vendor || is_below(host))
    });
    if let Some((_, vendor)) = vendor {
        return Some(vec![incoming(*vendor, Some(value))]);
    }
    match kind {
        1 | 8 => Some(vec![sms(Some(value))]),
        2 => Some(emails(vec![value])),
        5 => {
            let mut draft = draft(ProviderType::Webhook);
            let endpoint = Some(value);
            draft.blocks.webhook = Some(WebhookDraft { endpoint, headers: Vec::new() });
            let why = "events are signed and documented in docs/reference/webhook.md";
            entry.change("body", "parameters of UptimeRobot", "POST of Aloft's event", why);
            Some(vec![draft])
        }
        11 => Some(vec![incoming(ProviderType::Slack, Some(value))]),
        21 => Some(vec![incoming(ProviderType::GoogleChat, Some(value))]),
        _ => None,
    }
}
