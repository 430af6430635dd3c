//! Caches key lookups for at most a second, so that calls do not wait for the store. A revocation
//! in another process takes effect within that second, one in this process immediately.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rules::{KeyId, Scope, Timestamp};
use store::{ApiKey, KeyHash, Workspace};
use web::cache::{Cache, CacheCounters, CachePolicy};

use super::{Caller, Principal, Refused};

/// Time that a valid key is remembered. Its caller is not guessing keys, whatever others at the
/// same address do.
const VALID_KEY_TTL: Duration = Duration::from_mins(10);
/// Limits of the cache. A lookup is valid for less than a second (issue 3); the size is that of some
/// 16,000 keys.
const POLICY: CachePolicy = CachePolicy::new(Duration::from_millis(900), 10 << 20);

/// Result of looking up a hash: a key, or the absence of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CachedKey(Option<StoredKey>);

/// Stored properties of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
struct StoredKey {
    id: KeyId,
    caller: Caller,
    workspace: Arc<Workspace>,
    expires_at: Option<Timestamp>,
    is_revoked: bool,
}

/// Result of a cache lookup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CacheLookup {
    /// The cached lookup is still valid.
    Fresh(CachedKey),
    /// The key was valid a while ago; the store must be asked again.
    Stale,
    /// The hash is not cached.
    Missing,
}

/// Cached lookups by the hash of the key.
#[derive(Debug)]
pub(super) struct KeyCache {
    lookups: Cache<KeyHash, CachedKey>,
    /// Number of removals. A lookup that began before the last removal must not be cached.
    removals: AtomicU64,
}

impl CachedKey {
    pub(super) fn from_lookup(found: Option<(ApiKey, Workspace)>) -> Self {
        Self(found.map(|(key, workspace)| StoredKey {
            id: key.id,
            caller: Caller {
                workspace: key.workspace,
                principal: Principal::Key(key.id),
                // Spec §5.6: keys created before scopes existed may write.
                scope: key.scope.unwrap_or(Scope::Write),
                legacy: key.scope.is_none(),
                is_redacted: false,
                address: None,
            },
            workspace: Arc::new(workspace),
            expires_at: key.expires_at,
            is_revoked: key.revoked_at.is_some(),
        }))
    }

    /// Returns the caller at `now`, or the reason that the key is rejected.
    pub(super) fn caller(
        &self,
        now: Timestamp,
    ) -> Result<(Caller, KeyId, Arc<Workspace>), Refused> {
        let known = self.0.as_ref().ok_or(Refused::Unknown)?;
        if known.is_revoked {
            return Err(Refused::Revoked);
        }
        if known.expires_at.is_some_and(|end| end <= now) {
            return Err(Refused::Expired);
        }
        Ok((known.caller, known.id, Arc::clone(&known.workspace)))
    }

    fn is_for(&self, key: KeyId) -> bool {
        self.0.as_ref().is_some_and(|known| known.id == key)
    }
}

impl KeyCache {
    pub(super) fn new(counters: CacheCounters) -> Self {
        let size = |_: &KeyHash, _: &CachedKey| size_of::<StoredKey>();
        Self { lookups: Cache::new(POLICY, size, counters), removals: AtomicU64::new(0) }
    }

    pub(super) fn get(&self, hash: &KeyHash, now: Timestamp) -> CacheLookup {
        if let Some(key) = self.lookups.get(hash, &(), now) {
            return CacheLookup::Fresh(key);
        }
        let last = self.lookups.last(hash);
        let was_valid = last.is_some_and(|key| key.caller(now).is_ok());
        if was_valid { CacheLookup::Stale } else { CacheLookup::Missing }
    }

    /// Returns the generation to take before the store is queried, for [`Self::put`].
    pub(super) fn generation(&self) -> u64 {
        self.removals.load(Ordering::Acquire)
    }

    pub(super) fn put(&self, hash: KeyHash, key: CachedKey, now: Timestamp, generation: u64) {
        if self.generation() != generation {
            return;
        }
        self.lookups.put(hash, key, (), now);
        // A removal counts before it removes, so one of the two sees the other.
        if self.generation() != generation {
            self.lookups.remove(&hash);
        }
    }

    pub(super) fn remove(&self, key: KeyId) {
        self.removals.fetch_add(1, Ordering::AcqRel);
        self.lookups.retain(|_, cached, _| !cached.is_for(key));
    }

    pub(super) fn evict_expired(&self, now: Timestamp) {
        self.lookups.retain(|_, _, at| now.since(at) < VALID_KEY_TTL);
    }
}

#[cfg(test)]
mod tests {
    use rules::WorkspaceId;

    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn known() -> StoredKey {
        let caller = Caller {
            workspace: WorkspaceId::from_bits(1),
            principal: Principal::Key(KeyId::from_bits(2)),
            scope: Scope::Read,
            legacy: false,
            is_redacted: false,
            address: None,
        };
        let workspace = Workspace {
            id: caller.workspace,
            slug: "acme".to_owned(),
            name: "Acme".to_owned(),
            plan: "free".to_owned(),
            created_at: at(0),
            deletes_at: None,
        };
        StoredKey {
            id: KeyId::from_bits(2),
            caller,
            workspace: Arc::new(workspace),
            expires_at: None,
            is_revoked: false,
        }
    }

    fn hash() -> KeyHash {
        KeyHash::new("a key")
    }

    #[test]
    fn lookup_is_cached_for_less_than_a_second() {
        // issue 3: a revocation by another process holds within a second
        let cache = KeyCache::new(CacheCounters::default());
        let verdict = CachedKey(Some(known()));
        cache.put(hash(), verdict.clone(), at(5_000), cache.generation());
        assert_eq!(cache.get(&hash(), at(5_899)), CacheLookup::Fresh(verdict));
        assert_eq!(cache.get(&hash(), at(6_000)), CacheLookup::Stale);
        assert_eq!(cache.get(&hash(), at(4_999)), CacheLookup::Stale, "the clock was set back");
    }

    #[test]
    fn removed_key_is_looked_up_again() {
        let cache = KeyCache::new(CacheCounters::default());
        let verdict = CachedKey(Some(known()));
        cache.put(hash(), verdict.clone(), at(0), cache.generation());
        let asked = cache.generation();
        cache.remove(known().id);
        assert_eq!(cache.get(&hash(), at(0)), CacheLookup::Missing);
        cache.put(hash(), verdict.clone(), at(0), asked);
        assert_eq!(cache.get(&hash(), at(0)), CacheLookup::Missing);
        cache.put(hash(), verdict.clone(), at(0), cache.generation());
        cache.remove(KeyId::from_bits(3));
        assert_eq!(cache.get(&hash(), at(0)), CacheLookup::Fresh(verdict), "of another key");
    }

    #[test]
    fn rejection_reports_the_first_reason() {
        let ended = Some(at(10));
        for (known, now, expected) in [
            (None, 0, Err(Refused::Unknown)),
            (Some(known()), 0, Ok(known().caller)),
            (Some(StoredKey { expires_at: ended, ..known() }), 9, Ok(known().caller)),
            (Some(StoredKey { expires_at: ended, ..known() }), 10, Err(Refused::Expired)),
            (Some(StoredKey { is_revoked: true, ..known() }), 0, Err(Refused::Revoked)),
            (
                Some(StoredKey { is_revoked: true, expires_at: ended, ..known() }),
                20,
                Err(Refused::Revoked),
            ),
        ] {
            let found = CachedKey(known.clone()).caller(at(now)).map(|(caller, ..)| caller);
            assert_eq!(found, expected, "{known:?} at {now}");
        }
    }
}
