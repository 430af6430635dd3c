//! Encodes a stored channel. Unset arguments are absent, and so are secrets for read keys (design
//! §4).

use rules::notification::{Channel, QuietHours};

use super::{blocks, wire};
use crate::fields::SecretVisibility;
use crate::monitor::{encode_instant, revision};

/// Encodes a channel.
pub fn encode(channel: &Channel, secrets: SecretVisibility) -> wire::Notification {
    let settings = &channel.settings;
    let preferences = &settings.preferences;
    let mut notification = wire::Notification {
        id: Some(channel.id.to_string()),
        name: settings.name.clone(),
        provider_type: Some(settings.provider.kind().to_string()),
        monitor_ids: settings.monitor_ids.iter().map(ToString::to_string).collect(),
        created_at: encode_instant(channel.created_at),
        updated_at: encode_instant(channel.updated_at),
        revision: Some(revision(channel.updated_at)),
        events: preferences.events.iter().map(ToString::to_string).collect(),
        remind_every: preferences.remind_every.map(|every| every.to_string()),
        quiet_hours: preferences.quiet_hours.as_ref().map(quiet_hours).into(),
        ..wire::Notification::default()
    };
    blocks::encode(&mut notification, &settings.provider, secrets);
    notification
}

fn quiet_hours(hours: &QuietHours) -> wire::QuietHours {
    wire::QuietHours {
        from: Some(hours.from.to_string()),
        until: Some(hours.until.to_string()),
        time_zone: Some(hours.time_zone.to_string()),
        applies_to: Some(hours.applies_to.to_string()),
    }
}
