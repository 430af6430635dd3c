//! Planned maintenance (issue 6): no resource of the specification's, and in no list of them.

use super::revision;
use crate::field::{Field, Resource, Shape, Value};
use crate::{ComponentId, MaintenanceId, MonitorId};

/// Minutes of 30 days.
const THIRTY_DAYS: u32 = 30 * 24 * 60;

/// A maintenance: alerts of what it covers are muted in its windows, which are left out of uptime.
pub static MAINTENANCE: Resource = Resource {
    name: "maintenance",
    description: "A planned time, once or again and again, in which monitors may be down.",
    fields: &[
        Field::required(
            "title",
            Shape::Line { min: 1, max: 256 },
            "What visitors read first, 1 to 256 characters.",
        ),
        Field::optional(
            "description",
            Shape::Text { min: 0, max: 4_096 },
            "What is done and what it means for people; at most 4096 characters.",
        ),
        Field::required(
            "starts_at",
            Shape::Instant,
            "When the first window begins; with a recurrence, also the time of the day.",
        ),
        Field::required(
            "duration",
            Shape::Interval { min: 1, max: THIRTY_DAYS },
            "How long each window is: 1m to 720h.",
        ),
        Field::default(
            "time_zone",
            Shape::TimeZone,
            Value::Text("UTC"),
            "Zone of the IANA database whose clock a recurrence goes by.",
        ),
        Field::optional(
            "recurrence",
            Shape::Line { min: 1, max: 512 },
            "The value of an RRULE (RFC 5545) by which windows come again, such as \
             FREQ=WEEKLY;BYDAY=SU.",
        ),
        Field::optional(
            "monitor_ids",
            Shape::SetOfIds(MonitorId::PREFIX),
            "Monitors that it covers; this or component_ids names one.",
        ),
        Field::optional(
            "component_ids",
            Shape::SetOfIds(ComponentId::PREFIX),
            "Components that it covers, with the monitors that they show.",
        ),
        Field::output("id", Shape::Id(MaintenanceId::PREFIX), "Identifier of the maintenance."),
        Field::output("created_at", Shape::Instant, "When the maintenance was created."),
        Field::output("updated_at", Shape::Instant, "When the maintenance was last changed."),
    ],
    beyond: &[
        Field::output(
            "status",
            Shape::OneOf(&["scheduled", "active", "over"]),
            "Whether a window is to come, is on, or none is left.",
        ),
        revision::OUTPUT,
    ],
    blocks: &[],
    rules: &[],
    import: None,
};
