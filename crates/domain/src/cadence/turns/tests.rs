//! Unit tests and properties of turns: which checks run, which wait, and which is next.

mod hanging;

use std::collections::VecDeque;
use std::time::Duration;

use proptest::prelude::*;

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);
const LATER: Timestamp = Timestamp::from_millis(1_800_000_030_000);
/// Lengths of a check that ends soon and of one that hangs.
const SHORT: Duration = Duration::from_millis(100);
const HANGS: Duration = Duration::from_mins(2);
const GREEDY: WorkspaceId = WorkspaceId::from_bits(1);
const MODEST: WorkspaceId = WorkspaceId::from_bits(2);

/// Returns sixteen permits for two workspaces, one of which submits twenty jobs.
fn shared_with_a_greedy_workspace() -> Turns<u32> {
    let mut turns = Turns::new(16);
    assert!(turns.join(GREEDY, NOW).is_empty());
    assert!(turns.join(MODEST, NOW).is_empty());
    for job in 0..20 {
        let runs = turns.admit(GREEDY, LATER, job).is_some();
        assert_eq!(runs, job < 12, "four of sixteen permits are reserved");
    }
    turns
}

#[test]
fn modest_workspace_runs_beside_a_greedy_one() {
    let mut turns = shared_with_a_greedy_workspace();
    assert_eq!((turns.waiting(), turns.workspaces_waiting()), (8, 1));
    assert_eq!(turns.admit(MODEST, LATER, 100), Some(100));
    assert_eq!(turns.admit(MODEST, LATER, 101), Some(101));
    assert_eq!(turns.admit(MODEST, LATER, 102), None, "two permits are for idle workspaces");
    let next = turns.release(GREEDY, SHORT, NOW);
    assert_eq!(next, [102], "the workspace with the fewest checks is next");
}

#[test]
fn only_workspace_leaves_a_few_permits_free() {
    for (permits, reserved) in [(7, 0), (16, 4), (800, 8)] {
        let mut turns = Turns::new(permits);
        assert!(turns.join(GREEDY, NOW).is_empty());
        let most = permits - reserved;
        for job in 0..most {
            assert_eq!(turns.admit(GREEDY, LATER, job), Some(job));
        }
        assert_eq!(turns.admit(GREEDY, LATER, most), None, "{permits} permits");
        assert_eq!(turns.release(GREEDY, SHORT, NOW), [most]);
    }
}

// A workspace that was created while another one had all permits missed four slots
#[test]
fn second_workspace_starts_at_once() {
    let mut turns = Turns::new(16);
    assert!(turns.join(GREEDY, NOW).is_empty());
    for job in 0..400 {
        turns.admit(GREEDY, LATER, job);
    }
    assert!(turns.join(MODEST, NOW).is_empty());
    assert_eq!(turns.admit(MODEST, LATER, 400), Some(400));
    // It keeps its turn, because the other one is far above its share.
    assert!(turns.release(MODEST, SHORT, NOW).is_empty());
    assert_eq!(turns.admit(MODEST, LATER, 401), Some(401));
}

#[test]
fn earliest_deadline_runs_first_within_a_workspace() {
    let mut turns = Turns::new(1);
    assert!(turns.join(GREEDY, NOW).is_empty());
    assert!(turns.admit(GREEDY, LATER, 0).is_some());
    let soon = LATER - Duration::from_secs(1);
    assert_eq!(turns.admit(GREEDY, LATER, 1), None);
    assert_eq!(turns.admit(GREEDY, soon, 2), None);
    assert_eq!(turns.release(GREEDY, SHORT, NOW), [2]);
}

#[test]
fn departure_of_a_workspace_releases_its_reserve() {
    let mut turns = Turns::new(48);
    assert!(turns.join(GREEDY, NOW).is_empty());
    assert!(turns.join(MODEST, NOW).is_empty());
    for job in 0..50 {
        turns.admit(GREEDY, LATER, job);
    }
    assert_eq!((turns.running, turns.waiting()), (38, 12));
    assert_eq!(turns.remove_workspace(MODEST, NOW), [38, 39]);
    assert_eq!((turns.running, turns.waiting()), (40, 10));
    assert_eq!(turns.admit(GREEDY, LATER, 50), None);
}

#[test]
fn greater_weight_releases_the_reserve() {
    let mut turns = shared_with_a_greedy_workspace();
    assert_eq!(turns.set_weight(GREEDY, 5, NOW), [12, 13], "five sixths are fourteen permits");
    assert!(turns.set_weight(GREEDY, 50, NOW).is_empty(), "two permits are for idle workspaces");
}

#[test]
fn job_past_its_deadline_expires() {
    let mut turns = shared_with_a_greedy_workspace();
    let soon = NOW + Duration::from_secs(1);
    assert_eq!(turns.admit(GREEDY, soon, 50), None);
    assert_eq!(turns.release(GREEDY, SHORT, soon), [12], "the next one still has time");
    assert_eq!(turns.expired(soon), [50]);
    assert_eq!(turns.expired(LATER).len(), 7);
    assert_eq!((turns.waiting(), turns.workspaces_waiting()), (0, 0));
}

#[test]
fn drain_leaves_no_waiting_jobs() {
    let mut turns = shared_with_a_greedy_workspace();
    assert_eq!(turns.drain().len(), 8);
    assert_eq!((turns.release(GREEDY, SHORT, NOW).len(), turns.waiting()), (0, 0));
}

// decision 0046: "the fewest running checks for its weight"
#[test]
fn weights_change_while_checks_wait() {
    let mut turns = Turns::new(8);
    for workspace in [GREEDY, MODEST] {
        assert!(turns.join(workspace, NOW).is_empty());
        assert!(turns.set_weight(workspace, 1, NOW).is_empty());
    }
    for (workspace, first) in [(GREEDY, 0), (MODEST, 100)] {
        for job in first..first + 20 {
            let _ = turns.admit(workspace, LATER, job);
        }
    }
    let runs = |turns: &Turns<u32>, of| turns.workspaces[&of].load.running;
    assert_eq!((runs(&turns, GREEDY), runs(&turns, MODEST)), (6, 1));
    assert!(turns.set_weight(MODEST, 3, NOW).is_empty(), "no permit is free");
    for _ in 0..5 {
        assert_eq!(turns.release(GREEDY, SHORT, NOW).len(), 1);
    }
    assert_eq!((runs(&turns, GREEDY), runs(&turns, MODEST)), (2, 5), "one to three");
    assert!(turns.remove_workspace(GREEDY, NOW).is_empty(), "no permit is free");
    assert_eq!(turns.sharing_weight, 3);
    assert!(turns.set_weight(MODEST, 0, NOW).is_empty());
    assert_eq!((turns.sharing_weight, turns.weights.len()), (1, 0));
}

proptest! {
    // Workspaces with more jobs than permits share by weight, in whatever order the jobs came. Only the permits
    // for new workspaces are free, and no workspace has one for which another with fewer checks per weight waits.
    #[test]
    fn backlogged_workspaces_share_by_weight(
        places in 1_usize..64,
        weights in prop::collection::vec(1_u32..9, 1..6),
        arrivals in prop::collection::vec(0_usize..6, 0..200),
    ) {
        let mut turns = Turns::new(places);
        let of = |who: usize| WorkspaceId::from_bits(who as u64);
        for (who, weight) in weights.iter().enumerate() {
            prop_assert!(turns.join(of(who), NOW).is_empty());
            prop_assert!(turns.set_weight(of(who), *weight, NOW).is_empty());
        }
        let mut running: VecDeque<usize> = VecDeque::new();
        let all = (0..weights.len()).flat_map(|who| std::iter::repeat_n(who, 3 * places));
        let first: Vec<_> = arrivals.into_iter().map(|who| who % weights.len()).collect();
        for who in first.into_iter().chain(all) {
            running.extend(turns.admit(of(who), LATER, who));
        }
        for _ in 0..places {
            let ended = running.pop_front().unwrap_or_default();
            running.extend(turns.release(of(ended), SHORT, NOW));
        }
        let runs = |who| running.iter().filter(|it| **it == who).count();
        let is_alone = weights.len() == 1;
        let below_share = running.len() < weights.len();
        let kept = if is_alone { turns.reserve() } else { turns.reserve_for_idle() };
        prop_assert!(running.len() == places - kept || (below_share && running.len() == places));
        for (one, weight) in weights.iter().enumerate() {
            for (other, others) in weights.iter().enumerate() {
                let (more, less) = (runs(one).saturating_sub(1), runs(other));
                prop_assert!(more * *others as usize <= less * *weight as usize);
            }
        }
    }

    // For any sequence of jobs, lengths, departures and weights, no permit is used twice and no job is lost. No
    // permit is free while an eligible job waits: no job waits while more than both reserves are free, one of a
    // workspace below its share only while no more than the reserve for idle ones is free, and one of an idle
    // workspace only while no permit is free, or the few for workspaces whose checks end soon. Jobs of a
    // workspace start by deadline.
    #[test]
    fn permits_are_shared_fairly(
        places in 1_usize..40,
        steps in prop::collection::vec((an_operation(), 0_u64..5, 0_i64..50), 1..400),
    ) {
        let mut model = Model::new(places);
        for (step, (operation, who, number)) in steps.into_iter().enumerate() {
            let now = NOW + Duration::from_millis(step as u64);
            model.apply(operation, WorkspaceId::from_bits(who), number, now)?;
            model.verify()?;
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Admit,
    End,
    EndSlowly,
    Join,
    Leave,
    Weigh,
}

fn an_operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        8 => Just(Operation::Admit),
        4 => Just(Operation::End),
        1 => Just(Operation::EndSlowly),
        1 => Just(Operation::Join),
        1 => Just(Operation::Leave),
        1 => Just(Operation::Weigh),
    ]
}

/// A job of the property: its workspace and its deadline.
type ModelJob = (WorkspaceId, Timestamp);

/// Turns, and what they must contain after each operation.
struct Model {
    turns: Turns<ModelJob>,
    sharing: HashSet<WorkspaceId>,
    weights: HashMap<WorkspaceId, u32>,
    running: Vec<WorkspaceId>,
    waiting: Vec<ModelJob>,
}

impl Model {
    fn new(places: usize) -> Self {
        Self {
            turns: Turns::new(places),
            sharing: HashSet::new(),
            weights: HashMap::new(),
            running: Vec::new(),
            waiting: Vec::new(),
        }
    }

    fn apply(
        &mut self,
        operation: Operation,
        workspace: WorkspaceId,
        number: i64,
        now: Timestamp,
    ) -> Result<(), TestCaseError> {
        let started = match operation {
            Operation::Admit => {
                let deadline = Timestamp::from_millis(now.as_millis() + number);
                self.waiting.push((workspace, deadline));
                let job = (workspace, deadline);
                self.turns.admit(workspace, deadline, job).into_iter().collect()
            }
            Operation::End | Operation::EndSlowly if self.running.is_empty() => Vec::new(),
            Operation::End | Operation::EndSlowly => {
                let one = self.running.swap_remove(number as usize % self.running.len());
                let is_short = matches!(operation, Operation::End);
                self.turns.release(one, if is_short { SHORT } else { HANGS }, now)
            }
            Operation::Join => {
                self.sharing.insert(workspace);
                self.turns.join(workspace, now)
            }
            Operation::Leave => {
                self.sharing.remove(&workspace);
                self.turns.remove_workspace(workspace, now)
            }
            Operation::Weigh => {
                self.weights.insert(workspace, 1 + number as u32 % 5);
                self.turns.set_weight(workspace, number as u32 % 5 + 1, now)
            }
        };
        for expired in self.turns.expired(now) {
            prop_assert!(expired.1 <= now);
            self.remove_waiting(expired)?;
        }
        for job in started {
            self.remove_waiting(job)?;
            self.running.push(job.0);
            let is_first = self.waiting.iter().all(|other| other.0 != job.0 || other.1 >= job.1);
            prop_assert!(is_first, "a job overtook an earlier deadline");
        }
        Ok(())
    }

    fn remove_waiting(&mut self, job: ModelJob) -> Result<(), TestCaseError> {
        let at = self.waiting.iter().position(|other| *other == job);
        prop_assert!(at.is_some(), "the job was given and has not started");
        self.waiting.remove(at.unwrap_or_default());
        Ok(())
    }

    fn verify(&self) -> Result<(), TestCaseError> {
        let (places, running) = (self.turns.permits, self.running.len());
        prop_assert!(running <= places);
        prop_assert_eq!(self.turns.waiting(), self.waiting.len());
        let weight = |of| self.weights.get(&of).copied().unwrap_or(1) as usize;
        let all: usize = self.sharing.iter().map(|of| weight(*of)).sum();
        for (workspace, _) in &self.waiting {
            let runs = self.running.iter().filter(|it| *it == workspace).count();
            prop_assert_eq!(self.turns.workspaces[workspace].load.running, runs);
            let (most, free) = (places / RESERVED_SHARE, places - running);
            let idle = self.sharing.iter().filter(|of| !self.running.contains(of)).count();
            let for_idle = most.min(idle.max(RESERVED_FOR_NEW));
            let is_shared = self.sharing.len() > 1;
            let both = for_idle + if is_shared { most } else { most.min(RESERVED_FOR_NEW) };
            let shared = if is_shared { places } else { places - both };
            let is_below_its_share = runs * all < shared * weight(*workspace);
            let kept = match runs {
                0 if !self.turns.paces.is_slow(*workspace) => 0,
                0 => for_idle.div_ceil(2),
                _ if is_below_its_share => for_idle,
                _ => both,
            };
            prop_assert!(free <= kept, "{free} permits are free, {kept} are kept");
        }
        Ok(())
    }
}
