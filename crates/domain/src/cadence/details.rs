//! Shares the budget of detailed checks between workspaces, so that one with very many checks does
//! not take the details of the others (docs/decisions/0054-latest-success.md).

use rules::{ById, Timestamp, WorkspaceId, limits};

/// Budget of checks that keep their details if they succeed, for each second of the server.
///
/// A workspace's share of a second follows from the requests of all in the previous second: those
/// that asked for less than an equal share leave the rest to the others.
#[derive(Clone, Debug)]
pub struct DetailBudget {
    /// The current second.
    second: i64,
    /// Details that are left in it.
    left: u32,
    /// Most details that one workspace gets in it.
    share: u32,
    /// Requests of each workspace in it.
    requests: ById<WorkspaceId, u32>,
}

impl DetailBudget {
    /// Creates the budget of a server.
    pub fn new(now: Timestamp) -> Self {
        Self {
            second: second_of(now),
            left: limits::DETAILED_CHECKS_PER_SECOND,
            share: limits::DETAILED_CHECKS_PER_SECOND,
            requests: ById::default(),
        }
    }

    /// Takes the details of one check; returns whether the workspace had some left.
    pub fn take(&mut self, workspace: WorkspaceId, now: Timestamp) -> bool {
        let second = second_of(now);
        if second != self.second {
            self.begin(second);
        }
        let requests = self.requests.entry(workspace).or_default();
        *requests += 1;
        let takes = *requests <= self.share && self.left > 0;
        self.left -= u32::from(takes);
        takes
    }

    fn begin(&mut self, second: i64) {
        self.share = fair_share(self.requests.values().copied().collect());
        self.left = limits::DETAILED_CHECKS_PER_SECOND;
        self.second = second;
        self.requests.clear();
    }
}

const fn second_of(now: Timestamp) -> i64 {
    now.as_millis().div_euclid(1_000)
}

/// Returns the greatest number of details for each workspace with which these requests stay within
/// the budget.
fn fair_share(mut requests: Vec<u32>) -> u32 {
    requests.sort_unstable();
    let (mut left, mut workspaces) = (limits::DETAILED_CHECKS_PER_SECOND, requests.len() as u32);
    for requested in requests {
        let share = left / workspaces;
        if requested > share {
            // Workspaces that outnumber the budget take one each until nothing is left.
            return share.max(1);
        }
        left -= requested;
        workspaces -= 1;
    }
    limits::DETAILED_CHECKS_PER_SECOND
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    /// Returns the details that each workspace gets in a second, if all ask in turns or one after
    /// the other.
    fn taken(budget: &mut DetailBudget, requests: &[u32], second: u64) -> Vec<u32> {
        let now = START + Duration::from_secs(second);
        let mut taken = vec![0; requests.len()];
        for (index, requests) in requests.iter().enumerate() {
            let workspace = WorkspaceId::from_bits(index as u64);
            for _ in 0..*requests {
                taken[index] += u32::from(budget.take(workspace, now));
            }
        }
        taken
    }

    #[test]
    fn greedy_workspace_leaves_the_details_of_others() {
        let mut budget = DetailBudget::new(START);
        let requests = [5_000, 10, 5_000];
        assert_eq!(taken(&mut budget, &requests, 0), [1_000, 0, 0]);
        assert_eq!(taken(&mut budget, &requests, 1), [495, 10, 495]);
    }

    #[test]
    fn only_workspace_gets_the_whole_budget() {
        let mut budget = DetailBudget::new(START);
        for second in 0..3 {
            assert_eq!(taken(&mut budget, &[2_000], second), [1_000]);
        }
    }

    proptest! {
        // A workspace that asks for an equal share or less gets all. The others share the rest.
        #[test]
        fn equal_shares_are_granted(requests in prop::collection::vec(0_u32..3_000, 1..12)) {
            let mut budget = DetailBudget::new(START);
            taken(&mut budget, &requests, 0);
            let taken = taken(&mut budget, &requests, 1);
            let (all, total) = (requests.iter().sum::<u32>(), taken.iter().sum::<u32>());
            let users = requests.iter().filter(|requested| **requested > 0).count() as u32;
            prop_assert!(total <= limits::DETAILED_CHECKS_PER_SECOND);
            prop_assert!(total + users > all.min(limits::DETAILED_CHECKS_PER_SECOND));
            for (taken, requested) in taken.into_iter().zip(requests) {
                let equal = limits::DETAILED_CHECKS_PER_SECOND / users.max(1);
                prop_assert!(taken >= requested.min(equal));
            }
        }
    }
}
