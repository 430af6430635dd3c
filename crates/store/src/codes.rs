//! Integer codes of enumeration values, for the tables that grow with every check. Databases hold
//! them, so a code is never reassigned.

use domain::cadence::MissedReason;
use domain::check::{Outcome, Trigger};
use rules::Region;

use crate::StoreError;

/// Returns the code of a region.
pub(crate) const fn region_code(region: Region) -> i64 {
    match region {
        Region::FlyAms => 0,
        Region::FlyArn => 1,
        Region::FlyBom => 2,
        Region::FlyCdg => 3,
        Region::FlyDfw => 4,
        Region::FlyEwr => 5,
        Region::FlyFra => 6,
        Region::FlyGru => 7,
        Region::FlyIad => 8,
        Region::FlyJnb => 9,
        Region::FlyLax => 10,
        Region::FlyLhr => 11,
        Region::FlyNrt => 12,
        Region::FlyOrd => 13,
        Region::FlySjc => 14,
        Region::FlySin => 15,
        Region::FlySyd => 16,
        Region::FlyYyz => 17,
        Region::KoyebFra => 18,
        Region::KoyebPar => 19,
        Region::KoyebSfo => 20,
        Region::KoyebSin => 21,
        Region::KoyebTyo => 22,
        Region::KoyebWas => 23,
        Region::RailwayUsWest2 => 24,
        Region::RailwayUsEast4 => 25,
        Region::RailwayEuropeWest4 => 26,
        Region::RailwayAsiaSoutheast1 => 27,
        Region::Private1 => 28,
        Region::Private2 => 29,
        Region::Private3 => 30,
        Region::Private4 => 31,
        Region::Private5 => 32,
        Region::Private6 => 33,
        Region::Private7 => 34,
        Region::Private8 => 35,
        Region::Private9 => 36,
        Region::Private10 => 37,
        Region::Private11 => 38,
        Region::Private12 => 39,
        Region::Private13 => 40,
        Region::Private14 => 41,
        Region::Private15 => 42,
        Region::Private16 => 43,
    }
}

/// Returns the region of a code.
pub(crate) fn region(code: i64) -> Result<Region, StoreError> {
    find(Region::ALL, code, region_code, "a region")
}

/// Returns the code of a trigger.
pub(crate) const fn trigger_code(trigger: Trigger) -> i64 {
    match trigger {
        Trigger::Scheduled => 0,
        Trigger::Confirmation => 1,
        Trigger::Manual => 2,
    }
}

/// Returns the trigger of a code.
pub(crate) fn trigger(code: i64) -> Result<Trigger, StoreError> {
    find(&Trigger::ALL, code, trigger_code, "a trigger")
}

/// Returns the code of an outcome. An index of the first migration relies on success being 0.
pub(crate) const fn outcome_code(outcome: Outcome) -> i64 {
    match outcome {
        Outcome::Success => 0,
        Outcome::Degraded => 1,
        Outcome::Failure => 2,
        Outcome::Skipped => 3,
    }
}

/// Returns the outcome of a code.
pub(crate) fn outcome(code: i64) -> Result<Outcome, StoreError> {
    find(&Outcome::ALL, code, outcome_code, "an outcome")
}

/// The code of a reason for missed slots. 0 is the default of the column.
pub(crate) const fn missed_reason_code(reason: MissedReason) -> i64 {
    match reason {
        MissedReason::Unknown => 0,
        MissedReason::Down => 1,
        MissedReason::Overloaded => 2,
        MissedReason::Changed => 3,
        MissedReason::Fault => 4,
        MissedReason::Disconnected => 5,
        MissedReason::NoIpv6 => 6,
    }
}

/// Returns the reason with this code.
pub(crate) fn missed_reason(code: i64) -> Result<MissedReason, StoreError> {
    find(MissedReason::ALL, code, missed_reason_code, "a reason for missed slots")
}

/// Returns codes as the bits of a number, for statements that filter by several; all bits if there are none.
pub(crate) fn bits(codes: impl IntoIterator<Item = i64>) -> i64 {
    match codes.into_iter().fold(0, |bits, code| bits | 1 << code) {
        0 => i64::MAX,
        bits => bits,
    }
}

fn find<T: Copy>(all: &[T], code: i64, code_of: fn(T) -> i64, what: &str) -> Result<T, StoreError> {
    all.iter()
        .copied()
        .find(|value| code_of(*value) == code)
        .ok_or_else(|| StoreError::corrupt(what, format!("unknown code `{code}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_codes_never_change() {
        let regions: Vec<String> =
            Region::ALL.iter().map(|region| format!("{}={region}", region_code(*region))).collect();
        insta::assert_snapshot!(regions.join(" "), @"0=fly-ams 1=fly-arn 2=fly-bom 3=fly-cdg 4=fly-dfw 5=fly-ewr 6=fly-fra 7=fly-gru 8=fly-iad 9=fly-jnb 10=fly-lax 11=fly-lhr 12=fly-nrt 13=fly-ord 14=fly-sjc 15=fly-sin 16=fly-syd 17=fly-yyz 18=koyeb-fra 19=koyeb-par 20=koyeb-sfo 21=koyeb-sin 22=koyeb-tyo 23=koyeb-was 24=railway-us-west2 25=railway-us-east4 26=railway-europe-west4 27=railway-asia-southeast1 28=private-1 29=private-2 30=private-3 31=private-4 32=private-5 33=private-6 34=private-7 35=private-8 36=private-9 37=private-10 38=private-11 39=private-12 40=private-13 41=private-14 42=private-15 43=private-16");
        let triggers =
            [Trigger::Scheduled, Trigger::Confirmation, Trigger::Manual].map(trigger_code);
        assert_eq!(triggers, [0, 1, 2]);
        let outcomes = [Outcome::Success, Outcome::Degraded, Outcome::Failure, Outcome::Skipped];
        assert_eq!(outcomes.map(outcome_code), [0, 1, 2, 3]);
        let reasons = MissedReason::ALL.iter().map(|reason| missed_reason_code(*reason));
        assert_eq!(reasons.collect::<Vec<_>>(), [1, 2, 3, 5, 6, 4, 0]);
    }

    #[test]
    fn every_code_reads_back() {
        for known in Region::ALL {
            assert_eq!(region(region_code(*known)).unwrap(), *known);
        }
        for known in 0..3 {
            assert_eq!(trigger_code(trigger(known).unwrap()), known);
        }
        for known in 0..4 {
            assert_eq!(outcome_code(outcome(known).unwrap()), known);
        }
        for known in 0..7 {
            assert_eq!(missed_reason_code(missed_reason(known).unwrap()), known);
        }
        assert!(
            missed_reason(7).is_err()
                && region(44).is_err()
                && trigger(3).is_err()
                && outcome(-1).is_err()
        );
    }
}
