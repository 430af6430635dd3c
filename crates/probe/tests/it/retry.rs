//! Attempts: when another one follows, and that all are kept.

use std::time::Duration;

use domain::check::Outcome;
use testkit::target::{Answer, HttpTarget};

use crate::checking::{SLOT, get};

#[tokio::test]
async fn a_failure_is_tried_again_until_it_is_none() {
    // design: §5 "Attempts follow a failure"
    let target = HttpTarget::start().await;
    target.on_each("/", vec![Answer::status(503), Answer::ok("")]);
    let outcome = get(target.url("/")).retry(3).run().await;
    outcome.assert_success();
    let outcomes: Vec<_> = outcome.attempts.iter().map(|(_, made)| made.outcome).collect();
    assert_eq!(outcomes, [Outcome::Failure, Outcome::Success]);
    assert_eq!(target.hits(), 2);
}

#[tokio::test]
async fn no_more_attempts_are_made_than_the_monitor_allows() {
    let target = HttpTarget::start().await;
    target.on("/", Answer::status(503));
    let outcome = get(target.url("/")).retry(1).run().await;
    assert_eq!((outcome.attempts.len(), target.hits()), (2, 2));
}

#[tokio::test]
async fn no_attempt_starts_after_the_next_slot_is_due() {
    // design: §5 "none starts after the next slot is due"
    let target = HttpTarget::start().await;
    target.on("/", Answer::status(503));
    get(target.url("/")).retry(10).run_until(SLOT + Duration::from_millis(1)).await;
    assert_eq!(target.hits(), 1);
}

#[tokio::test]
async fn a_slow_answer_is_no_reason_to_ask_again() {
    let target = HttpTarget::start().await;
    target.on("/", Answer::ok("").after(Duration::from_millis(50)));
    let outcome = get(target.url("/")).retry(3).degraded_at_ms(1).run().await;
    assert_eq!((outcome.outcome(), target.hits()), (Outcome::Degraded, 1));
}
