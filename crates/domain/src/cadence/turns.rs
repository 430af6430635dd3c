//! Shares the capacity for checks: workspaces take turns if more checks are due than may run, so
//! that hanging targets of one workspace do not delay the others
//! (docs/decisions/0046-fair-scheduling.md). Pure state: the server's pipeline runs and queues the
//! jobs.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rules::{Timestamp, WorkspaceId};

/// One in this many permits is reserved for workspaces that run less than their share.
const RESERVED_SHARE: usize = 8;

/// The permits for checks, with their holders and the waiting jobs.
///
/// A free permit goes to the workspace with the fewest running checks, and within it to the check
/// with the earliest deadline. A workspace that already has its share cannot take the last eighth
/// of the permits, unless it is the only workspace. Running checks cannot be interrupted, so this
/// reserve lets other workspaces start at once.
#[derive(Debug)]
pub struct Turns<J> {
    places: usize,
    running: usize,
    /// Number of workspaces with monitors.
    sharing: usize,
    workspaces: HashMap<WorkspaceId, Workspace<J>>,
    /// The workspaces with waiting jobs, fewest running checks first.
    order: BTreeSet<Rank>,
    waiting: usize,
    /// Jobs that passed their deadline and were not yet returned by `expired()`.
    expired: Vec<J>,
    /// Makes the key of each waiting job unique.
    sequence: u64,
}

#[derive(Debug)]
struct Workspace<J> {
    running: usize,
    waiting: BTreeMap<(Timestamp, u64), J>,
}

/// Number of running checks, earliest key of the waiting ones, and their workspace.
type Rank = (usize, (Timestamp, u64), WorkspaceId);

impl<J> Turns<J> {
    /// Allows at most `places` checks at a time.
    pub fn new(places: usize) -> Self {
        Self {
            places: places.max(1),
            running: 0,
            sharing: 0,
            workspaces: HashMap::new(),
            order: BTreeSet::new(),
            waiting: 0,
            expired: Vec::new(),
            sequence: 0,
        }
    }

    /// Sets the number of workspaces with monitors, which defines the share of each.
    pub const fn share_among(&mut self, workspaces: usize) {
        self.sharing = workspaces;
    }

    /// Returns the job if it may run now. Otherwise queues it until `deadline` and returns `None`.
    pub fn admit(&mut self, workspace: WorkspaceId, deadline: Timestamp, job: J) -> Option<J> {
        let of = self.workspaces.entry(workspace).or_default();
        if may_run(self.places, self.running, self.sharing, of.running) {
            debug_assert!(of.waiting.is_empty(), "a workspace that may run has no waiting jobs");
            of.running += 1;
            self.running += 1;
            return Some(job);
        }
        let before = of.rank(workspace);
        of.waiting.insert((deadline, self.sequence), job);
        self.sequence += 1;
        self.waiting += 1;
        self.rank_anew(workspace, before);
        None
    }

    /// Releases the permit of an ended check of this workspace.
    pub fn ended(&mut self, workspace: WorkspaceId) {
        let Some(of) = self.workspaces.get_mut(&workspace) else { return };
        let before = of.rank(workspace);
        of.running = of.running.saturating_sub(1);
        self.running = self.running.saturating_sub(1);
        self.rank_anew(workspace, before);
    }

    /// Returns the next waiting job that may run, or `None` if no waiting workspace may take a
    /// permit. Call it again after each returned job and after each [`Self::ended`].
    pub fn next(&mut self, now: Timestamp) -> Option<J> {
        loop {
            let (running, (deadline, _), workspace) = *self.order.first()?;
            let expired = deadline <= now;
            if !expired && !may_run(self.places, self.running, self.sharing, running) {
                return None;
            }
            let of = self.workspaces.get_mut(&workspace)?;
            let before = of.rank(workspace);
            let (_, job) = of.waiting.pop_first()?;
            self.waiting -= 1;
            let run = if expired {
                self.expired.push(job);
                None
            } else {
                of.running += 1;
                self.running += 1;
                Some(job)
            };
            self.rank_anew(workspace, before);
            if run.is_some() {
                return run;
            }
        }
    }

    /// Removes and returns the jobs that passed their deadline; they are not run.
    pub fn expired(&mut self, now: Timestamp) -> Vec<J> {
        let late: Vec<WorkspaceId> = self
            .order
            .iter()
            .filter(|(_, (deadline, _), _)| *deadline <= now)
            .map(|(_, _, workspace)| *workspace)
            .collect();
        for workspace in late {
            let Some(of) = self.workspaces.get_mut(&workspace) else { continue };
            let before = of.rank(workspace);
            while let Some(first) = of.waiting.first_entry()
                && first.key().0 <= now
            {
                self.expired.push(first.remove());
                self.waiting -= 1;
            }
            self.rank_anew(workspace, before);
        }
        std::mem::take(&mut self.expired)
    }

    /// Removes and returns all waiting jobs; they are not run.
    pub fn drain(&mut self) -> Vec<J> {
        self.order.clear();
        self.waiting = 0;
        let mut all = std::mem::take(&mut self.expired);
        for of in self.workspaces.values_mut() {
            all.extend(std::mem::take(&mut of.waiting).into_values());
        }
        self.workspaces.retain(|_, of| of.running > 0);
        all
    }

    /// Returns the number of waiting checks.
    pub const fn waiting(&self) -> usize {
        self.waiting
    }

    /// Returns the number of workspaces with waiting checks.
    pub fn workspaces_waiting(&self) -> usize {
        self.order.len()
    }

    /// Updates the position of a workspace in the order and drops an idle workspace.
    fn rank_anew(&mut self, workspace: WorkspaceId, before: Option<Rank>) {
        let after = self.workspaces.get(&workspace).and_then(|of| of.rank(workspace));
        if before != after {
            if let Some(before) = before {
                self.order.remove(&before);
            }
            self.order.extend(after);
        }
        if self.workspaces.get(&workspace).is_some_and(Workspace::has_nothing) {
            self.workspaces.remove(&workspace);
        }
    }
}

impl<J> Workspace<J> {
    fn rank(&self, workspace: WorkspaceId) -> Option<Rank> {
        let (first, _) = self.waiting.first_key_value()?;
        Some((self.running, *first, workspace))
    }

    fn has_nothing(&self) -> bool {
        self.running == 0 && self.waiting.is_empty()
    }
}

impl<J> Default for Workspace<J> {
    fn default() -> Self {
        Self { running: 0, waiting: BTreeMap::new() }
    }
}

/// Returns whether a workspace with `own` running checks may start another one.
const fn may_run(places: usize, running: usize, sharing: usize, own: usize) -> bool {
    let free = places.saturating_sub(running);
    let is_below_its_share = own * sharing < places;
    free > places / RESERVED_SHARE || (free > 0 && (sharing <= 1 || is_below_its_share))
}

#[cfg(test)]
mod tests {
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
        turns.share_among(2);
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
        turns.ended(GREEDY);
        assert_eq!(turns.next(NOW), Some(102), "the workspace with the fewest checks is next");
        assert_eq!(turns.next(NOW), None);
    }

    #[test]
    fn only_workspace_gets_all_permits() {
        let mut turns = Turns::new(16);
        turns.share_among(1);
        for job in 0..16 {
            assert_eq!(turns.admit(GREEDY, LATER, job), Some(job));
        }
        assert_eq!(turns.admit(GREEDY, LATER, 16), None);
        turns.ended(GREEDY);
        assert_eq!(turns.next(NOW), Some(16));
    }

    #[test]
    fn earliest_deadline_runs_first_within_a_workspace() {
        let mut turns = Turns::new(1);
        turns.share_among(1);
        assert!(turns.admit(GREEDY, LATER, 0).is_some());
        let soon = LATER - Duration::from_secs(1);
        assert_eq!(turns.admit(GREEDY, LATER, 1), None);
        assert_eq!(turns.admit(GREEDY, soon, 2), None);
        turns.ended(GREEDY);
        assert_eq!(turns.next(NOW), Some(2));
    }

    #[test]
    fn job_past_its_deadline_expires() {
        let mut turns = shared_with_a_greedy_workspace();
        let soon = NOW + Duration::from_secs(1);
        assert_eq!(turns.admit(GREEDY, soon, 50), None);
        turns.ended(GREEDY);
        assert_eq!(turns.next(soon), Some(14), "the next one still has time");
        assert_eq!(turns.expired(soon), [50]);
        assert_eq!(turns.expired(LATER).len(), 5);
        assert_eq!((turns.waiting(), turns.workspaces_waiting()), (0, 0));
    }

    #[test]
    fn drain_leaves_no_waiting_jobs() {
        let mut turns = shared_with_a_greedy_workspace();
        assert_eq!(turns.drain().len(), 6);
        turns.ended(GREEDY);
        assert_eq!((turns.next(NOW), turns.waiting()), (None, 0));
    }

    proptest! {
        // For any sequence of jobs, no permit is used twice and no job is lost. A workspace below
        // its share waits only while no permit is free.
        #[test]
        fn permits_are_shared_fairly(
            places in 1_usize..40,
            sharing in 1_u64..6,
            steps in prop::collection::vec((0_u64..6, 0_i64..50, any::<bool>()), 1..400),
        ) {
            let mut turns = Turns::new(places);
            turns.share_among(sharing as usize);
            let mut running: Vec<u64> = Vec::new();
            let (mut given, mut ended, mut expired) = (0_usize, 0, 0);
            for (step, (who, deadline, ends)) in steps.into_iter().enumerate() {
                let now = NOW + Duration::from_millis(step as u64);
                let who = who % sharing;
                if ends && !running.is_empty() {
                    let one = running.swap_remove(who as usize % running.len());
                    turns.ended(WorkspaceId::from_bits(one));
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
                    prop_assert_eq!(*own, runs);
                    let is_below = runs * (sharing as usize) < places;
                    prop_assert!(running.len() == places || !is_below);
                }
            }
        }
    }
}
