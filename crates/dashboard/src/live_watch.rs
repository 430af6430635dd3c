//! Watches one workspace for all its open pages: its generation, in memory, and the begin and end of its
//! windows of maintenance, which no write announces.

use std::time::Duration;

use rules::{Timestamp, WorkspaceId};
use store::Generation;
use tokio::time::{Instant, timeout};

use crate::live_feeds::WorkspaceVersion;
use crate::state::Dashboard;

/// Interval at which a workspace is watched.
const WATCH_INTERVAL: Duration = Duration::from_millis(200);
/// Time for the database to return the next begin or end of a window.
const READ_WITHIN: Duration = Duration::from_secs(2);
/// Time until a failed read is repeated.
const READ_PAUSE: Duration = Duration::from_secs(10);

/// Windows of maintenance of a workspace.
#[derive(Debug)]
struct WatchedWindows {
    /// Generation whose windows are known. `None` before the first read, or after the next begin or
    /// end has passed.
    known: Option<Generation>,
    /// Next begin or end.
    next: Option<Timestamp>,
    /// Number of begins and ends that have passed.
    passed: u64,
    /// Time before which the database is not read.
    read_at: Instant,
}

/// Watches a workspace until no page is open.
pub(crate) async fn watch(state: Dashboard, workspace: WorkspaceId) {
    let mut last: Option<Generation> = None;
    let mut windows =
        WatchedWindows { known: None, next: None, passed: 0, read_at: Instant::now() };
    loop {
        // Nothing is published while a commit changes the workspace.
        last = state.store.generation(workspace).or(last);
        windows.pass(state.ctx.now());
        let version =
            last.map(|generation| WorkspaceVersion { generation, windows: windows.passed });
        if !state.live.publish(workspace, version) {
            return;
        }
        if let Some(generation) = last {
            windows.update(&state, workspace, generation).await;
        }
        tokio::select! {
            () = tokio::time::sleep(WATCH_INTERVAL) => {}
            () = state.stop.cancelled() => return,
        }
    }
}

impl WatchedWindows {
    /// Counts the next begin or end if it has passed.
    fn pass(&mut self, now: Timestamp) {
        if self.next.is_some_and(|next| next <= now) {
            self.passed += 1;
            (self.known, self.next) = (None, None);
        }
    }

    /// Reads the next begin or end, if an edit may have changed it.
    async fn update(&mut self, state: &Dashboard, workspace: WorkspaceId, generation: Generation) {
        let is_known = self.known.is_some_and(|known| generation.has_same_edits(known));
        if is_known || Instant::now() < self.read_at {
            return;
        }
        let maintenances = state.store.maintenances();
        let read = maintenances.next_boundary(workspace, state.ctx.now());
        match timeout(READ_WITHIN, read).await {
            Ok(Ok(next)) => (self.known, self.next) = (Some(generation), next),
            // The old time remains, and pages are read again each minute anyway.
            Ok(Err(_)) | Err(_) => self.read_at = Instant::now() + READ_PAUSE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn begin_of_a_window_counts_once() {
        let at = Timestamp::from_millis;
        let mut windows =
            WatchedWindows { known: None, next: Some(at(5)), passed: 0, read_at: Instant::now() };
        for (now, passed) in [(4, 0), (5, 1), (6, 1)] {
            windows.pass(at(now));
            assert_eq!(windows.passed, passed, "at {now}");
        }
    }
}
