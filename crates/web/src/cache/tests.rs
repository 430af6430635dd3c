//! Tests of the cache: freshness, limits, shared reads, failures and absent keys.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

const POLICY: CachePolicy = CachePolicy {
    wait_within: Duration::from_mins(1),
    read_within: Duration::from_mins(1),
    ..CachePolicy::new(Duration::from_secs(1), 1 << 20)
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
                let read = move || async move {
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
    let fails = || async { ReadResult::Err(text("no connection")) };
    let error = cache.get_or_read(text("a"), || Some(1), at(0), fails).await.unwrap_err();
    assert_eq!(error, ReadError { why: text("no connection"), last: None });
    assert_eq!(cache.entries.len(), 0, "a failed read evicts no values");
    cache.put(text("a"), text("last"), 1, at(0));
    let error = cache.get_or_read(text("a"), || Some(2), at(0), fails).await.unwrap_err();
    assert_eq!(error, ReadError { why: text("no connection"), last: Some(text("last")) });
}

#[test]
fn value_may_decide_how_long_it_is_fresh() {
    let size = |_: &u8, _: &Duration| 0;
    let cache = Cache::new(POLICY, size, CacheCounters::default()).with_fresh_for(|it| *it);
    let [short, long] = [Duration::from_secs(2), Duration::from_secs(9)];
    cache.put(1, short, (), at(0));
    cache.put(2, long, (), at(0));
    assert_eq!((cache.get(&1, &(), at(1_999)), cache.get(&1, &(), at(2_000))), (Some(short), None));
    assert_eq!(cache.get(&2, &(), at(8_999)), Some(long));
    cache.evict_expired(at(2_000));
    assert_eq!((cache.last(&1), cache.last(&2)), (None, Some(long)));
}

// issue 7: "stale-while-revalidate"
#[tokio::test]
async fn old_value_is_served_while_one_task_renews() {
    let (cache, reads) = (cache(), Arc::new(AtomicUsize::new(0)));
    let (go, gate) = tokio::sync::watch::channel(false);
    let ask = async |millis, result: ReadResult| {
        let (reads, mut gate) = (Arc::clone(&reads), gate.clone());
        let read = move || async move {
            reads.fetch_add(1, Ordering::Relaxed);
            gate.wait_for(|open| *open).await.unwrap();
            result
        };
        cache.get_or_renew(text("a"), || Some(1), at(millis), read).await
    };
    let renewed = || async {
        while cache.read_lock(&text("a")).try_lock().is_err() {
            tokio::task::yield_now().await;
        }
    };
    cache.put(text("a"), text("old"), 1, at(0));
    for _ in 0..3 {
        assert_eq!(ask(1_000, Ok(Some(text("new")))).await, Ok(Some(text("old"))));
        tokio::task::yield_now().await;
    }
    assert_eq!(reads.load(Ordering::Relaxed), 1);
    go.send(true).unwrap();
    renewed().await;
    assert_eq!(ask(1_000, Ok(None)).await, Ok(Some(text("new"))));
    assert_eq!(reads.load(Ordering::Relaxed), 1, "it is fresh");
    for _ in 0..2 {
        assert_eq!(ask(2_000, Err(text("away"))).await, Ok(Some(text("new"))));
        renewed().await;
    }
    assert_eq!(reads.load(Ordering::Relaxed), 3, "a failed renewal is repeated");
}

#[tokio::test]
async fn missing_value_is_awaited() {
    let cache = cache();
    let read = || async { ReadResult::Ok(Some(text("first"))) };
    let found = cache.get_or_renew(text("a"), || Some(1), at(0), read).await;
    assert_eq!(found, Ok(Some(text("first"))));
}

#[tokio::test]
async fn absent_key_is_remembered_while_nothing_changes() {
    let cache = cache();
    let absent = || async { ReadResult::Ok(None) };
    let found = || async { ReadResult::Ok(Some(text("found"))) };
    assert_eq!(cache.get_or_read(text("a"), || Some(1), at(0), absent).await, Ok(None));
    assert_eq!(cache.get_or_read(text("a"), || Some(1), at(0), found).await, Ok(None));
    let later = cache.get_or_read(text("a"), || Some(1), at(5_000), found).await;
    assert_eq!(later, Ok(Some(text("found"))));
    assert_eq!(cache.get_or_read(text("b"), || Some(1), at(0), absent).await, Ok(None));
    let changed = cache.get_or_read(text("b"), || Some(2), at(0), found).await;
    assert_eq!(changed, Ok(Some(text("found"))));
}

#[test]
fn absent_keys_are_limited() {
    let cache = cache();
    for number in 0..3 * ABSENT_MAX {
        cache.mark_absent(number.to_string(), 1, at(0));
        assert!(cache.absent.len() <= ABSENT_MAX);
    }
    assert!(cache.absent.len() > ABSENT_MAX / 2);
}

#[tokio::test]
async fn cancelled_read_leaves_no_entry() {
    let cache = cache();
    for number in 0..3 {
        let read = || std::future::pending::<ReadResult>();
        let key = number.to_string();
        let mut request = Box::pin(cache.get_or_read(key, || Some(1), at(0), read));
        tokio::select! {
            biased;
            _ = &mut request => panic!("the read does not end"),
            () = tokio::task::yield_now() => assert_eq!(cache.entries.len(), 1),
        }
        drop(request);
        assert_eq!(cache.entries.len(), 0);
    }
}

#[tokio::test]
async fn old_values_remain_until_they_are_evicted() {
    let cache = cache();
    cache.put(text("a"), text("old"), 1, at(0));
    cache.evict_older_than(Duration::from_secs(10), at(9_999));
    assert_eq!(cache.last(&text("a")).as_deref(), Some("old"));
    cache.evict_older_than(Duration::from_secs(10), at(10_000));
    assert_eq!(cache.last(&text("a")), None);
}

#[tokio::test]
async fn nothing_is_cached_while_the_source_changes() {
    let cache = cache();
    for expected in ["first", "second"] {
        let read = || async { ReadResult::Ok(Some(text(expected))) };
        let found = cache.get_or_read(text("a"), || None, at(0), read).await;
        assert_eq!(found, Ok(Some(text(expected))));
        assert_eq!(cache.entries.len(), 0);
    }
}
