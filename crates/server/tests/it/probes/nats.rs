//! Probes that connect through NATS: a real NATS server, real agents, and a server with a manual clock.
//! `access` tests credentials.

mod access;

use std::time::Duration;

use async_nats::jetstream::stream::{Info, Stream};
use async_nats::jetstream::{self, Context as JetStream};
use async_nats::{Client, ConnectOptions, Request};
use contract::rpc::Network;
use domain::cadence::MissedReason;
use domain::check::Outcome;
use remote::agent::ServerAddress;
use remote::nats::{NatsCall, NatsSettings, NatsUrls, jobs_stream, probe_inbox, results_subject};
use remote::{Message as _, Ticket, decode_job, wire};
use rules::plan::Plans;
use rules::{MonitorId, Region};
use server::config::Settings;
use testkit::nats::NatsServer;
use testkit::server::{START, TestServer};
use testkit::target::{HttpTarget, ScriptedResponse};

use super::refused::Forger;
use super::{Agent, Registered, author, monitor, register, wait_for_health};
use crate::pipeline::{PERIOD, Watched, until};

/// How far the server's clock jumps.
const JUMP: Duration = Duration::from_hours(1);

/// Starts a server that uses NATS.
pub(super) async fn watched(nats: &NatsServer) -> Watched {
    let urls = NatsUrls::parse(&nats.url()).unwrap();
    let change = |settings: &mut Settings| {
        settings.nats = Some(urls);
        settings.plans = Plans::parse("big weight=3").unwrap();
    };
    Watched::on(TestServer::start_with(change).await).await
}

fn address(nats: &NatsServer) -> ServerAddress {
    let urls = NatsUrls::parse(&nats.url()).unwrap();
    ServerAddress::Nats(NatsSettings { urls, credentials: None, network: Network::default() })
}

pub(super) fn agent(nats: &NatsServer, probe: &Registered) -> Agent {
    Agent::start_with(tempfile::tempdir().unwrap(), address(nats), &probe.token)
}

/// Connects with the inbox of a probe.
pub(super) async fn client(nats: &NatsServer, probe: &Registered) -> (Client, JetStream) {
    let options = ConnectOptions::new().custom_inbox_prefix(probe_inbox(probe.id));
    let client = options.connect(nats.url()).await.unwrap();
    (client.clone(), jetstream::new(client))
}

/// Opens a stream as a probe that takes no job.
async fn open_idle(client: &Client, probe: &Registered) {
    let opened = wire::OpenRequest { protocol: remote::PROTOCOL, ..wire::OpenRequest::default() };
    until(async || {
        let mut headers = async_nats::HeaderMap::new();
        headers.insert("Authorization", format!("Bearer {}", probe.token.expose()));
        let request = Request::new().headers(headers).payload(opened.encode_to_vec().into());
        let answer = client.send_request(NatsCall::Open.subject(probe.id), request).await.ok()?;
        answer.headers.is_none().then_some(())
    })
    .await;
}

/// Waits for a stream that the server creates.
async fn stream(jetstream: &JetStream, name: &str) -> Stream {
    until(async || jetstream.get_stream(name).await.ok()).await
}

/// Changes the maximum size of a stream.
async fn limit(stream: &Stream, jetstream: &JetStream, max_bytes: i64) -> Info {
    let config = stream.cached_info().config.clone();
    let config = jetstream::stream::Config { max_bytes, ..config };
    jetstream.update_stream(config).await.unwrap()
}

/// Publishes a result, and waits until NATS has it.
async fn publish_result(jetstream: &JetStream, probe: &Registered, result: Vec<u8>) {
    let published = jetstream.publish(results_subject(probe.id), result.into()).await;
    published.unwrap().await.unwrap();
}

/// A result of a probe that is not connected, to be published in its name.
struct Forged {
    nats: NatsServer,
    watched: Watched,
    probe: Registered,
    jetstream: JetStream,
    /// Stream of results.
    results: Stream,
    result: Vec<u8>,
    id: MonitorId,
}

impl Forged {
    async fn new() -> Self {
        let nats = NatsServer::start("");
        let watched = watched(&nats).await;
        let probe = register(&watched.server, 7, &[Region::FlySin]).await;
        wait_for_health(&watched.server, "fly-sin", "disconnected").await;
        let id = monitor(&watched, "http://127.0.0.1:9/", &["fly-sin"]).await;
        let (_, jetstream) = client(&nats, &probe).await;
        let results = stream(&jetstream, "ALOFT_RESULTS").await;
        let forger = Forger::new(&watched.server, &probe);
        let mut ticket: Ticket = forger.ticket;
        ticket.identity.monitor = id;
        let result = forger.result(&ticket).encode_to_vec();
        Self { nats, watched, probe, jetstream, results, result, id }
    }
}

/// Waits until NATS has as many messages in a stream.
async fn wait_for_messages(stream: &Stream, count: u64) {
    until(async || (stream.get_info().await.unwrap().state.messages == count).then_some(())).await;
}

async fn missed(watched: &Watched, id: MonitorId) {
    until(async || {
        let missed = watched.stored.missed(id).await;
        missed.iter().any(|it| it.reason == MissedReason::Disconnected).then_some(())
    })
    .await;
}

#[tokio::test]
async fn regions_are_checked_through_nats() {
    let nats = NatsServer::start("");
    let watched = watched(&nats).await;
    let probe = register(&watched.server, 7, &[Region::FlySin, Region::FlyNrt]).await;
    let agent = agent(&nats, &probe);
    wait_for_health(&watched.server, "fly-sin", "healthy").await;
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    let id = monitor(&watched, &target.url("/"), &["fly-nrt", "fly-sin"]).await;
    let results = watched.stored.at_least(2, id).await;
    let regions: Vec<_> = results.iter().map(|it| it.identity.region).collect();
    assert!(regions.contains(&Region::FlySin) && regions.contains(&Region::FlyNrt), "{regions:?}");
    let region = wait_for_health(&watched.server, "fly-sin", "healthy").await;
    assert_eq!(region["servedBy"], "probe-7");
    assert_eq!(region["probe"]["version"], "9.9.9");
    let ready = watched.server.nobody().get("/readyz").await.json();
    assert_eq!(ready["nats"], "ok");
    agent.stop().await;
    wait_for_health(&watched.server, "fly-sin", "disconnected").await;
}

// Until the probe's next report, its results were older than their slots, and manual checks hung
#[tokio::test]
async fn job_brings_the_servers_clock_over_nats() {
    let nats = NatsServer::start("");
    let watched = watched(&nats).await;
    let probe = register(&watched.server, 7, &[Region::FlySin]).await;
    let agent = agent(&nats, &probe);
    wait_for_health(&watched.server, "fly-sin", "healthy").await;
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    let id = monitor(&watched, &target.url("/"), &["fly-sin"]).await;
    watched.stored.at_least(1, id).await;
    watched.server.advance(JUMP);
    let jumped = until(async || {
        let results = watched.stored.at_least(1, id).await;
        results.into_iter().find(|it| it.identity.slot > START + JUMP - PERIOD)
    })
    .await;
    assert_eq!(jumped.outcome, Outcome::Success);
    let missed = watched.stored.missed(id).await;
    assert!(missed.iter().all(|it| it.reason != MissedReason::Fault), "{missed:?}");
    agent.stop().await;
}

#[tokio::test]
async fn repeated_result_is_stored_once() {
    let Forged { nats: _nats, watched, probe, jetstream, results, result, id } =
        Forged::new().await;
    // Without an ID, NATS keeps all of them.
    for _ in 0..3 {
        publish_result(&jetstream, &probe, result.clone()).await;
    }
    publish_result(&jetstream, &probe, b"no message".to_vec()).await;
    assert_eq!(watched.stored.at_least(1, id).await.len(), 1);
    wait_for_messages(&results, 0).await;
    assert_eq!(watched.stored.at_least(1, id).await.len(), 1);
}

// issue 19, bad input: "results for slots that were never assigned, from the future, or a megabyte long"
#[tokio::test]
async fn wrong_results_are_refused_and_counted() {
    let Forged { nats: _nats, watched, probe, jetstream, results, result, id } =
        Forged::new().await;
    let good = wire::JobResult::decode_from_slice(&result).unwrap();
    let other = Forger::new(&watched.server, &probe);
    let other = other.result(&Ticket { probe: 8, ..other.ticket });
    let hour = 3_600_000;
    let wrong = [
        wire::JobResult { ticket: vec![1; 60], ..good.clone() },
        other,
        wire::JobResult { finished_at_ms: START.as_millis() + hour, ..good.clone() },
    ];
    for result in &wrong {
        publish_result(&jetstream, &probe, result.encode_to_vec()).await;
    }
    publish_result(&jetstream, &probe, b"no message".to_vec()).await;
    let large = wire::JobResult { evidence: vec![b'['; remote::RESULT_BYTES_MAX], ..good };
    let refused = jetstream.publish(results_subject(probe.id), large.encode_to_vec().into()).await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("max payload"), "NATS itself refuses it: {refused}");
    wait_for_messages(&results, 0).await;
    let line = format!("probe_results_refused_total {}", wrong.len() + 1);
    until(async || {
        let metrics = watched.server.nobody().get("/metrics").await.to_string();
        metrics.contains(&line).then_some(())
    })
    .await;
    let stored = watched.stored.at_least(0, id).await;
    assert!(stored.iter().all(|it| &*it.probe.0 != "probe-7"), "{stored:?}");
}

#[tokio::test]
async fn results_of_deleted_probe_are_dropped() {
    let Forged { nats: _nats, watched, probe, jetstream, results, result, id } =
        Forged::new().await;
    let store = watched.server.running().app().store.clone();
    store.probes().delete(probe.id, author()).await.unwrap();
    publish_result(&jetstream, &probe, result).await;
    wait_for_messages(&results, 0).await;
    let stored = watched.stored.at_least(0, id).await;
    assert!(stored.iter().all(|it| &*it.probe.0 != "probe-7"), "{stored:?}");
}

#[tokio::test]
async fn job_that_nobody_takes_is_missed() {
    let nats = NatsServer::start("");
    let watched = watched(&nats).await;
    let probe = register(&watched.server, 7, &[Region::FlySin]).await;
    let (client, jetstream) = client(&nats, &probe).await;
    open_idle(&client, &probe).await;
    let jobs = stream(&jetstream, &jobs_stream(probe.id, Region::FlySin)).await;
    watched.server.running().control().set_plan("acme", "big".to_owned()).await.unwrap();
    let id = monitor(&watched, "http://127.0.0.1:9/", &["fly-sin"]).await;
    wait_for_messages(&jobs, 1).await;
    let job = jobs.get_raw_message(1).await.unwrap();
    let decoded = decode_job(wire::Job::decode_from_slice(&job.payload).unwrap()).unwrap();
    assert_eq!(
        decoded.weight, 3,
        "workspaces share the probe's permits by the weights of their plans"
    );
    let header = |name: &str| job.headers.get(name).unwrap().as_str().to_owned();
    let life: u64 = header("Nats-TTL").parse().unwrap();
    assert!(life <= PERIOD.as_secs(), "it expires with its slot, not in {life} s");
    let slot = format!("{:x}.1.fly-sin.{}.scheduled", id.bits(), START.as_millis());
    assert_eq!(header("Nats-Msg-Id"), slot);
    watched.server.advance(Duration::from_mins(5));
    missed(&watched, id).await;
    assert_eq!(watched.status(id).await, "unknown", "an idle probe is no outage");
}

#[tokio::test]
async fn job_for_a_full_stream_is_missed() {
    let nats = NatsServer::start("");
    let watched = watched(&nats).await;
    let probe = register(&watched.server, 7, &[Region::FlySin]).await;
    let (client, jetstream) = client(&nats, &probe).await;
    open_idle(&client, &probe).await;
    let jobs = stream(&jetstream, &jobs_stream(probe.id, Region::FlySin)).await;
    limit(&jobs, &jetstream, 1).await;
    let id = monitor(&watched, "http://127.0.0.1:9/", &["fly-sin"]).await;
    missed(&watched, id).await;
    wait_for_messages(&jobs, 0).await;
}

#[tokio::test]
async fn results_for_a_full_stream_wait_on_disk() {
    let nats = NatsServer::start("");
    let watched = watched(&nats).await;
    let probe = register(&watched.server, 7, &[Region::FlySin]).await;
    let (_, jetstream) = client(&nats, &probe).await;
    let results = stream(&jetstream, "ALOFT_RESULTS").await;
    let agent = agent(&nats, &probe);
    wait_for_health(&watched.server, "fly-sin", "healthy").await;
    limit(&results, &jetstream, 1).await;
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    let id = monitor(&watched, &target.url("/"), &["fly-sin"]).await;
    let files = agent.data.path().join("results");
    until(async || std::fs::read_dir(&files).unwrap().next().map(drop)).await;
    limit(&results, &jetstream, 1_000_000).await;
    assert_eq!(watched.stored.at_least(1, id).await[0].identity.slot, START);
    agent.stop().await;
}
