//! Loss of the database connection. The server continues after it returns, and exits if another
//! server took over.

use domain::check::Outcome;
use rules::{MonitorId, MonitorKind, Secret, limits};
use server::boot::{self, Signals};
use server::pipeline::PipelineError;
use store::{Database, MasterKeySource, Store};
use testkit::flaky_proxy::FlakyProxy;
use testkit::postgres;
use testkit::server::{START, TestServer};
use testkit::target::{HttpTarget, ScriptedResponse};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use web::context::Context;

use crate::pipeline::Watched;

/// Number of periods during which the database is unreachable.
const PERIODS: usize = 3;

#[tokio::test]
async fn checks_during_database_outage_are_stored_afterwards() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    let line = FlakyProxy::start(&postgres::database()).await;
    let address = line.address();
    let server = TestServer::start_with(|settings| {
        settings.database = Database::Postgres(Secret::new(address));
    })
    .await;
    let watched = Watched::on(server).await;
    let monitor = watched.monitor(&target.url("/")).await;
    watched.stored.at_least(1, monitor).await;
    line.cut();
    let metrics = watched.server.running().app().metrics.clone();
    let ended = || metrics.checks(MonitorKind::Http, Outcome::Success).get();
    for period in 1..=PERIODS {
        watched.server.advance(crate::pipeline::PERIOD);
        // Wait for completion: a slot is skipped if the previous check is still running.
        crate::pipeline::until(async || (ended() > period as u64).then_some(())).await;
        assert_eq!(target.hits(), 1 + period, "one check in a period");
    }
    let refused = || metrics.commits_failed.get();
    crate::pipeline::until(async || (refused() > 0).then_some(())).await;
    // Requests fail at once instead of waiting for the database.
    let asked = watched.server.running().app().pipeline.view(monitor).await;
    assert!(matches!(asked, Err(PipelineError::Busy)), "{asked:?}");
    line.restore();
    crate::pipeline::until(async || watched.server.running().app().store.ready().await.ok()).await;
    let results = watched.stored.at_least(1 + PERIODS, monitor).await;
    assert!(results.iter().all(|result| result.outcome == Outcome::Success), "{results:?}");
}

// docs/reference/limits.md: a manual check is answered within 150 seconds
#[tokio::test]
async fn unstorable_manual_check_returns_503_in_time() {
    let target = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let line = FlakyProxy::start(&postgres::database()).await;
    let address = line.address();
    let server = TestServer::start_with(|settings| {
        settings.database = Database::Postgres(Secret::new(address));
    })
    .await;
    let watched = Watched::on(server).await;
    let monitor = watched.paused(&format!("http://{}/", target.local_addr().unwrap())).await;
    let caller = watched.server.caller(rules::Scope::Write);
    let request = serde_json::json!({ "id": monitor.to_string() });
    let called = tokio::spawn(async move { caller.rpc("TriggerMonitor", request).await });
    let (mut checked, _) = target.accept().await.unwrap();
    line.cut();
    checked.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
    let metrics = watched.server.running().app().metrics.clone();
    let failed = || metrics.commits_failed.get() > 0;
    crate::pipeline::until(async || failed().then_some(())).await;
    watched.server.advance(limits::TRIGGER_ANSWERED_WITHIN);
    let reply = tokio::time::timeout(crate::pipeline::PATIENCE, called).await.unwrap().unwrap();
    assert_eq!(reply.status, 503, "{reply}");
    // The check ran, so clients must not repeat the call as if it had not.
    assert_eq!(reply.headers.get("retry-after"), None, "{reply}");
}

#[tokio::test]
async fn caller_waits_a_limited_time_for_a_change() {
    let watched = Watched::on(TestServer::start().await).await;
    let pipeline = watched.server.running().app().pipeline.clone();
    let (begun, has_begun) = oneshot::channel();
    let changing = tokio::spawn(async move {
        let forever = async move {
            begun.send(()).unwrap();
            std::future::pending::<()>().await;
        };
        pipeline.change(MonitorId::from_bits(1), forever).await
    });
    has_begun.await.unwrap();
    watched.server.advance(rules::limits::CHANGE_ANSWERED_WITHIN);
    let ended = tokio::time::timeout(crate::pipeline::PATIENCE, changing).await.unwrap();
    assert!(matches!(ended, Ok(Err(PipelineError::Unfinished))), "{ended:?}");
}

// issue 16, point 11: outages keep their observed times, even if the database hangs
#[tokio::test]
async fn outage_during_database_loss_keeps_observed_times() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    let line = FlakyProxy::start(&postgres::database()).await;
    let address = line.address();
    let server = TestServer::start_with(|settings| {
        settings.database = Database::Postgres(Secret::new(address));
    })
    .await;
    let watched = Watched::on(server).await;
    let monitor = watched.monitor(&target.url("/")).await;
    watched.stored.at_least(1, monitor).await;
    line.cut();
    let metrics = watched.server.running().app().metrics.clone();
    // The commit of the judge fails, and later results wait for it.
    watched.server.advance(crate::pipeline::PERIOD);
    crate::pipeline::until(async || (metrics.commits_failed.get() > 0).then_some(())).await;
    let ended = |outcome| metrics.checks(MonitorKind::Http, outcome).get();
    for (period, answer) in [(2, ScriptedResponse::status(503)), (3, ScriptedResponse::ok("fine"))]
    {
        target.on("/", answer);
        watched.server.advance(crate::pipeline::PERIOD);
        let all = || ended(Outcome::Success) + ended(Outcome::Failure);
        crate::pipeline::until(async || (all() > period).then_some(())).await;
    }
    watched.server.advance(crate::pipeline::PERIOD / 2);
    line.restore();
    let period = crate::pipeline::PERIOD;
    let incident = watched.stored.incident(monitor, |incident| incident.closed.is_some()).await;
    let lasted = (incident.opened_at, incident.closed.map(|closed| closed.at));
    assert_eq!(lasted, (START + 2 * period, Some(START + 3 * period)));
    let asked = serde_json::json!({ "id": monitor.to_string() });
    let summary = watched.server.caller(rules::Scope::Read).rpc("GetMonitorSummary", asked).await;
    let up = summary.json()["uptimeMillionths"].as_u64();
    // Down for 30 of 105 seconds since the first result.
    assert_eq!(up, Some(714_285), "{summary}");
}

#[tokio::test]
async fn server_exits_with_error_after_database_takeover() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let database = postgres::database();
    let line = FlakyProxy::start(&database).await;
    let (ctx, _clock) = Context::manual(START);
    let settings = server::config::Settings {
        listen: ([127, 0, 0, 1], 0).into(),
        data: folder.path().join("data"),
        database: Database::Postgres(Secret::new(line.address())),
        ..server::config::Settings::defaults()
    };
    let running = boot::start(&settings, ctx).await.unwrap();
    let control = running.control();
    let ended = tokio::spawn(running.run(Signals::listen().unwrap()));

    line.cut();
    std::fs::copy(settings.data.join("aloft.key"), other.path().join("aloft.key")).unwrap();
    let next = store::Settings {
        folder: other.path().to_owned(),
        database: Database::Postgres(Secret::new(database)),
        master_key: MasterKeySource::File,
    };
    // The next server stays up.
    let next = Store::open(next).await.unwrap();
    line.restore();
    // The next write of the first server detects the takeover.
    let new =
        server::control::CreateWorkspace { slug: "acme".into(), name: "Acme".into(), plan: None };
    crate::pipeline::until(async || {
        let refused = control.create_workspace(new.clone()).await.unwrap_err();
        let reasons = ["another server took", "closed"];
        reasons.iter().any(|why| refused.to_string().contains(why)).then_some(())
    })
    .await;
    let why = ended.await.unwrap().unwrap_err().to_string();
    assert_eq!(
        why,
        "another server took over the database while the connection was lost; restart this one"
    );
    next.close().await.unwrap();
}
