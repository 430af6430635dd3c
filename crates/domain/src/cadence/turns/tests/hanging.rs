//! Workspaces whose targets all hang, beside one whose target responds: its checks never wait.

use super::*;

/// Number of permits of the simulated server.
const PERMITS: usize = 32;
/// Number of those that no workspace with hanging checks gets.
const FOR_SHORT: usize = 2;
/// Time between two checks of a monitor.
const PERIOD: Duration = Duration::from_secs(30);
/// Periods that a check of a hanging target takes.
const HANGING_PERIODS: usize = 4;
/// Periods that the simulation lasts.
const PERIODS: usize = 40;

/// A server with workspaces whose checks end after [`HANGS`].
struct Simulation {
    turns: Turns<WorkspaceId>,
    now: Timestamp,
    hanging: Vec<WorkspaceId>,
    /// Running checks of hanging targets, each with the time of its end.
    running: VecDeque<(WorkspaceId, Timestamp)>,
}

impl Simulation {
    fn new(hanging: usize) -> Self {
        let hanging = (0..hanging).map(|it| WorkspaceId::from_bits(100 + it as u64)).collect();
        let (turns, running) = (Turns::new(PERMITS), VecDeque::new());
        Self { turns, now: NOW, hanging, running }
    }

    /// Ends the checks that are over, and submits checks of every hanging workspace.
    fn submit(&mut self, checks: usize) {
        while let Some((of, end)) = self.running.front().copied()
            && end <= self.now
        {
            self.running.pop_front();
            let started = self.turns.release(of, HANGS, self.now);
            self.record(started);
        }
        self.turns.expired(self.now);
        for of in self.hanging.clone() {
            let started = self.turns.join(of, self.now);
            self.record(started);
            for _ in 0..checks {
                let started = self.turns.admit(of, self.now + PERIOD, of);
                self.record(started);
            }
        }
    }

    fn record(&mut self, started: impl IntoIterator<Item = WorkspaceId>) {
        let end = self.now + HANGS;
        self.running.extend(started.into_iter().map(|of| (of, end)));
    }

    /// Runs one check of the modest workspace. Returns whether it started at once.
    fn check(&mut self) -> bool {
        let started = self.turns.admit(MODEST, self.now + PERIOD, MODEST).is_some();
        if started {
            let others = self.turns.release(MODEST, SHORT, self.now);
            self.record(others);
        }
        started
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    // issue 16, point 4: "One workspace starves the others"
    #[test]
    fn few_hanging_workspaces_delay_no_check(hanging in 1..RESERVED_FOR_NEW, checks in 1_usize..80) {
        let mut server = Simulation::new(hanging);
        server.submit(checks);
        assert!(server.turns.join(MODEST, server.now).is_empty());
        for period in 0..PERIODS {
            prop_assert!(server.check(), "period {}", period);
            server.now = server.now + PERIOD;
            server.submit(checks);
        }
    }

    // Each of them may take a permit until its first check ends. No later check waits.
    #[test]
    fn many_hanging_workspaces_delay_only_first_checks(
        hanging in 1_usize..60,
        checks in 1_usize..12,
    ) {
        let mut server = Simulation::new(hanging);
        assert!(server.turns.join(MODEST, server.now).is_empty());
        // In each round, the permits for short checks go to workspaces that have run none yet.
        let rounds = 2 + hanging.div_ceil(FOR_SHORT);
        for _ in 0..rounds * HANGING_PERIODS {
            server.submit(checks);
            server.now = server.now + PERIOD;
        }
        for period in 0..PERIODS {
            server.submit(checks);
            prop_assert!(server.check(), "period {}", period);
            server.now = server.now + PERIOD;
        }
    }
}
