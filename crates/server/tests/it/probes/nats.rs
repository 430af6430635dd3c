//! Probes that connect through NATS: a real NATS server, real agents, and a server with a manual clock.

use std::time::Duration;

use async_nats::jetstream::stream::{Info, Stream};
use async_nats::jetstream::{self, Context as JetStream};
use async_nats::{Client, ConnectOptions, Event, Request};
use contract::rpc::Network;
use domain::cadence::MissedReason;
use futures_util::{FutureExt as _, StreamExt as _};
use remote::agent::ServerAddress;
use remote::nats::{NatsCall, NatsSettings, NatsUrls, jobs_stream, probe_inbox, results_subject};
use remote::{Message as _, Ticket, decode_job, wire};
use rules::plan::Plans;
use rules::{MonitorId, ProbeId, Region};
use server::auth::probe_token;
use server::config::Settings;
use testkit::nats::{NatsServer, ProbeUser, users};
use testkit::server::{START, TestServer};
use testkit::target::{HttpTarget, ScriptedResponse};
use tokio::sync::mpsc;

use super::refused::Forger;
use super::{Agent, Registered, author, monitor, register, wait_for_health};
use crate::pipeline::{PATIENCE, PERIOD, Watched, until};

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

/// Connects as a user of NATS. Errors that NATS reports to it are sent.
async fn connect_as(nats: &NatsServer, user: &ProbeUser<'_>) -> (Client, mpsc::Receiver<String>) {
    let (sender, errors) = mpsc::channel(16);
    let options = ConnectOptions::new()
        .user_and_password(user.probe.to_owned(), user.password.to_owned())
        .custom_inbox_prefix(format!("aloft.inbox.{}", user.probe))
        .event_callback(move |event| {
            let sender = sender.clone();
            async move {
                if let Event::ServerError(why) = event {
                    // The test may have ended.
                    let _ = sender.send(why.to_string()).await;
                }
            }
        });
    (options.connect(nats.url()).await.unwrap(), errors)
}

// issue 19 point 3: "credentials limited to their subjects"
#[tokio::test]
async fn credentials_reach_no_other_probe() {
    let ams = ProbeUser { probe: "prb_0000000000007", password: "one", region: "fly-ams" };
    let sin = ProbeUser { probe: "prb_0000000000008", password: "two", region: "fly-sin" };
    let nats = NatsServer::start(&users(&[ams, sin]));
    let (client, mut errors) = connect_as(&nats, &ams).await;
    for subject in [
        "$JS.API.CONSUMER.MSG.NEXT.ALOFT_JOBS_fly-sin.aloft",
        "$JS.API.CONSUMER.CREATE.ALOFT_JOBS_fly-sin",
        "$JS.API.STREAM.MSG.GET.ALOFT_JOBS_fly-sin",
        "$JS.API.CONSUMER.MSG.NEXT.ALOFT_RESULTS.aloft",
        "$JS.API.STREAM.PURGE.ALOFT_JOBS_fly-ams",
        "aloft.results.prb_0000000000008",
        "aloft.probes.prb_0000000000008.open",
        "aloft.jobs.fly-ams",
    ] {
        client.publish(subject, "".into()).await.unwrap();
        let error = tokio::time::timeout(PATIENCE, errors.recv()).await.unwrap().unwrap();
        assert!(error.to_lowercase().contains("permissions violation"), "{subject}: {error}");
        assert!(error.contains(subject), "{subject}: {error}");
    }
    for subject in ["aloft.jobs.>", "aloft.results.>", "aloft.inbox.prb_0000000000008.>"] {
        let _subscription = client.subscribe(subject).await.unwrap();
        let error = tokio::time::timeout(PATIENCE, errors.recv()).await.unwrap().unwrap();
        assert!(error.to_lowercase().contains("permissions violation"), "{subject}: {error}");
    }
}

#[tokio::test]
async fn unreadable_credentials_are_no_refusal() {
    let nats = NatsServer::start("");
    let ServerAddress::Nats(settings) = address(&nats) else { unreachable!("it is NATS") };
    let credentials = Some(nats.folder().join("missing.creds"));
    let address = ServerAddress::Nats(NatsSettings { credentials, ..settings });
    let token = probe_token::compose(ProbeId::from_bits(7), &[7; 32]);
    let agent = Agent::start_with(tempfile::tempdir().unwrap(), address, &token);
    let error = agent.running.await.unwrap().unwrap_err().to_string();
    assert!(
        error.starts_with("the NATS credentials in") && error.contains("unreadable"),
        "{error}"
    );
}

#[tokio::test]
async fn token_of_another_probe_is_refused() {
    let nats = NatsServer::start("");
    let watched = watched(&nats).await;
    let seven = register(&watched.server, 7, &[Region::FlySin]).await;
    let eight = register(&watched.server, 8, &[Region::FlyNrt]).await;
    let (client, jetstream) = client(&nats, &seven).await;
    stream(&jetstream, "ALOFT_RESULTS").await;
    let ask = async |call: NatsCall, token: &str| {
        until(async || {
            let mut headers = async_nats::HeaderMap::new();
            headers.insert("Authorization", format!("Bearer {token}"));
            let request = Request::new().headers(headers);
            client.send_request(call.subject(seven.id), request).await.ok()
        })
        .await
        .payload
    };
    for call in [NatsCall::Open, NatsCall::Report, NatsCall::Close] {
        let refused = ask(call, eight.token.expose()).await;
        let refused = String::from_utf8_lossy(&refused);
        assert!(refused.contains("the token belongs to another probe"), "{refused}");
        let refused = ask(call, "nonsense").await;
        let refused = String::from_utf8_lossy(&refused);
        assert!(refused.contains("this is not the token of a probe"), "{refused}");
    }
    let unknown = ask(NatsCall::Report, seven.token.expose()).await;
    let unknown = String::from_utf8_lossy(&unknown);
    assert!(unknown.contains("does not know the stream"), "{unknown}");
}

#[tokio::test]
async fn answers_reach_only_the_inbox_of_their_probe() {
    let nats = NatsServer::start("");
    let watched = watched(&nats).await;
    let probe = register(&watched.server, 7, &[Region::FlySin]).await;
    let (client, jetstream) = client(&nats, &probe).await;
    stream(&jetstream, "ALOFT_RESULTS").await;
    open_idle(&client, &probe).await;
    let subjects =
        ["aloft.jobs.elsewhere", "aloft.inbox.prb_0000000000008.1", "aloft.inbox.server.1"];
    let subjects = subjects.map(str::to_owned).into_iter().chain([probe_inbox(probe.id) + "x.1"]);
    let subjects: Vec<String> = subjects.collect();
    let mut elsewhere = Vec::new();
    for subject in &subjects {
        elsewhere.push(client.subscribe(subject.clone()).await.unwrap());
    }
    // More than the server answers at a time, so it has finished some when it answers the last request.
    for number in 0..100 {
        let reply = subjects[number % subjects.len()].clone();
        let call = NatsCall::Report.subject(probe.id);
        client.publish_with_reply(call, reply, "".into()).await.unwrap();
    }
    client.request(NatsCall::Report.subject(probe.id), "".into()).await.unwrap();
    for mut subscription in elsewhere {
        assert!(subscription.next().now_or_never().is_none());
    }
}
