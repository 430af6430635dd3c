//! Notification preferences of a channel beyond §2.4: events, reminders, and quiet hours. Our
//! addition (issue 6, point 4), optional and unknown to Terraform, so not in the lists of
//! resources.

use crate::field::{Block, Field, Resource, Shape, Value};
use crate::notification::{Held, WishedEvent};

/// Minimum time between two reminders, in minutes (ours).
const REMINDER_MINUTES_MIN: u32 = 5;
/// Maximum time between two reminders, in minutes (ours).
const REMINDER_MINUTES_MAX: u32 = 24 * 60;

/// The preferences of a channel.
pub static NOTIFICATION_WISHES: Resource = Resource {
    name: "notification_wishes",
    description: "What a channel wants to hear, and when.",
    fields: &[
        Field::optional(
            "events",
            Shape::SetOf(WishedEvent::WORDS),
            "What the channel hears of; left out, it is everything.",
        ),
        Field::optional(
            "remind_every",
            Shape::Interval { min: REMINDER_MINUTES_MIN, max: REMINDER_MINUTES_MAX },
            "How often it is told that a monitor is still down, 5m to 24h; left out, never.",
        ),
    ],
    beyond: &[],
    blocks: &[Block {
        name: "quiet_hours",
        max: Some(1),
        fields: &[
            Field::required("from", Shape::TimeOfDay, "When they begin, such as 22:00."),
            Field::required(
                "until",
                Shape::TimeOfDay,
                "When they end, such as 07:00; the next day where that is earlier.",
            ),
            Field::required(
                "time_zone",
                Shape::TimeZone,
                "Whose clock that is: a name of the IANA time zones, such as Europe/Berlin.",
            ),
            Field::default(
                "held",
                Shape::OneOf(Held::WORDS),
                Value::Text(Held::All.as_str()),
                "What waits for their end: all, or all_but_errors.",
            ),
        ],
        blocks: &[],
        description: "A part of every day in which the channel is told nothing, or only the worst.",
    }],
    rules: &[],
    import: None,
};
