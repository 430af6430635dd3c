//! Windows in their time zone, changed and extended, and properties of any rule.

use std::time::Duration;

use proptest::prelude::*;
use rules::maintenance::{MaintenanceDraft, Recurrence, Schedule};
use rules::{Interval, TimeZone, Timestamp, limits};

use crate::history::Span;
use crate::maintenance::{
    MaintenanceStatus, UpcomingWindows, WINDOWS_MAX, changed, planning_horizon, status,
    windows_to_add,
};

fn at(text: &str) -> Timestamp {
    let at: jiff::Timestamp = text.parse().unwrap();
    Timestamp::from_millis(at.as_millisecond())
}

fn schedule(starts_at: &str, duration: &str, zone: &str, rule: &str) -> Schedule {
    Schedule {
        starts_at: at(starts_at),
        duration: Interval::parse(duration).unwrap(),
        time_zone: TimeZone::parse(zone).unwrap(),
        recurrence: (!rule.is_empty()).then(|| Recurrence::parse(rule).unwrap()),
    }
}

/// Returns the windows stored at this time.
fn ahead(schedule: &Schedule, now: Timestamp) -> UpcomingWindows {
    crate::maintenance::upcoming_windows(schedule, planning_horizon(now))
}

fn format_windows(windows: &[Span]) -> Vec<String> {
    windows.iter().map(|window| format!("{} {}", window.from, window.to)).collect()
}

const fn span(from: i64, to: i64) -> Span {
    Span { from: Timestamp::from_millis(from), to: Timestamp::from_millis(to) }
}

#[test]
fn single_maintenance_has_one_window_until_its_end() {
    let schedule = schedule("2026-12-01T22:00:00Z", "90m", "Europe/Berlin", "");
    let UpcomingWindows { windows, until } = ahead(&schedule, at("2026-12-01T23:29:59Z"));
    assert_eq!(format_windows(&windows), ["2026-12-01T22:00:00.000Z 2026-12-01T23:30:00.000Z"]);
    assert_eq!(until, None);
    assert_eq!(ahead(&schedule, at("2026-12-01T23:30:00Z")).windows, []);
}

#[test]
fn recurrence_follows_local_time() {
    let schedule = schedule("2026-10-23T20:00:00Z", "1h", "Europe/Berlin", "FREQ=DAILY;COUNT=4");
    assert_eq!(
        format_windows(&ahead(&schedule, schedule.starts_at).windows),
        [
            "2026-10-23T20:00:00.000Z 2026-10-23T21:00:00.000Z",
            "2026-10-24T20:00:00.000Z 2026-10-24T21:00:00.000Z",
            "2026-10-25T21:00:00.000Z 2026-10-25T22:00:00.000Z",
            "2026-10-26T21:00:00.000Z 2026-10-26T22:00:00.000Z",
        ]
    );
}

#[test]
fn skipped_time_moves_later_repeated_is_first() {
    // RFC 5545 §3.3.5: 2:30 was skipped on 28 March 2027 in Berlin, and repeated on 31 October.
    let spring = schedule("2027-03-27T01:30:00Z", "10m", "Europe/Berlin", "FREQ=DAILY;COUNT=3");
    let begins = |schedule: &Schedule| -> Vec<String> {
        let windows = ahead(schedule, schedule.starts_at).windows;
        windows.iter().map(|window| window.from.to_string()).collect()
    };
    assert_eq!(
        begins(&spring),
        ["2027-03-27T01:30:00.000Z", "2027-03-28T01:30:00.000Z", "2027-03-29T00:30:00.000Z"]
    );
    let autumn = schedule("2027-10-30T00:30:00Z", "10m", "Europe/Berlin", "FREQ=DAILY;COUNT=3");
    assert_eq!(
        begins(&autumn),
        ["2027-10-30T00:30:00.000Z", "2027-10-31T00:30:00.000Z", "2027-11-01T01:30:00.000Z"]
    );
}

#[test]
fn overlapping_or_adjacent_windows_merge() {
    let always = schedule("2026-11-01T00:00:00Z", "24h", "UTC", "FREQ=DAILY;COUNT=5");
    assert_eq!(
        format_windows(&ahead(&always, always.starts_at).windows),
        ["2026-11-01T00:00:00.000Z 2026-11-06T00:00:00.000Z"]
    );
}

#[test]
fn only_next_window_is_stored_beyond_the_horizon() {
    let daily = schedule("2020-01-01T03:00:00Z", "1h", "UTC", "FREQ=DAILY");
    let now = at("2026-11-21T12:00:00Z");
    let first = ahead(&daily, now);
    assert_eq!(first.windows.len(), 400);
    assert_eq!(first.until, Some(at("2027-12-27T03:00:00Z")));
    let rare = schedule("2020-02-29T03:00:00Z", "1h", "UTC", "FREQ=YEARLY;INTERVAL=4");
    let next = ahead(&rare, now);
    assert_eq!(
        format_windows(&next.windows),
        ["2028-02-29T03:00:00.000Z 2028-02-29T04:00:00.000Z"]
    );
    assert_eq!(next.until, Some(at("2032-02-29T03:00:00Z")));
}

#[test]
fn any_rule_stops_at_its_bounds() {
    let now = at("2026-11-21T12:00:00Z");
    let start = "2026-11-21T12:00:00Z";
    for never in [
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=31",
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=YEARLY;BYWEEKNO=1;BYMONTH=6",
        "FREQ=HOURLY;INTERVAL=2;BYHOUR=1",
        "FREQ=MINUTELY;INTERVAL=2;BYMINUTE=1;COUNT=10000",
        "FREQ=HOURLY;BYYEARDAY=366;BYMONTHDAY=1",
        "FREQ=DAILY;UNTIL=20200101",
        "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=2",
    ] {
        assert_eq!(
            ahead(&schedule(start, "1m", "UTC", never), now),
            UpcomingWindows::NONE,
            "{never}"
        );
    }
    let dense = schedule(start, "1m", "UTC", "FREQ=MINUTELY;INTERVAL=2");
    let UpcomingWindows { windows, until } = ahead(&dense, now);
    assert_eq!(windows.len(), WINDOWS_MAX);
    assert_eq!(until, Some(now + Duration::from_mins(2 * WINDOWS_MAX as u64)));
}

#[test]
fn change_keeps_past_windows_and_begins_now() {
    let now = Timestamp::from_millis(100);
    for (current, ahead, expected) in [
        // It continues: one window since its start.
        (Some(50), vec![span(60, 200)], vec![span(50, 200)]),
        (Some(50), vec![span(100, 200)], vec![span(50, 200)]),
        // It moves away: the active window ends now.
        (Some(50), vec![span(150, 200)], vec![span(50, 100), span(150, 200)]),
        (Some(50), vec![], vec![span(50, 100)]),
        // It was not active: time before now does not count.
        (None, vec![span(50, 200)], vec![span(100, 200)]),
        (None, vec![span(150, 200)], vec![span(150, 200)]),
        (Some(100), vec![], vec![]),
    ] {
        let current = current.map(Timestamp::from_millis);
        assert_eq!(changed(current, &ahead, now), expected, "{current:?} {ahead:?}");
    }
}

#[test]
fn extension_returns_new_windows_and_extends_last() {
    let until = Timestamp::from_millis(100);
    let more = [span(90, 120), span(100, 130), span(150, 160)];
    let expected = [span(80, 130), span(150, 160)];
    assert_eq!(windows_to_add(Some(span(80, 100)), &more, until), expected);
    assert_eq!(windows_to_add(None, &more, until), [span(100, 130), span(150, 160)]);
}

#[test]
fn maintenance_is_over_without_upcoming_windows() {
    let courses = [(true, true), (true, false), (false, true), (false, false)]
        .map(|(is_current, has_next)| status(is_current, has_next));
    let (active, scheduled) = (MaintenanceStatus::Active, MaintenanceStatus::Scheduled);
    assert_eq!(courses, [active, active, scheduled, MaintenanceStatus::Completed]);
}

/// Rules in the grammar of RFC 5545, including invalid ones.
fn rule() -> impl Strategy<Value = String> {
    let frequency =
        prop::sample::select(vec!["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY"]);
    let part = prop_oneof![
        (1_u32..50).prop_map(|number| format!("INTERVAL={number}")),
        (1_u32..500).prop_map(|number| format!("COUNT={number}")),
        prop::collection::vec(1_i16..=12, 1..3).prop_map(|list| named("BYMONTH", &list)),
        prop::collection::vec(-31_i16..=31, 1..3).prop_map(|list| named("BYMONTHDAY", &list)),
        prop::collection::vec(-366_i16..=366, 1..3).prop_map(|list| named("BYYEARDAY", &list)),
        prop::collection::vec(-53_i16..=53, 1..3).prop_map(|list| named("BYWEEKNO", &list)),
        prop::collection::vec(0_i16..=23, 1..4).prop_map(|list| named("BYHOUR", &list)),
        prop::collection::vec(0_i16..=59, 1..4).prop_map(|list| named("BYMINUTE", &list)),
        prop::collection::vec(-5_i16..=5, 1..3).prop_map(|list| named("BYSETPOS", &list)),
        prop::sample::select(vec!["BYDAY=MO", "BYDAY=SU,SA", "BYDAY=-1FR", "WKST=SU"])
            .prop_map(str::to_owned),
    ];
    (frequency, prop::collection::vec(part, 0..4))
        .prop_map(|(frequency, parts)| format!("FREQ={frequency};{}", parts.join(";")))
        .prop_map(|rule| rule.trim_end_matches(';').to_owned())
}

fn named(name: &str, list: &[i16]) -> String {
    let list: Vec<_> = list.iter().map(ToString::to_string).collect();
    format!("{name}={}", list.join(","))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn windows_of_any_rule_are_ordered_and_current(
        rule in rule(),
        zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe"]),
        starts in 946_684_800_i64..4_102_444_800,
        minutes in 1_u32..3_000,
        later in 0_u64..1_000,
    ) {
        prop_assume!(Recurrence::parse(&rule).is_ok());
        let schedule = Schedule {
            starts_at: Timestamp::from_millis(starts * 1_000),
            ..schedule("2026-01-01T00:00:00Z", &format!("{minutes}m"), zone, &rule)
        };
        let from = schedule.starts_at + Duration::from_hours(later);
        let UpcomingWindows { windows, until } = ahead(&schedule, from);
        for pair in windows.windows(2) {
            prop_assert!(pair[0].to < pair[1].from);
        }
        for window in &windows {
            prop_assert!(window.to > from && window.from >= schedule.starts_at);
            prop_assert!(window.to.since(window.from) >= schedule.duration.duration());
        }
        prop_assert!(windows.len() <= WINDOWS_MAX);
        if let Some(until) = until {
            prop_assert!(windows.iter().all(|window| window.from < until));
            // Storing in two steps gives the same windows as in one.
            let more = windows_to_add(windows.last().copied(), &ahead(&schedule, until).windows, until);
            let whole = ahead(&schedule, until - Duration::from_millis(1));
            let whole: Vec<_> = whole.windows.iter().filter(|window| window.from >= until).collect();
            for window in whole {
                prop_assert!(more.iter().any(|other| other.from <= window.from && window.to <= other.to));
            }
        } else {
            let far = from + limits::MAINTENANCE_HORIZON;
            prop_assert!(windows.iter().skip(1).all(|window| window.from < far));
        }
    }

    #[test]
    fn any_accepted_rule_is_kept_as_written(text in "\\PC{0,60}") {
        if let Ok(rule) = Recurrence::parse(&text) {
            prop_assert_eq!(rule.to_string(), text);
        }
    }

    #[test]
    fn draft_round_trips_through_settings(rule in rule()) {
        let draft = MaintenanceDraft {
            title: Some("Moving".to_owned()),
            starts_at: Some(Timestamp::from_millis(1_800_000_000_000)),
            duration: Some("2h".to_owned()),
            recurrence: Some(rule),
            monitor_ids: vec!["mon_0000000000001".to_owned()],
            ..MaintenanceDraft::default()
        };
        if let Ok(settings) = draft.clone().parse() {
            let whole = MaintenanceDraft { time_zone: Some("UTC".to_owned()), ..draft };
            prop_assert_eq!(MaintenanceDraft::from(&settings), whole);
        }
    }
}
