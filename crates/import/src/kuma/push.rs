//! Push monitors of Uptime Kuma, which wait for calls of a URL.

use rules::field::Shape;
use rules::monitor::HeartbeatDraft;
use rules::tables::HEARTBEAT_MONITOR;

use crate::preview::Entry;
use crate::record::Record;

/// Interval if none is set, in seconds.
pub(super) const INTERVAL_DEFAULT: f64 = 60.0;
/// Shortest grace of an imported monitor, in seconds: jobs are never punctual to the second.
const GRACE_MIN: f64 = 60.0;

/// Times of a push monitor, in seconds.
pub(super) struct Calls {
    interval: f64,
    /// Time after a missing call until Uptime Kuma reports it.
    grace: f64,
}

impl Calls {
    pub(super) fn peek(record: &Record) -> Self {
        let mut record = record.clone();
        let interval = record.number("interval").unwrap_or(INTERVAL_DEFAULT);
        let retries = record.number("maxretries").unwrap_or(0.0);
        let pause = record.number("retry_interval").unwrap_or(interval);
        Self { interval, grace: retries * pause }
    }
}

/// Sets the times of a push monitor. Its job must call another URL.
pub(super) fn settings(calls: &Calls, heartbeat: &mut HeartbeatDraft, entry: &mut Entry) {
    let bounded = |name: &str, seconds: f64| {
        let seconds = seconds as i32;
        let shape = HEARTBEAT_MONITOR.field(name).shape;
        if let Shape::Integer { min, max } = shape { seconds.clamp(min, max) } else { seconds }
    };
    let interval = bounded("interval", calls.interval);
    if f64::from(interval) < calls.interval || f64::from(interval) > calls.interval {
        let (before, after) = (format!("{} s", calls.interval), format!("{interval} s"));
        entry.change("interval", before, after, "calls come every 30 s to 366 days");
    }
    heartbeat.interval = Some(interval);
    if calls.grace < GRACE_MIN {
        let (before, after) = (format!("{} s", calls.grace), format!("{GRACE_MIN} s"));
        entry.change("grace", before, after, "a call that takes some seconds is no failure");
    }
    heartbeat.grace = Some(bounded("grace", calls.grace.max(GRACE_MIN)));
    entry.lose("its URL", "let the job call the new `url` of the monitor, without parameters");
}
