//! The kinds of channels, one line each. The line registers a kind everywhere: the enumeration of
//! kinds, the table, draft, mask, validation, secrets, and the conversions of `contract` and the
//! calls of `domain::notify` are all expansions of this list.

/// Passes the list of channel kinds to the macro `$then`. A line has the variant of
/// [`crate::ProviderType`] and [`super::Provider`] (the message in `proto/`), the block, its name,
/// its settings with their fields, and the description of the block. The comment names the vendor.
#[macro_export]
macro_rules! channel_kinds {
    ($then:ident) => {
        $then! {
            /// Discord.
            Discord discord "discord": IncomingWebhook { webhook_url }
                = "A Discord channel, through a webhook.";
            /// Email.
            Email email "email": Email { email } = "An email address.";
            /// Slack.
            Slack slack "slack": IncomingWebhook { webhook_url }
                = "A Slack channel, through an incoming webhook.";
            /// PagerDuty.
            Pagerduty pagerduty "pagerduty": Pagerduty { integration_key }
                = "A PagerDuty service, through its Events API.";
            /// Opsgenie.
            Opsgenie opsgenie "opsgenie": Opsgenie { api_key, region } = "An Opsgenie team.";
            /// A user's webhook.
            Webhook webhook "webhook": Webhook { endpoint, headers }
                = "An HTTP endpoint of your own; requests are signed as Standard Webhooks.";
            /// Telegram.
            Telegram telegram "telegram": Telegram { chat_id } = "A Telegram chat.";
            /// SMS.
            Sms sms "sms": Phone { phone_number } = "SMS to a phone.";
            /// WhatsApp.
            Whatsapp whatsapp "whatsapp": Phone { phone_number } = "WhatsApp messages to a phone.";
            /// Google Chat.
            GoogleChat google_chat "google_chat": IncomingWebhook { webhook_url }
                = "A Google Chat space, through a webhook.";
            /// Grafana OnCall.
            GrafanaOncall grafana_oncall "grafana_oncall": IncomingWebhook { webhook_url }
                = "A Grafana OnCall integration.";
            /// ntfy.
            Ntfy ntfy "ntfy": Ntfy { topic, server_url, token } = "A topic of an ntfy server.";
            /// Microsoft Teams; beyond the twelve kinds of §2.4.
            MsTeams ms_teams "ms_teams": IncomingWebhook { webhook_url }
                = "A Microsoft Teams channel or chat, through a workflow's webhook.";
        }
    };
}
