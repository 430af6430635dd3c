//! Rows of the response log: checks, and slots in which none ran, in one order.

use contract::monitor::decode_instant;
use contract::monitor::wire::{MissedSlots, ResponseLog};
use rules::{MonitorKind, Timestamp};

use super::check_view::exact_time;
use super::units::{self, Badge};
use super::waterfall;
use crate::region_names;

/// A row of the log.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LogRow {
    /// ID of the check. Empty if none ran.
    pub(crate) id: String,
    slot: Timestamp,
    /// Time of the slot, as HTML.
    pub(crate) at: String,
    pub(crate) outcome: Badge,
    pub(crate) region: String,
    pub(crate) city: String,
    /// Place of the check, unless it is that of all rows.
    pub(crate) place: String,
    pub(crate) latency: String,
    /// Phases as one bar, as SVG. Empty if no check ran.
    pub(crate) phases: String,
    pub(crate) status_code: String,
    pub(crate) attempts: String,
    pub(crate) trigger: &'static str,
    /// Reason why no check ran, as HTML. Empty if one did.
    pub(crate) note: String,
}

/// Returns the rows of checks and missed slots, newest first.
pub(super) fn rows(kind: MonitorKind, logs: &[ResponseLog], missed: &[MissedSlots]) -> Vec<LogRow> {
    let most_us = logs.iter().map(|it| it.latency_us).max().unwrap_or(1);
    let checks = logs.iter().map(|it| check(kind, it, most_us));
    let mut rows: Vec<LogRow> = checks.chain(missed.iter().map(missed_row)).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.slot));
    if let Some(first) = rows.first().map(|it| it.place.clone())
        && rows.iter().all(|it| it.place == first)
    {
        for row in &mut rows {
            row.place.clear();
        }
    }
    rows
}

/// Returns the oldest slot of these checks.
pub(super) fn oldest(logs: &[ResponseLog]) -> Option<Timestamp> {
    logs.iter().filter_map(|it| decode_instant(it.slot.as_option()?)).min()
}

/// Returns whether the first slot of a range is at or after a time.
pub(super) fn begins_at_or_after(missed: &MissedSlots, from: Timestamp) -> bool {
    missed.first_slot.as_option().and_then(decode_instant).is_some_and(|at| at >= from)
}

fn check(kind: MonitorKind, log: &ResponseLog, most_us: i32) -> LogRow {
    let is_skipped = log.outcome == "skipped";
    let slot = log.slot.as_option();
    LogRow {
        id: if is_skipped { String::new() } else { log.id.clone() },
        slot: slot.and_then(decode_instant).unwrap_or(Timestamp::from_millis(0)),
        at: exact_time(slot),
        outcome: units::outcome_badge(&log.outcome),
        region: log.region.clone(),
        city: region_names::city(&log.region),
        place: log.place.clone(),
        latency: if log.attempts == 0 { "–".to_owned() } else { units::latency(log.latency_us) },
        phases: if is_skipped { String::new() } else { waterfall::stacked(&log.phases, most_us) },
        status_code: log.status_code.map_or_else(|| "–".to_owned(), |it| it.to_string()),
        attempts: if log.attempts == 0 { "–".to_owned() } else { log.attempts.to_string() },
        trigger: trigger(&log.trigger),
        note: match (is_skipped, kind.is_probed()) {
            (false, _) => String::new(),
            (true, true) => "The check before was still running".to_owned(),
            (true, false) => "Waits for the first call".to_owned(),
        },
    }
}

fn missed_row(missed: &MissedSlots) -> LogRow {
    let slot = missed.first_slot.as_option();
    let why = match missed.reason.as_str() {
        "down" => "The server was not running",
        "overloaded" => "The server was overloaded",
        "changed" => "The monitor was changed before the check",
        "disconnected" => "The probe of the region was not connected",
        "no_ipv6" => "The probe of the region has no IPv6",
        "fault" => "The server had an error",
        _ => "The reason was not recorded",
    };
    let note = match missed.slots {
        ..=1 => why.to_owned(),
        slots => {
            let last = exact_time(missed.last_slot.as_option());
            format!("{why} · {} slots until {last}", units::grouped(slots))
        }
    };
    LogRow {
        id: String::new(),
        slot: slot.and_then(decode_instant).unwrap_or(Timestamp::from_millis(0)),
        at: exact_time(slot),
        outcome: units::outcome_badge("missed"),
        region: missed.region.clone(),
        city: region_names::city(&missed.region),
        place: missed.place.clone(),
        latency: "–".to_owned(),
        phases: String::new(),
        status_code: "–".to_owned(),
        attempts: "–".to_owned(),
        trigger: trigger("scheduled"),
        note,
    }
}

fn trigger(name: &str) -> &'static str {
    match name {
        "manual" => "Manual",
        "confirmation" => "Confirmation",
        _ => "Schedule",
    }
}

#[cfg(test)]
mod tests {
    use contract::monitor::encode_instant;

    use super::*;

    #[test]
    fn checks_and_missed_slots_are_in_one_order() {
        let at = |minute: i64| encode_instant(Timestamp::from_millis(minute * 60_000));
        let log = |minute, outcome: &str| ResponseLog {
            id: format!("log_{minute}"),
            slot: at(minute),
            outcome: outcome.to_owned(),
            region: "fly-ams".to_owned(),
            ..ResponseLog::default()
        };
        let missed = MissedSlots {
            first_slot: at(2),
            last_slot: at(3),
            slots: 2,
            reason: "down".to_owned(),
            region: "fly-ams".to_owned(),
            ..MissedSlots::default()
        };
        let logs = [log(4, "failure"), log(1, "skipped")];
        let rows = rows(MonitorKind::Http, &logs, &[missed]);
        let texts: Vec<_> = rows.iter().map(|it| (&*it.id, it.outcome.word)).collect();
        assert_eq!(texts, [("log_4", "Failure"), ("", "Missed"), ("", "Skipped")]);
        insta::assert_snapshot!(rows[1].note, @r#"The server was not running · 2 slots until <time datetime="1970-01-01T00:03:00Z" data-seconds title="1970-01-01 00:03:00 UTC">1970-01-01 00:03:00 UTC</time>"#);
        assert_eq!(rows[2].note, "The check before was still running");
        assert_eq!(oldest(&logs), Some(Timestamp::from_millis(60_000)));
    }

    #[test]
    fn waiting_heartbeat_monitor_says_so() {
        let log = ResponseLog { outcome: "skipped".to_owned(), ..ResponseLog::default() };
        let row = rows(MonitorKind::Heartbeat, &[log], &[]).remove(0);
        assert_eq!((&*row.note, &*row.city), ("Waits for the first call", ""));
    }
}
