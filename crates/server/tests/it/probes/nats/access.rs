//! Access over NATS: credentials, tokens and inboxes.

use async_nats::{ConnectOptions, Event, Request};
use futures_util::{FutureExt as _, StreamExt as _};
use rules::{ProbeId, Region};
use server::auth::probe_token;
use testkit::nats::{NatsServer, ProbeUser, users};
use tokio::sync::mpsc;

use super::{
    Agent, Client, NatsCall, NatsSettings, ServerAddress, address, client, open_idle, probe_inbox,
    register, stream, until, watched,
};
use crate::pipeline::PATIENCE;

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
