//! Drafts of maintenance through the public interface: violations, masks, recurrences. The domain
//! tests windows.

use aloft_rules::maintenance::{MaintenanceDraft, Recurrence};
use aloft_rules::{Timestamp, tables};
use insta::assert_snapshot;

#[expect(clippy::unnecessary_wraps, reason = "fields of drafts are optional")]
fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn a_draft() -> MaintenanceDraft {
    MaintenanceDraft {
        title: text("Moving"),
        starts_at: Some(Timestamp::from_millis(1_800_000_000_000)),
        duration: text("90m"),
        monitor_ids: vec!["mon_0000000000001".to_owned()],
        ..MaintenanceDraft::default()
    }
}

/// A draft in which every field differs from [`a_draft`].
fn a_full_draft() -> MaintenanceDraft {
    MaintenanceDraft {
        title: text("Moving on"),
        description: text(""),
        starts_at: Some(Timestamp::from_millis(1_900_000_000_123)),
        duration: text("1h"),
        time_zone: text("Europe/Berlin"),
        recurrence: text("freq=weekly;byday=su"),
        monitor_ids: vec![],
        component_ids: vec!["cmp_0000000000001".to_owned()],
    }
}

fn lines(draft: MaintenanceDraft) -> String {
    let violations = draft.parse().expect_err("the draft is wrong").0;
    violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn draft_round_trips_through_settings() {
    // design: §4 "what was written is what is read"
    let settings = a_full_draft().parse().unwrap();
    assert_eq!(MaintenanceDraft::from(&settings), a_full_draft());
    let bare = a_draft().parse().unwrap();
    let expected = MaintenanceDraft { time_zone: text("UTC"), ..a_draft() };
    assert_eq!(MaintenanceDraft::from(&bare), expected, "the stored settings include the default");
}

#[test]
fn ids_are_sorted_and_unique() {
    let ids = ["mon_0000000000002", "mon_0000000000001", "mon_0000000000002"];
    let draft = MaintenanceDraft { monitor_ids: ids.map(str::to_owned).to_vec(), ..a_draft() };
    let ids = draft.parse().unwrap().monitor_ids;
    assert_eq!(
        ids.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [ids[0], ids[1]].map(|id| id.to_string())
    );
    assert!(ids.len() == 2 && ids[0] < ids[1]);
}

#[test]
fn all_violations_are_reported_with_paths() {
    assert_snapshot!(lines(MaintenanceDraft::default()), @"
    `monitor_ids` must name a monitor unless `component_ids` names a component
    `title` must be given
    `starts_at` must be given
    `duration` must be given
    ");
    assert_snapshot!(lines(MaintenanceDraft {
        title: text("two\nlines"),
        description: text("\0"),
        starts_at: Some(Timestamp::from_millis(i64::MAX)),
        duration: text("721h"),
        time_zone: text("Mars/Olympus"),
        recurrence: text("FREQ=SECONDLY"),
        monitor_ids: vec!["mon_x".to_owned(), "chn_0000000000001".to_owned()],
        component_ids: vec!["cmp_".to_owned()],
    }), @"
    `title` must be one line without control characters
    `description` must not contain the character U+0000
    `starts_at` must be from 2000-01-01T00:00:00.000Z to 2100-01-01T00:00:00.000Z (given: `9223372036854775807 ms after 1970`)
    `duration` must be from 1m to 720h (given: `721h`)
    `time_zone` must be a name of the IANA time zones, such as Europe/Berlin (given: `Mars/Olympus`)
    `recurrence` must have FREQ as one of YEARLY, MONTHLY, WEEKLY, DAILY, HOURLY, MINUTELY (given: `FREQ=SECONDLY`)
    `monitor_ids` must be an identifier of the form mon_… (given: `chn_0000000000001`)
    `monitor_ids` may only name monitors of this workspace (given: `mon_x`)
    `component_ids` must be an identifier of the form cmp_… (given: `cmp_`)
    ");
}

#[test]
fn maintenance_without_monitors_allows_other_changes() {
    let nothing = MaintenanceDraft { monitor_ids: vec![], ..a_draft() };
    let mut orphan = a_draft().parse().unwrap();
    assert!(
        nothing.clone().parse_change(&orphan).is_err(),
        "a caller may not remove the last monitor"
    );
    orphan.monitor_ids.clear();
    assert!(nothing.parse_change(&orphan).is_ok());
}

#[test]
fn mask_copies_exactly_the_named_fields() {
    // design: §4 update_mask
    let names: Vec<String> = tables::MAINTENANCE.writable().map(str::to_owned).collect();
    assert_eq!(names.len(), 8);
    for name in &names {
        let mut one = a_draft();
        one.apply_mask(a_full_draft(), std::slice::from_ref(name)).unwrap();
        assert_ne!(one, a_draft(), "`{name}` is taken");
        let others: Vec<_> = names.iter().filter(|other| *other != name).cloned().collect();
        let mut all_but_one = a_draft();
        all_but_one.apply_mask(a_full_draft(), &others).unwrap();
        assert_ne!(all_but_one, a_full_draft(), "`{name}` is taken by no other name");
        all_but_one.apply_mask(a_full_draft(), std::slice::from_ref(name)).unwrap();
        assert_eq!(all_but_one, a_full_draft());
    }
    assert!(a_draft().apply_mask(a_full_draft(), &["created_at".to_owned()]).is_err());
}

#[test]
fn invalid_recurrence_is_rejected_with_the_rule() {
    let rules = [
        "",
        "WEEKLY",
        "RRULE:FREQ=WEEKLY",
        "BYDAY=SU",
        "FREQ=SECONDLY",
        "FREQ=DAILY;FREQ=DAILY",
        "FREQ=DAILY;INTERVAL=0",
        "FREQ=DAILY;INTERVAL=1001",
        "FREQ=DAILY;COUNT=10001",
        "FREQ=DAILY;COUNT=2;UNTIL=20270101",
        "FREQ=DAILY;UNTIL=2027-01-01",
        "FREQ=DAILY;UNTIL=20270230T000000Z",
        "FREQ=DAILY;BYHOUR=24",
        "FREQ=DAILY;BYMONTH=0",
        "FREQ=MONTHLY;BYMONTHDAY=0",
        "FREQ=MONTHLY;BYMONTHDAY=+-1",
        "FREQ=WEEKLY;BYDAY=1SU",
        "FREQ=MONTHLY;BYDAY=6SU",
        "FREQ=MONTHLY;BYDAY=0SU",
        "FREQ=WEEKLY;BYDAY=Sunday",
        "FREQ=MONTHLY;BYWEEKNO=1",
        "FREQ=YEARLY;BYWEEKNO=1;BYDAY=1SU",
        "FREQ=DAILY;BYYEARDAY=1",
        "FREQ=WEEKLY;BYMONTHDAY=1",
        "FREQ=MONTHLY;BYSETPOS=1",
        "FREQ=HOURLY;BYMINUTE=1,31;BYSETPOS=3",
        "FREQ=HOURLY;BYMINUTE=1,31;BYSETPOS=-2,3",
        "FREQ=MINUTELY;BYMONTH=1;BYSETPOS=-2",
        "FREQ=WEEKLY;WKST=1",
        "FREQ=WEEKLY;X-OTHER=1",
        "FREQ=DAILY;BYHOUR=1,2,3,4,5,6,7,8,9,10;BYMINUTE=1,2,3,4,5,6,7,8,9,10",
    ];
    let outcomes = rules.map(|rule| match Recurrence::parse(rule) {
        Ok(_) => format!("{rule}: fine"),
        Err(refusal) => format!("{rule}: {refusal}"),
    });
    assert_snapshot!(outcomes.join("\n"), @"
    : must be the value of an RRULE (RFC 5545), such as FREQ=WEEKLY;BYDAY=SU
    WEEKLY: must be the value of an RRULE (RFC 5545), such as FREQ=WEEKLY;BYDAY=SU
    RRULE:FREQ=WEEKLY: must be the value alone, without `RRULE:`
    BYDAY=SU: must have FREQ as one of YEARLY, MONTHLY, WEEKLY, DAILY, HOURLY, MINUTELY
    FREQ=SECONDLY: must have FREQ as one of YEARLY, MONTHLY, WEEKLY, DAILY, HOURLY, MINUTELY
    FREQ=DAILY;FREQ=DAILY: must have FREQ once
    FREQ=DAILY;INTERVAL=0: must have INTERVAL from 1 to 1000
    FREQ=DAILY;INTERVAL=1001: must have INTERVAL from 1 to 1000
    FREQ=DAILY;COUNT=10001: must have COUNT from 1 to 10000
    FREQ=DAILY;COUNT=2;UNTIL=20270101: must not have both COUNT and UNTIL
    FREQ=DAILY;UNTIL=2027-01-01: must have UNTIL as a date (20261231) or as a time of UTC (20261231T235959Z) or of the zone (20261231T235959)
    FREQ=DAILY;UNTIL=20270230T000000Z: must have UNTIL as a date (20261231) or as a time of UTC (20261231T235959Z) or of the zone (20261231T235959)
    FREQ=DAILY;BYHOUR=24: must have numbers from 0 to 23 in BYHOUR
    FREQ=DAILY;BYMONTH=0: must have numbers from 1 to 12 in BYMONTH
    FREQ=MONTHLY;BYMONTHDAY=0: must have numbers from -31 to 31, but 0 in BYMONTHDAY
    FREQ=MONTHLY;BYMONTHDAY=+-1: must have numbers from -31 to 31, but 0 in BYMONTHDAY
    FREQ=WEEKLY;BYDAY=1SU: must have days as MO, TU, WE, TH, FR, SA, SU in BYDAY
    FREQ=MONTHLY;BYDAY=6SU: must have days as MO, TU, WE, TH, FR, SA, SU in BYDAY, each with a number from -5 to 5 where wanted
    FREQ=MONTHLY;BYDAY=0SU: must have days as MO, TU, WE, TH, FR, SA, SU in BYDAY, each with a number from -5 to 5 where wanted
    FREQ=WEEKLY;BYDAY=Sunday: must have days as MO, TU, WE, TH, FR, SA, SU in BYDAY
    FREQ=MONTHLY;BYWEEKNO=1: must have BYWEEKNO with FREQ=YEARLY only
    FREQ=YEARLY;BYWEEKNO=1;BYDAY=1SU: must not have numbers in BYDAY with BYWEEKNO
    FREQ=DAILY;BYYEARDAY=1: must not have BYYEARDAY with FREQ=DAILY, WEEKLY or MONTHLY
    FREQ=WEEKLY;BYMONTHDAY=1: must not have BYMONTHDAY with FREQ=WEEKLY
    FREQ=MONTHLY;BYSETPOS=1: must have BYSETPOS with another BY part only
    FREQ=HOURLY;BYMINUTE=1,31;BYSETPOS=3: must have BYSETPOS up to 2: a period has no more of these
    FREQ=HOURLY;BYMINUTE=1,31;BYSETPOS=-2,3: fine
    FREQ=MINUTELY;BYMONTH=1;BYSETPOS=-2: must have BYSETPOS up to 1: a period has no more of these
    FREQ=WEEKLY;WKST=1: must have WKST as one of MO, TU, WE, TH, FR, SA, SU
    FREQ=WEEKLY;X-OTHER=1: must not have a part `X-OTHER`; there are FREQ, INTERVAL, COUNT, UNTIL, WKST, BYMONTH, BYWEEKNO, BYYEARDAY, BYMONTHDAY, BYDAY, BYHOUR, BYMINUTE, BYSECOND, BYSETPOS
    FREQ=DAILY;BYHOUR=1,2,3,4,5,6,7,8,9,10;BYMINUTE=1,2,3,4,5,6,7,8,9,10: must have at most 96 times of BYHOUR, BYMINUTE and BYSECOND together
    ");
}
