//! Outcomes (failure, degraded, success) and the check result derived from them.

use std::sync::Arc;

use rules::{MonitorId, Region, Timestamp};

use super::*;
use crate::check::{
    DnsObservation, Failure, FailureKind, Job, ProbeName, TcpObservation, Trigger, Undecided,
    conclude, tcp::TcpPlan,
};

const NOW: Timestamp = Timestamp::from_millis(1_000_000);

fn plan(degraded_above: Option<Duration>) -> CheckPlan {
    CheckPlan {
        monitor: MonitorId::from_bits(1),
        workspace: rules::WorkspaceId::from_bits(1),
        revision: 3,
        check: PlannedCheck::Tcp(TcpPlan {
            host: "example.com".to_owned(),
            port: 80,
            ip_version: rules::IpVersion::Any,
        }),
        timeout: Duration::from_secs(1),
        retry: 3,
        degraded_above,
        secrets: None,
        message: None,
    }
}

fn attempt(latency_us: u32, failure: Option<Failure>) -> Attempt {
    Attempt {
        started_at: NOW,
        latency_us,
        observation: Observation::Tcp(TcpObservation::default()),
        failure,
    }
}

fn refused() -> Failure {
    Failure::new(FailureKind::ConnectionRefused, "nobody listens at 192.0.2.1:80")
}

// design: §5 "slow means *above* `degraded_at`"
#[test]
fn latency_above_the_limit_is_degraded() {
    let limited = plan(Some(Duration::from_millis(100)));
    for (latency_us, outcome, reason) in [
        (0, Outcome::Success, ""),
        (100_000, Outcome::Success, ""),
        (100_001, Outcome::Degraded, "took 101 ms, more than 100 ms"),
        (u32::MAX, Outcome::Degraded, "took 4294968 ms, more than 100 ms"),
    ] {
        let assessment = assess(&limited, &attempt(latency_us, None));
        assert_eq!(assessment.outcome, outcome, "{latency_us}");
        assert_eq!(assessment.reasons.join("; "), reason);
        let unlimited = assess(&plan(None), &attempt(latency_us, None));
        assert_eq!(unlimited.outcome, Outcome::Success);
    }
}

#[test]
fn slow_failure_is_failure() {
    let assessment =
        assess(&plan(Some(Duration::from_millis(1))), &attempt(1_000_000, Some(refused())));
    assert_eq!(assessment.outcome, Outcome::Failure);
    assert_eq!(assessment.reasons, ["nobody listens at 192.0.2.1:80"]);
}

#[test]
fn observation_of_another_kind_is_failure() {
    let mut attempt = attempt(1, None);
    attempt.observation = Observation::Dns(DnsObservation::default());
    assert_eq!(assess(&plan(None), &attempt).outcome, Outcome::Failure);
}

#[test]
fn plain_success_allocates_no_vector() {
    let assessment = assess(&plan(None), &attempt(1, None));
    assert_eq!((assessment.reasons.capacity(), assessment.assertions.capacity()), (0, 0));
}

#[test]
fn last_attempt_decides_and_failures_keep_evidence() {
    let job = |keep_evidence| Job {
        plan: Arc::new(plan(Some(Duration::from_millis(100)))),
        region: Region::FlyAms,
        slot: NOW,
        trigger: Trigger::Scheduled,
        next_slot: NOW + Duration::from_secs(30),
        keep_evidence,
    };
    for (last, keep_evidence, outcome, kept) in [
        (attempt(7, None), false, Outcome::Success, None),
        (attempt(7, None), true, Outcome::Success, Some(2)),
        (attempt(7, Some(refused())), false, Outcome::Failure, Some(2)),
        (attempt(100_001, None), false, Outcome::Degraded, Some(2)),
    ] {
        let job = job(keep_evidence);
        let latency_us = last.latency_us;
        let attempts = vec![attempt(5, Some(refused())), last]
            .into_iter()
            .map(|attempt| {
                let assessment = assess(&job.plan, &attempt);
                (attempt, assessment)
            })
            .collect();
        let result = conclude(&job, attempts, NOW, ProbeName("embedded".into()));
        assert_eq!((result.outcome, result.attempts), (outcome, 2));
        assert_eq!(result.latency_us, latency_us);
        assert_eq!(result.identity, job.identity());
        assert_eq!(result.evidence.map(|evidence| evidence.attempts.len()), kept);
    }
}

// decision 0083
#[test]
fn only_attempts_without_ipv6_decide_nothing() {
    let ipv6 = || Failure::new(FailureKind::ProbeWithoutIpv6, "this probe has no IPv6");
    for (failures, expected) in [
        (vec![Some(ipv6())], Some(Undecided::NoIpv6)),
        (vec![Some(ipv6()), Some(ipv6())], Some(Undecided::NoIpv6)),
        (vec![Some(refused()), Some(ipv6())], None),
        (vec![Some(ipv6()), Some(refused())], None),
        (vec![Some(ipv6()), None], None),
    ] {
        let assessed = |failure: Option<Failure>| {
            let attempt = attempt(1, failure);
            let assessment = assess(&plan(None), &attempt);
            (attempt, assessment)
        };
        let attempts: Vec<_> = failures.into_iter().map(assessed).collect();
        assert_eq!(Undecided::of(&attempts), expected, "{attempts:?}");
    }
}

#[test]
fn skipped_slot_has_no_attempts_or_evidence() {
    let job = Job {
        plan: Arc::new(plan(None)),
        region: Region::FlyAms,
        slot: NOW,
        trigger: Trigger::Scheduled,
        next_slot: NOW + Duration::from_secs(30),
        keep_evidence: true,
    };
    let result = conclude(&job, Vec::new(), NOW, ProbeName("embedded".into()));
    assert_eq!((result.outcome, result.attempts, result.latency_us), (Outcome::Skipped, 0, 0));
    assert_eq!(result.evidence, None);
}
