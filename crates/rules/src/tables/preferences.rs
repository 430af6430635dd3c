//! Notification preferences of a channel beyond §2.4: events, reminders, and quiet hours. Our
//! addition (issue 6, point 4), optional and unknown to Terraform, so not in the lists of
//! resources.

use crate::enums::{AlertEvent, QuietHoursScope};
use crate::field::{Block, Field, Resource, Shape, Value};

/// Minimum time between two reminders, in minutes (ours).
const REMINDER_MINUTES_MIN: u32 = 5;
/// Maximum time between two reminders, in minutes (ours).
const REMINDER_MINUTES_MAX: u32 = 24 * 60;

/// The preferences of a channel.
pub static NOTIFICATION_PREFERENCES: Resource = Resource {
    name: "notification_preferences",
    description: "Notification preferences of a channel.",
    fields: &[
        Field::optional(
            "events",
            Shape::SetOf(AlertEvent::WORDS),
            "Events sent to the channel; default: all.",
        ),
        Field::optional(
            "remind_every",
            Shape::Interval { min: REMINDER_MINUTES_MIN, max: REMINDER_MINUTES_MAX },
            "Interval of reminders while a monitor is down, 5m to 24h; default: no reminders.",
        ),
    ],
    beyond: &[],
    blocks: &[Block {
        name: "quiet_hours",
        max: Some(1),
        fields: &[
            Field::required("from", Shape::TimeOfDay, "Start time, such as 22:00."),
            Field::required(
                "until",
                Shape::TimeOfDay,
                "End time, such as 07:00; on the next day if earlier than the start.",
            ),
            Field::required(
                "time_zone",
                Shape::TimeZone,
                "Time zone: a name of the IANA database, such as Europe/Berlin.",
            ),
            Field::default(
                "applies_to",
                Shape::OneOf(QuietHoursScope::WORDS),
                Value::Text(QuietHoursScope::All.as_str()),
                "Events to hold until the end: all, or all_but_errors.",
            ),
        ],
        blocks: &[],
        description: "A daily time in which the channel gets no messages, or only errors.",
    }],
    rules: &[],
    import: None,
};
