//! Digests of the regions for open pages: one look at the pipeline for all of a workspace.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use contract::region::wire::Region;
use rules::WorkspaceId;
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::Instant;

/// Age from which the digest is taken again.
const FRESH_FOR: Duration = Duration::from_millis(400);

/// Digests of all regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RegionsDigest {
    /// Digest of the probe and the health of each region.
    pub(crate) health: u64,
    /// Digest of the time of each region's last check.
    pub(crate) checks: u64,
}

/// The latest digest of each workspace, which all of its open pages share. Regions differ by workspace,
/// because it may have private ones.
#[derive(Debug, Default)]
pub(crate) struct SharedRegionsDigest(Mutex<HashMap<WorkspaceId, DigestCell>>);

/// The digest of a workspace. Pages that wait for the same answer wait for the cell, and keep it.
type DigestCell = Arc<AsyncMutex<Option<TakenDigest>>>;

/// A digest and the time at which it was taken, `None` without an answer.
type TakenDigest = (Instant, Option<RegionsDigest>);

impl SharedRegionsDigest {
    /// Returns the latest digest of a workspace. `ask` takes a new one, `None` without an answer.
    pub(crate) async fn get(
        &self,
        workspace: WorkspaceId,
        ask: impl Future<Output = Option<RegionsDigest>>,
    ) -> Option<RegionsDigest> {
        self.get_at(Instant::now(), workspace, ask).await
    }

    async fn get_at(
        &self,
        now: Instant,
        workspace: WorkspaceId,
        ask: impl Future<Output = Option<RegionsDigest>>,
    ) -> Option<RegionsDigest> {
        let cell = self.cell(workspace);
        let mut taken = cell.lock().await;
        if let Some((at, digest)) = *taken
            && now.saturating_duration_since(at) < FRESH_FOR
        {
            return digest;
        }
        let digest = ask.await;
        *taken = Some((Instant::now(), digest));
        digest
    }

    /// Returns the cell of a workspace, and forgets those that no page waits for and that are old.
    fn cell(&self, workspace: WorkspaceId) -> DigestCell {
        let mut cells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cells.retain(|_, cell| {
            let is_used = Arc::strong_count(cell) > 1;
            let taken_at = cell.try_lock().ok().and_then(|taken| taken.map(|(at, _)| at));
            is_used || taken_at.is_some_and(|at| at.elapsed() < FRESH_FOR)
        });
        Arc::clone(cells.entry(workspace).or_default())
    }
}

impl RegionsDigest {
    pub(crate) fn of(regions: &[Region]) -> Self {
        let (mut health, mut checks) = (DefaultHasher::new(), DefaultHasher::new());
        for region in regions {
            let served = (&region.served_by, region.is_fallback, region.default);
            (&region.id, &region.health, served, &region.egress_addresses).hash(&mut health);
            let seen = region.last_seen_at.as_option().map(|at| (at.seconds, at.nanos));
            seen.hash(&mut checks);
        }
        Self { health: health.finish(), checks: checks.finish() }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn check_of_a_region_keeps_its_health() {
        let mut region = Region { id: "fly-ams".to_owned(), ..Region::default() };
        let before = RegionsDigest::of(std::slice::from_ref(&region));
        region.last_seen_at = contract::monitor::encode_instant(rules::Timestamp::from_millis(9));
        let checked = RegionsDigest::of(std::slice::from_ref(&region));
        assert!(checked.health == before.health && checked.checks != before.checks);
        region.health = "stalled".to_owned();
        assert_ne!(RegionsDigest::of(&[region]).health, checked.health);
    }

    #[tokio::test]
    async fn pages_share_a_digest() {
        let (shared, asked) = (SharedRegionsDigest::default(), Cell::new(0));
        let get_at = |now, workspace| {
            shared.get_at(now, WorkspaceId::from_bits(workspace), async {
                asked.set(asked.get() + 1);
                None
            })
        };
        let now = Instant::now();
        assert_eq!((get_at(now, 1).await, get_at(now, 1).await), (None, None));
        assert_eq!(asked.get(), 1, "also if there was no answer");
        get_at(now, 2).await;
        assert_eq!(asked.get(), 2, "workspaces have their own");
        get_at(Instant::now() + FRESH_FOR, 1).await;
        assert_eq!(asked.get(), 3);
    }
}
