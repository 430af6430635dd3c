//! Judgment of results: statuses and incidents, stored in one transaction with the results.

use domain::check::Outcome;
use domain::judge::CloseReason;
use serde_json::json;
use testkit::server::START;
use testkit::target::{HttpTarget, ScriptedResponse};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;

use super::{PERIOD, Watched};

#[tokio::test]
async fn incident_opens_on_error_and_closes_on_recovery() {
    // design: §5 "To error: an incident opens. error to active: it closes."
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::status(503));
    let watched = Watched::start().await;
    let monitor = watched.monitor(&target.url("/")).await;
    let opened = watched.stored.incident(monitor, |incident| incident.closed.is_none()).await;
    assert_eq!(opened.opened_at, START);
    assert_eq!(watched.status(monitor).await, "error");
    assert_eq!(watched.stored.result_of(monitor, Outcome::Failure).await.status, Some(503));
    target.on("/", ScriptedResponse::ok("fine"));
    watched.next_result(monitor).await;
    let closed = watched.stored.incident(monitor, |incident| incident.closed.is_some()).await;
    assert_eq!(closed.id, opened.id);
    let end = closed.closed.unwrap();
    assert_eq!((end.at, end.reason), (START + PERIOD, CloseReason::Recovered));
    assert_eq!(watched.status(monitor).await, "active");
    assert_eq!(watched.stored.incidents(monitor).await.len(), 1);
}

#[tokio::test]
async fn old_revision_result_is_stored_without_evaluation() {
    // design: §5 "results of an older revision are stored but not judged"
    let old = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let new = HttpTarget::start().await;
    new.on("/", ScriptedResponse::ok("fine"));
    let watched = Watched::start().await;
    let url = format!("http://{}/", old.local_addr().unwrap());
    let monitor = watched.monitor(&url).await;
    let (mut running, _) = old.accept().await.unwrap();
    watched.edit(monitor, "url", json!(new.url("/"))).await;
    let judged = watched.stored.result_of(monitor, Outcome::Success).await;
    running.write_all(b"HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    let late = watched.stored.result_of(monitor, Outcome::Failure).await;
    assert_eq!((late.identity.revision, judged.identity.revision), (1, 2));
    assert_eq!(watched.status(monitor).await, "active");
    assert_eq!(watched.stored.incidents(monitor).await, []);
}
