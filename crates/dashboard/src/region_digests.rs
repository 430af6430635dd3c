//! Digests of the regions for open pages: one look at the pipeline for all of them.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use contract::region::wire::Region;
use tokio::sync::Mutex;
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

/// The latest digest, which all open pages share.
#[derive(Debug, Default)]
pub(crate) struct SharedRegionsDigest(Mutex<Option<(Instant, Option<RegionsDigest>)>>);

impl SharedRegionsDigest {
    /// Returns the latest digest. `ask` takes a new one, `None` without an answer.
    pub(crate) async fn get(
        &self,
        ask: impl Future<Output = Option<RegionsDigest>>,
    ) -> Option<RegionsDigest> {
        self.get_at(Instant::now(), ask).await
    }

    async fn get_at(
        &self,
        now: Instant,
        ask: impl Future<Output = Option<RegionsDigest>>,
    ) -> Option<RegionsDigest> {
        // Others wait for the same answer.
        let mut last = self.0.lock().await;
        if let Some((at, digest)) = *last
            && now.saturating_duration_since(at) < FRESH_FOR
        {
            return digest;
        }
        let digest = ask.await;
        *last = Some((Instant::now(), digest));
        digest
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
        let get_at = |now| {
            shared.get_at(now, async {
                asked.set(asked.get() + 1);
                None
            })
        };
        let now = Instant::now();
        assert_eq!((get_at(now).await, get_at(now).await), (None, None));
        assert_eq!(asked.get(), 1, "also if there was no answer");
        get_at(Instant::now() + FRESH_FOR).await;
        assert_eq!(asked.get(), 2);
    }
}
