//! Refusals: wrong credentials, other versions, and results of checks that the server did not assign.

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use remote::{Message as _, Ticket, TicketKey, wire};
use rules::{MonitorKind, ProbeId, Region, Scope, Timestamp};
use server::auth::probe_token;
use testkit::server::{START, TestServer};

use super::{Registered, register};
use crate::pipeline::Watched;

/// Sends a message of a probe and returns the response with its unread body.
async fn post(server: &TestServer, path: &str, token: &str, body: Vec<u8>) -> Response<Incoming> {
    let stream = tokio::net::TcpStream::connect(server.address()).await.unwrap();
    let io = hyper_util::rt::TokioIo::new(stream);
    let (mut sender, connection) = hyper::client::conn::http1::handshake(io).await.unwrap();
    tokio::spawn(connection);
    let request = Request::post(path)
        .header("host", server.address().to_string())
        .header("authorization", format!("Bearer {token}"))
        .body(Full::new(Bytes::from(body)))
        .unwrap();
    sender.send_request(request).await.unwrap()
}

/// Opens a stream of jobs.
pub(crate) async fn open(server: &TestServer, token: &str, protocol: i32) -> Response<Incoming> {
    let request = wire::OpenRequest { protocol, ..wire::OpenRequest::default() };
    post(server, remote::JOBS_PATH, token, request.encode_to_vec()).await
}

async fn text(response: Response<Incoming>) -> String {
    let body = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8_lossy(&body).into_owned()
}

#[tokio::test]
async fn wrong_tokens_and_versions_are_refused() {
    let watched = Watched::start().await;
    let server = &watched.server;
    let probe = register(server, 7, &[Region::FlySin]).await;
    let key = server.caller(Scope::Write).key().unwrap().to_owned();
    for token in ["", "nonsense", &key] {
        let refused = open(server, token, 1).await;
        assert_eq!(refused.status(), StatusCode::UNAUTHORIZED, "{token}");
        let report = post(server, remote::RESULTS_PATH, token, Vec::new()).await;
        assert_eq!(report.status(), StatusCode::UNAUTHORIZED, "{token}");
    }
    let refused = open(server, probe.token.expose(), 2).await;
    assert_eq!(refused.status(), StatusCode::PRECONDITION_FAILED);
    assert!(text(refused).await.contains("run the same version of aloft on both"));
    let with_token = server.with_key(probe.token.expose());
    assert_eq!(with_token.get("/v1/whoami").await.status, 401, "a token is no API key");
    let garbage = post(server, remote::JOBS_PATH, probe.token.expose(), vec![255; 100]).await;
    assert_eq!(garbage.status(), StatusCode::BAD_REQUEST);
    let large = vec![0; remote::REPORT_BYTES_MAX + 1];
    let large = post(server, remote::RESULTS_PATH, probe.token.expose(), large).await;
    assert_eq!(large.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let metrics = server.nobody().get("/metrics").await.to_string();
    for (reason, count) in [("token", 6), ("version", 1), ("malformed", 1), ("too_large", 1)] {
        let line = format!("probe_requests_refused_total{{reason=\"{reason}\"}} {count}");
        assert!(metrics.contains(&line), "{line}: {metrics}");
    }
}

// issue 16, point 10: a stranger behind the same proxy kept all probes away after a restart
#[tokio::test]
async fn unknown_tokens_do_not_block_a_probe() {
    let watched = Watched::start().await;
    let server = &watched.server;
    let probe = register(server, 7, &[Region::FlySin]).await;
    let mut refused = Vec::new();
    for number in 0..80 {
        let token = probe_token::compose(ProbeId::from_bits(1_000 + number), &[1; 32]);
        refused.push(open(server, token.expose(), 1).await.status());
    }
    assert_eq!(refused[0], StatusCode::UNAUTHORIZED);
    assert_eq!(refused.last(), Some(&StatusCode::TOO_MANY_REQUESTS));
    // Its token was never verified before, as after a restart.
    assert_eq!(open(server, probe.token.expose(), 1).await.status(), 200);
    let guessed = probe_token::compose(probe.id, &[1; 32]);
    assert_eq!(open(server, guessed.expose(), 1).await.status(), StatusCode::UNAUTHORIZED);
}

/// Signs tickets as the server does.
pub(super) struct Forger {
    key: TicketKey,
    pub(super) ticket: Ticket,
}

impl Forger {
    pub(super) fn new(server: &TestServer, probe: &Registered) -> Self {
        let store = &server.running().app().store;
        let identity = domain::check::ResultKey {
            monitor: rules::MonitorId::from_bits(1),
            revision: 1,
            region: Region::FlySin,
            slot: START,
            trigger: domain::check::Trigger::Scheduled,
        };
        let ticket = Ticket {
            probe: probe.id.bits(),
            identity,
            kind: MonitorKind::Http,
            is_draft: false,
            nonce: 1,
        };
        Self { key: TicketKey::derive(store.session_key().expose()), ticket }
    }

    pub(super) fn result(&self, ticket: &Ticket) -> wire::JobResult {
        wire::JobResult {
            ticket: self.key.sign(ticket),
            finished_at_ms: START.as_millis(),
            outcome: "success".to_owned(),
            attempts: 1,
            ..wire::JobResult::default()
        }
    }
}

/// Reports one result, and returns the reason for its refusal.
async fn report(server: &TestServer, probe: &Registered, result: wire::JobResult) -> String {
    let request = wire::ReportRequest { results: vec![result], ..wire::ReportRequest::default() };
    let token = probe.token.expose();
    let response = post(server, remote::RESULTS_PATH, token, request.encode_to_vec()).await;
    assert_eq!(response.status(), StatusCode::OK);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let answer = wire::ReportResponse::decode_from_slice(&body).unwrap();
    answer.refusals.into_iter().map(|it| it.reason).collect()
}

#[tokio::test]
async fn results_that_were_never_assigned_are_refused() {
    let watched = Watched::start().await;
    let server = &watched.server;
    let probe = register(server, 7, &[Region::FlySin]).await;
    super::wait_for_health(server, "fly-sin", "disconnected").await;
    let forger = Forger::new(server, &probe);
    let good = forger.result(&forger.ticket);
    assert_eq!(report(server, &probe, good.clone()).await, "");
    let other = Ticket { probe: 8, ..forger.ticket };
    let mut old = forger.ticket;
    old.identity.slot = Timestamp::from_millis(START.as_millis() - 25 * 3_600_000);
    let minute = 60_000;
    let refused = [
        (wire::JobResult { ticket: vec![1; 60], ..good.clone() }, "assigned no such check"),
        (forger.result(&other), "assigned to another probe"),
        (forger.result(&old), "older than 24 h"),
        (
            wire::JobResult { finished_at_ms: START.as_millis() + minute, ..good.clone() },
            "ended in the future",
        ),
        (
            wire::JobResult { finished_at_ms: START.as_millis() - minute, ..good.clone() },
            "ended before its slot",
        ),
        (wire::JobResult { evidence: vec![b'['; 1_100_000], ..good.clone() }, "more than 1048576"),
        (wire::JobResult { evidence: b"{}".to_vec(), ..good.clone() }, "evidence is unreadable"),
        (wire::JobResult { outcome: "skipped".to_owned(), ..good.clone() }, "`skipped` is unknown"),
        (wire::JobResult { latency_us: -1, ..good.clone() }, "latency is out of range"),
        (wire::JobResult { attempts: 0, ..good.clone() }, "attempts is out of range"),
        (wire::JobResult { status: Some(7), ..good }, "status is out of range"),
    ];
    let count = refused.len();
    for (result, reason) in refused {
        let found = report(server, &probe, result).await;
        assert!(found.contains(reason), "{reason}: {found}");
    }
    let metrics = server.nobody().get("/metrics").await.to_string();
    let line = format!("probe_results_refused_total {count}");
    assert!(metrics.contains(&line), "{metrics}");
}
