//! Notifications of Uptime Kuma as channels. Their settings are JSON in one column; the names of the
//! settings are those of `server/notification-providers/` of version 2.5.3.

use std::collections::BTreeMap;

use rules::monitor::HeaderDraft;
use rules::notification::{
    ChannelDraft, NtfyDraft, OpsgenieDraft, PagerdutyDraft, TelegramDraft, WebhookDraft,
};
use rules::{ProviderType, Secret};

use crate::assembly::Assembly;
use crate::channel::{self, draft, incoming};
use crate::preview::{Entry, ObjectKind};
use crate::record::Record;

/// Settings that only the form of Uptime Kuma uses.
const OF_THE_FORM: [&str; 9] = [
    "id",
    "name",
    "type",
    "active",
    "userId",
    "user_id",
    "isDefault",
    "is_default",
    "applyExisting",
];

/// Imports a notification.
pub(super) fn import(
    mut record: Record,
    notified: &BTreeMap<String, Vec<String>>,
    assembly: &mut Assembly,
) {
    let id = record.id("id").unwrap_or_default();
    let name = record.text("name").unwrap_or_default();
    let mut entry = Entry::new(ObjectKind::Channel, &name);
    let config = record.text("config").unwrap_or_default();
    let Some(mut config) = serde_json::from_str(&config).ok().and_then(Record::of) else {
        entry.lose("settings that are not a JSON object", "save the notification again");
        return assembly.note(entry);
    };
    if record.flag("active") == Some(false) {
        entry.change("active", false, true, "a channel without monitors gets nothing");
    }
    let kind = config.text("type").unwrap_or_default();
    config.ignore(&OF_THE_FORM);
    let Some(mut drafts) = drafts(&kind, &mut config, &mut entry) else {
        let remedy = "use a `webhook` channel to a program that passes messages on";
        entry.lose(format!("the kind `{kind}`"), remedy);
        return assembly.note(entry);
    };
    for draft in &mut drafts {
        // Several channels of one notification are named by their addresses.
        let address = draft.name.take().map_or_else(String::new, |address| format!(" {address}"));
        draft.name = Some(format!("{name}{address}"));
    }
    for setting in config.names() {
        if is_chosen(&mut config, &setting) {
            entry.lose(format!("the setting `{setting}`"), channel::remedy_of(&setting));
        }
    }
    let monitors = notified.get(&id).cloned().unwrap_or_default();
    assembly.channels(drafts, &monitors, entry);
}

/// Returns whether a setting that nobody read differs from an empty form.
fn is_chosen(config: &mut Record, setting: &str) -> bool {
    config.take(setting).is_some_and(|value| value != serde_json::json!(false))
}

/// Reads the settings of a kind. Returns `None` if there is no such kind of channel.
fn drafts(kind: &str, config: &mut Record, entry: &mut Entry) -> Option<Vec<ChannelDraft>> {
    let one = match kind {
        "slack" => incoming(ProviderType::Slack, config.text("slackwebhookURL")),
        "discord" => incoming(ProviderType::Discord, config.text("discordWebhookUrl")),
        "GoogleChat" => incoming(ProviderType::GoogleChat, config.text("googleChatWebhookURL")),
        "GrafanaOncall" => incoming(ProviderType::GrafanaOncall, config.text("GrafanaOncallURL")),
        "teams" => incoming(ProviderType::MsTeams, config.text("webhookUrl")),
        "PagerDuty" => pagerduty(config),
        "Opsgenie" => opsgenie(config, entry),
        "webhook" => webhook(config, entry),
        "telegram" => telegram(config, entry),
        "ntfy" => ntfy(config, entry),
        "twilio" => sms(config, entry),
        "smtp" => return Some(emails(config, entry)),
        _ => return None,
    };
    Some(vec![one])
}

fn pagerduty(config: &mut Record) -> ChannelDraft {
    let mut draft = draft(ProviderType::Pagerduty);
    config.ignore_default(
        "pagerdutyIntegrationUrl",
        &"https://events.pagerduty.com/v2/enqueue".into(),
    );
    let integration_key = config.text("pagerdutyIntegrationKey").map(Secret::new);
    draft.blocks.pagerduty = Some(PagerdutyDraft { integration_key });
    draft
}

fn opsgenie(config: &mut Record, entry: &mut Entry) -> ChannelDraft {
    let mut draft = draft(ProviderType::Opsgenie);
    let region = config.text("opsgenieRegion").unwrap_or_else(|| "us".to_owned());
    if !["us", "eu"].contains(&region.as_str()) {
        entry.lose(format!("the region `{region}`"), "the regions are us and eu");
    }
    draft.blocks.opsgenie = Some(OpsgenieDraft {
        api_key: config.text("opsgenieApiKey").map(Secret::new),
        region: Some(region),
    });
    draft
}

fn webhook(config: &mut Record, entry: &mut Entry) -> ChannelDraft {
    let mut draft = draft(ProviderType::Webhook);
    let mut block = WebhookDraft { endpoint: config.text("webhookURL"), headers: Vec::new() };
    let headers = config.text("webhookAdditionalHeaders");
    let parsed = headers.as_deref().and_then(|text| serde_json::from_str(text).ok());
    match (headers.is_some(), parsed.and_then(Record::of)) {
        (_, Some(mut headers)) => {
            for key in headers.names() {
                let value = headers.text(&key);
                block.headers.push(HeaderDraft { key: Some(key), value });
            }
        }
        (true, None) => entry.lose("headers that are not a JSON object", "add them by hand"),
        (false, None) => {}
    }
    let method = config.text("httpMethod").unwrap_or_default();
    let content = config.text("webhookContentType").unwrap_or_default();
    let why = "events are signed and documented in docs/reference/webhook.md";
    entry.change("body", format!("{method} {content}").trim(), "POST of Aloft's event", why);
    config.ignore(&["webhookAdditionalHeadersEnabled"]);
    draft.blocks.webhook = Some(block);
    draft
}

fn telegram(config: &mut Record, entry: &mut Entry) -> ChannelDraft {
    let mut draft = draft(ProviderType::Telegram);
    draft.blocks.telegram = Some(TelegramDraft { chat_id: config.text("telegramChatID") });
    config.ignore_default("telegramServerUrl", &"https://api.telegram.org".into());
    if config.take("telegramBotToken").is_some() {
        let why = "a server has one bot; add it to the chat";
        entry.change("telegramBotToken", "a bot of your own", "the bot of the server", why);
    }
    draft
}

fn ntfy(config: &mut Record, entry: &mut Entry) -> ChannelDraft {
    let mut draft = draft(ProviderType::Ntfy);
    let server_url = config.text("ntfyserverurl").filter(|url| url != "https://ntfy.sh");
    let method = config.text("ntfyAuthenticationMethod").unwrap_or_default();
    let token = config.text("ntfyaccesstoken");
    // A setting of the form that was chosen before stays in the database.
    let is_used = ["", "accessToken"].contains(&method.as_str());
    if token.is_some() && !is_used {
        let why = format!("the authentication is `{method}`");
        entry.change("ntfyaccesstoken", "a token that is not sent", "no token", why);
    }
    let token = token.filter(|_| is_used);
    let has_password = config.take("ntfypassword").is_some();
    config.ignore(&["ntfyusername"]);
    if has_password && method == "usernamePassword" {
        let remedy = "create an access token for the user, and set `token`";
        entry.lose("user name and password", remedy);
    }
    draft.blocks.ntfy = Some(NtfyDraft {
        topic: config.text("ntfytopic"),
        server_url,
        token: token.map(Secret::new),
    });
    draft
}

fn sms(config: &mut Record, entry: &mut Entry) -> ChannelDraft {
    config.ignore(&[
        "twilioAuthToken",
        "twilioApiKey",
        "twilioFromNumber",
        "twilioMessagingServiceSID",
    ]);
    if config.take("twilioAccountSID").is_some() {
        let why = "the server's settings have the account for SMS";
        entry.change("twilioAccountSID", "an account of your own", "that of the server", why);
    }
    channel::sms(config.text("twilioToNumber"))
}

/// Returns a channel per address.
fn emails(config: &mut Record, entry: &mut Entry) -> Vec<ChannelDraft> {
    let lists = ["smtpTo", "smtpCC", "smtpBCC"].map(|name| config.text(name).unwrap_or_default());
    let addresses: Vec<String> = lists.iter().flat_map(|list| channel::addresses(list)).collect();
    config.ignore(&[
        "smtpPort",
        "smtpSecure",
        "smtpIgnoreTLSError",
        "smtpIgnoreSTARTTLS",
        "smtpUsername",
        "smtpPassword",
        "smtpFrom",
    ]);
    if let Some(host) = config.text("smtpHost") {
        let why = "the server's settings have the mail server";
        entry.change("smtpHost", host, "that of the server", why);
    }
    if addresses.len() > 1 {
        entry.change(
            "smtpTo",
            lists.join(" "),
            format_args!("{} channels", addresses.len()),
            "a channel has one address",
        );
    }
    channel::emails(addresses)
}
