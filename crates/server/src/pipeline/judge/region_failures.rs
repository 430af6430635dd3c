//! Failures of the regions, for the text of alerts. Only unsuccessful results are kept, so that a
//! healthy monitor costs one empty list. Results before the process started are known only as
//! votes.

use domain::check::{CheckResult, Outcome};
use domain::judge::StatusReason;
use domain::notify::{Cause, RegionOutcome};
use rules::{MonitorStatus, Region};

/// Regions whose last result was unsuccessful, in the order in which that began.
#[derive(Debug)]
pub(super) struct RegionFailures(Vec<RegionFailure>);

/// Last unsuccessful result of a region.
#[derive(Debug)]
struct RegionFailure {
    region: Region,
    /// Reason from the evidence: without credentials, and of bounded length.
    reason: Option<Box<str>>,
    status: Option<u16>,
}

impl RegionFailures {
    /// Creates an empty list.
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Records the last result of a region.
    pub(super) fn record(&mut self, result: &CheckResult) {
        let region = result.identity.region;
        match result.outcome {
            Outcome::Skipped => {}
            Outcome::Success => self.retain(|known| known != region),
            Outcome::Degraded | Outcome::Failure => {
                let failure =
                    RegionFailure { region, reason: reason(result), status: result.status };
                match self.0.iter_mut().find(|known| known.region == region) {
                    Some(known) => *known = failure,
                    None => self.0.push(failure),
                }
            }
        }
    }

    /// Removes the regions that do not match.
    pub(super) fn retain(&mut self, is_wanted: impl Fn(Region) -> bool) {
        self.0.retain(|known| is_wanted(known.region));
        if self.0.is_empty() {
            self.0 = Vec::new();
        }
    }

    /// Returns the cause for alerts: the regions that have a vote, with status and latency in
    /// microseconds. Failing regions come first, ordered by when their failure began.
    pub(super) fn cause(
        &self,
        why: StatusReason,
        seen: impl Iterator<Item = (Region, MonitorStatus, Option<u32>)>,
    ) -> Cause {
        let mut ranked: Vec<((u8, usize), RegionOutcome)> = seen
            .filter_map(|(region, status, latency_us)| {
                let rank = match status {
                    MonitorStatus::Unknown => return None,
                    MonitorStatus::Error => 0,
                    MonitorStatus::Degraded => 1,
                    MonitorStatus::Active => 2,
                };
                let index = self.0.iter().position(|known| known.region == region);
                let failure = index.and_then(|index| self.0.get(index)).filter(|_| rank < 2);
                let seen = RegionOutcome {
                    region,
                    place: None,
                    failing: status == MonitorStatus::Error,
                    reason: failure
                        .and_then(|failure| failure.reason.as_deref().map(str::to_owned)),
                    status: failure.and_then(|failure| failure.status),
                    latency_ms: latency_us.map(|us| us.div_ceil(1_000)),
                };
                Some(((rank, index.unwrap_or(usize::MAX)), seen))
            })
            .collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        let regions: Vec<RegionOutcome> = ranked.into_iter().map(|(_, seen)| seen).collect();
        let why = match why {
            StatusReason::Failing(_)
            | StatusReason::Tie(_)
            | StatusReason::RegionFailing(_)
            | StatusReason::Slow(_) => regions.iter().find_map(|seen| seen.reason.clone()),
            StatusReason::NoVotes
            | StatusReason::Paused
            | StatusReason::Deleted
            | StatusReason::Resolved
            | StatusReason::Fine(_) => None,
        }
        .unwrap_or_else(|| why.to_string());
        Cause { why, regions }
    }
}

/// Returns the first reason of the last attempt, if it was unsuccessful.
fn reason(result: &CheckResult) -> Option<Box<str>> {
    let attempt = result.evidence.as_ref()?.attempts.last()?;
    attempt.reasons.first().map(|reason| reason.as_str().into())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use domain::check::{AttemptEvidence, Evidence, Phases, ProbeName, ResultKey, Trigger};
    use domain::judge::Share;
    use rules::{MonitorId, Timestamp};

    use super::*;

    fn result(region: Region, outcome: Outcome, reason: &str, status: Option<u16>) -> CheckResult {
        let (monitor, slot) = (MonitorId::from_bits(1), Timestamp::from_millis(1_000));
        let attempt = AttemptEvidence {
            started_at: slot,
            latency_us: 1,
            failure: None,
            reasons: vec![reason.to_owned(), "and more".to_owned()],
            assertions: Vec::new(),
            hops: Vec::new(),
            body: None,
            body_truncated: false,
            body_cut: false,
            answers: Vec::new(),
        };
        let trigger = Trigger::Scheduled;
        CheckResult {
            identity: ResultKey { monitor, revision: 1, region, slot, trigger },
            finished_at: slot,
            outcome,
            latency_us: 1,
            phases: Phases::default(),
            status,
            attempts: 1,
            probe: ProbeName("this server".into()),
            evidence: Some(Arc::new(Evidence { attempts: vec![attempt] })),
        }
    }

    const FAILING: StatusReason =
        StatusReason::Failing(Share { votes: 2, of_votes: 3, regions: 2, of_regions: 3 });

    fn seen(
        regions: [(Region, MonitorStatus); 3],
    ) -> impl Iterator<Item = (Region, MonitorStatus, Option<u32>)> {
        regions.into_iter().map(|(region, status)| (region, status, Some(1_500)))
    }

    fn describe(cause: &Cause) -> Vec<String> {
        let region = |seen: &RegionOutcome| {
            let word = if seen.failing { "failing" } else { "not failing" };
            format!("{} {word} {:?} {:?}", seen.region, seen.reason, seen.status)
        };
        std::iter::once(cause.why.clone()).chain(cause.regions.iter().map(region)).collect()
    }

    // issue 6: "reaches its people once, with the evidence"
    #[test]
    fn cause_is_the_region_that_failed_first() {
        let mut failures = RegionFailures::new();
        failures.record(&result(Region::FlySin, Outcome::Failure, "status is 503", Some(503)));
        failures.record(&result(Region::FlyBom, Outcome::Degraded, "took 900 ms", Some(200)));
        failures.record(&result(Region::FlyAms, Outcome::Failure, "nobody listens", None));
        failures.record(&result(Region::FlySin, Outcome::Failure, "status is 502", Some(502)));
        let regions = [
            (Region::FlyAms, MonitorStatus::Error),
            (Region::FlyBom, MonitorStatus::Degraded),
            (Region::FlySin, MonitorStatus::Error),
        ];
        assert_eq!(
            describe(&failures.cause(FAILING, seen(regions))),
            [
                "status is 502",
                "fly-sin failing Some(\"status is 502\") Some(502)",
                "fly-ams failing Some(\"nobody listens\") None",
                "fly-bom not failing Some(\"took 900 ms\") Some(200)",
            ]
        );
    }

    #[test]
    fn recovery_omits_regions_without_a_vote() {
        let mut failures = RegionFailures::new();
        failures.record(&result(Region::FlyAms, Outcome::Failure, "status is 503", Some(503)));
        failures.record(&result(Region::FlyAms, Outcome::Skipped, "", None));
        let regions = [
            (Region::FlyAms, MonitorStatus::Unknown),
            (Region::FlyBom, MonitorStatus::Active),
            (Region::FlySin, MonitorStatus::Error),
        ];
        let fine = StatusReason::Fine(Share { votes: 1, of_votes: 3, regions: 1, of_regions: 3 });
        assert_eq!(
            describe(&failures.cause(fine, seen(regions))),
            [
                "fails in no more than 1 of 3 regions",
                "fly-sin failing None None",
                "fly-bom not failing None None",
            ]
        );
        failures.record(&result(Region::FlyAms, Outcome::Success, "", Some(200)));
        assert_eq!(failures.0.capacity(), 0, "what is well again costs nothing");
    }

    #[test]
    fn failure_before_a_restart_has_no_reason() {
        let regions = [
            (Region::FlyAms, MonitorStatus::Error),
            (Region::FlyBom, MonitorStatus::Active),
            (Region::FlySin, MonitorStatus::Error),
        ];
        let cause = RegionFailures::new().cause(FAILING, seen(regions));
        assert_eq!(cause.why, "fails in 2 of 3 regions");
        assert_eq!(cause.regions[0].latency_ms, Some(2));
    }
}
