//! Notification channels: the draft of a caller ([`ChannelDraft`]) and the validated settings
//! ([`ChannelSettings`]). The domain's `notify` decides what to send.

mod draft;
mod kinds;
mod mask;
mod parse;
mod preferences;
mod provider;
mod secret_serde;
mod settings;

pub use draft::ChannelDraft;
pub use parse::{MONITORS, MONITORS_ALLOWED};
pub use preferences::{
    NotificationPreferences, NotificationPreferencesDraft, QuietHours, QuietHoursDraft,
};
pub use provider::{BlockDrafts, Provider, literal_address};
pub use settings::{
    Email, EmailDraft, IncomingWebhook, IncomingWebhookDraft, Ntfy, NtfyDraft, Opsgenie,
    OpsgenieDraft, Pagerduty, PagerdutyDraft, Phone, PhoneDraft, Telegram, TelegramDraft, Webhook,
    WebhookDraft, WebhookHeader,
};

pub use crate::enums::{AlertEvent, QuietHoursScope};
use crate::{ChannelId, MonitorId, Timestamp, WorkspaceId};

/// A stored channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    pub id: ChannelId,
    pub workspace: WorkspaceId,
    /// The user's settings.
    pub settings: ChannelSettings,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// The valid arguments of §2.4 and our preferences. Only [`ChannelDraft::parse`] and the store
/// create them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelSettings {
    /// As written, at most 256 characters.
    pub name: Option<String>,
    /// Monitors with alerts to this channel: sorted, without duplicates.
    pub monitor_ids: Vec<MonitorId>,
    pub provider: Provider,
    /// Which events it gets, and when; our addition to §2.4.
    pub preferences: NotificationPreferences,
}
