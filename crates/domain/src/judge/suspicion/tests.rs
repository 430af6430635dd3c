//! When a probe becomes suspect, and what ends a suspicion.

use rules::limits;

use super::*;

const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);
const PROBE: ProbeIndex = ProbeIndex::EMBEDDED;
const SECOND: Duration = Duration::from_secs(1);

/// A probe and its numbered hosts.
#[derive(Clone)]
struct ProbeScenario {
    suspicions: ProbeSuspicions,
    now: Timestamp,
    changes: Vec<SuspicionChange>,
    workspace: WorkspaceId,
    /// All outcomes, as the store has them.
    outcomes: Vec<HostOutcome>,
}

/// Returns a probe with connectivity checks and this many healthy hosts.
fn a_probe_of(hosts: u64) -> ProbeScenario {
    story(true).answer(0..hosts)
}

fn story(has_connectivity_check: bool) -> ProbeScenario {
    ProbeScenario {
        suspicions: ProbeSuspicions::new(has_connectivity_check),
        now: START,
        changes: Vec::new(),
        workspace: WorkspaceId::from_bits(1),
        outcomes: Vec::new(),
    }
}

impl ProbeScenario {
    fn fail(self, hosts: std::ops::Range<u64>) -> Self {
        self.outcome(hosts, true)
    }

    fn answer(self, hosts: std::ops::Range<u64>) -> Self {
        self.outcome(hosts, false)
    }

    fn outcome(mut self, hosts: std::ops::Range<u64>, failed: bool) -> Self {
        for host in hosts {
            let (host, finished_at) = (HostMark(host), self.now);
            let (probe, workspace) = (PROBE, self.workspace);
            let outcome = HostOutcome { probe, workspace, host, failed, finished_at };
            self.outcomes.push(outcome);
            self.changes.extend(self.suspicions.record(outcome, self.now));
        }
        self
    }

    fn after(mut self, time: Duration) -> Self {
        self.now = self.now + time;
        self.changes.extend(self.suspicions.tick(self.now));
        self
    }

    fn hosts_responding(mut self, answered: u32) -> Self {
        let hosts_responding = ConnectivityCheck { asked: 3, responded: answered };
        self.changes.extend(self.suspicions.record_connectivity_check(
            PROBE,
            hosts_responding,
            self.now,
        ));
        self
    }

    /// Ends the process, and starts another one after `time`.
    fn restarted_after(mut self, time: Duration) -> Self {
        self.now = self.now + time;
        let stored = self.suspicions.stored(PROBE);
        self.suspicions = ProbeSuspicions::new(self.suspicions.has_connectivity_check);
        self.outcomes.reverse();
        self.suspicions.restore(self.outcomes.clone(), [(PROBE, stored)], self.now);
        self.outcomes.reverse();
        self
    }

    fn in_workspace(mut self, workspace: u64) -> Self {
        self.workspace = WorkspaceId::from_bits(workspace);
        self
    }

    fn standing(&self) -> ProbeTrust {
        self.suspicions.trust(PROBE)
    }

    fn relief(&self) -> Option<ClearedBy> {
        match self.changes.last()? {
            SuspicionChange::Recovered { cleared_by: relief, .. } => Some(*relief),
            SuspicionChange::Suspected { .. } => None,
        }
    }
}

// design: §5 "more than half of a probe's distinct hosts (five at least), fine before, fail within
// one minute"
#[test]
fn probe_is_suspect_when_most_hosts_fail_together() {
    let half_minute = 30 * SECOND;
    let rows = [
        ("3 of 5", a_probe_of(5).fail(0..3), true),
        ("2 of 5", a_probe_of(5).fail(0..2), false),
        ("4 of 4", a_probe_of(4).fail(0..4), false),
        ("half of 6", a_probe_of(6).fail(0..3), false),
        ("4 of 6", a_probe_of(6).fail(0..4), true),
        ("within a minute", a_probe_of(5).fail(0..1).after(60 * SECOND).fail(1..3), true),
        ("within more", a_probe_of(5).fail(0..1).after(61 * SECOND).fail(1..3), false),
        (
            "one came back",
            a_probe_of(5).fail(0..2).answer(0..1).after(half_minute).fail(2..3),
            false,
        ),
        ("never fine", a_probe_of(5).fail(5..20), false),
        ("one host, many times", a_probe_of(5).fail(0..1).fail(0..1).fail(0..1), false),
    ];
    for (row, story, suspicions) in rows {
        assert_eq!(story.standing() == ProbeTrust::Suspect, suspicions, "{row}");
        assert_eq!(story.changes.len(), usize::from(suspicions), "{row}: reported once");
    }
}

#[test]
fn late_outcome_is_ignored() {
    let mut story = a_probe_of(5).after(SECOND).fail(0..2);
    let outcome = HostOutcome {
        probe: PROBE,
        workspace: story.workspace,
        host: HostMark(2),
        failed: true,
        finished_at: START - SECOND,
    };
    assert_eq!(story.suspicions.record(outcome, story.now), None);
}

#[test]
fn immediate_connectivity_clears_the_suspicion() {
    let story = a_probe_of(5).fail(0..5).hosts_responding(2);
    assert_eq!(
        (story.relief(), story.standing()),
        (Some(ClearedBy::ConnectivityCheck), ProbeTrust::Trusted)
    );
}

#[test]
fn failures_before_regained_connectivity_never_count() {
    let silent = a_probe_of(5).fail(0..5).hosts_responding(1).after(10 * SECOND);
    assert_eq!(silent.standing(), ProbeTrust::Suspect);
    let story = silent.hosts_responding(3);
    assert_eq!(story.relief(), Some(ClearedBy::ConnectivityCheck));
    assert_eq!(story.standing(), ProbeTrust::TrustedSince(START + 10 * SECOND));
}

// issue 16, point 5: five sites of one operator that fail together cause alerts at once
#[test]
fn suspicion_without_connectivity_check_mutes_nothing() {
    let mut story = story(false).answer(0..5).fail(0..5);
    assert_eq!(story.standing(), ProbeTrust::Trusted);
    assert_eq!(
        story.suspicions.suspicion(PROBE),
        Some(FailedHosts { failing: 3, of_hosts: 5 }),
        "the counts at the start"
    );
    let none = ConnectivityCheck { asked: 0, responded: 0 };
    assert_eq!(story.suspicions.record_connectivity_check(PROBE, none, story.now), None);
    let story = story.after(SECOND).answer(0..5);
    assert_eq!((story.relief(), story.standing()), (Some(ClearedBy::Hosts), ProbeTrust::Trusted));
    assert_eq!(story.suspicions.suspicion(PROBE), None);
}

// issue 16, point 5: the hosts of one workspace must not delay the alerts of another
#[test]
fn workspaces_have_equal_weight() {
    let two = |other: u64| {
        a_probe_of(12).in_workspace(2).answer(20..20 + other).in_workspace(1).fail(0..12)
    };
    assert_eq!(two(3).standing(), ProbeTrust::Trusted, "half of the workspaces are healthy");
    assert_eq!(two(3).in_workspace(2).fail(20..21).standing(), ProbeTrust::Suspect);
    assert_eq!(a_probe_of(12).fail(0..12).standing(), ProbeTrust::Suspect);
}

#[test]
fn suspicion_ends_when_half_the_hosts_respond() {
    let story = a_probe_of(6).fail(0..6).after(SECOND).answer(0..2);
    assert_eq!(story.standing(), ProbeTrust::Suspect);
    let story = story.answer(2..3);
    assert_eq!(story.relief(), Some(ClearedBy::Hosts));
    assert_eq!(story.standing(), ProbeTrust::TrustedSince(START + SECOND));
}

// A real outage of most hosts must not be hidden forever.
#[test]
fn suspicion_ends_after_its_time_limit() {
    let story = a_probe_of(5).fail(0..5);
    assert_eq!(story.suspicions.wake_at(), Some(START + limits::SUSPICION_DECIDED_WITHIN));
    let story = story.after(limits::SUSPICION_DECIDED_WITHIN).fail(0..5);
    assert_eq!((story.relief(), story.standing()), (Some(ClearedBy::Time), ProbeTrust::Trusted));
    let mut silent = a_probe_of(5).fail(0..5);
    while silent.standing() == ProbeTrust::Suspect {
        silent = silent.hosts_responding(0).after(60 * SECOND);
    }
    assert_eq!(silent.now, START + limits::SUSPICION_MAX);
    assert_eq!(silent.relief(), Some(ClearedBy::Time));
}

#[test]
fn hosts_without_outcomes_for_hours_are_removed() {
    let story = a_probe_of(20).after(HOST_EXPIRY + SECOND).answer(0..5).fail(0..3);
    assert_eq!(story.standing(), ProbeTrust::Suspect);
}

#[test]
fn clock_set_back_keeps_suspicion_working() {
    let back = |mut story: ProbeScenario| {
        story.now = story.now - 60 * 60 * SECOND;
        story.outcome(0..1, false)
    };
    let sound = back(a_probe_of(5).fail(0..5).after(2 * SECOND).answer(0..3));
    assert_eq!(sound.standing(), ProbeTrust::TrustedSince(sound.now), "later failures count");
    let turned = back(a_probe_of(5).after(SECOND).answer(0..5)).fail(0..3);
    assert_eq!(turned.standing(), ProbeTrust::Suspect, "current outcomes are recorded");
    let void = back(a_probe_of(5).fail(0..5));
    let ended = void.after(limits::SUSPICION_UNCONFIRMED_MAX);
    assert_eq!(ended.relief(), Some(ClearedBy::Time));
}

#[test]
fn restart_keeps_suspicion_until_a_check_succeeds() {
    let hour = limits::SUSPICION_MAX;
    for time in [SECOND, 10 * 60 * SECOND, hour, 3 * hour] {
        let story = a_probe_of(6).after(SECOND).fail(0..4).restarted_after(time).after(4 * SECOND);
        assert_eq!(story.standing(), ProbeTrust::Suspect, "after {time:?}");
        let failed_hosts = FailedHosts { failing: 4, of_hosts: 6 };
        assert_eq!(story.suspicions.suspicion(PROBE), Some(failed_hosts));
        let story = story.fail(4..5).hosts_responding(3);
        assert_eq!(story.relief(), Some(ClearedBy::ConnectivityCheck));
        // It may have been cut off until then.
        assert_eq!(story.standing(), ProbeTrust::TrustedSince(story.now));
        let again = story.clone().restarted_after(SECOND);
        assert_eq!(again.standing(), ProbeTrust::TrustedSince(story.now));
    }
    let recovered = a_probe_of(6).fail(0..4).restarted_after(SECOND).answer(0..1);
    assert_eq!(recovered.relief(), Some(ClearedBy::Hosts));
}

#[test]
fn hosts_that_failed_before_restart_count() {
    let story = a_probe_of(6).after(SECOND).fail(0..3).restarted_after(SECOND);
    assert_eq!(story.standing(), ProbeTrust::Trusted);
    assert_eq!(story.fail(3..4).standing(), ProbeTrust::Suspect);
    // A suspicion that has ended does not begin again.
    let known = a_probe_of(6).after(SECOND).fail(0..5).hosts_responding(3).restarted_after(SECOND);
    assert_eq!(known.fail(0..6).standing(), ProbeTrust::Trusted);
}

#[test]
fn restart_without_connectivity_check_keeps_time_limit() {
    let story = story(false).answer(0..5).fail(0..5).restarted_after(60 * SECOND);
    assert_eq!(story.standing(), ProbeTrust::Trusted);
    assert_eq!(story.suspicions.wake_at(), Some(START + limits::SUSPICION_UNCONFIRMED_MAX));
}
