//! Responses of frequent reads, each valid for one generation of its workspace.

use std::time::Duration;

use store::Generation;
use web::cache::{Cache, CacheCounters, CachePolicy};

use super::CachedResponse;
use super::key::CacheKey;

/// Limits of the cache. The generation covers every change by this server. The age limits staleness
/// if another process changes the database.
const POLICY: CachePolicy = CachePolicy::new(Duration::from_secs(1), 16 << 20);

/// Response cache of one server.
pub(crate) type ResponseEntries = Cache<CacheKey, CachedResponse, Generation>;

/// Creates an empty response cache.
pub(crate) fn response_entries(counters: CacheCounters) -> ResponseEntries {
    Cache::new(POLICY, |key, response| key.bytes() + response.body.len(), counters)
}
