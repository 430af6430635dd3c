//! The examples of RFC 5545 §3.8.5.3.

use jiff::civil::{DateTime, Time};
use rules::TimeZone;
use rules::maintenance::Recurrence;

use crate::maintenance::occurrences::Occurrences;
use crate::maintenance::{instant, is_past, local};

/// Maximum number of occurrences shown of a rule.
const SHOWN: usize = 100;

/// Formats the first occurrences in New York time, with the year when it changes and the time if it
/// is not 9:00.
fn format_occurrences(start: &str, rule: &str, most: usize) -> String {
    let zone = TimeZone::parse("America/New_York").unwrap();
    let rule = Recurrence::parse(rule).unwrap();
    let start: DateTime = start.parse().unwrap();
    let mut year = 0;
    let instants = Occurrences::new(&rule, start)
        .map(|at| (at, instant(&zone, at).unwrap()))
        .take_while(|(at, instant)| !is_past(rule.end, *at, *instant));
    let shown = instants.take(most).map(|(_, instant)| {
        let at = local(&zone, instant).unwrap();
        let new_year = if at.year() == year { String::new() } else { format!("{}: ", at.year()) };
        year = at.year();
        let time = if at.time() == Time::constant(9, 0, 0, 0) {
            String::new()
        } else {
            format!("T{:02}:{:02}", at.hour(), at.minute())
        };
        format!("{new_year}{}/{}{time}", at.month(), at.day())
    });
    shown.collect::<Vec<_>>().join(" ")
}

fn assert_all(start: &str, rules: &[&str], expected: &str) {
    // Requests one more occurrence than expected if the rule ends, to prove the end.
    let ends = rules[0].contains("COUNT") || rules[0].contains("UNTIL");
    let most =
        if ends { SHOWN } else { expected.split(' ').filter(|at| !at.ends_with(':')).count() };
    for rule in rules {
        assert_eq!(format_occurrences(start, rule, most), expected, "{start} {rule}");
    }
}

#[test]
fn daily_rules_match_the_rfc() {
    assert_all(
        "1997-09-02T09:00",
        &["FREQ=DAILY;COUNT=10"],
        "1997: 9/2 9/3 9/4 9/5 9/6 9/7 9/8 9/9 9/10 9/11",
    );
    assert_all(
        "1997-12-20T09:00",
        &["FREQ=DAILY;UNTIL=19971224T000000Z"],
        "1997: 12/20 12/21 12/22 12/23",
    );
    assert_all(
        "1997-09-02T09:00",
        &["FREQ=DAILY;INTERVAL=10;COUNT=5"],
        "1997: 9/2 9/12 9/22 10/2 10/12",
    );
    assert_all(
        "1997-10-20T09:00",
        &["FREQ=DAILY;INTERVAL=2"],
        "1997: 10/20 10/22 10/24 10/26 10/28 10/30 11/1",
    );
    let year = [
        "FREQ=YEARLY;UNTIL=20000131T140000Z;BYMONTH=1;BYDAY=SU,MO,TU,WE,TH,FR,SA",
        "FREQ=DAILY;UNTIL=20000131T140000Z;BYMONTH=1",
    ];
    let [a, b] = year.map(|rule| format_occurrences("1998-01-01T09:00", rule, SHOWN));
    assert_eq!(a, b);
    assert_eq!(a.split(' ').count(), 93 + 3, "93 days and three years: {a}");
}

#[test]
fn weekly_rules_match_the_rfc() {
    assert_all(
        "1997-09-02T09:00",
        &["FREQ=WEEKLY;COUNT=10"],
        "1997: 9/2 9/9 9/16 9/23 9/30 10/7 10/14 10/21 10/28 11/4",
    );
    assert_all(
        "1997-09-02T09:00",
        &["FREQ=WEEKLY;UNTIL=19971224T000000Z"],
        "1997: 9/2 9/9 9/16 9/23 9/30 10/7 10/14 10/21 10/28 11/4 11/11 11/18 11/25 12/2 12/9 12/16 \
         12/23",
    );
    assert_all(
        "1997-09-02T09:00",
        &["FREQ=WEEKLY;INTERVAL=2;WKST=SU"],
        "1997: 9/2 9/16 9/30 10/14 10/28 11/11 11/25 12/9 12/23 1998: 1/6 1/20 2/3 2/17",
    );
    assert_all(
        "1997-09-02T09:00",
        &[
            "FREQ=WEEKLY;UNTIL=19971007T000000Z;WKST=SU;BYDAY=TU,TH",
            "FREQ=WEEKLY;COUNT=10;WKST=SU;BYDAY=TU,TH",
        ],
        "1997: 9/2 9/4 9/9 9/11 9/16 9/18 9/23 9/25 9/30 10/2",
    );
    assert_all(
        "1997-09-01T09:00",
        &["FREQ=WEEKLY;INTERVAL=2;UNTIL=19971224T000000Z;WKST=SU;BYDAY=MO,WE,FR"],
        "1997: 9/1 9/3 9/5 9/15 9/17 9/19 9/29 10/1 10/3 10/13 10/15 10/17 10/27 10/29 10/31 11/10 \
         11/12 11/14 11/24 11/26 11/28 12/8 12/10 12/12 12/22",
    );
    assert_all(
        "1997-09-02T09:00",
        &["FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH"],
        "1997: 9/2 9/4 9/16 9/18 9/30 10/2 10/14 10/16",
    );
    assert_all(
        "1997-08-05T09:00",
        &["FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO"],
        "1997: 8/5 8/10 8/19 8/24",
    );
    assert_all(
        "1997-08-05T09:00",
        &["FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU"],
        "1997: 8/5 8/17 8/19 8/31",
    );
}

#[test]
fn monthly_rules_by_weekday_match_the_rfc() {
    assert_all(
        "1997-09-05T09:00",
        &["FREQ=MONTHLY;COUNT=10;BYDAY=1FR"],
        "1997: 9/5 10/3 11/7 12/5 1998: 1/2 2/6 3/6 4/3 5/1 6/5",
    );
    assert_all(
        "1997-09-05T09:00",
        &["FREQ=MONTHLY;UNTIL=19971224T000000Z;BYDAY=1FR"],
        "1997: 9/5 10/3 11/7 12/5",
    );
    assert_all(
        "1997-09-07T09:00",
        &["FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU"],
        "1997: 9/7 9/28 11/2 11/30 1998: 1/4 1/25 3/1 3/29 5/3 5/31",
    );
    assert_all(
        "1997-09-22T09:00",
        &["FREQ=MONTHLY;COUNT=6;BYDAY=-2MO"],
        "1997: 9/22 10/20 11/17 12/22 1998: 1/19 2/16",
    );
    assert_all(
        "1997-09-02T09:00",
        &["FREQ=MONTHLY;INTERVAL=2;BYDAY=TU"],
        "1997: 9/2 9/9 9/16 9/23 9/30 11/4 11/11 11/18 11/25 1998: 1/6 1/13 1/20 1/27 3/3 3/10 3/17 \
         3/24 3/31",
    );
    assert_all(
        "1997-09-02T09:00",
        &["FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13"],
        "1998: 2/13 3/13 11/13 1999: 8/13 2000: 10/13",
    );
    assert_all(
        "1997-09-13T09:00",
        &["FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13"],
        "1997: 9/13 10/11 11/8 12/13 1998: 1/10 2/7 3/7 4/11 5/9 6/13",
    );
    assert_all(
        "1997-09-04T09:00",
        &["FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3"],
        "1997: 9/4 10/7 11/6",
    );
    assert_all(
        "1997-09-29T09:00",
        &["FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2"],
        "1997: 9/29 10/30 11/27 12/30 1998: 1/29 2/26 3/30",
    );
}

#[test]
fn monthly_rules_by_day_match_the_rfc() {
    assert_all(
        "1997-09-28T09:00",
        &["FREQ=MONTHLY;BYMONTHDAY=-3"],
        "1997: 9/28 10/29 11/28 12/29 1998: 1/29 2/26",
    );
    assert_all(
        "1997-09-02T09:00",
        &["FREQ=MONTHLY;COUNT=10;BYMONTHDAY=2,15"],
        "1997: 9/2 9/15 10/2 10/15 11/2 11/15 12/2 12/15 1998: 1/2 1/15",
    );
    assert_all(
        "1997-09-30T09:00",
        &["FREQ=MONTHLY;COUNT=10;BYMONTHDAY=1,-1"],
        "1997: 9/30 10/1 10/31 11/1 11/30 12/1 12/31 1998: 1/1 1/31 2/1",
    );
    assert_all(
        "1997-09-10T09:00",
        &["FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15"],
        "1997: 9/10 9/11 9/12 9/13 9/14 9/15 1999: 3/10 3/11 3/12 3/13",
    );
    assert_all(
        "2007-01-15T09:00",
        &["FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5"],
        "2007: 1/15 1/30 2/15 3/15 3/30",
    );
}

#[test]
fn yearly_rules_match_the_rfc() {
    assert_all(
        "1997-06-10T09:00",
        &["FREQ=YEARLY;COUNT=10;BYMONTH=6,7"],
        "1997: 6/10 7/10 1998: 6/10 7/10 1999: 6/10 7/10 2000: 6/10 7/10 2001: 6/10 7/10",
    );
    assert_all(
        "1997-03-10T09:00",
        &["FREQ=YEARLY;INTERVAL=2;COUNT=10;BYMONTH=1,2,3"],
        "1997: 3/10 1999: 1/10 2/10 3/10 2001: 1/10 2/10 3/10 2003: 1/10 2/10 3/10",
    );
    assert_all(
        "1997-01-01T09:00",
        &["FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200"],
        "1997: 1/1 4/10 7/19 2000: 1/1 4/9 7/18 2003: 1/1 4/10 7/19 2006: 1/1",
    );
    assert_all("1997-05-19T09:00", &["FREQ=YEARLY;BYDAY=20MO"], "1997: 5/19 1998: 5/18 1999: 5/17");
    assert_all(
        "1997-05-12T09:00",
        &["FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "FREQ=YEARLY;BYWEEKNO=20"],
        "1997: 5/12 1998: 5/11 1999: 5/17",
    );
    assert_all(
        "1997-03-13T09:00",
        &["FREQ=YEARLY;BYMONTH=3;BYDAY=TH"],
        "1997: 3/13 3/20 3/27 1998: 3/5 3/12 3/19 3/26 1999: 3/4 3/11 3/18 3/25",
    );
    assert_all(
        "1997-06-05T09:00",
        &["FREQ=YEARLY;BYDAY=TH;BYMONTH=6,7,8"],
        "1997: 6/5 6/12 6/19 6/26 7/3 7/10 7/17 7/24 7/31 8/7 8/14 8/21 8/28 1998: 6/4 6/11 6/18",
    );
    assert_all(
        "1996-11-05T09:00",
        &["FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8"],
        "1996: 11/5 2000: 11/7 2004: 11/2",
    );
}

#[test]
fn hourly_and_minutely_rules_match_the_rfc() {
    // With the end of erratum 3883.
    assert_all(
        "1997-09-02T09:00",
        &["FREQ=HOURLY;INTERVAL=3;UNTIL=19970902T210000Z"],
        "1997: 9/2 9/2T12:00 9/2T15:00",
    );
    assert_all(
        "1997-09-02T09:00",
        &["FREQ=MINUTELY;INTERVAL=15;COUNT=6"],
        "1997: 9/2 9/2T09:15 9/2T09:30 9/2T09:45 9/2T10:00 9/2T10:15",
    );
    assert_all(
        "1997-09-02T09:00",
        &["FREQ=MINUTELY;INTERVAL=90;COUNT=4"],
        "1997: 9/2 9/2T10:30 9/2T12:00 9/2T13:30",
    );
    let (by_day, by_minute) = (
        "FREQ=DAILY;BYHOUR=9,10,11,12,13,14,15,16;BYMINUTE=0,20,40",
        "FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,10,11,12,13,14,15,16",
    );
    let [by_day, by_minute] =
        [by_day, by_minute].map(|rule| format_occurrences("1997-09-02T09:00", rule, 60));
    assert_eq!(by_day, by_minute);
    assert!(by_day.contains("9/2T16:40 9/3 9/3T09:20"), "{by_day}");
}
