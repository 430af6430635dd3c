//! Entries of the response cache, each with the generation that it was read at. Their total size is
//! limited. Old entries are removed regardless of their generation.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use rules::Timestamp;
use store::Generation;

use super::CachedResponse;
use super::key::CacheKey;

/// Maximum size of all entries, in bytes. Above it the cache is cleared, which costs one read per
/// entry.
const BYTES_MAX: usize = 16 * 1_048_576;
/// Overhead of an entry besides its body, in bytes: headers and map entry.
const BYTES_BESIDE: usize = 512;
/// Maximum age of an entry. The generation covers every change by this server. The age limits
/// staleness if another process changes the database.
const TTL: Duration = Duration::from_secs(1);

/// Response cache of one server.
#[derive(Debug, Default)]
pub(crate) struct CacheEntries(RwLock<EntryMap>);

#[derive(Debug, Default)]
struct EntryMap {
    by_key: HashMap<CacheKey, CacheEntry>,
    bytes: usize,
}

#[derive(Debug)]
struct CacheEntry {
    response: CachedResponse,
    generation: Generation,
    read_at: Timestamp,
    bytes: usize,
}

impl CacheEntries {
    /// Returns a recent response that was read at this generation.
    pub(super) fn get(
        &self,
        cache_key: &CacheKey,
        generation: Generation,
        now: Timestamp,
    ) -> Option<CachedResponse> {
        let answers = self.read();
        let entry = answers.by_key.get(cache_key)?;
        (entry.generation == generation && entry.is_fresh(now)).then(|| entry.response.clone())
    }

    /// Stores a response that was read at `read_at`. The generation must be from before the read.
    pub(super) fn put(
        &self,
        cache_key: CacheKey,
        answer: CachedResponse,
        generation: Generation,
        read_at: Timestamp,
    ) {
        let bytes = cache_key.bytes() + answer.body.len() + BYTES_BESIDE;
        let mut answers = self.write();
        if answers.bytes + bytes > BYTES_MAX {
            *answers = EntryMap::default();
        }
        let entry = CacheEntry { response: answer, generation, read_at, bytes };
        answers.bytes += bytes;
        if let Some(before) = answers.by_key.insert(cache_key, entry) {
            answers.bytes -= before.bytes;
        }
    }

    /// Removes expired entries.
    pub(crate) fn evict_expired(&self, now: Timestamp) {
        let mut answers = self.write();
        answers.by_key.retain(|_, entry| entry.is_fresh(now));
        answers.bytes = answers.by_key.values().map(|entry| entry.bytes).sum();
        answers.by_key.shrink_to_fit();
    }

    fn read(&self) -> RwLockReadGuard<'_, EntryMap> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, EntryMap> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CacheEntry {
    /// Returns whether the entry has not expired. An entry from the future, after the clock was set
    /// back, has.
    fn is_fresh(&self, now: Timestamp) -> bool {
        now >= self.read_at && now.since(self.read_at) < TTL
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use bytes::Bytes;
    use http::HeaderMap;
    use rules::{KeyId, Scope, WorkspaceId};

    use super::*;
    use crate::auth::Caller;
    use crate::rpc::body::BufferedBody;

    fn cache_key(message: &str) -> CacheKey {
        let workspace = WorkspaceId::from_bits(1);
        let caller =
            Caller { workspace, key: KeyId::from_bits(1), scope: Scope::Read, legacy: false };
        let message = BufferedBody(Bytes::copy_from_slice(message.as_bytes()));
        let request = http::Request::post("/x").extension(message).body(Body::empty()).unwrap();
        CacheKey::from_request(caller, "/a.B/C", &request).unwrap()
    }

    fn answer(bytes: usize) -> CachedResponse {
        CachedResponse { headers: HeaderMap::new(), body: vec![0; bytes].into(), trailers: None }
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    /// Creates two generations of one workspace, as a store does.
    async fn generations() -> [Generation; 2] {
        let folder = tempfile::tempdir().unwrap();
        let settings = store::Settings {
            folder: folder.path().to_owned(),
            database: store::Database::Embedded,
            master_key: store::MasterKeySource::File,
        };
        let store = store::Store::open(settings).await.unwrap();
        let workspace = store::Workspace {
            id: WorkspaceId::from_bits(1),
            slug: "acme".to_owned(),
            name: "Acme".to_owned(),
            plan: store::FREE_PLAN.to_owned(),
            created_at: at(0),
        };
        let before = store.generation(workspace.id).unwrap();
        let change = store::AuditContext { actor: store::Actor::Server, at: at(0) };
        let id = workspace.id;
        store.workspaces().create(workspace, change).await.unwrap();
        [before, store.generation(id).unwrap()]
    }

    #[tokio::test]
    async fn response_expires_with_generation_or_ttl() {
        let [old, new] = generations().await;
        let (cache, key) = (CacheEntries::default(), cache_key("{}"));
        cache.put(key.clone(), answer(3), old, at(5_000));
        let is_there = |generation, millis| cache.get(&key, generation, at(millis)).is_some();
        assert!(is_there(old, 5_000) && is_there(old, 5_999));
        assert!(!is_there(new, 5_000), "something was changed since");
        assert!(!is_there(old, 6_000) && !is_there(old, 4_999), "too old, or from the future");
        assert!(cache.get(&cache_key("{ }"), old, at(5_000)).is_none());
        cache.put(key.clone(), answer(4), new, at(5_001));
        assert_eq!(cache.get(&key, new, at(5_001)).unwrap().body, Bytes::from(vec![0; 4]));
    }

    #[tokio::test]
    async fn cache_stays_within_its_memory_limit() {
        let [generation, _] = generations().await;
        let cache = CacheEntries::default();
        let large = BYTES_MAX / 10;
        for number in 0..40 {
            cache.put(cache_key(&number.to_string()), answer(large), generation, at(0));
            let answers = cache.read();
            let counted: usize = answers.by_key.values().map(|entry| entry.bytes).sum();
            assert_eq!(answers.bytes, counted);
            assert!(answers.bytes <= BYTES_MAX && !answers.by_key.is_empty());
        }
        cache.put(cache_key("39"), answer(large), generation, at(1));
        cache.evict_expired(at(1_000));
        assert_eq!(cache.read().by_key.len(), 1, "the others are a second old");
        cache.evict_expired(at(1_001));
        assert_eq!((cache.read().bytes, cache.read().by_key.len()), (0, 0));
    }
}
