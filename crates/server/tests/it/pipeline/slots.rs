//! Slots: the server runs, skips or misses each one and stores the outcome.

use std::time::Duration;

use domain::check::Outcome;
use futures_util::FutureExt as _;
use rules::Scope;
use serde_json::json;
use testkit::server::START;
use testkit::target::{HttpTarget, ScriptedResponse};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;

use super::{PERIOD, Watched, until};

/// Limit of concurrent checks in the tests of triggers.
const PLACES: usize = 4;

#[tokio::test]
async fn slots_that_nobody_ran_are_stored_as_missed() {
    // design: §5 "a slot nobody ran as missed: never silently lost"
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    let watched = Watched::start().await;
    let monitor = watched.monitor(&target.url("/")).await;
    watched.stored.at_least(1, monitor).await;
    // The clock jumps over ten slots. Only the last one runs.
    watched.server.advance(10 * PERIOD);
    let results = watched.stored.at_least(2, monitor).await;
    let missed = until(async || {
        let missed = watched.stored.missed(monitor).await;
        (!missed.is_empty()).then_some(missed)
    })
    .await;
    assert_eq!(missed.len(), 1);
    assert_eq!(missed[0].count, 9);
    assert!(START < missed[0].first_slot && missed[0].first_slot <= START + PERIOD);
    assert_eq!(missed[0].last_slot, missed[0].first_slot + 8 * PERIOD);
    assert_eq!(results[0].identity.slot, missed[0].last_slot + PERIOD);
    assert_eq!(results.len(), 2);
}

#[tokio::test]
async fn slot_with_running_predecessor_is_stored_as_skipped() {
    // design: §5 "recorded as skipped"
    let target = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let watched = Watched::start().await;
    let url = format!("http://{}/", target.local_addr().unwrap());
    let monitor = watched.monitor(&url).await;
    let (mut running, _) = target.accept().await.unwrap();
    watched.server.advance(PERIOD);
    let skipped = watched.stored.result_of(monitor, Outcome::Skipped).await;
    assert!(START < skipped.identity.slot && skipped.identity.slot <= START + PERIOD);
    assert_eq!((skipped.attempts, skipped.latency_us), (0, 0));
    running.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
    let ran = watched.stored.result_of(monitor, Outcome::Success).await;
    assert_eq!(ran.identity.slot, START, "the one that ran is stored under its own slot");
    assert_eq!(watched.stored.missed(monitor).await, []);
}

#[tokio::test]
async fn trigger_without_free_capacity_returns_unavailable() {
    // docs/decisions/0037: clients retry any call if the server reports that it did nothing
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let watched = Watched::with_permits(PLACES).await;
    let monitor = watched.paused(&format!("http://{}/", silent.local_addr().unwrap())).await;
    let trigger = || {
        let caller = watched.server.caller(Scope::Write);
        let request = json!({ "id": monitor.to_string() });
        tokio::spawn(async move { caller.rpc("TriggerMonitor", request).await })
    };
    let _first = trigger();
    let _held = silent.accept().await.unwrap();
    let second = trigger();
    until(async || {
        // In small steps, so that the second call gives up before the first one does.
        watched.server.advance(Duration::from_secs(1));
        tokio::task::yield_now().await;
        second.is_finished().then_some(())
    })
    .await;
    let reply = second.await.unwrap();
    assert_eq!(reply.status, 503, "{reply}");
    assert_eq!(reply.headers["retry-after"], "1");
    assert_eq!(reply.reason().as_deref(), Some("UNAVAILABLE"));
    assert!(silent.accept().now_or_never().is_none(), "nobody else came");
}

#[tokio::test]
async fn slots_run_while_many_triggers_wait() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    let watched = Watched::with_permits(PLACES).await;
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let asked = watched.paused(&url).await;
    for _ in 0..2 * PLACES {
        let caller = watched.server.caller(Scope::Write);
        let request = json!({ "id": asked.to_string() });
        tokio::spawn(async move { caller.rpc("TriggerMonitor", request).await });
    }
    let _asked = silent.accept().await.unwrap();
    let monitor = watched.monitor(&target.url("/")).await;
    let results = watched.stored.at_least(1, monitor).await;
    assert_eq!(results[0].outcome, Outcome::Success);
}
