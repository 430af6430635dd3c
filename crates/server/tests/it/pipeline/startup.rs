//! State across restarts: an orderly stop saves it, and the next start restores it.

use std::sync::Arc;
use std::time::Duration;

use domain::cadence::{MissedReason, Regions, Slots};
use domain::check::{Outcome, ResultKey, Trigger};
use rules::monitor::{Monitor, MonitorSettings};
use rules::{MonitorId, MonitorStatus, Periodicity, Region, Secret, Timestamp};
use serde_json::json;
use server::boot;
use server::config::Settings;
use store::{Actor, AuditContext, Batch, Database, MasterKeySource, NewMonitor, Store};
use tempfile::TempDir;
use testkit::postgres;
use testkit::server::{START, TestServer};
use testkit::target::{HttpTarget, ScriptedResponse};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use web::context::{Context, ManualClock};

use super::{PERIOD, Stored, Watched, until};
use crate::probes::{register, wait_for_health};

const MINUTE: Duration = Duration::from_mins(1);

/// Starts a server on a folder that outlives it.
async fn on_a_folder() -> (TempDir, Settings, Watched) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = TestServer::start_with(|settings| settings.data.clone_from(&data)).await;
    let settings = server.settings().clone();
    (folder, settings, Watched::on(server).await)
}

/// Starts a server on the same folder, `periods` later.
async fn again(settings: &Settings, periods: u32) -> (boot::RunningServer, ManualClock, Stored) {
    let (ctx, clock) = Context::manual(START + periods * PERIOD);
    let running = boot::start(settings, ctx).await.unwrap();
    let stored = Stored::new(running.app().store.clone()).await;
    (running, clock, stored)
}

/// Opens the store of a stopped server.
async fn store_of(settings: &Settings) -> Stored {
    let folder = settings.data.clone();
    let (database, master_key) = (settings.database.clone(), MasterKeySource::File);
    let opened = Store::open(store::Settings { folder, database, master_key }).await;
    Stored::new(opened.unwrap()).await
}

#[tokio::test]
async fn running_check_is_stored_during_server_stop() {
    // issue 3 "an orderly stop loses nothing"
    let target = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (_folder, settings, watched) = on_a_folder().await;
    let url = format!("http://{}/", target.local_addr().unwrap());
    let monitor = watched.monitor(&url).await;
    let (mut running, _) = target.accept().await.unwrap();
    let Watched { server, stored, .. } = watched;
    drop(stored);
    let stopping = tokio::spawn(server.stop());
    running.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
    stopping.await.unwrap();
    let stored = store_of(&settings).await;
    let results = stored.results(monitor).await;
    assert_eq!(results.len(), 1);
    assert_eq!((results[0].outcome, results[0].status), (Outcome::Success, Some(204)));
    stored.store.close().await.unwrap();
}

#[tokio::test]
async fn start_restores_status_and_records_missed_slots() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    let (_folder, settings, watched) = on_a_folder().await;
    let monitor = watched.monitor(&target.url("/")).await;
    watched.next_result(monitor).await;
    let last = watched.stored.results(monitor).await[0].clone();
    watched.server.stop().await;

    let (running, clock, stored) = again(&settings, 20).await;
    let view = running.app().pipeline.view(monitor).await.unwrap();
    assert_eq!(view.status, MonitorStatus::Active, "the status holds after a start");
    // The late slot may have been checked already.
    assert!(view.regions[0].checked_at >= Some(last.finished_at), "{view:?}");
    let missed = until(async || {
        let missed = stored.missed(monitor).await;
        (!missed.is_empty()).then_some(missed)
    })
    .await;
    let first = last.identity.slot + PERIOD;
    assert_eq!(missed.len(), 1);
    assert_eq!((missed[0].first_slot, missed[0].last_slot), (first, first + 17 * PERIOD));
    assert_eq!(missed[0].count, 18, "twenty periods passed, and one of their slots was run");
    let results = stored.at_least(3, monitor).await;
    let late = missed[0].last_slot + PERIOD;
    assert_eq!(results[0].identity.slot, late, "the slot of the last 30 seconds is run late");
    clock.advance(PERIOD);
    let results = stored.at_least(4, monitor).await;
    assert_eq!(results[0].identity.slot, late + PERIOD, "and then it goes on");
    running.stop().await.unwrap();
}

// issue 19, point 4: "an orderly stop hands over without a missed slot"
#[tokio::test]
async fn short_restart_misses_no_slot() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    let (_folder, settings, watched) = on_a_folder().await;
    let monitor = watched.monitor(&target.url("/")).await;
    watched.next_result(monitor).await;
    let mut slot = watched.stored.results(monitor).await[0].identity.slot;
    watched.server.stop().await;
    for (restart, found) in (1..=3).zip(3..) {
        // The next slot of the monitor is due while no server runs.
        let (ctx, _clock) = Context::manual(slot + PERIOD + Duration::from_secs(restart));
        let running = boot::start(&settings, ctx).await.unwrap();
        let stored = Stored::new(running.app().store.clone()).await;
        let results = stored.at_least(found, monitor).await;
        slot = slot + PERIOD;
        assert_eq!(results[0].identity.slot, slot, "it is run late");
        assert_eq!(stored.missed(monitor).await, []);
        drop(stored);
        running.stop().await.unwrap();
    }
}

#[tokio::test]
async fn an_incident_goes_on_over_a_restart() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::status(503));
    let (_folder, settings, watched) = on_a_folder().await;
    let monitor = watched.monitor(&target.url("/")).await;
    let opened = watched.stored.incident(monitor, |incident| incident.closed.is_none()).await;
    watched.server.stop().await;

    let (running, clock, stored) = again(&settings, 1).await;
    assert_eq!(stored.incidents(monitor).await, std::slice::from_ref(&opened));
    target.on("/", ScriptedResponse::ok("fine"));
    clock.advance(PERIOD);
    let closed = stored.incident(monitor, |incident| incident.closed.is_some()).await;
    assert_eq!(closed.id, opened.id);
    running.stop().await.unwrap();
}

#[tokio::test]
async fn region_votes_are_stored_every_minute_and_restored() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::status(503));
    let (_folder, settings, watched) = on_a_folder().await;
    let monitor = watched.monitor(&target.url("/")).await;
    watched.stored.incident(monitor, |incident| incident.closed.is_none()).await;
    let votes = async |store: &Store| {
        let history = store.judge_states().get(monitor).await.unwrap().unwrap();
        let state = history.regions[0];
        [state.latest, state.before].map(|result| result.map(|result| result.slot))
    };
    for checks in 1..=3 {
        watched.stored.at_least(checks, monitor).await;
        assert_eq!(votes(&watched.stored.store).await, [Some(START), None], "of {checks} checks");
        watched.server.advance(PERIOD);
    }
    let last_two = async |stored: &Stored, count| {
        let results = stored.at_least(count, monitor).await;
        [Some(results[0].identity.slot), Some(results[1].identity.slot)]
    };
    let fourth = last_two(&watched.stored, 4).await;
    assert_eq!(votes(&watched.stored.store).await, fourth);
    watched.next_result(monitor).await;
    watched.server.stop().await;

    let stored = store_of(&settings).await;
    let fifth = last_two(&stored, 5).await;
    assert_eq!(votes(&stored.store).await, fourth, "it can wait");
    stored.store.close().await.unwrap();
    let (running, _clock, stored) = again(&settings, 5).await;
    until(async || (votes(&stored.store).await == fifth).then_some(())).await;
    running.stop().await.unwrap();
}

// design: §5 "A slot is recorded … as missed if no probe ran it. No slot is silently lost."
#[tokio::test]
async fn slot_that_waited_long_is_missed() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    let (_folder, settings, watched) = on_a_folder().await;
    register(&watched.server, 7, &[Region::FlySin]).await;
    wait_for_health(&watched.server, "fly-sin", "disconnected").await;
    let rare = json!({
        "name": "rare", "url": target.url("/"), "periodicity": "10m", "regions": ["fly-sin"],
        "retry": 0, "active": true,
    });
    let reply = watched.caller.rpc("CreateHttpMonitor", json!({ "monitor": rare })).await.json();
    let rare = MonitorId::parse(reply["monitor"]["id"].as_str().unwrap()).unwrap();
    let often = watched.monitor(&target.url("/")).await;
    let period = Periodicity::TenMinutes.period();
    let regions: Regions = [Region::FlySin].into_iter().collect();
    let waiting = Slots::new(rare, period, regions, Region::FlySin).after(START);
    watched.server.advance(waiting.since(START));
    until(async || (!watched.stored.missed(rare).await.is_empty()).then_some(())).await;
    // It waits for its probe, while others are checked for longer than their results are recalled.
    for _ in 0..2 {
        watched.server.advance(4 * MINUTE);
        let is_recent =
            |slot: Timestamp| watched.server.running().app().ctx.now().since(slot) <= PERIOD;
        until(async || {
            let results = watched.stored.results(often).await;
            results.iter().any(|it| is_recent(it.identity.slot)).then_some(())
        })
        .await;
    }
    let Watched { server, stored, .. } = watched;
    drop(stored);
    server.stop().await;

    // The stop records it; a killed process would not have.
    let stored = store_of(&settings).await;
    let before = stored.missed(rare).await;
    assert_eq!(before.last().map(|it| it.last_slot), Some(waiting));
    let key = ResultKey {
        monitor: rare,
        revision: 1,
        region: Region::FlySin,
        slot: waiting,
        trigger: Trigger::Scheduled,
    };
    let forget = Batch { late: vec![key], ..Batch::default() };
    stored.store.commit(Arc::new(forget)).await.unwrap();
    assert!(stored.missed(rare).await.iter().all(|it| it.last_slot < waiting));
    stored.store.close().await.unwrap();

    let periods = waiting.since(START).as_secs() / PERIOD.as_secs() + 18;
    let (running, _clock, stored) = again(&settings, u32::try_from(periods).unwrap()).await;
    let missed = until(async || {
        let missed = stored.missed(rare).await;
        missed.iter().any(|it| it.first_slot == waiting).then_some(missed)
    });
    assert_eq!(missed.await[..before.len() - 1], before[..before.len() - 1], "the others stay");
    running.stop().await.unwrap();
}

#[tokio::test]
async fn unchecked_revision_is_checked_at_start() {
    // design: §5 "A new, resumed or edited monitor is checked at once": even if the process ends
    // between the commit and the check
    let target = HttpTarget::start().await;
    target.on("/before", ScriptedResponse::ok("fine")).on("/after", ScriptedResponse::ok("fine"));
    let (_folder, settings, watched) = on_a_folder().await;
    let monitor = watched.monitor(&target.url("/before")).await;
    watched.stored.at_least(1, monitor).await;
    watched.edit(monitor, "periodicity", json!("1h")).await;
    watched.stored.at_least(2, monitor).await;
    let key = watched.server.key_id(rules::Scope::Write);
    watched.server.stop().await;

    let stored = store_of(&settings).await;
    let seen: Monitor =
        stored.store.monitors().get(stored.workspace, monitor).await.unwrap().monitor;
    let mut edited = seen.settings.clone();
    let rules::monitor::Check::Http(http) = &mut edited.check else { panic!("it is one of HTTP") };
    http.url = target.url("/after");
    let change = AuditContext::new(Actor::Key(key), START);
    stored.store.monitors().update(seen, edited, change).await.unwrap();
    stored.store.close().await.unwrap();

    let (running, _clock, stored) = again(&settings, 1).await;
    let results = stored.at_least(3, monitor).await;
    assert_eq!((results[0].identity.slot, results[0].identity.revision), (START + PERIOD, 3));
    assert_eq!(target.received().last().map(|received| received.target.as_str()), Some("/after"));
    running.stop().await.unwrap();
}

#[tokio::test]
async fn pause_clears_state_despite_immediate_kill() {
    // design: §5 "Uptime counts … the seconds known": a stored pause counts, even if the server
    // never notified the judge
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    let (_folder, settings, watched) = on_a_folder().await;
    let monitor = watched.monitor(&target.url("/")).await;
    watched.stored.at_least(1, monitor).await;
    let key = watched.server.key_id(rules::Scope::Write);
    watched.server.stop().await;

    // The server stores a pause before it notifies the judge. Skip the notification.
    let stored = store_of(&settings).await;
    let seen: Monitor =
        stored.store.monitors().get(stored.workspace, monitor).await.unwrap().monitor;
    let paused = rules::monitor::MonitorSettings { active: false, ..seen.settings.clone() };
    let change = AuditContext::new(Actor::Key(key), START + PERIOD);
    stored.store.monitors().update(seen, paused, change).await.unwrap();
    stored.store.close().await.unwrap();

    let (running, _clock, stored) = again(&settings, 20).await;
    let changes = stored.store.judge_states().changes(stored.workspace, monitor, START, 10).await;
    let last = changes.unwrap().last().copied().unwrap();
    let ended = (START + PERIOD, MonitorStatus::Active, MonitorStatus::Unknown);
    assert_eq!((last.at, last.from, last.to), ended);
    running.stop().await.unwrap();
}

/// Number of monitors whose slots have no known outcome.
const RARE: u64 = 1_000;

/// Returns the number of reading statements in the log of the PostgreSQL server of the tests.
fn statements_of(address: &str) -> usize {
    let folder = address.split("host=").nth(1).unwrap();
    let log = std::fs::read_to_string(std::path::Path::new(folder).join("log")).unwrap();
    let is_read = |line: &&str| line.contains(" execute ") && line.contains("SELECT");
    log.lines().filter(is_read).count()
}

#[tokio::test]
async fn start_reads_older_outcomes_together() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    let (address, _guard) = postgres::guarded_database();
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start_with(|settings| {
        settings.data = folder.path().join("data");
        settings.database = Database::Postgres(Secret::new(address.clone()));
    })
    .await;
    let mut settings = server.settings().clone();
    let watched = Watched::on(server).await;
    let often = watched.monitor(&target.url("/")).await;
    watched.stored.at_least(1, often).await;
    let store = watched.server.running().app().store.clone();
    let monitor = store.monitors().get(watched.stored.workspace, often).await.unwrap().monitor;
    let rare = MonitorSettings { periodicity: Periodicity::OneHour, ..monitor.settings };
    let key = watched.server.key_id(rules::Scope::Write);
    for number in 1..=RARE {
        let (id, settings) = (MonitorId::from_bits(number), rare.clone());
        let new = NewMonitor { id, workspace: monitor.workspace, settings, idempotency: None };
        let change = AuditContext::new(Actor::Key(key), START);
        store.monitors().create(new, change).await.unwrap();
    }
    watched.server.advance(180 * MINUTE);
    until(async || {
        let results = watched.stored.results(often).await;
        results.iter().any(|it| it.identity.slot > START + 170 * MINUTE).then_some(())
    })
    .await;
    let Watched { server, stored, .. } = watched;
    drop((stored, store));
    server.stop().await;

    // Only the next start is logged.
    let logged = format!("{address}&options[log_statement]=all");
    settings.database = Database::Postgres(Secret::new(logged));
    let (running, _clock, stored) = again(&settings, 361).await;
    let count = statements_of(&address);
    assert!((10..300).contains(&count), "{count} statements for {RARE} monitors");
    let found = until(async || {
        let missed = stored.missed(MonitorId::from_bits(RARE)).await;
        (!missed.is_empty()).then_some(missed)
    });
    assert_eq!(found.await[0].reason, MissedReason::Down);
    running.stop().await.unwrap();
}
