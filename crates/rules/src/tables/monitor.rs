//! Fields shared by all kinds of monitors (§2.1–2.3).

use super::revision;
use crate::field::{Field, Presence, Redaction, Resource, Shape, Value};
use crate::{IpVersion, MonitorId, MonitorStatus, Periodicity, Region};

/// Maximum timeout of one attempt, and the meaning of 0, in milliseconds (§8.1).
pub const TIMEOUT_MS_MAX: u32 = 120_000;
/// Default timeout of one attempt, in milliseconds (§8.1).
pub const TIMEOUT_MS_DEFAULT: u32 = 45_000;
/// Maximum number of attempts after the first (§8.1).
pub const RETRY_MAX: u32 = 10;

/// Maximum length of a tag, in characters (ours).
pub const TAG_CHARS_MAX: u32 = 64;
/// Maximum number of tags of a monitor (ours).
const TAGS_MAX: u32 = 20;
/// Maximum length of `url` or `uri`, in characters (§8.1).
pub(super) const TARGET_CHARS_MAX: u32 = 2_048;
/// Maximum length of a text assertion's target, in characters (ours).
pub(super) const ASSERTION_TARGET_CHARS_MAX: u32 = 8_192;
/// Maximum number of assertions of one kind (§8.1).
pub(super) const ASSERTIONS_MAX: u32 = 10;

pub(super) const NAME: Field = Field::required(
    "name",
    Shape::Line { min: 1, max: 256 },
    "Name of the monitor; at most 256 characters.",
);

pub(super) const PERIODICITY: Field = Field::required(
    "periodicity",
    Shape::OneOf(Periodicity::WORDS),
    "How often the monitor is checked in each of its regions.",
);

pub(super) const TIMEOUT: Field = Field::default(
    "timeout",
    Shape::Integer { min: 0, max: TIMEOUT_MS_MAX as i32 },
    Value::Integer(TIMEOUT_MS_DEFAULT as i32),
    "Time for one attempt in milliseconds, 0 to 120000; 0 means the maximum of 120000.",
);

pub(super) const DEGRADED_AT: Field = Field::computed(
    "degraded_at",
    Shape::Integer { min: 0, max: TIMEOUT_MS_MAX as i32 },
    "Response time in milliseconds above which the monitor is degraded, 0 to 120000; 0 means never. \
     Defaults to two thirds of the timeout.",
);

pub(super) const RETRY: Field = Field::default(
    "retry",
    Shape::Integer { min: 0, max: RETRY_MAX as i32 },
    Value::Integer(3),
    "Retries after a failed attempt, 0 to 10, before a check counts as failed.",
);

pub(super) const IP_VERSION: Field = Field::default(
    "ip_version",
    Shape::OneOf(IpVersion::WORDS),
    Value::Text("any"),
    "Version of the Internet protocol that the check uses: any, ipv4 or ipv6.",
);

pub(super) const ACTIVE: Field = Field::default(
    "active",
    Shape::Bool,
    Value::Bool(false),
    "Whether the monitor runs; false pauses it.",
);

pub(super) const PUBLIC: Field = Field::default(
    "public",
    Shape::Bool,
    Value::Bool(false),
    "Whether status pages show the monitor's response times. Its name, status and uptime are shown wherever it is a component, its address never.",
);

pub(super) const DESCRIPTION: Field = Field::optional(
    "description",
    Shape::Text { min: 0, max: 1_024 },
    "Description of the monitor; at most 1024 characters.",
);

pub(super) const TAGS: Field = Field::optional(
    "tags",
    Shape::SetOfTags { max: TAGS_MAX, chars_max: TAG_CHARS_MAX },
    "Tags to find and group monitors by: up to 20, each of 1 to 64 characters in one line, without commas. Case is kept, but does not distinguish tags.",
);

pub(super) const REGIONS: Field = Field::optional(
    "regions",
    Shape::SetOf(Region::WORDS),
    "Regions to check from. Defaults to the server's default set if omitted or empty.",
);

pub(super) const ID: Field =
    Field::output("id", Shape::Id(MonitorId::PREFIX), "Identifier of the monitor.");

pub(super) const STATUS: Field = Field::output(
    "status",
    Shape::OneOf(MonitorStatus::WORDS),
    "State of the monitor: active, degraded, error, or unknown while it is paused or nothing is \
     known yet.",
);

/// The arguments that kinds without a probe lack, with their fixed values as defaults. The server looks
/// at each of their monitors every 30 seconds, in no region.
pub static UNPROBED: Resource = Resource {
    name: "service_unprobed_monitor",
    description: "Values of the arguments that monitors without a probe do not have.",
    fields: &[
        Field::default(
            "periodicity",
            PERIODICITY.shape,
            Value::Text(Periodicity::ThirtySeconds.as_str()),
            PERIODICITY.description,
        ),
        Field::default("timeout", TIMEOUT.shape, Value::Integer(1_000), TIMEOUT.description),
        Field::default(
            "degraded_at",
            DEGRADED_AT.shape,
            Value::Integer(0),
            DEGRADED_AT.description,
        ),
        Field::default("retry", RETRY.shape, Value::Integer(0), RETRY.description),
        REGIONS,
    ],
    beyond: &[],
    blocks: &[],
    rules: &[],
    import: None,
};

/// Outputs of every monitor beyond the specification.
pub(super) const CREATED_AT: Field =
    Field::output("created_at", Shape::Instant, "When the monitor was created.");
pub(super) const UPDATED_AT: Field =
    Field::output("updated_at", Shape::Instant, "When the monitor was last changed.");

/// Our outputs beyond the specification (design §4).
pub(super) const BEYOND: &[Field] = &[
    Field::output(
        "effective_degraded_at",
        Shape::Integer { min: 0, max: TIMEOUT_MS_MAX as i32 },
        "Response time in milliseconds above which the monitor is degraded: degraded_at as written, \
         or two thirds of the timeout.",
    ),
    Field::output(
        "resolved_regions",
        Shape::SetOf(Region::WORDS),
        "Regions the monitor is checked from: regions as written, or the server's default set.",
    ),
    CREATED_AT,
    UPDATED_AT,
    revision::OUTPUT,
];

/// Creates the field `target` of a text assertion, which may be empty (design §4).
pub(super) const fn assertion_target(description: &'static str) -> Field {
    Field {
        name: "target",
        shape: Shape::Text { min: 0, max: ASSERTION_TARGET_CHARS_MAX },
        presence: Presence::Required,
        description,
        sensitive: false,
        redaction: Redaction::None,
        replace: false,
    }
}
