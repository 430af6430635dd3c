//! Shares the capacity for checks: workspaces take turns if more checks are due than may run, so
//! that hanging targets of one workspace do not delay the others
//! (docs/decisions/0046-fair-scheduling.md). Pure state: the server's pipeline runs and queues the
//! jobs.

mod load;
mod pace;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Duration;

use rules::{Timestamp, WorkspaceId};

use self::load::Load;
use self::pace::Paces;

/// One in this many permits is the maximum of each reserve.
const RESERVED_SHARE: usize = 8;
/// Number of permits of a reserve for workspaces that have no monitors yet.
const RESERVED_FOR_NEW: usize = 4;

/// The permits for checks, with their holders and the waiting jobs.
///
/// A free permit goes to the workspace with the fewest running checks for its weight, and within it to
/// the check with the earliest deadline. A workspace's share of the permits is proportional to its
/// weight. Running checks cannot be interrupted, so two reserves let other workspaces, also new ones,
/// start at once. A workspace that has its share takes from neither; one that runs some checks does not
/// take from the reserve of those that run none. Half of that reserve is for workspaces whose checks
/// end soon, so any number of workspaces with hanging targets leaves it free.
#[derive(Debug)]
pub struct Turns<J> {
    permits: usize,
    running: usize,
    /// Workspaces that have monitors.
    sharing: HashSet<WorkspaceId>,
    /// Those of them that run no check.
    idle: HashSet<WorkspaceId>,
    /// Sum of the weights of the workspaces that have monitors.
    sharing_weight: usize,
    /// Weights that are not 1.
    weights: HashMap<WorkspaceId, u32>,
    /// Workspaces whose checks run long.
    paces: Paces,
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

/// Load of a workspace, earliest key of its waiting checks, and its identifier.
type Rank = (Load, (Timestamp, u64), WorkspaceId);

impl<J> Turns<J> {
    /// Allows at most `permits` checks at a time.
    pub fn new(permits: usize) -> Self {
        Self {
            permits: permits.max(1),
            running: 0,
            sharing: HashSet::new(),
            idle: HashSet::new(),
            sharing_weight: 0,
            weights: HashMap::new(),
            paces: Paces::default(),
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
        if self.load(workspace).running == 0 {
            self.idle.insert(workspace);
        }
        self.take_runnable(now)
    }

    /// Removes a workspace, which has no monitors any more, from those that share the permits.
    /// Returns the waiting jobs that may run now, because the shares of the others grow.
    #[must_use = "the returned jobs have their permits"]
    pub fn remove_workspace(&mut self, workspace: WorkspaceId, now: Timestamp) -> Vec<J> {
        if self.sharing.remove(&workspace) {
            self.sharing_weight -= self.weight(workspace) as usize;
        }
        self.idle.remove(&workspace);
        self.update_load(workspace, |paces| paces.forget(workspace));
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
        self.update_load(workspace, |_| ());
    }

    fn weight(&self, workspace: WorkspaceId) -> u32 {
        self.weights.get(&workspace).copied().unwrap_or(1)
    }

    fn load(&self, workspace: WorkspaceId) -> Load {
        let known = self.workspaces.get(&workspace).map(|of| of.load);
        known.unwrap_or_else(|| Load {
            running: 0,
            is_slow: self.paces.is_slow(workspace),
            weight: self.weight(workspace),
        })
    }

    /// Changes the paces, and passes weight and pace of this workspace to its load.
    fn update_load(&mut self, workspace: WorkspaceId, change: impl FnOnce(&mut Paces)) {
        change(&mut self.paces);
        let (weight, is_slow) = (self.weight(workspace), self.paces.is_slow(workspace));
        let Some(of) = self.workspaces.get_mut(&workspace) else { return };
        let before = of.rank(workspace);
        of.load = Load { weight, is_slow, ..of.load };
        self.update_rank(workspace, before);
    }

    /// Returns whether a workspace with this load may begin another check. A greater load never
    /// needs fewer free permits, so the first workspace in order decides for all.
    fn may_run(&self, load: Load) -> bool {
        let shared = if self.is_shared() { self.permits } else { self.permits - self.reserve() };
        let is_below_its_share = load.running * self.sharing_weight < shared * load.weight as usize;
        let kept = match (load.running, load.is_slow) {
            (0, false) => 0,
            (0, true) => self.reserve_for_idle().div_ceil(2),
            (_, _) if is_below_its_share => self.reserve_for_idle(),
            (_, _) => self.reserve(),
        };
        self.permits.saturating_sub(self.running) > kept
    }

    /// Returns the number of permits that a workspace with its share cannot take.
    fn reserve(&self) -> usize {
        let most = self.permits / RESERVED_SHARE;
        let below_share = if self.is_shared() { most } else { most.min(RESERVED_FOR_NEW) };
        below_share + self.reserve_for_idle()
    }

    /// Returns the number of permits for workspaces that run no check, now or in the future.
    fn reserve_for_idle(&self) -> usize {
        (self.permits / RESERVED_SHARE).min(self.idle.len().max(RESERVED_FOR_NEW))
    }

    fn is_shared(&self) -> bool {
        self.sharing.len() > 1
    }

    /// Returns the job if it may run now. Otherwise queues it until `deadline` and returns `None`.
    pub fn admit(&mut self, workspace: WorkspaceId, deadline: Timestamp, job: J) -> Option<J> {
        let load = self.load(workspace);
        let may_run = self.may_run(load);
        let new = || Workspace { load, waiting: BTreeMap::new() };
        let of = self.workspaces.entry(workspace).or_insert_with(new);
        // A job never overtakes one of its workspace with an earlier deadline.
        if may_run && of.waiting.is_empty() {
            of.load.running += 1;
            self.running += 1;
            self.idle.remove(&workspace);
            return Some(job);
        }
        let before = of.rank(workspace);
        of.waiting.insert((deadline, self.sequence), job);
        self.sequence += 1;
        self.waiting += 1;
        self.update_rank(workspace, before);
        None
    }

    /// Releases the permit of a check of this workspace that ran for `ran`, and returns the waiting
    /// jobs that may run now.
    #[must_use = "the returned jobs have their permits"]
    pub fn release(&mut self, workspace: WorkspaceId, ran: Duration, now: Timestamp) -> Vec<J> {
        let is_sharing = self.sharing.contains(&workspace);
        if is_sharing {
            self.update_load(workspace, |paces| paces.record(workspace, ran));
        }
        if let Some(of) = self.workspaces.get_mut(&workspace) {
            let before = of.rank(workspace);
            of.load.running = of.load.running.saturating_sub(1);
            self.running = self.running.saturating_sub(1);
            if is_sharing && of.load.running == 0 {
                self.idle.insert(workspace);
            }
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
                self.idle.remove(&workspace);
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

#[cfg(test)]
mod tests;
