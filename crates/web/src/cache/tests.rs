//! Tests of the cache: freshness, limits, shared reads, failures and absent keys.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

const POLICY: CachePolicy = CachePolicy {
    fresh_for: Duration::from_secs(1),
    bytes_max: 1 << 20,
    reads_max: 4,
    read_within: Duration::from_secs(60),
};

type TextCache = Cache<String, String, u64>;

fn cache() -> Arc<TextCache> {
    let size = |key: &String, value: &String| key.len() + value.len();
    Arc::new(Cache::new(POLICY, size, CacheCounters::default()))
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn text(text: &str) -> String {
    text.to_owned()
}

type ReadResult = Result<Option<String>, String>;

#[test]
fn value_expires_with_generation_or_age() {
    let cache = cache();
    cache.put(text("a"), text("old"), 1, at(5_000));
    let get = |generation: u64, millis| cache.get(&text("a"), &generation, at(millis));
    assert_eq!(get(1, 5_999).as_deref(), Some("old"));
    assert_eq!((get(2, 5_000), get(1, 6_000)), (None, None), "changed, or too old");
    assert_eq!(get(1, 4_999), None, "the clock was set back");
    assert_eq!(cache.last(&text("a")).as_deref(), Some("old"));
    cache.evict_expired(at(6_000));
    assert_eq!(cache.last(&text("a")), None);
}

#[test]
fn values_stay_within_the_limit() {
    let cache = cache();
    let large = "x".repeat(POLICY.bytes_max / 32);
    for number in 0..200 {
        cache.put(number.to_string(), large.clone(), 1, at(0));
        assert!(cache.entries.weight() <= POLICY.bytes_max as u64);
    }
    assert!(cache.entries.len() >= 8, "{} of at most 31 remain", cache.entries.len());
}

#[tokio::test]
async fn concurrent_requests_share_one_read() {
    let (cache, reads) = (cache(), Arc::new(AtomicUsize::new(0)));
    let (go, gate) = tokio::sync::watch::channel(false);
    let requests: Vec<_> = (0..20)
        .map(|_| {
            let (cache, reads, mut gate) = (Arc::clone(&cache), Arc::clone(&reads), gate.clone());
            tokio::spawn(async move {
                let read = async {
                    reads.fetch_add(1, Ordering::Relaxed);
                    gate.wait_for(|open| *open).await.unwrap();
                    ReadResult::Ok(Some(text("value")))
                };
                cache.get_or_read(text("a"), || Some(1), at(0), read).await
            })
        })
        .collect();
    tokio::task::yield_now().await;
    go.send(true).unwrap();
    for request in requests {
        assert_eq!(request.await.unwrap(), Ok(Some(text("value"))));
    }
    assert_eq!(reads.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn failed_read_returns_the_last_value() {
    let cache = cache();
    let fails = async || ReadResult::Err(text("no connection"));
    let error = cache.get_or_read(text("a"), || Some(1), at(0), fails()).await.unwrap_err();
    assert_eq!(error, ReadError { why: text("no connection"), last: None });
    cache.put(text("a"), text("last"), 1, at(0));
    let error = cache.get_or_read(text("a"), || Some(2), at(0), fails()).await.unwrap_err();
    assert_eq!(error, ReadError { why: text("no connection"), last: Some(text("last")) });
}

#[tokio::test]
async fn absent_key_is_remembered_while_nothing_changes() {
    let cache = cache();
    let absent = async || ReadResult::Ok(None);
    let found = async || ReadResult::Ok(Some(text("found")));
    assert_eq!(cache.get_or_read(text("a"), || Some(1), at(0), absent()).await, Ok(None));
    assert_eq!(cache.get_or_read(text("a"), || Some(1), at(0), found()).await, Ok(None));
    let later = cache.get_or_read(text("a"), || Some(1), at(5_000), found()).await;
    assert_eq!(later, Ok(Some(text("found"))));
    assert_eq!(cache.get_or_read(text("b"), || Some(1), at(0), absent()).await, Ok(None));
    let changed = cache.get_or_read(text("b"), || Some(2), at(0), found()).await;
    assert_eq!(changed, Ok(Some(text("found"))));
    assert!(cache.absent.len() <= ABSENT_MAX);
}

#[tokio::test]
async fn nothing_is_cached_while_the_source_changes() {
    let cache = cache();
    for expected in ["first", "second"] {
        let read = async { ReadResult::Ok(Some(text(expected))) };
        let found = cache.get_or_read(text("a"), || None, at(0), read).await;
        assert_eq!(found, Ok(Some(text(expected))));
    }
}
