//! Properties of the judge for any sequence of events.

use proptest::prelude::*;

use super::*;
use crate::judge::verdict::{Tie, verdict};
use crate::judge::votes::{Tally, is_recovery_unconfirmed};

const REGIONS: usize = 5;

/// A result in a set: its outcome is a function of its identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Report {
    region: usize,
    slot: i64,
    trigger: Trigger,
}

/// An event in the life of a monitor.
#[derive(Clone, Debug)]
enum Happening {
    Report(usize, Outcome),
    Pass(u64),
    /// An edit: the first regions are served by the probes of these numbers.
    Edit(Vec<u16>),
    Pause,
    Resume,
    Restart,
    Resolve,
}

fn outcomes() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        4 => Just(Outcome::Success),
        4 => Just(Outcome::Failure),
        2 => Just(Outcome::Degraded),
        1 => Just(Outcome::Skipped),
    ]
}

fn probes() -> impl Strategy<Value = Vec<u16>> {
    prop::collection::vec(0_u16..4, 1..=REGIONS)
}

fn reports() -> impl Strategy<Value = Vec<Report>> {
    let trigger =
        prop::sample::select(vec![Trigger::Scheduled, Trigger::Confirmation, Trigger::Manual]);
    let report = (0..REGIONS, 0_i64..4, trigger);
    let report = report.prop_map(|(region, slot, trigger)| Report { region, slot, trigger });
    prop::collection::btree_set(report, 1..20).prop_map(|set| set.into_iter().collect())
}

/// Returns a set of results in two orders.
fn reports_in_two_orders() -> impl Strategy<Value = (Vec<Report>, Vec<Report>)> {
    reports().prop_flat_map(|reports| (Just(reports.clone()), Just(reports).prop_shuffle()))
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let happening = prop_oneof![
        16 => (0..REGIONS, outcomes()).prop_map(|(region, outcome)| Happening::Report(region, outcome)),
        4 => (0_u64..90_000).prop_map(Happening::Pass),
        1 => (0_u64..300_000).prop_map(Happening::Pass),
        1 => probes().prop_map(Happening::Edit),
        1 => Just(Happening::Pause),
        1 => Just(Happening::Resume),
        1 => Just(Happening::Restart),
        1 => Just(Happening::Resolve),
    ];
    prop::collection::vec(happening, 1..80)
}

/// Returns the result of a report; the outcome depends only on `seed` and identity.
fn result(report: Report, seed: u64) -> CheckResult {
    let slot = START + Duration::from_secs(20 * report.slot as u64);
    let mixed = (seed
        ^ (report.region as u64 * 31 + report.slot as u64 * 7 + report.trigger as u64))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let outcome = match mixed >> 61 {
        0..3 => Outcome::Failure,
        3..6 => Outcome::Success,
        6 => Outcome::Degraded,
        _ => Outcome::Skipped,
    };
    let mut result = result_of(1, Region::ALL[report.region], slot, outcome);
    result.identity.trigger = report.trigger;
    result.finished_at = slot + Duration::from_millis(mixed >> 50);
    result
}

/// Returns the story of a monitor that receives the reports in this order, all within a period.
fn received_in_order(probes: &[u16], reports: &[Report], seed: u64) -> MonitorScenario {
    let mut story = a_monitor().served_by(probes);
    story.now = START + PERIOD;
    for report in reports {
        story.receive(&result(*report, seed));
    }
    story.now = START + 2 * PERIOD;
    story.tick();
    story
}

/// Returns every status that the votes of this state allow, for any previous status.
fn possible(story: &MonitorScenario) -> Vec<MonitorStatus> {
    let mut statuses = Vec::new();
    for slow in [false, true] {
        let judge_state = JudgeState { slow, ..story.judge_state.clone() };
        let tally = Tally::count(&story.policy, &judge_state, &story.suspicions, story.now);
        let ties: &[Tie] =
            if tally.is_tied() { &[Tie::Harmless, Tie::Young, Tie::Old] } else { &[Tie::Harmless] };
        // An outage may wait for the regions that have not reported since it ended.
        let (policy, suspicions) = (&story.policy, &story.suspicions);
        if is_recovery_unconfirmed(policy, &judge_state, suspicions, story.now) {
            statuses.push(MonitorStatus::Error);
        }
        let before = MonitorStatus::ALL.iter().flat_map(|was| ties.iter().map(|tie| (*was, *tie)));
        statuses.extend(
            before.map(|(was, tie)| verdict(&tally, was, tie).map_or(was, |found| found.status)),
        );
    }
    statuses.sort_unstable();
    statuses.dedup();
    statuses
}

fn happen(story: MonitorScenario, happening: &Happening) -> MonitorScenario {
    match happening {
        Happening::Report(region, outcome) => story.reports(Region::ALL[*region], *outcome),
        Happening::Pass(millis) => story.after(Duration::from_millis(*millis)),
        Happening::Edit(probes) => {
            let regions = policy_of(probes).regions;
            story.edited(|policy| policy.regions = regions)
        }
        Happening::Pause => story.paused(),
        Happening::Resume => story.resumed(),
        Happening::Restart => story.restarted(),
        Happening::Resolve => story.resolved(),
    }
}

proptest! {
    #[test]
    fn result_order_does_not_change_state(
        (one, other) in reports_in_two_orders(), probes in probes(), seed: u64,
    ) {
        let one = received_in_order(&probes, &one, seed);
        let other = received_in_order(&probes, &other, seed);
        prop_assert_eq!(&one.judge_state.regions, &other.judge_state.regions);
    }

    // The order may matter only where the table of verdicts uses the previous status: ties,
    // degraded votes, few votes.
    #[test]
    fn result_order_does_not_change_status(
        (one, other) in reports_in_two_orders(), probes in probes(), seed: u64,
    ) {
        let one = received_in_order(&probes, &one, seed);
        let other = received_in_order(&probes, &other, seed);
        let possible = possible(&one);
        prop_assert!(possible.contains(&one.status()) && possible.contains(&other.status()));
        if possible.len() == 1 {
            prop_assert_eq!(one.status(), other.status());
        }
    }

    // No verdict is reached within a grace period, so the order cannot matter for what follows.
    #[test]
    fn results_within_grace_period_are_judged_together(
        (one, other) in reports_in_two_orders(), probes in probes(), seed: u64,
    ) {
        let transitions_of = |reports: &[Report]| {
            let mut story = a_monitor().served_by(&probes).settled().restarted();
            // The grace period begins after all results, so that no region counts as reported.
            let end = START + 2 * PERIOD;
            story.judge_state.grace_period = Some(GracePeriod { since: end, until: end });
            for report in reports {
                story.receive(&result(*report, seed));
            }
            story.now = end;
            story.tick();
            (story.judge_state, story.transitions)
        };
        let (one, other) = (transitions_of(&one), transitions_of(&other));
        prop_assert_eq!(one.0.status, other.0.status);
        prop_assert_eq!(one.1, other.1);
    }

    #[test]
    fn repeated_result_changes_nothing(
        reports in reports(), probes in probes(), seed: u64, again in any::<prop::sample::Index>(),
    ) {
        let mut story = a_monitor().served_by(&probes);
        story.now = START + PERIOD;
        for count in 1..=reports.len() {
            story.receive(&result(reports[count - 1], seed));
            let before = story.clone();
            story.receive(&result(reports[again.index(count)], seed));
            prop_assert_eq!(&story.judge_state, &before.judge_state);
            prop_assert_eq!(story.effects.changed, Changed::Nothing);
            prop_assert_eq!(story.effects.wake_at, before.effects.wake_at);
        }
    }

    // A starting process has an older state and all results.
    #[test]
    fn recalled_results_restore_the_state(
        (reports, recalled) in reports_in_two_orders(), probes in probes(), seed: u64, kept in 0_usize..20,
    ) {
        let story = received_in_order(&probes, &reports, seed);
        let mut judge_state = received_in_order(&probes, &reports[..kept.min(reports.len())], seed).judge_state;
        for report in recalled {
            let result = result(report, seed);
            judge_state.recall(&result.identity, result.finished_at, result.outcome);
        }
        prop_assert_eq!(judge_state.regions, story.judge_state.regions);
    }

    // design: §5 "results of an older revision are stored but not judged"
    #[test]
    fn results_of_older_revisions_are_ignored(
        happenings in happenings(), region in 0..REGIONS, outcome in outcomes(), age in 1_u32..3,
    ) {
        let mut story = a_monitor().in_regions(3).edited(|_| ()).edited(|_| ());
        for happening in &happenings {
            story = happen(story, happening);
        }
        let before = story.judge_state.clone();
        let revision = story.policy.revision - age;
        story.receive(&result_of(revision, Region::ALL[region], story.now, outcome));
        prop_assert_eq!(story.judge_state, before);
    }

    #[test]
    fn incident_closes_once_before_the_next_opens(
        probes in probes(), happenings in happenings(),
    ) {
        let mut story = a_monitor().served_by(&probes);
        for happening in &happenings {
            story = happen(story, happening);
        }
        let story = story.deleted();
        let (mut open, mut status, mut resolved) = (None, MonitorStatus::Unknown, false);
        for transition in &story.transitions {
            prop_assert_eq!(transition.from, status);
            status = transition.to;
            let is_by_hand = transition.why == StatusReason::Resolved;
            prop_assert!(!is_by_hand || transition.from == transition.to);
            resolved = status == MonitorStatus::Error && (resolved || is_by_hand);
            match transition.incident {
                IncidentChange::None => prop_assert_eq!(open, None),
                IncidentChange::Opened(id) => prop_assert_eq!(open.replace(id), None),
                IncidentChange::Suspended(id) | IncidentChange::Resumed(id) => {
                    prop_assert_eq!(open, Some(id));
                }
                IncidentChange::Closed { id, reason: _ } => prop_assert_eq!(open.take(), Some(id)),
            }
            prop_assert!(status != MonitorStatus::Error || open.is_some() != resolved);
            prop_assert!(status == MonitorStatus::Error || status == MonitorStatus::Unknown || open.is_none());
        }
        prop_assert_eq!(open, None);
        prop_assert_eq!(story.judge_state.incident, None);
    }

    // design: §5 "2f = n": a strict majority is needed for an error
    #[test]
    fn tie_never_causes_an_error(probes in probes(), happenings in happenings()) {
        let mut story = a_monitor().served_by(&probes);
        for happening in &happenings {
            let before = story.transitions.len();
            story = happen(story, happening);
            for transition in &story.transitions[before..] {
                if transition.why == StatusReason::Resolved {
                    prop_assert_eq!(transition.from, transition.to);
                } else if let (MonitorStatus::Error, StatusReason::Failing(share)) = (transition.to, transition.why) {
                    prop_assert!(2 * share.votes > share.of_votes);
                } else {
                    prop_assert!(transition.to != MonitorStatus::Error, "{}", format_transition(transition));
                }
            }
        }
    }

    #[test]
    fn status_is_unknown_without_votes(probes in probes(), happenings in happenings()) {
        let mut story = a_monitor().served_by(&probes);
        for happening in &happenings {
            story = happen(story, happening);
            let tally = Tally::count(&story.policy, &story.judge_state, &story.suspicions, story.now);
            if !story.policy.active || (story.judge_state.grace_period.is_none() && tally.votes == 0) {
                prop_assert_eq!(story.status(), MonitorStatus::Unknown);
            }
        }
        story = story.after(10 * PERIOD);
        prop_assert_eq!(story.status(), MonitorStatus::Unknown);
    }

    #[test]
    fn another_failing_region_never_ends_an_error(
        probes in probes(), reports in reports(), seed: u64, probe in 0_u16..5,
        was in prop::sample::select(MonitorStatus::ALL), slow: bool, old: bool,
    ) {
        let mut story = received_in_order(&probes, &reports, seed);
        story.judge_state.slow = slow;
        let judged = |story: &MonitorScenario| {
            let tally = Tally::count(&story.policy, &story.judge_state, &story.suspicions, story.now);
            let tie = match (tally.is_tied() && was == MonitorStatus::Error, old) {
                (false, _) => Tie::Harmless,
                (true, false) => Tie::Young,
                (true, true) => Tie::Old,
            };
            verdict(&tally, was, tie).map_or(was, |found| found.status)
        };
        let before = judged(&story);
        let more: Vec<u16> = probes.iter().copied().chain([probe]).collect();
        story.policy = policy_of(&more);
        story.judge_state.align(&story.policy);
        let recorded = RegionResult {
            slot: story.now,
            finished_at: story.now,
            revision: 1,
            trigger: Trigger::Scheduled,
            vote: Vote::Failing,
        };
        story.judge_state.regions[probes.len()].record(recorded);
        if before == MonitorStatus::Error {
            prop_assert_eq!(judged(&story), MonitorStatus::Error);
        }
    }
}
