//! Drafts of channels that several importers share.

use rules::notification::{ChannelDraft, EmailDraft, IncomingWebhookDraft, PhoneDraft};
use rules::{ProviderType, Secret};

/// Creates the draft of a kind without settings.
pub(crate) fn draft(kind: ProviderType) -> ChannelDraft {
    ChannelDraft { provider_type: Some(kind.to_string()), ..ChannelDraft::default() }
}

/// Creates the draft of a kind with a webhook of its vendor. Other kinds get no settings.
pub(crate) fn incoming(kind: ProviderType, url: Option<String>) -> ChannelDraft {
    let block = Some(IncomingWebhookDraft { webhook_url: url.map(Secret::new) });
    let mut draft = draft(kind);
    match kind {
        ProviderType::Discord => draft.blocks.discord = block,
        ProviderType::Slack => draft.blocks.slack = block,
        ProviderType::GoogleChat => draft.blocks.google_chat = block,
        ProviderType::GrafanaOncall => draft.blocks.grafana_oncall = block,
        ProviderType::MsTeams => draft.blocks.ms_teams = block,
        ProviderType::Email
        | ProviderType::Pagerduty
        | ProviderType::Opsgenie
        | ProviderType::Webhook
        | ProviderType::Telegram
        | ProviderType::Sms
        | ProviderType::Whatsapp
        | ProviderType::Ntfy => {}
    }
    draft
}

/// Returns what people can do about a setting of a channel without a counterpart.
pub(crate) fn remedy_of(setting: &str) -> &'static str {
    let setting = setting.to_ascii_lowercase();
    let names = |words: &[&str]| words.iter().any(|word| setting.contains(word));
    if names(&["thread", "topic-id", "topicid"]) {
        "messages go to the chat itself; choose a chat for them"
    } else if names(&["serverurl", "api-url", "apiurl"]) {
        "messages go to the vendor's own server; use a `webhook` channel for another one"
    } else {
        "Aloft writes its own messages"
    }
}

/// Creates the draft of an SMS channel.
pub(crate) fn sms(phone_number: Option<String>) -> ChannelDraft {
    let mut draft = draft(ProviderType::Sms);
    draft.blocks.sms = Some(PhoneDraft { phone_number });
    draft
}

/// Creates a channel per address. Several ones are named by their addresses.
pub(crate) fn emails(addresses: Vec<String>) -> Vec<ChannelDraft> {
    let are_several = addresses.len() > 1;
    let draft_of = |address: String| {
        let mut draft = draft(ProviderType::Email);
        draft.name = are_several.then(|| address.clone());
        draft.blocks.email = Some(EmailDraft { email: Some(address) });
        draft
    };
    addresses.into_iter().map(draft_of).collect()
}

/// Returns the addresses of a list such as `Ada <ada@example.com>, ops@example.com`.
pub(crate) fn addresses(list: &str) -> Vec<String> {
    let parts = list.split([',', ';']).map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| match part.rsplit_once('<') {
            Some((_, address)) => address.trim_end_matches('>').trim().to_owned(),
            None => part.to_owned(),
        })
        .collect()
}
