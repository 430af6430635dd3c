//! Who checks next where more checks are due than may run at a time: workspaces take turns, so that
//! one whose targets hang delays nobody else's checks (docs/decisions/0046-fair-scheduling.md). Pure
//! state: what runs, and where it waits, belongs to the server's pipeline.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rules::{Timestamp, WorkspaceId};

/// One place in so many is kept for workspaces that run less than their share.
const RESERVED_SHARE: usize = 8;

/// The places for checks, who holds them, and who waits for one.
///
/// A free place goes to the workspace that runs the fewest checks, and within it to the check whose
/// deadline is the earliest. The last eighth of the places is out of reach for a workspace that has
/// its share of all places already, unless it is the only one: running checks cannot be interrupted,
/// so this is what a check of somebody else finds free.
#[derive(Debug)]
pub struct Turns<J> {
    places: usize,
    running: usize,
    /// Workspaces that have monitors.
    sharing: usize,
    workspaces: HashMap<WorkspaceId, Workspace<J>>,
    /// The workspaces that wait, those that run the fewest checks first.
    order: BTreeSet<Rank>,
    waiting: usize,
    /// What was found to have waited too long, until somebody asks for it.
    expired: Vec<J>,
    /// Makes each waiting job's key unique.
    sequence: u64,
}

#[derive(Debug)]
struct Workspace<J> {
    running: usize,
    waiting: BTreeMap<(Timestamp, u64), J>,
}

/// Checks that run, the earliest deadline of those that wait, and whose they are.
type Rank = (usize, (Timestamp, u64), WorkspaceId);

impl<J> Turns<J> {
    /// So many checks may run at a time.
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

    /// So many workspaces have monitors: what each may have at least.
    pub const fn share_among(&mut self, workspaces: usize) {
        self.sharing = workspaces;
    }

    /// Gives the job a place, and the job back to be run; `None` where it has to wait, until
    /// `deadline` at most.
    pub fn admit(&mut self, workspace: WorkspaceId, deadline: Timestamp, job: J) -> Option<J> {
        let of = self.workspaces.entry(workspace).or_default();
        if may_run(self.places, self.running, self.sharing, of.running) {
            debug_assert!(of.waiting.is_empty(), "whoever may run does not wait");
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

    /// A check of this workspace has ended.
    pub fn ended(&mut self, workspace: WorkspaceId) {
        let Some(of) = self.workspaces.get_mut(&workspace) else { return };
        let before = of.rank(workspace);
        of.running = of.running.saturating_sub(1);
        self.running = self.running.saturating_sub(1);
        self.rank_anew(workspace, before);
    }

    /// The next job to run of those that wait; `None` where nobody waits who may have a place.
    /// Ask again after each job, and after each [`Self::ended`].
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

    /// What waited until its deadline: it is not run any more.
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

    /// All that waits: nothing of it is run any more.
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

    /// Checks that wait for a place.
    pub const fn waiting(&self) -> usize {
        self.waiting
    }

    /// Workspaces whose checks wait for a place.
    pub fn workspaces_waiting(&self) -> usize {
        self.order.len()
    }

    /// Moves a workspace from where it stood in the order to where it stands now, and forgets one
    /// that has nothing.
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

/// Whether a workspace that runs `own` checks may begin another one.
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

    /// Sixteen places for two workspaces, one of which wants twenty.
    fn beside_a_greedy_one() -> Turns<u32> {
        let mut turns = Turns::new(16);
        turns.share_among(2);
        for job in 0..20 {
            let runs = turns.admit(GREEDY, LATER, job).is_some();
            assert_eq!(runs, job < 14, "two of sixteen places are kept");
        }
        turns
    }

    #[test]
    fn a_modest_workspace_finds_a_place_beside_a_greedy_one() {
        let mut turns = beside_a_greedy_one();
        assert_eq!((turns.waiting(), turns.workspaces_waiting()), (6, 1));
        assert_eq!(turns.admit(MODEST, LATER, 100), Some(100));
        assert_eq!(turns.admit(MODEST, LATER, 101), Some(101));
        assert_eq!(turns.admit(MODEST, LATER, 102), None, "all sixteen are taken");
        turns.ended(GREEDY);
        assert_eq!(turns.next(NOW), Some(102), "whoever runs the fewest is next");
        assert_eq!(turns.next(NOW), None);
    }

    #[test]
    fn a_workspace_that_is_alone_has_all_places() {
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
    fn within_a_workspace_the_earliest_deadline_is_next() {
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
    fn what_waited_until_its_deadline_is_not_run() {
        let mut turns = beside_a_greedy_one();
        let soon = NOW + Duration::from_secs(1);
        assert_eq!(turns.admit(GREEDY, soon, 50), None);
        turns.ended(GREEDY);
        assert_eq!(turns.next(soon), Some(14), "the next one still has time");
        assert_eq!(turns.expired(soon), [50]);
        assert_eq!(turns.expired(LATER).len(), 5);
        assert_eq!((turns.waiting(), turns.workspaces_waiting()), (0, 0));
    }

    #[test]
    fn a_stop_leaves_nobody_waiting() {
        let mut turns = beside_a_greedy_one();
        assert_eq!(turns.drain().len(), 6);
        turns.ended(GREEDY);
        assert_eq!((turns.next(NOW), turns.waiting()), (None, 0));
    }

    proptest! {
        // However the jobs come and end, no place is used twice, nothing is lost, and whoever runs
        // less than its share waits only while no place is free.
        #[test]
        fn places_are_shared(
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
