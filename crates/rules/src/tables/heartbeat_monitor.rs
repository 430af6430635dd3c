//! `service_heartbeat_monitor`, which is ours (issue 20, point 8).

use super::{monitor, revision};
use crate::field::{Field, Resource, Shape, Value};

/// Minimum of `interval`, in seconds: the server looks at a monitor every 30 seconds.
const INTERVAL_SECONDS_MIN: i32 = 30;
/// Maximum of `interval` and `grace`, in seconds: a job that runs once a year, even in a leap year.
const SECONDS_MAX: i32 = 366 * 24 * 60 * 60;
/// Default of `grace`, in seconds: long enough for a job of some minutes, for retries of its call and for
/// a restart of this server, and short enough to notice soon.
const GRACE_SECONDS_DEFAULT: i32 = 300;
/// Maximum length of the URL, in characters.
const URL_CHARS_MAX: u32 = 2_048;

/// A heartbeat monitor, which waits for calls of a URL.
pub static HEARTBEAT_MONITOR: Resource = Resource {
    name: "service_heartbeat_monitor",
    description: "Waits for calls of its URL, which a job makes, and reports calls that are late or \
                  report a failure.",
    fields: &[
        monitor::NAME,
        Field::required(
            "interval",
            Shape::Integer { min: INTERVAL_SECONDS_MIN, max: SECONDS_MAX },
            "Seconds from one call to the next, 30 to 31622400 (366 days).",
        ),
        Field::default(
            "grace",
            Shape::Integer { min: 0, max: SECONDS_MAX },
            Value::Integer(GRACE_SECONDS_DEFAULT),
            "Seconds that a call may be late, and that a run may take after it reported its start, 0 to \
             31622400.",
        ),
        monitor::ACTIVE,
        monitor::PUBLIC,
        monitor::DESCRIPTION,
        monitor::TAGS,
        monitor::ID,
        monitor::STATUS,
        Field::output(
            "url",
            Shape::Text { min: 1, max: URL_CHARS_MAX },
            "URL that the job calls. It is a secret: whoever knows it can report for the job.",
        )
        .sensitive(),
    ],
    beyond: &[
        Field::output(
            "last_heartbeat_at",
            Shape::Instant,
            "When the URL was called last; absent before the first call.",
        ),
        monitor::CREATED_AT,
        monitor::UPDATED_AT,
        revision::OUTPUT,
    ],
    blocks: &[],
    rules: &[],
    import: Some("<monitor_id>"),
};
