//! Generations: whether what callers read of a workspace has changed since they looked, for those who
//! remember answers. The writer says before each commit what it is about to change, and afterwards
//! that it is done; in between nothing may be remembered. What changes is said by the aggregates:
//! work that says nothing changes everything.

use std::collections::{BTreeSet, HashMap};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rules::WorkspaceId;

/// Workspaces whose generations are known one by one; past it all begin anew.
const WORKSPACES_MAX: usize = 65_536;

/// How often a workspace was changed. What was read after it was asked for, and is asked for while it
/// is the same, is what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generation {
    /// Changes of everything.
    all: u64,
    /// Changes of this workspace alone.
    own: u64,
}

/// What a piece of work changes of what callers read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Touched {
    /// Nobody said what: anything of anybody.
    #[default]
    Everything,
    /// What these workspaces read, and nothing of others.
    Only(BTreeSet<WorkspaceId>),
}

/// The generations of all workspaces since the store was opened.
#[derive(Debug)]
pub(crate) struct Generations(RwLock<State>);

#[derive(Debug)]
struct State {
    all: u64,
    own: HashMap<WorkspaceId, u64>,
    /// What a commit is changing now.
    changing: Touched,
}

impl Touched {
    /// Nothing that callers read.
    pub(crate) const NOTHING: Self = Self::Only(BTreeSet::new());

    /// Of one workspace, beside what was said before.
    pub(crate) fn add(&mut self, workspace: WorkspaceId) {
        match self {
            Self::Everything => *self = Self::Only(BTreeSet::from([workspace])),
            Self::Only(workspaces) => {
                workspaces.insert(workspace);
            }
        }
    }

    /// What two pieces of work change together.
    pub(crate) fn join(&mut self, other: Self) {
        match (&mut *self, other) {
            (Self::Everything, _) => {}
            (_, Self::Everything) => *self = Self::Everything,
            (Self::Only(workspaces), Self::Only(others)) => workspaces.extend(others),
        }
    }

    fn concerns(&self, workspace: WorkspaceId) -> bool {
        match self {
            Self::Everything => true,
            Self::Only(workspaces) => workspaces.contains(&workspace),
        }
    }
}

impl Default for Generations {
    fn default() -> Self {
        Self(RwLock::new(State { all: 0, own: HashMap::new(), changing: Touched::NOTHING }))
    }
}

impl Generations {
    /// The workspace's generation; `None` while a commit is changing what it reads.
    pub(crate) fn of(&self, workspace: WorkspaceId) -> Option<Generation> {
        let state = self.read();
        let own = state.own.get(&workspace).copied().unwrap_or_default();
        (!state.changing.concerns(workspace)).then_some(Generation { all: state.all, own })
    }

    /// A commit that changes this is about to begin.
    pub(crate) fn begin(&self, touched: Touched) {
        if touched != Touched::NOTHING {
            self.write().changing = touched;
        }
    }

    /// The commit that was begun has come to its end, whichever.
    pub(crate) fn end(&self) {
        if self.read().changing == Touched::NOTHING {
            return;
        }
        let mut state = self.write();
        match std::mem::replace(&mut state.changing, Touched::NOTHING) {
            Touched::Everything => state.all += 1,
            Touched::Only(workspaces) => {
                if state.own.len() + workspaces.len() > WORKSPACES_MAX {
                    state.own.clear();
                    state.all += 1;
                }
                for workspace in workspaces {
                    *state.own.entry(workspace).or_default() += 1;
                }
            }
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: WorkspaceId = WorkspaceId::from_bits(1);
    const THEIRS: WorkspaceId = WorkspaceId::from_bits(2);

    fn only(workspace: WorkspaceId) -> Touched {
        let mut touched = Touched::default();
        touched.add(workspace);
        touched
    }

    #[test]
    fn a_change_of_one_workspace_leaves_the_others_as_they_were() {
        let generations = Generations::default();
        let (ours, theirs) = (generations.of(OURS), generations.of(THEIRS));
        generations.begin(only(OURS));
        assert_eq!(generations.of(OURS), None, "nothing holds while it is being changed");
        assert_eq!(generations.of(THEIRS), theirs);
        generations.end();
        assert!(generations.of(OURS).is_some_and(|now| Some(now) != ours));
        assert_eq!(generations.of(THEIRS), theirs);
    }

    #[test]
    fn work_that_does_not_say_what_it_changes_changes_everything() {
        let mut group = Touched::NOTHING;
        group.join(only(OURS));
        group.join(Touched::default());
        group.join(only(THEIRS));
        assert_eq!(group, Touched::Everything);
        let generations = Generations::default();
        let before = generations.of(THEIRS);
        generations.begin(group);
        assert_eq!(generations.of(THEIRS), None);
        generations.end();
        assert_ne!(generations.of(THEIRS), before);
    }

    #[test]
    fn an_end_without_a_beginning_changes_nothing() {
        let generations = Generations::default();
        let before = generations.of(OURS);
        generations.begin(Touched::NOTHING);
        assert_eq!(generations.of(OURS), before);
        generations.end();
        assert_eq!(generations.of(OURS), before);
    }

    #[test]
    fn past_the_most_workspaces_all_begin_anew_and_none_repeats_itself() {
        let generations = Generations::default();
        let mut seen = vec![generations.of(OURS)];
        for number in 1..=WORKSPACES_MAX as u64 + 1 {
            generations.begin(only(WorkspaceId::from_bits(number)));
            generations.end();
            if number == 1 {
                seen.push(generations.of(OURS));
            }
        }
        assert!(generations.read().own.len() <= WORKSPACES_MAX);
        assert!(!seen.contains(&generations.of(OURS)));
    }
}
