//! Words are read as they are written, and say what they mean.

use super::*;

#[test]
fn every_region_stands_in_the_group_its_name_begins_with() {
    for region in Region::ALL {
        assert!(region.as_str().starts_with(region.group().as_str()), "{region}");
    }
}

#[test]
fn a_word_says_what_it_means() {
    assert_eq!(Periodicity::OneMinute.meaning(), "Every minute.");
    assert_eq!(MonitorStatus::Unknown.meaning(), "Not known: inactive, or no region has a vote.");
}

#[test]
fn an_unknown_word_is_refused_with_the_known_ones() {
    let refusal = Periodicity::parse("7s").unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "unknown periodicity `7s`; expected one of 30s, 1m, 5m, 10m, 30m, 1h"
    );
}
