//! Snapshots of fleets in memory, one for each workspace. A status changes often, and a definition
//! rarely: after a change of a status, only the statuses are read again.

use std::sync::Arc;

use rules::monitor::Check;
use rules::{Timestamp, WorkspaceId};
use store::{Generation, Store, StoreError};
use web::cache::{Cache, CacheCounters, CachePolicy, ReadError};

use super::snapshot::{AGE_MAX, Definitions, FleetSnapshot};

/// Maximum size of all snapshots, in bytes: some 100,000 monitors in one of them.
const BYTES_MAX: usize = 512 << 20;

/// Snapshots of fleets.
pub(crate) struct FleetSnapshots {
    snapshots: Cache<WorkspaceId, Arc<FleetSnapshot>, Generation>,
}

impl FleetSnapshots {
    pub(crate) fn new() -> Self {
        let size = |_: &WorkspaceId, it: &Arc<FleetSnapshot>| it.bytes();
        let policy = CachePolicy::new(AGE_MAX, BYTES_MAX);
        let snapshots = Cache::new(policy, size, CacheCounters::default());
        Self { snapshots: snapshots.with_fresh_for(|it| it.fresh_for) }
    }

    /// Returns the fleet of a workspace.
    pub(crate) async fn get(
        &self,
        store: &Store,
        workspace: WorkspaceId,
        now: Timestamp,
    ) -> Result<Arc<FleetSnapshot>, ReadError<Arc<FleetSnapshot>>> {
        let generation = || store.generation(workspace);
        let last = self.snapshots.last(&workspace);
        let read = || read(store, workspace, last, now);
        let snapshot = self.snapshots.get_or_read(workspace, generation, now, read).await?;
        Ok(snapshot.expect("a read always returns a snapshot"))
    }
}

impl std::fmt::Debug for FleetSnapshots {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FleetSnapshots")
    }
}

/// Reads a snapshot. Definitions that did not change are taken from the last one.
async fn read(
    store: &Store,
    workspace: WorkspaceId,
    last: Option<Arc<FleetSnapshot>>,
    now: Timestamp,
) -> Result<Option<Arc<FleetSnapshot>>, StoreError> {
    let version = store.fleets().version(workspace).await?;
    let last = last.map(|last| Arc::clone(&last.definitions));
    let definitions = match last {
        Some(last) if last.version == version => last,
        last => {
            let last = last.as_ref().map_or(&[][..], |last| &last.monitors);
            let known =
                last.iter().map(|it| (it.definition.number, it.definition.updated_at)).collect();
            let found = store.fleets().changed_definitions(workspace, &known, target).await?;
            Arc::new(Definitions::new(version, last, found))
        }
    };
    let statuses = store.fleets().statuses(workspace, now).await?;
    Ok(Some(Arc::new(FleetSnapshot::new(definitions, &statuses, now))))
}

/// Returns the target of a check, without credentials and without a query, which may be a token.
fn target(check: &Check) -> String {
    match check {
        Check::Http(check) => {
            contract::encode_url(&check.url, contract::SecretVisibility::Redacted)
        }
        Check::Tcp(check) => check.uri.clone(),
        Check::Dns(check) => check.uri.clone(),
        Check::Heartbeat(check) => domain::check::expected_calls(check),
    }
}
