//! Metrics of caches, by the name of the cache.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

/// Metrics of all caches of a server. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct CacheMetrics {
    lookups: Family<[(&'static str, &'static str); 2], Counter>,
    bytes: Family<[(&'static str, &'static str); 1], Gauge>,
}

/// Metrics of one cache. The default is not registered anywhere.
#[derive(Clone, Debug, Default)]
pub struct CacheCounters {
    hits: Counter,
    misses: Counter,
    bytes: Gauge,
}

impl CacheMetrics {
    /// Creates the metrics and registers them.
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register("cache_lookups", "Lookups by cache and outcome", metrics.lookups.clone());
        let help = "Approximate size of the cached values";
        registry.register_with_unit("cache", help, Unit::Bytes, metrics.bytes.clone());
        metrics
    }

    /// Returns the metrics of the cache with this name.
    pub fn counters(&self, cache: &'static str) -> CacheCounters {
        let lookups =
            |outcome| self.lookups.get_or_create_owned(&[("cache", cache), ("outcome", outcome)]);
        CacheCounters {
            hits: lookups("hit"),
            misses: lookups("miss"),
            bytes: self.bytes.get_or_create_owned(&[("cache", cache)]),
        }
    }
}

impl CacheCounters {
    /// Counts a lookup.
    pub fn count(&self, is_hit: bool) {
        if is_hit {
            self.hits.inc()
        } else {
            self.misses.inc()
        };
    }

    /// Sets the size of all cached values.
    pub fn set_bytes(&self, bytes: u64) {
        self.bytes.set(i64::try_from(bytes).unwrap_or(i64::MAX));
    }
}
