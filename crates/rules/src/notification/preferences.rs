//! Notification preferences of a channel. The domain's `notify` applies them.

use serde::{Deserialize, Serialize};

use crate::enums::{AlertEvent, QuietHoursScope};
use crate::tables::NOTIFICATION_PREFERENCES;
use crate::{Interval, TimeOfDay, TimeZone, Validator, Violations};

/// Notification preferences; omitted ones have their default. The store keeps them as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NotificationPreferences {
    /// Sorted, without duplicates; empty means all events.
    pub events: Vec<AlertEvent>,
    /// Interval of reminders while a monitor is down; `None` for no reminders.
    pub remind_every: Option<Interval>,
    pub quiet_hours: Option<QuietHours>,
}

/// A daily time span in a time zone; over midnight if it ends before it begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuietHours {
    pub from: TimeOfDay,
    /// Different from `from`.
    pub until: TimeOfDay,
    pub time_zone: TimeZone,
    #[serde(rename = "held")]
    pub applies_to: QuietHoursScope,
}

/// Preferences as sent by a caller: not validated, every field optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotificationPreferencesDraft {
    /// Names of [`AlertEvent`].
    pub events: Vec<String>,
    /// An interval.
    pub remind_every: Option<String>,
    pub quiet_hours: Option<QuietHoursDraft>,
}

/// Quiet hours as sent by a caller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuietHoursDraft {
    /// A time of day.
    pub from: Option<String>,
    /// A time of day.
    pub until: Option<String>,
    /// A name of the IANA database.
    pub time_zone: Option<String>,
    /// A name of [`QuietHoursScope`].
    pub applies_to: Option<String>,
}

impl NotificationPreferences {
    /// Returns whether the preferences include this event.
    pub fn includes(&self, event: AlertEvent) -> bool {
        self.events.is_empty() || self.events.contains(&event)
    }

    /// Returns whether all preferences have their default.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl NotificationPreferencesDraft {
    /// Validates the draft; returns all violations.
    pub fn parse(self) -> Result<NotificationPreferences, Violations> {
        let mut validator = Validator::new(&NOTIFICATION_PREFERENCES);
        let events = validator.variant_set("events", self.events);
        let remind_every = validator.text("remind_every", self.remind_every);
        let quiet_hours = validator.block_of("quiet_hours", self.quiet_hours, quiet_hours);
        let remind_every = remind_every.map(|text| known(Interval::parse(&text)));
        validator.finish(Some(NotificationPreferences { events, remind_every, quiet_hours }))
    }
}

fn quiet_hours(validator: &mut Validator, draft: QuietHoursDraft) -> Option<QuietHours> {
    let from = validator.text("from", draft.from).map(|text| known(TimeOfDay::parse(&text)));
    let until = validator.text("until", draft.until).map(|text| known(TimeOfDay::parse(&text)));
    let time_zone = validator.text("time_zone", draft.time_zone);
    let applies_to = validator.word("applies_to", draft.applies_to);
    let (from, until) = (from?, until?);
    if from == until {
        return validator.refuse("until", until, "must be another time than `from`");
    }
    Some(QuietHours {
        from,
        until,
        time_zone: known(TimeZone::parse(&time_zone?)),
        applies_to: applies_to?,
    })
}

/// Unwraps a value that the validator accepted by the shape of the same type.
fn known<T, E: std::fmt::Debug>(parsed: Result<T, E>) -> T {
    parsed.expect("the validator accepted the text by the same rule")
}

impl From<&NotificationPreferences> for NotificationPreferencesDraft {
    /// Creates the draft that parses to these preferences, the base of a masked update.
    fn from(preferences: &NotificationPreferences) -> Self {
        Self {
            events: preferences.events.iter().map(ToString::to_string).collect(),
            remind_every: preferences.remind_every.map(|every| every.to_string()),
            quiet_hours: preferences.quiet_hours.as_ref().map(|hours| QuietHoursDraft {
                from: Some(hours.from.to_string()),
                until: Some(hours.until.to_string()),
                time_zone: Some(hours.time_zone.to_string()),
                applies_to: Some(hours.applies_to.to_string()),
            }),
        }
    }
}
