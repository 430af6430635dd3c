//! Permits of uptime reports. A report of a large fleet takes seconds of a processor, so only a few are computed
//! at once, and a workspace cannot fill the queue of all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rules::WorkspaceId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Reports that are computed at once.
const AT_ONCE: usize = 2;
/// Reports of a workspace that are computed or wait.
const OF_WORKSPACE_MAX: usize = 4;

/// Permits of all workspaces.
#[derive(Debug)]
pub(crate) struct ReportPermits {
    all: Arc<Semaphore>,
    /// Number of reports of each workspace that are computed or wait.
    workspaces: Mutex<HashMap<WorkspaceId, usize>>,
}

/// Permit of one report. Dropping it lets the next one begin.
#[derive(Debug)]
pub(crate) struct ReportPermit {
    _place: Place,
    _permit: OwnedSemaphorePermit,
}

/// Place in the queue of a workspace.
#[derive(Debug)]
struct Place {
    permits: Arc<ReportPermits>,
    workspace: WorkspaceId,
}

impl Default for ReportPermits {
    fn default() -> Self {
        Self { all: Arc::new(Semaphore::new(AT_ONCE)), workspaces: Mutex::default() }
    }
}

impl ReportPermits {
    /// Waits until a report of this workspace may be computed. Returns `None` if too many of its reports
    /// are computed or wait already.
    pub(crate) async fn acquire(self: &Arc<Self>, workspace: WorkspaceId) -> Option<ReportPermit> {
        let place = self.enter(workspace)?;
        let permit = Arc::clone(&self.all).acquire_owned().await;
        let permit = permit.expect("the semaphore is never closed");
        Some(ReportPermit { _place: place, _permit: permit })
    }

    fn enter(self: &Arc<Self>, workspace: WorkspaceId) -> Option<Place> {
        let mut workspaces = self.workspaces.lock().unwrap_or_else(PoisonError::into_inner);
        let count = workspaces.entry(workspace).or_default();
        if *count >= OF_WORKSPACE_MAX {
            return None;
        }
        *count += 1;
        Some(Place { permits: Arc::clone(self), workspace })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut workspaces = self.permits.workspaces.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(count) = workspaces.get_mut(&self.workspace) else { return };
        *count -= 1;
        if *count == 0 {
            workspaces.remove(&self.workspace);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    const OURS: WorkspaceId = WorkspaceId::from_bits(1);
    const THEIRS: WorkspaceId = WorkspaceId::from_bits(2);

    #[tokio::test]
    async fn reports_beyond_the_permits_wait() {
        let permits = Arc::<ReportPermits>::default();
        let first = permits.acquire(OURS).await.unwrap();
        let _second = permits.acquire(OURS).await.unwrap();
        let mut third = std::pin::pin!(permits.acquire(THEIRS));
        assert!(third.as_mut().now_or_never().is_none());
        drop(first);
        assert!(third.await.is_some());
    }

    #[tokio::test]
    async fn workspace_has_a_few_reports_at_most() {
        let permits = Arc::<ReportPermits>::default();
        let places: Vec<_> = (0..OF_WORKSPACE_MAX).map(|_| permits.enter(OURS).unwrap()).collect();
        assert!(permits.acquire(OURS).await.is_none());
        assert!(permits.acquire(THEIRS).await.is_some());
        drop(places);
        assert!(permits.acquire(OURS).await.is_some());
        assert!(permits.workspaces.lock().unwrap().is_empty());
    }
}
