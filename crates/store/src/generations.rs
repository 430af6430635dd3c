//! Generations: they show caches of responses whether a workspace's data changed. The writer marks
//! a workspace before each commit that changes it, and unmarks it afterwards. Nothing may be cached
//! in between. The aggregates name what their work changes. Work that names nothing counts as
//! changing everything.

use std::collections::{BTreeMap, HashMap};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rules::WorkspaceId;

/// Number of workspaces that are counted separately. Beyond it, all counts start over.
const WORKSPACES_MAX: usize = 65_536;

/// Change count of a workspace. Data read after taking a generation is still current while the
/// generation is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generation {
    /// Number of changes of all workspaces.
    all: u64,
    /// Number of changes of this workspace alone.
    own: u64,
    /// Number of these changes that were more than statuses of monitors.
    edits: u64,
}

/// Extent of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ChangeExtent {
    /// Statuses of monitors, with their incidents.
    Statuses,
    Anything,
}

/// Workspaces whose data a transaction changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ChangedWorkspaces {
    /// Not declared yet, which counts as all workspaces.
    #[default]
    Undeclared,
    /// All workspaces. A workspace that is added changes nothing.
    Everything,
    /// These workspaces and no others.
    Only(BTreeMap<WorkspaceId, ChangeExtent>),
}

/// Generations of all workspaces since the store was opened.
#[derive(Debug)]
pub(crate) struct Generations(RwLock<GenerationTable>);

#[derive(Debug)]
struct GenerationTable {
    all: u64,
    /// Counts of each workspace.
    own: HashMap<WorkspaceId, OwnCounts>,
    /// Workspaces that the current commit changes.
    changing: ChangedWorkspaces,
}

/// Change counts of one workspace.
#[derive(Clone, Copy, Debug, Default)]
struct OwnCounts {
    all: u64,
    edits: u64,
}

impl Generation {
    /// Returns whether only statuses of monitors, with their incidents, changed since `before`.
    pub const fn has_same_edits(self, before: Self) -> bool {
        self.all == before.all && self.edits == before.edits
    }
}

impl ChangedWorkspaces {
    /// No workspace.
    pub(crate) const NOTHING: Self = Self::Only(BTreeMap::new());

    /// Adds a workspace to those declared before.
    pub(crate) fn add(&mut self, workspace: WorkspaceId, extent: ChangeExtent) {
        match self {
            Self::Undeclared => *self = Self::Only(BTreeMap::from([(workspace, extent)])),
            Self::Everything => {}
            Self::Only(workspaces) => {
                let known = workspaces.entry(workspace).or_insert(extent);
                *known = extent.max(*known);
            }
        }
    }

    /// Combines the declarations of two pieces of work.
    pub(crate) fn merge(&mut self, other: Self) {
        match (&mut *self, other) {
            (Self::Only(_), Self::Only(others)) => {
                for (workspace, extent) in others {
                    self.add(workspace, extent);
                }
            }
            (Self::Undeclared | Self::Everything, _)
            | (Self::Only(_), Self::Undeclared | Self::Everything) => *self = Self::Everything,
        }
    }

    fn contains(&self, workspace: WorkspaceId) -> bool {
        match self {
            Self::Undeclared | Self::Everything => true,
            Self::Only(workspaces) => workspaces.contains_key(&workspace),
        }
    }
}

impl Default for Generations {
    fn default() -> Self {
        Self(RwLock::new(GenerationTable {
            all: 0,
            own: HashMap::new(),
            changing: ChangedWorkspaces::NOTHING,
        }))
    }
}

impl Generations {
    /// Returns the generation of a workspace, or `None` while a commit changes its data.
    pub(crate) fn get(&self, workspace: WorkspaceId) -> Option<Generation> {
        let state = self.read();
        let OwnCounts { all: own, edits } = state.own.get(&workspace).copied().unwrap_or_default();
        let is_changing = state.changing.contains(workspace);
        (!is_changing).then_some(Generation { all: state.all, own, edits })
    }

    /// Marks the start of a commit that changes these workspaces.
    pub(crate) fn begin(&self, touched: ChangedWorkspaces) {
        if touched != ChangedWorkspaces::NOTHING {
            self.write().changing = touched;
        }
    }

    /// Marks the end of the commit, successful or not.
    pub(crate) fn end(&self) {
        if self.read().changing == ChangedWorkspaces::NOTHING {
            return;
        }
        let mut state = self.write();
        match std::mem::replace(&mut state.changing, ChangedWorkspaces::NOTHING) {
            ChangedWorkspaces::Undeclared | ChangedWorkspaces::Everything => state.all += 1,
            ChangedWorkspaces::Only(workspaces) => {
                if state.own.len() + workspaces.len() > WORKSPACES_MAX {
                    state.own.clear();
                    state.all += 1;
                }
                for (workspace, extent) in workspaces {
                    let counts = state.own.entry(workspace).or_default();
                    counts.all += 1;
                    counts.edits += u64::from(extent == ChangeExtent::Anything);
                }
            }
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, GenerationTable> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, GenerationTable> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: WorkspaceId = WorkspaceId::from_bits(1);
    const THEIRS: WorkspaceId = WorkspaceId::from_bits(2);

    fn only(workspace: WorkspaceId) -> ChangedWorkspaces {
        let mut touched = ChangedWorkspaces::default();
        touched.add(workspace, ChangeExtent::Anything);
        touched
    }

    fn change(generations: &Generations, touched: ChangedWorkspaces) -> Generation {
        generations.begin(touched);
        generations.end();
        generations.get(OURS).unwrap()
    }

    #[test]
    fn status_changes_are_no_edits() {
        let generations = Generations::default();
        let before = generations.get(OURS).unwrap();
        let mut statuses = ChangedWorkspaces::default();
        statuses.add(OURS, ChangeExtent::Statuses);
        let after = change(&generations, statuses.clone());
        assert!(after != before && after.has_same_edits(before));
        statuses.merge(only(OURS));
        let edited = change(&generations, statuses);
        assert!(edited != after && !edited.has_same_edits(after));
        let all = change(&generations, ChangedWorkspaces::Everything);
        assert!(!all.has_same_edits(edited));
    }

    #[test]
    fn changed_workspace_leaves_other_generations() {
        let generations = Generations::default();
        let (ours, theirs) = (generations.get(OURS), generations.get(THEIRS));
        generations.begin(only(OURS));
        assert_eq!(generations.get(OURS), None, "no generation during a change");
        assert_eq!(generations.get(THEIRS), theirs);
        generations.end();
        assert!(generations.get(OURS).is_some_and(|now| Some(now) != ours));
        assert_eq!(generations.get(THEIRS), theirs);
    }

    #[test]
    fn undeclared_work_changes_everything() {
        let mut group = ChangedWorkspaces::NOTHING;
        group.merge(only(OURS));
        group.merge(ChangedWorkspaces::default());
        group.merge(only(THEIRS));
        assert_eq!(group, ChangedWorkspaces::Everything);
        let generations = Generations::default();
        let before = generations.get(THEIRS);
        generations.begin(group);
        assert_eq!(generations.get(THEIRS), None);
        generations.end();
        assert_ne!(generations.get(THEIRS), before);
    }

    #[test]
    fn workspace_added_to_everything_is_everything() {
        let mut group = ChangedWorkspaces::Everything;
        group.add(OURS, ChangeExtent::Anything);
        assert_eq!(group, ChangedWorkspaces::Everything);
    }

    #[test]
    fn end_without_begin_changes_nothing() {
        let generations = Generations::default();
        let before = generations.get(OURS);
        generations.begin(ChangedWorkspaces::NOTHING);
        assert_eq!(generations.get(OURS), before);
        generations.end();
        assert_eq!(generations.get(OURS), before);
    }

    #[test]
    fn overflow_resets_counts_without_repeating_generations() {
        let generations = Generations::default();
        let mut seen = vec![generations.get(OURS)];
        for number in 1..=WORKSPACES_MAX as u64 + 1 {
            generations.begin(only(WorkspaceId::from_bits(number)));
            generations.end();
            if number == 1 {
                seen.push(generations.get(OURS));
            }
        }
        assert!(generations.read().own.len() <= WORKSPACES_MAX);
        assert!(!seen.contains(&generations.get(OURS)));
    }
}
