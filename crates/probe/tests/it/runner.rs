//! Attempts: retries, collected results, and concurrency.

use std::time::Duration;

use aloft_probe::Probe;
use domain::check::Outcome;
use testkit::target::{HttpTarget, ScriptedResponse};
use tokio::time::Instant;

use crate::checking::{SLOT, get, job};

#[tokio::test]
async fn concurrent_attempts_are_limited() {
    let target = HttpTarget::start().await;
    let pause = Duration::from_millis(100);
    target.on("/", ScriptedResponse::ok("").after(pause));
    let mut checking = get(target.url("/"));
    checking.settings.concurrency = 1;
    let probe = Probe::new(checking.settings.clone());
    let job = job(checking.plan(), SLOT + Duration::from_mins(10));
    let clone = probe.clone();
    let start = Instant::now();
    let runs = tokio::join!(probe.run(&job, || SLOT), clone.run(&job, || SLOT));
    assert_eq!((runs.0.len(), runs.1.len(), target.hits()), (1, 1, 2));
    assert!(start.elapsed() >= 2 * pause, "one waited for the other");
    let latency = Duration::from_micros(u64::from(runs.1[0].0.latency_us));
    assert!(latency + pause / 2 < start.elapsed(), "latency excludes waiting for a permit");
}

#[tokio::test]
async fn failure_is_retried_until_success() {
    // design: §5 "Attempts follow a failure"
    let target = HttpTarget::start().await;
    target.on_each("/", vec![ScriptedResponse::status(503), ScriptedResponse::ok("")]);
    let outcome = get(target.url("/")).retry(3).run().await;
    outcome.assert_success();
    let outcomes: Vec<_> = outcome.attempts.iter().map(|(_, made)| made.outcome).collect();
    assert_eq!(outcomes, [Outcome::Failure, Outcome::Success]);
    assert_eq!(target.hits(), 2);
}

#[tokio::test]
async fn attempts_are_limited_by_the_monitor() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::status(503));
    let outcome = get(target.url("/")).retry(1).run().await;
    assert_eq!((outcome.attempts.len(), target.hits()), (2, 2));
}

#[tokio::test]
async fn no_attempt_starts_at_the_next_slot() {
    // design: §5 "none starts after the next slot is due"
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::status(503));
    get(target.url("/")).retry(10).run_until(SLOT + Duration::from_millis(1)).await;
    assert_eq!(target.hits(), 1);
}

#[tokio::test]
async fn degraded_check_is_not_retried() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("").after(Duration::from_millis(50)));
    let outcome = get(target.url("/")).retry(3).degraded_at_ms(1).run().await;
    assert_eq!((outcome.outcome(), target.hits()), (Outcome::Degraded, 1));
}
