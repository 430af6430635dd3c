//! Shares the capacity for checks: workspaces take turns if more checks are due than may run, so
//! that hanging targets of one workspace do not delay the others
//! (docs/decisions/0046-fair-scheduling.md). Pure state: the server's pipeline runs and queues the
//! jobs.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use rules::{Timestamp, WorkspaceId};

/// One in this many permits is reserved for workspaces that run less than their share.
const RESERVED_SHARE: usize = 8;
/// Maximum number of permits that are reserved while only one workspace has monitors. They run the
/// first checks of a second one.
const RESERVED_ALONE_MAX: usize = 4;

/// The permits for checks, with their holders and the waiting jobs.
///
/// A free permit goes to the workspace with the fewest running checks for its weight, and within it to
/// the check with the earliest deadline. A workspace's share of the permits is proportional to its
/// weight. A workspace that already has its share cannot take the last eighth of the permits; the only
/// workspace cannot take the last four of them. Running checks cannot be interrupted, so this reserve
/// lets other workspaces, also new ones, start at once.
#[derive(Debug)]
pub struct Turns<J> {
    permits: usize,
    running: usize,
    /// Workspaces that have monitors.
    sharing: HashSet<WorkspaceId>,
    /// Sum of the weights of those workspaces.
    sharing_weight: usize,
    /// Weights that are not 1.
    weights: HashMap<WorkspaceId, u32>,
    workspaces: HashMap<WorkspaceId, Workspace<J>>,
    /// The workspaces with waiting jobs, lowest load first.
    order: BTreeSet<Rank>,
    waiting: usize,
    /// Jobs that passed their deadline and were not yet returned by `expired()`.
    expired: Vec<J>,
    /// Makes the key of each waiting job unique.
    sequence: u64,
}

#[derive(Debug)]
struct Workspace<J> {
    load: Load,
    waiting: BTreeMap<(Timestamp, u64), J>,
}

/// Running checks of a workspace, ordered by their number per weight.
#[derive(Clone, Copy, Debug)]
struct Load {
    running: usize,
    weight: u32,
}

/// Load of a workspace, earliest key of its waiting checks, and its identifier.
type Rank = (Load, (Timestamp, u64), WorkspaceId);

impl<J> Turns<J> {
    /// Allows at most `permits` checks at a time.
    pub fn new(permits: usize) -> Self {
        Self {
            permits: permits.max(1),
            running: 0,
            sharing: HashSet::new(),
            sharing_weight: 0,
            weights: HashMap::new(),
            workspaces: HashMap::new(),
            order: BTreeSet::new(),
            waiting: 0,
            expired: Vec::new(),
            sequence: 0,
        }
    }

    /// Adds a workspace, which has monitors from now on, to those that share the permits. Returns the
    /// waiting jobs that may run now, because the only workspace until then gets a share of all.
    #[must_use = "the returned jobs have their permits"]
    pub fn join(&mut self, workspace: WorkspaceId, now: Timestamp) -> Vec<J> {
        if !self.sharing.insert(workspace) {
            return Vec::new();
        }
        self.sharing_weight += self.weight(workspace) as usize;
        self.take_runnable(now)
    }

    /// Removes a workspace, which has no monitors any more, from those that share the permits.
    /// Returns the waiting jobs that may run now, because the shares of the others grow.
    #[must_use = "the returned jobs have their permits"]
    pub fn remove_workspace(&mut self, workspace: WorkspaceId, now: Timestamp) -> Vec<J> {
        if self.sharing.remove(&workspace) {
            self.sharing_weight -= self.weight(workspace) as usize;
        }
        self.take_runnable(now)
    }

    /// Sets the weight of a workspace, which is 1 otherwise; 0 counts as 1. Returns the waiting jobs
    /// that may run now.
    #[must_use = "the returned jobs have their permits"]
    pub fn set_weight(&mut self, workspace: WorkspaceId, weight: u32, now: Timestamp) -> Vec<J> {
        self.update_weight(workspace, weight.max(1));
        self.take_runnable(now)
    }

    fn update_weight(&mut self, workspace: WorkspaceId, weight: u32) {
        let before = self.weight(workspace);
        if weight == 1 {
            self.weights.remove(&workspace);
        } else {
            self.weights.insert(workspace, weight);
        }
        if self.sharing.contains(&workspace) {
            self.sharing_weight = self.sharing_weight - before as usize + weight as usize;
        }
        let Some(of) = self.workspaces.get_mut(&workspace) else { return };
        let before = of.rank(workspace);
        of.load.weight = weight;
        self.update_rank(workspace, before);
    }

    fn weight(&self, workspace: WorkspaceId) -> u32 {
        self.weights.get(&workspace).copied().unwrap_or(1)
    }

    /// Returns whether a workspace with this load may begin another check.
    fn may_run(&self, load: Load) -> bool {
        let (free, reserve) = (self.permits.saturating_sub(self.running), self.reserve());
        let shared = if self.is_shared() { self.permits } else { self.permits - reserve };
        let is_below_its_share = load.running * self.sharing_weight < shared * load.weight as usize;
        free > reserve || (free > 0 && is_below_its_share)
    }

    fn reserve(&self) -> usize {
        let reserve = self.permits / RESERVED_SHARE;
        if self.is_shared() { reserve } else { reserve.min(RESERVED_ALONE_MAX) }
    }

    fn is_shared(&self) -> bool {
        self.sharing.len() > 1
    }

    /// Returns the job if it may run now. Otherwise queues it until `deadline` and returns `None`.
    pub fn admit(&mut self, workspace: WorkspaceId, deadline: Timestamp, job: J) -> Option<J> {
        let known = self.workspaces.get(&workspace).map(|of| of.load);
        let load = known.unwrap_or_else(|| Load { running: 0, weight: self.weight(workspace) });
        let may_run = self.may_run(load);
        let new = || Workspace { load, waiting: BTreeMap::new() };
        let of = self.workspaces.entry(workspace).or_insert_with(new);
        // A job never overtakes one of its workspace with an earlier deadline.
        if may_run && of.waiting.is_empty() {
            of.load.running += 1;
            self.running += 1;
            return Some(job);
        }
        let before = of.rank(workspace);
        of.waiting.insert((deadline, self.sequence), job);
        self.sequence += 1;
        self.waiting += 1;
        self.update_rank(workspace, before);
        None
    }

    /// Releases the permit of an ended check of this workspace, and returns the waiting jobs that may
    /// run now.
    #[must_use = "the returned jobs have their permits"]
    pub fn release(&mut self, workspace: WorkspaceId, now: Timestamp) -> Vec<J> {
        if let Some(of) = self.workspaces.get_mut(&workspace) {
            let before = of.rank(workspace);
            of.load.running = of.load.running.saturating_sub(1);
            self.running = self.running.saturating_sub(1);
            self.update_rank(workspace, before);
        }
        self.take_runnable(now)
    }

    /// Gives permits to waiting jobs until no waiting workspace may take one. Every change that
    /// may make a workspace eligible ends with this, so no permit is free while an eligible job waits.
    fn take_runnable(&mut self, now: Timestamp) -> Vec<J> {
        std::iter::from_fn(|| self.next(now)).collect()
    }

    /// Returns the next waiting job that may run, or `None` if no waiting workspace may take a
    /// permit.
    fn next(&mut self, now: Timestamp) -> Option<J> {
        loop {
            let (load, (deadline, _), workspace) = *self.order.first()?;
            let expired = deadline <= now;
            if !expired && !self.may_run(load) {
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
                of.load.running += 1;
                self.running += 1;
                Some(job)
            };
            self.update_rank(workspace, before);
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
            self.update_rank(workspace, before);
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
        self.workspaces.retain(|_, of| of.load.running > 0);
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
    fn update_rank(&mut self, workspace: WorkspaceId, before: Option<Rank>) {
        let after = self.workspaces.get(&workspace).and_then(|of| of.rank(workspace));
        if before != after {
            if let Some(before) = before {
                self.order.remove(&before);
            }
            self.order.extend(after);
        }
        if self.workspaces.get(&workspace).is_some_and(Workspace::is_idle) {
            self.workspaces.remove(&workspace);
        }
    }
}

impl<J> Workspace<J> {
    fn rank(&self, workspace: WorkspaceId) -> Option<Rank> {
        let (first, _) = self.waiting.first_key_value()?;
        Some((self.load, *first, workspace))
    }

    fn is_idle(&self) -> bool {
        self.load.running == 0 && self.waiting.is_empty()
    }
}

impl Ord for Load {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.running * other.weight as usize).cmp(&(other.running * self.weight as usize))
    }
}

impl PartialOrd for Load {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Load {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Load {}

#[cfg(test)]
mod tests;
