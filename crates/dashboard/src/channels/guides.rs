//! Guides to the kinds of channels: what each does, and where its vendor shows the webhook, key or
//! address.

use rules::ProviderType;

/// Guide to a kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guide {
    pub(crate) kind: ProviderType,
    pub(crate) label: &'static str,
    /// One sentence.
    pub(crate) about: &'static str,
    pub(crate) steps: &'static [&'static str],
    /// Documentation of the vendor, or ours.
    pub(crate) link: &'static str,
    pub(crate) link_text: &'static str,
}

impl Guide {
    /// Returns the letter that stands for the vendor in lists.
    pub(crate) fn initial(&self) -> &'static str {
        self.label.get(..1).unwrap_or_default()
    }

    /// Returns whether the link leads to another site.
    pub(crate) fn is_foreign(&self) -> bool {
        self.link.starts_with("https:")
    }
}

/// Returns the guides of all kinds: those that need no vendor first, then by name.
pub(crate) fn guides() -> Vec<Guide> {
    let mut all: Vec<Guide> = ProviderType::ALL.iter().map(|kind| guide(*kind)).collect();
    all.sort_by_key(|it| {
        let needs_vendor = !matches!(it.kind, ProviderType::Webhook | ProviderType::Email);
        (needs_vendor, it.label.to_lowercase())
    });
    all
}

/// Returns the guide of a kind.
pub(crate) const fn guide(kind: ProviderType) -> Guide {
    let (label, about, steps, link, link_text) = match kind {
        ProviderType::Webhook => WEBHOOK,
        ProviderType::Email => EMAIL,
        ProviderType::Slack => SLACK,
        ProviderType::Discord => DISCORD,
        ProviderType::MsTeams => MS_TEAMS,
        ProviderType::GoogleChat => GOOGLE_CHAT,
        ProviderType::Telegram => TELEGRAM,
        ProviderType::Pagerduty => PAGERDUTY,
        ProviderType::Opsgenie => OPSGENIE,
        ProviderType::GrafanaOncall => GRAFANA_ONCALL,
        ProviderType::Ntfy => NTFY,
        ProviderType::Sms => SMS,
        ProviderType::Whatsapp => WHATSAPP,
    };
    Guide { kind, label, about, steps, link, link_text }
}

/// Label, sentence, steps, link and its text.
type GuideText = (&'static str, &'static str, &'static [&'static str], &'static str, &'static str);

const WEBHOOK: GuideText = (
    "Webhook",
    "Posts signed JSON to an HTTP endpoint of your own.",
    &[
        "Provide an endpoint that answers a POST with a status from 200 to 299.",
        "Verify the signature of each request with the signing secret of this workspace. The \
         headers are those of Standard Webhooks.",
        "Add headers of your own here if the endpoint needs a token.",
    ],
    "/docs/reference/webhook",
    "Format and signature of webhooks",
);

const EMAIL: GuideText = (
    "Email",
    "Sends an email, and each incident as one thread.",
    &[
        "Enter the address of a person or a mailing list.",
        "The operator of this server sets the mail server (ALOFT_SMTP_URL).",
    ],
    "/docs/guides/run-it-for-real",
    "Settings of the server",
);

const SLACK: GuideText = (
    "Slack",
    "Posts to a Slack channel, through an incoming webhook.",
    &[
        "Open api.slack.com/apps, create an app from scratch and choose your workspace.",
        "Under Incoming Webhooks, switch on Activate Incoming Webhooks.",
        "Press Add New Webhook to Workspace, choose the channel and allow it.",
        "Copy the webhook URL. It begins with https://hooks.slack.com/services/.",
    ],
    "https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks",
    "Incoming webhooks in Slack's documentation",
);

const DISCORD: GuideText = (
    "Discord",
    "Posts to a Discord channel, through a webhook.",
    &[
        "In Discord, open Server Settings, Integrations, Webhooks.",
        "Press New Webhook and choose the channel.",
        "Press Copy Webhook URL. It begins with https://discord.com/api/webhooks/.",
    ],
    "https://support.discord.com/hc/en-us/articles/228383668-Intro-to-Webhooks",
    "Webhooks in Discord's help",
);

const MS_TEAMS: GuideText = (
    "Microsoft Teams",
    "Posts a card to a Teams channel or chat, through a workflow.",
    &[
        "In Teams, open Apps, Workflows, and create a flow.",
        "Choose the trigger When a Teams webhook request is received, and let anyone trigger it.",
        "Add the action Post card in a chat or channel, and choose where.",
        "Save the flow, open its trigger and copy the URL.",
    ],
    "https://learn.microsoft.com/en-us/connectors/teams/#microsoft-teams-webhook",
    "Webhooks in Microsoft's documentation",
);

const GOOGLE_CHAT: GuideText = (
    "Google Chat",
    "Posts to a Google Chat space, with a thread for each incident.",
    &[
        "Open the space in a browser, press its name and choose Apps & integrations.",
        "Press Add webhooks, enter a name and save.",
        "Copy the link of the webhook. It begins with https://chat.googleapis.com/v1/spaces/.",
    ],
    "https://developers.google.com/workspace/chat/quickstart/webhooks",
    "Webhooks in Google's documentation",
);

const TELEGRAM: GuideText = (
    "Telegram",
    "Sends a message from this server's bot to a chat, group or channel.",
    &[
        "The operator of this server sets the token of its bot (ALOFT_TELEGRAM_TOKEN).",
        "Write to the bot, or add it to the group. In a channel, make it an administrator.",
        "Enter the @name of a public group or channel. All other chats have a number, which is \
         negative for groups: the bot's method getUpdates shows it as chat.id.",
    ],
    "https://core.telegram.org/bots/api#getupdates",
    "getUpdates in Telegram's documentation",
);

const PAGERDUTY: GuideText = (
    "PagerDuty",
    "Triggers and resolves alerts of a PagerDuty service.",
    &[
        "In PagerDuty, open the service and its Integrations tab.",
        "Add an integration and choose Events API V2.",
        "Copy the integration key of that integration.",
    ],
    "https://support.pagerduty.com/docs/services-and-integrations",
    "Services and integrations in PagerDuty's documentation",
);

const OPSGENIE: GuideText = (
    "Opsgenie",
    "Creates and closes alerts of an Opsgenie team.",
    &[
        "In Opsgenie, open Teams, your team, Integrations.",
        "Add an integration of the type API that may create and update alerts.",
        "Copy its API key. Keys from Settings, API key management, cannot create alerts.",
        "Choose the region eu if your address is app.eu.opsgenie.com, otherwise us.",
    ],
    "https://support.atlassian.com/opsgenie/docs/api-key-management",
    "API keys in Opsgenie's documentation",
);

const GRAFANA_ONCALL: GuideText = (
    "Grafana OnCall",
    "Opens and resolves alert groups of a Grafana OnCall integration.",
    &[
        "In Grafana OnCall or Grafana IRM, open Integrations and press New integration.",
        "Choose Formatted Webhook, enter a name and create it.",
        "Copy the URL of its HTTP endpoint.",
    ],
    "https://grafana.com/docs/oncall/latest/configure/integrations/references/webhook/",
    "Inbound webhooks in Grafana's documentation",
);

const NTFY: GuideText = (
    "ntfy",
    "Publishes to a topic of ntfy.sh, or of an ntfy server of your own.",
    &[
        "Choose a topic that nobody can guess: who knows its name can read it.",
        "Subscribe to the topic in the ntfy app.",
        "If the topic is protected, create an access token in your account. It begins with tk_.",
    ],
    "https://docs.ntfy.sh/publish/",
    "Publishing in ntfy's documentation",
);

const SMS: GuideText = (
    "SMS",
    "Sends a short text to a phone.",
    &[
        "Enter the number with + and the code of its country, without spaces.",
        "The operator of this server sets an account of Twilio (ALOFT_TWILIO_ACCOUNT) and the sender.",
    ],
    "https://www.twilio.com/docs/glossary/what-e164",
    "Format of numbers in Twilio's documentation",
);

const WHATSAPP: GuideText = (
    "WhatsApp",
    "Sends a WhatsApp message to a phone.",
    &[
        "Enter the number with + and the code of its country, without spaces.",
        "The operator of this server sets an account of Twilio (ALOFT_TWILIO_ACCOUNT), the sender, and \
         an approved template. Without one, WhatsApp delivers only to people who wrote within a day.",
    ],
    "https://www.twilio.com/docs/whatsapp",
    "WhatsApp in Twilio's documentation",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_steps_and_a_link() {
        let all = guides();
        assert_eq!(all.len(), ProviderType::ALL.len());
        for guide in all {
            assert!(guide.steps.len() > 1 && guide.about.ends_with('.'), "{guide:?}");
            assert!(guide.is_foreign() || guide.link.starts_with("/docs/"), "{guide:?}");
        }
    }
}
