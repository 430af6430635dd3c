//! Validates a draft by every rule of §2.4 in the table.

use super::{
    ChannelDraft, ChannelSettings, Email, EmailDraft, HookDraft, IncomingWebhook,
    NotificationPreferences, Ntfy, NtfyDraft, Opsgenie, OpsgenieDraft, Pagerduty, PagerdutyDraft,
    Phone, PhoneDraft, Provider, Telegram, TelegramDraft, Webhook, WebhookDraft, WebhookHeader,
};
use crate::monitor::{header, one_host};
use crate::{MonitorId, ProviderType, Secret, Validator, Violations, limits, tables};

/// The field with monitors.
pub const MONITORS: &str = "monitor_ids";
/// Allowed values of that field; the store checks whether a monitor exists.
pub const MONITORS_ALLOWED: &str = "may only name monitors of this workspace";

impl ChannelDraft {
    /// Validates the draft; returns all violations. Does not check whether its monitors exist.
    pub fn parse(mut self) -> Result<ChannelSettings, Violations> {
        let preferences = std::mem::take(&mut self.preferences).parse();
        let mut reader = Validator::new(&tables::NOTIFICATION);
        let settings = settings(&mut reader, self);
        match (reader.finish(settings), preferences) {
            (Ok(settings), Ok(preferences)) => Ok(ChannelSettings { preferences, ..settings }),
            (Ok(_), Err(wrong)) | (Err(wrong), Ok(_)) => Err(wrong),
            (Err(first), Err(second)) => {
                let all = first.0.into_iter().chain(second.0);
                Err(Violations(all.take(limits::VIOLATIONS_MAX).collect()))
            }
        }
    }

    /// Returns whether a block of this name was given.
    fn has(&self, block: &str) -> bool {
        match ProviderType::parse(block) {
            Ok(ProviderType::Discord) => self.discord.is_some(),
            Ok(ProviderType::Email) => self.email.is_some(),
            Ok(ProviderType::Slack) => self.slack.is_some(),
            Ok(ProviderType::Pagerduty) => self.pagerduty.is_some(),
            Ok(ProviderType::Opsgenie) => self.opsgenie.is_some(),
            Ok(ProviderType::Webhook) => self.webhook.is_some(),
            Ok(ProviderType::Telegram) => self.telegram.is_some(),
            Ok(ProviderType::Sms) => self.sms.is_some(),
            Ok(ProviderType::Whatsapp) => self.whatsapp.is_some(),
            Ok(ProviderType::GoogleChat) => self.google_chat.is_some(),
            Ok(ProviderType::GrafanaOncall) => self.grafana_oncall.is_some(),
            Ok(ProviderType::Ntfy) => self.ntfy.is_some(),
            Err(_) => false,
        }
    }
}

fn settings(reader: &mut Validator, draft: ChannelDraft) -> Option<ChannelSettings> {
    let kind: Option<ProviderType> = reader.word("provider_type", draft.provider_type.clone());
    reader.check_rules(|_| kind.map(ProviderType::as_str), |block| draft.has(block));
    let name = reader.text("name", draft.name.clone());
    let monitor_ids = monitors(reader, draft.monitor_ids.clone());
    let provider = provider(reader, kind, draft);
    Some(ChannelSettings {
        name,
        monitor_ids,
        provider: provider?,
        preferences: NotificationPreferences::default(),
    })
}

/// Parses monitor IDs. Rejects IDs that do not parse.
fn monitors(reader: &mut Validator, given: Vec<String>) -> Vec<MonitorId> {
    let given = reader.id_set(MONITORS, given);
    let mut monitors = Vec::with_capacity(given.len());
    for id in given {
        match MonitorId::parse(&id) {
            Ok(id) => monitors.push(id),
            Err(_) => monitors.extend(reader.refuse::<MonitorId>(MONITORS, id, MONITORS_ALLOWED)),
        }
    }
    monitors
}

/// Validates every given block, to report all violations at once, and returns the one that the kind
/// names.
fn provider(
    reader: &mut Validator,
    kind: Option<ProviderType>,
    draft: ChannelDraft,
) -> Option<Provider> {
    let discord = reader.block_of("discord", draft.discord, hook);
    let email = reader.block_of("email", draft.email, email);
    let slack = reader.block_of("slack", draft.slack, hook);
    let pagerduty = reader.block_of("pagerduty", draft.pagerduty, pagerduty);
    let opsgenie = reader.block_of("opsgenie", draft.opsgenie, opsgenie);
    let webhook = reader.block_of("webhook", draft.webhook, webhook);
    let telegram = reader.block_of("telegram", draft.telegram, telegram);
    let sms = reader.block_of("sms", draft.sms, phone);
    let whatsapp = reader.block_of("whatsapp", draft.whatsapp, phone);
    let google_chat = reader.block_of("google_chat", draft.google_chat, hook);
    let grafana_oncall = reader.block_of("grafana_oncall", draft.grafana_oncall, hook);
    let ntfy = reader.block_of("ntfy", draft.ntfy, ntfy);
    match kind? {
        ProviderType::Discord => discord.map(Provider::Discord),
        ProviderType::Email => email.map(Provider::Email),
        ProviderType::Slack => slack.map(Provider::Slack),
        ProviderType::Pagerduty => pagerduty.map(Provider::Pagerduty),
        ProviderType::Opsgenie => opsgenie.map(Provider::Opsgenie),
        ProviderType::Webhook => webhook.map(Provider::Webhook),
        ProviderType::Telegram => telegram.map(Provider::Telegram),
        ProviderType::Sms => sms.map(Provider::Sms),
        ProviderType::Whatsapp => whatsapp.map(Provider::Whatsapp),
        ProviderType::GoogleChat => google_chat.map(Provider::GoogleChat),
        ProviderType::GrafanaOncall => grafana_oncall.map(Provider::GrafanaOncall),
        ProviderType::Ntfy => ntfy.map(Provider::Ntfy),
    }
}

fn hook(reader: &mut Validator, draft: HookDraft) -> Option<IncomingWebhook> {
    Some(IncomingWebhook { webhook_url: reader.secret("webhook_url", draft.webhook_url)? })
}

fn email(reader: &mut Validator, draft: EmailDraft) -> Option<Email> {
    Some(Email { email: reader.text("email", draft.email)? })
}

fn pagerduty(reader: &mut Validator, draft: PagerdutyDraft) -> Option<Pagerduty> {
    let integration_key = reader.secret("integration_key", draft.integration_key)?;
    Some(Pagerduty { integration_key })
}

fn opsgenie(reader: &mut Validator, draft: OpsgenieDraft) -> Option<Opsgenie> {
    let api_key = reader.secret("api_key", draft.api_key);
    let region = reader.word("region", draft.region);
    Some(Opsgenie { api_key: api_key?, region: region? })
}

fn webhook(reader: &mut Validator, draft: WebhookDraft) -> Option<Webhook> {
    let endpoint = reader.text("endpoint", draft.endpoint);
    let headers = reader.blocks("headers", draft.headers, header);
    one_host(reader, &headers);
    let headers = headers.into_iter();
    let headers = headers
        .map(|header| WebhookHeader { key: header.key, value: Secret::new(header.value) })
        .collect();
    Some(Webhook { endpoint: endpoint?, headers })
}

fn telegram(reader: &mut Validator, draft: TelegramDraft) -> Option<Telegram> {
    Some(Telegram { chat_id: reader.text("chat_id", draft.chat_id)? })
}

fn phone(reader: &mut Validator, draft: PhoneDraft) -> Option<Phone> {
    Some(Phone { phone_number: reader.text("phone_number", draft.phone_number)? })
}

fn ntfy(reader: &mut Validator, draft: NtfyDraft) -> Option<Ntfy> {
    let topic = reader.text("topic", draft.topic);
    let server_url = reader.text("server_url", draft.server_url);
    let token = reader.secret("token", draft.token);
    Some(Ntfy { topic: topic?, server_url, token })
}
