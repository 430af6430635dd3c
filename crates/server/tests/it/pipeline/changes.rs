//! Edits, pauses and deletions take effect before the server responds.

use domain::judge::CloseReason;
use rules::MonitorId;
use serde_json::json;
use store::Closed;
use testkit::server::START;
use testkit::target::{HttpTarget, ScriptedResponse};

use super::{PERIOD, Watched, until};

/// Periods to wait before a test asserts that nothing happened.
const ROUNDS: usize = 3;

/// Starts a target that fails at `/down`, and a monitor with an open incident.
async fn with_incident() -> (HttpTarget, Watched, MonitorId) {
    let target = HttpTarget::start().await;
    target.on("/down", ScriptedResponse::status(503)).on("/up", ScriptedResponse::ok("fine"));
    let watched = Watched::start().await;
    let monitor = watched.monitor(&target.url("/down")).await;
    watched.stored.incident(monitor, |incident| incident.closed.is_none()).await;
    (target, watched, monitor)
}

/// Advances the clock by [`ROUNDS`] periods and waits for another monitor to run in each.
async fn periods_pass(target: &HttpTarget, watched: &Watched) {
    let other = watched.monitor(&target.url("/up")).await;
    watched.stored.at_least(1, other).await;
    for _ in 0..ROUNDS {
        watched.next_result(other).await;
    }
}

fn asked(target: &HttpTarget, path: &str) -> usize {
    target.received().iter().filter(|received| received.target == path).count()
}

#[tokio::test]
async fn pause_closes_the_incident_and_stops_checks() {
    // design: §5 "Pausing or deleting closes it under that name"
    let (target, watched, monitor) = with_incident().await;
    watched.edit(monitor, "active", json!(false)).await;
    let closed = watched.stored.incidents(monitor).await[0].closed;
    assert!(matches!(closed, Some(Closed { reason: CloseReason::Paused, .. })), "{closed:?}");
    assert_eq!(watched.status(monitor).await, "unknown");
    periods_pass(&target, &watched).await;
    assert_eq!(asked(&target, "/down"), 1);

    watched.edit(monitor, "active", json!(true)).await;
    let results = watched.stored.at_least(2, monitor).await;
    let resumed_at = START + PERIOD * ROUNDS as u32;
    assert_eq!(results[0].identity.slot, resumed_at, "a resumed monitor is checked at once");
    assert_eq!(asked(&target, "/down"), 2);
    let again = watched.stored.incident(monitor, |incident| incident.closed.is_none()).await;
    assert_eq!(again.opened_at, resumed_at, "what fails after a pause is another incident");
    assert_eq!(watched.stored.missed(monitor).await, [], "nobody promised the slots of a pause");
}

#[tokio::test]
async fn deletion_closes_the_incident_and_stops_checks() {
    let (target, watched, monitor) = with_incident().await;
    let reply = watched.caller.rpc("DeleteMonitor", json!({ "id": monitor.to_string() })).await;
    assert_eq!(reply.status, 200, "{reply}");
    let closed = watched.stored.incidents(monitor).await[0].closed;
    assert!(matches!(closed, Some(Closed { reason: CloseReason::Deleted, .. })), "{closed:?}");
    periods_pass(&target, &watched).await;
    assert_eq!(asked(&target, "/down"), 1);
}

#[tokio::test]
async fn edit_triggers_a_check_and_keeps_the_incident() {
    // design: §5 "An edit makes a new revision and keeps an open incident", "recovery needs a new
    // result"
    let (target, watched, monitor) = with_incident().await;
    watched.edit(monitor, "timeout", json!(44_000)).await;
    let results = watched.stored.at_least(2, monitor).await;
    assert!(results.iter().all(|result| result.identity.slot == START), "{results:?}");
    assert_eq!(watched.stored.incidents(monitor).await[0].closed, None, "it still fails");
    watched.edit(monitor, "url", json!(target.url("/up"))).await;
    let closed = watched.stored.incident(monitor, |incident| incident.closed.is_some()).await;
    assert_eq!(closed.closed.map(|closed| closed.reason), Some(CloseReason::Recovered));
    assert_eq!(watched.stored.incidents(monitor).await.len(), 1);
}

#[tokio::test]
async fn an_edit_starts_nothing_of_the_settings_before() {
    let (target, watched, monitor) = with_incident().await;
    watched.edit(monitor, "url", json!(target.url("/up"))).await;
    watched.stored.at_least(2, monitor).await;
    for _ in 0..ROUNDS {
        watched.next_result(monitor).await;
    }
    assert_eq!(asked(&target, "/down"), 1);
    let results = watched.stored.results(monitor).await;
    assert!(results.iter().filter(|result| result.identity.revision == 2).count() > ROUNDS);
}

#[tokio::test]
async fn pause_stops_the_attempts_of_a_running_check() {
    // issue 3 "Editing, pausing or deleting a monitor takes effect within a second"
    let (target, watched, monitor) = with_incident().await;
    watched.edit(monitor, "retry", json!(10)).await;
    until(async || (asked(&target, "/down") > 1).then_some(())).await;
    watched.edit(monitor, "active", json!(false)).await;
    // The manual clock never reaches the next slot, so eleven attempts would take eight minutes.
    let results = watched.stored.at_least(2, monitor).await;
    let cut_off = results.iter().find(|result| result.identity.revision == 2).unwrap();
    assert_eq!(usize::from(cut_off.attempts), asked(&target, "/down") - 1);
    assert!(cut_off.attempts < 11, "{}", cut_off.attempts);
}
