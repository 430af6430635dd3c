//! Names of enumerations round-trip and have a meaning.

use super::*;

#[test]
fn region_name_begins_with_its_group() {
    for region in Region::ALL {
        assert!(region.as_str().starts_with(region.group().as_str()), "{region}");
    }
}

#[test]
fn names_have_a_meaning() {
    assert_eq!(Periodicity::OneMinute.meaning(), "Every minute.");
    assert_eq!(MonitorStatus::Unknown.meaning(), "Not known: inactive, or no region has a vote.");
}

#[test]
fn unknown_name_is_rejected_with_known_ones() {
    let refusal = Periodicity::parse("7s").unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "unknown periodicity `7s`; expected one of 30s, 1m, 5m, 10m, 30m, 1h"
    );
}
