//! When a probe doubts itself, and what ends it.

use rules::limits;

use super::*;

const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);
const PROBE: ProbeSlot = ProbeSlot::EMBEDDED;
const SECOND: Duration = Duration::from_secs(1);

/// A probe and its hosts, numbered.
#[derive(Clone)]
struct Story {
    doubts: Doubts,
    now: Timestamp,
    changes: Vec<DoubtChange>,
    workspace: WorkspaceId,
}

/// A probe with canaries that has seen so many hosts fine.
fn a_probe_of(hosts: u64) -> Story {
    story(true).answer(0..hosts)
}

fn story(has_canaries: bool) -> Story {
    Story {
        doubts: Doubts::new(has_canaries),
        now: START,
        changes: Vec::new(),
        workspace: WorkspaceId::from_bits(1),
    }
}

impl Story {
    fn fail(self, hosts: std::ops::Range<u64>) -> Self {
        self.report(hosts, true)
    }

    fn answer(self, hosts: std::ops::Range<u64>) -> Self {
        self.report(hosts, false)
    }

    fn report(mut self, hosts: std::ops::Range<u64>, failed: bool) -> Self {
        for host in hosts {
            let (host, finished_at) = (HostMark(host), self.now);
            let (probe, workspace) = (PROBE, self.workspace);
            let report = HostReport { probe, workspace, host, failed, finished_at };
            self.changes.extend(self.doubts.hear(report, self.now));
        }
        self
    }

    fn after(mut self, time: Duration) -> Self {
        self.now = self.now + time;
        self.changes.extend(self.doubts.tick(self.now));
        self
    }

    fn canaries(mut self, answered: u32) -> Self {
        let canaries = Canaries { asked: 3, answered };
        self.changes.extend(self.doubts.hear_canaries(PROBE, canaries, self.now));
        self
    }

    fn of(mut self, workspace: u64) -> Self {
        self.workspace = WorkspaceId::from_bits(workspace);
        self
    }

    fn standing(&self) -> Standing {
        self.doubts.standing(PROBE)
    }

    fn relief(&self) -> Option<Relief> {
        match self.changes.last()? {
            DoubtChange::Recovered { relief, .. } => Some(*relief),
            DoubtChange::Doubts { .. } => None,
        }
    }
}

// design: §5 "more than half of a probe's distinct hosts (five at least), fine before, fail within
// one minute"
#[test]
fn a_probe_doubts_itself_when_most_of_five_hosts_fail_within_a_minute() {
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
    for (row, story, doubts) in rows {
        assert_eq!(story.standing() == Standing::Void, doubts, "{row}");
        assert_eq!(story.changes.len(), usize::from(doubts), "{row}: said once");
    }
}

#[test]
fn a_report_that_comes_late_says_nothing() {
    let mut story = a_probe_of(5).after(SECOND).fail(0..2);
    let report = HostReport {
        probe: PROBE,
        workspace: story.workspace,
        host: HostMark(2),
        failed: true,
        finished_at: START - SECOND,
    };
    assert_eq!(story.doubts.hear(report, story.now), None);
}

#[test]
fn canaries_that_answer_at_once_say_that_the_hosts_are_down() {
    let story = a_probe_of(5).fail(0..5).canaries(2);
    assert_eq!((story.relief(), story.standing()), (Some(Relief::Canaries), Standing::Sound));
}

#[test]
fn after_silent_canaries_only_failures_from_then_on_count() {
    let silent = a_probe_of(5).fail(0..5).canaries(1).after(10 * SECOND);
    assert_eq!(silent.standing(), Standing::Void);
    let story = silent.canaries(3);
    assert_eq!(story.relief(), Some(Relief::Canaries));
    assert_eq!(story.standing(), Standing::SoundSince(START + 10 * SECOND));
}

// issue 16, point 5: five sites of one operator that fail together are told at once
#[test]
fn without_canaries_a_doubt_mutes_nothing() {
    let mut story = story(false).answer(0..5).fail(0..5);
    assert_eq!(story.standing(), Standing::Sound);
    assert_eq!(story.doubts.suspicion(PROBE), Some((3, 5)), "when it began");
    let none = Canaries { asked: 0, answered: 0 };
    assert_eq!(story.doubts.hear_canaries(PROBE, none, story.now), None);
    let story = story.after(SECOND).answer(0..5);
    assert_eq!((story.relief(), story.standing()), (Some(Relief::Hosts), Standing::Sound));
    assert_eq!(story.doubts.suspicion(PROBE), None);
}

// issue 16, point 5: the hosts of one workspace delayed the alerts of another
#[test]
fn each_workspace_has_the_same_weight() {
    let two = |other: u64| a_probe_of(12).of(2).answer(20..20 + other).of(1).fail(0..12);
    assert_eq!(two(3).standing(), Standing::Sound, "half of the workspaces are fine");
    assert_eq!(two(3).of(2).fail(20..21).standing(), Standing::Void);
    assert_eq!(a_probe_of(12).fail(0..12).standing(), Standing::Void);
}

#[test]
fn a_doubt_ends_when_half_of_the_hosts_answer() {
    let story = a_probe_of(6).fail(0..6).after(SECOND).answer(0..2);
    assert_eq!(story.standing(), Standing::Void);
    let story = story.answer(2..3);
    assert_eq!(story.relief(), Some(Relief::Hosts));
    assert_eq!(story.standing(), Standing::SoundSince(START + SECOND));
}

// A real outage of most hosts is not hidden for ever.
#[test]
fn a_doubt_ends_by_itself() {
    let story = a_probe_of(5).fail(0..5);
    assert_eq!(story.doubts.wake_at(), Some(START + limits::SELF_DOUBT_DECIDED_WITHIN));
    let story = story.after(limits::SELF_DOUBT_DECIDED_WITHIN).fail(0..5);
    assert_eq!((story.relief(), story.standing()), (Some(Relief::Time), Standing::Sound));
    let mut silent = a_probe_of(5).fail(0..5);
    while silent.standing() == Standing::Void {
        silent = silent.canaries(0).after(60 * SECOND);
    }
    assert_eq!(silent.now, START + limits::SELF_DOUBT_MAX);
    assert_eq!(silent.relief(), Some(Relief::Time));
}

#[test]
fn hosts_that_are_gone_for_hours_are_no_hosts_of_the_probe() {
    let story = a_probe_of(20).after(FORGOTTEN_AFTER + SECOND).answer(0..5).fail(0..3);
    assert_eq!(story.standing(), Standing::Void);
}

#[test]
fn a_clock_that_is_set_back_leaves_no_doubt_and_no_deafness_behind() {
    let back = |mut story: Story| {
        story.now = story.now - 60 * 60 * SECOND;
        story.report(0..1, false)
    };
    let sound = back(a_probe_of(5).fail(0..5).after(2 * SECOND).answer(0..3));
    assert_eq!(sound.standing(), Standing::SoundSince(sound.now), "later failures count");
    let turned = back(a_probe_of(5).after(SECOND).answer(0..5)).fail(0..3);
    assert_eq!(turned.standing(), Standing::Void, "what hosts say now is heard");
    let void = back(a_probe_of(5).fail(0..5));
    let ended = void.after(limits::SELF_DOUBT_UNCONFIRMED_MAX);
    assert_eq!(ended.relief(), Some(Relief::Time));
}
