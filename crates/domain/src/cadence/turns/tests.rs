//! Unit tests and properties of turns: which checks run, which wait, and which is next.

use std::collections::VecDeque;
use std::time::Duration;

use proptest::prelude::*;

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);
const LATER: Timestamp = Timestamp::from_millis(1_800_000_030_000);
const GREEDY: WorkspaceId = WorkspaceId::from_bits(1);
const MODEST: WorkspaceId = WorkspaceId::from_bits(2);

/// Sixteen permits for two workspaces, one of which submits twenty jobs.
fn shared_with_a_greedy_workspace() -> Turns<u32> {
    let mut turns = Turns::new(16);
    turns.join(GREEDY);
    turns.join(MODEST);
    for job in 0..20 {
        let runs = turns.admit(GREEDY, LATER, job).is_some();
        assert_eq!(runs, job < 14, "two of sixteen permits are reserved");
    }
    turns
}

#[test]
fn modest_workspace_runs_beside_a_greedy_one() {
    let mut turns = shared_with_a_greedy_workspace();
    assert_eq!((turns.waiting(), turns.workspaces_waiting()), (6, 1));
    assert_eq!(turns.admit(MODEST, LATER, 100), Some(100));
    assert_eq!(turns.admit(MODEST, LATER, 101), Some(101));
    assert_eq!(turns.admit(MODEST, LATER, 102), None, "all sixteen permits are taken");
    turns.release(GREEDY);
    assert_eq!(turns.next(NOW), Some(102), "the workspace with the fewest checks is next");
    assert_eq!(turns.next(NOW), None);
}

#[test]
fn only_workspace_gets_all_permits() {
    let mut turns = Turns::new(16);
    turns.join(GREEDY);
    for job in 0..16 {
        assert_eq!(turns.admit(GREEDY, LATER, job), Some(job));
    }
    assert_eq!(turns.admit(GREEDY, LATER, 16), None);
    turns.release(GREEDY);
    assert_eq!(turns.next(NOW), Some(16));
}

#[test]
fn earliest_deadline_runs_first_within_a_workspace() {
    let mut turns = Turns::new(1);
    turns.join(GREEDY);
    assert!(turns.admit(GREEDY, LATER, 0).is_some());
    let soon = LATER - Duration::from_secs(1);
    assert_eq!(turns.admit(GREEDY, LATER, 1), None);
    assert_eq!(turns.admit(GREEDY, soon, 2), None);
    turns.release(GREEDY);
    assert_eq!(turns.next(NOW), Some(2));
}

#[test]
fn job_past_its_deadline_expires() {
    let mut turns = shared_with_a_greedy_workspace();
    let soon = NOW + Duration::from_secs(1);
    assert_eq!(turns.admit(GREEDY, soon, 50), None);
    turns.release(GREEDY);
    assert_eq!(turns.next(soon), Some(14), "the next one still has time");
    assert_eq!(turns.expired(soon), [50]);
    assert_eq!(turns.expired(LATER).len(), 5);
    assert_eq!((turns.waiting(), turns.workspaces_waiting()), (0, 0));
}

#[test]
fn drain_leaves_no_waiting_jobs() {
    let mut turns = shared_with_a_greedy_workspace();
    assert_eq!(turns.drain().len(), 6);
    turns.release(GREEDY);
    assert_eq!((turns.next(NOW), turns.waiting()), (None, 0));
}

// decision 0046: "the fewest running checks for its weight"
#[test]
fn weights_change_while_checks_wait() {
    let mut turns = Turns::new(8);
    for workspace in [GREEDY, MODEST] {
        turns.join(workspace);
        turns.set_weight(workspace, 1);
    }
    for (workspace, first) in [(GREEDY, 0), (MODEST, 100)] {
        for job in first..first + 20 {
            let _ = turns.admit(workspace, LATER, job);
        }
    }
    let runs = |turns: &Turns<u32>, of| turns.workspaces[&of].load.running;
    assert_eq!((runs(&turns, GREEDY), runs(&turns, MODEST)), (7, 1));
    turns.set_weight(MODEST, 3);
    for _ in 0..5 {
        turns.release(GREEDY);
        assert!(turns.next(NOW).is_some());
    }
    assert_eq!((runs(&turns, GREEDY), runs(&turns, MODEST)), (2, 6), "one to three");
    turns.remove_workspace(GREEDY);
    assert_eq!(turns.sharing_weight, 3);
    turns.set_weight(MODEST, 0);
    assert_eq!((turns.sharing_weight, turns.weights.len()), (1, 0));
}

proptest! {
    // Workspaces with more jobs than permits share by weight, in whatever order the jobs came. No permit is
    // free, and no workspace has one for which another with fewer checks per weight waits.
    #[test]
    fn backlogged_workspaces_share_by_weight(
        places in 1_usize..64,
        weights in prop::collection::vec(1_u32..9, 1..6),
        arrivals in prop::collection::vec(0_usize..6, 0..200),
    ) {
        let mut turns = Turns::new(places);
        let of = |who: usize| WorkspaceId::from_bits(who as u64);
        for (who, weight) in weights.iter().enumerate() {
            turns.join(of(who));
            turns.set_weight(of(who), *weight);
        }
        let mut running: VecDeque<usize> = VecDeque::new();
        let all = (0..weights.len()).flat_map(|who| std::iter::repeat_n(who, 3 * places));
        let first: Vec<_> = arrivals.into_iter().map(|who| who % weights.len()).collect();
        for who in first.into_iter().chain(all) {
            running.extend(turns.admit(of(who), LATER, who));
        }
        for _ in 0..places {
            let ended = running.pop_front().unwrap_or_default();
            turns.release(of(ended));
            running.extend(std::iter::from_fn(|| turns.next(NOW)));
        }
        let runs = |who| running.iter().filter(|it| **it == who).count();
        prop_assert_eq!(running.len(), places);
        for (one, weight) in weights.iter().enumerate() {
            for (other, others) in weights.iter().enumerate() {
                let (more, less) = (runs(one).saturating_sub(1), runs(other));
                prop_assert!(more * *others as usize <= less * *weight as usize);
            }
        }
    }

    // For any sequence of jobs, no permit is used twice and no job is lost. No job waits while more than the
    // reserve is free. A workspace below its share waits only while no permit is free.
    #[test]
    fn permits_are_shared_fairly(
        places in 1_usize..40,
        weights in prop::collection::vec(1_u32..5, 1..6),
        steps in prop::collection::vec((0_u64..6, 0_i64..50, any::<bool>()), 1..400),
    ) {
        let mut turns = Turns::new(places);
        let sharing = weights.len() as u64;
        for (who, weight) in (0..).zip(&weights) {
            turns.set_weight(WorkspaceId::from_bits(who), *weight);
            turns.join(WorkspaceId::from_bits(who));
        }
        let all_weights: u32 = weights.iter().sum();
        let mut running: Vec<u64> = Vec::new();
        let (mut given, mut ended, mut expired) = (0_usize, 0, 0);
        for (step, (who, deadline, ends)) in steps.into_iter().enumerate() {
            let now = NOW + Duration::from_millis(step as u64);
            let who = who % sharing;
            if ends && !running.is_empty() {
                let one = running.swap_remove(who as usize % running.len());
                turns.release(WorkspaceId::from_bits(one));
                ended += 1;
            } else {
                given += 1;
                let deadline = Timestamp::from_millis(now.as_millis() + deadline);
                running.extend(turns.admit(WorkspaceId::from_bits(who), deadline, who));
            }
            while let Some(job) = turns.next(now) {
                running.push(job);
            }
            expired += turns.expired(now).len();
            prop_assert!(running.len() <= places);
            prop_assert_eq!(given, running.len() + ended + turns.waiting() + expired);
            for (own, _, workspace) in &turns.order {
                let runs = running.iter().filter(|it| **it == workspace.bits()).count();
                prop_assert_eq!(own.running, runs);
                let weight = weights[workspace.bits() as usize] as usize;
                let is_below = runs * (all_weights as usize) < places * weight;
                prop_assert!(running.len() == places || !is_below);
                prop_assert!(places - running.len() <= places / RESERVED_SHARE);
            }
        }
    }
}
