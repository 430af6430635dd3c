//! Planned maintenance (issue 6): our addition, so not in the lists of resources.

use super::revision;
use crate::field::{Field, Resource, Shape, Value};
use crate::{ComponentId, MaintenanceId, MonitorId};

/// Minutes of 30 days.
const THIRTY_DAYS: u32 = 30 * 24 * 60;

/// A maintenance: its windows mute alerts of the covered monitors and do not count in uptime.
pub static MAINTENANCE: Resource = Resource {
    name: "maintenance",
    description: "A planned time, once or recurring, in which monitors may be down.",
    fields: &[
        Field::required(
            "title",
            Shape::Line { min: 1, max: 256 },
            "Title for visitors, 1 to 256 characters.",
        ),
        Field::optional(
            "description",
            Shape::Text { min: 0, max: 4_096 },
            "Description for visitors; at most 4096 characters.",
        ),
        Field::required(
            "starts_at",
            Shape::Instant,
            "Start of the first window; also the local time of recurring windows.",
        ),
        Field::required(
            "duration",
            Shape::Interval { min: 1, max: THIRTY_DAYS },
            "Duration of each window: 1m to 720h.",
        ),
        Field::default(
            "time_zone",
            Shape::TimeZone,
            Value::Text("UTC"),
            "Time zone of the recurrence: a name of the IANA database.",
        ),
        Field::optional(
            "recurrence",
            Shape::Line { min: 1, max: 512 },
            "Recurrence rule: the value of an RRULE (RFC 5545), such as \
             FREQ=WEEKLY;BYDAY=SU.",
        ),
        Field::optional(
            "monitor_ids",
            Shape::SetOfIds(MonitorId::PREFIX),
            "Covered monitors; either this or component_ids is required.",
        ),
        Field::optional(
            "component_ids",
            Shape::SetOfIds(ComponentId::PREFIX),
            "Covered components, including their monitors.",
        ),
        Field::output("id", Shape::Id(MaintenanceId::PREFIX), "Identifier of the maintenance."),
        Field::output("created_at", Shape::Instant, "When the maintenance was created."),
        Field::output("updated_at", Shape::Instant, "When the maintenance was last changed."),
    ],
    beyond: &[
        Field::output(
            "status",
            Shape::OneOf(&["scheduled", "active", "completed"]),
            "Whether a window is upcoming, active, or none is left.",
        ),
        revision::OUTPUT,
    ],
    blocks: &[],
    rules: &[],
    import: None,
};
