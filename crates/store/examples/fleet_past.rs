//! Generates a workspace with monitors, each with results and outages of 30 days, and a signed-in
//! owner. `cargo xtask bench dashboard` shows it. Nothing may use the data folder. Run with:
//!
//! `cargo run --profile dist -p aloft-store --example fleet_past -- FOLDER MONITORS URL SLOW_URL`
//!
//! One monitor in a hundred is down, and one is degraded: it checks `SLOW_URL`, which must answer after more
//! than 100 ms. The votes are fresh, so that a server finds the same statuses. Each monitor has a result every hour from one region;
//! the first has one every 30 seconds from three. Prints the value of the session's cookie and the ID
//! of the first monitor.

#![expect(clippy::print_stdout, reason = "an example prints to its user")]
#![expect(clippy::disallowed_methods, reason = "the history ends now")]

extern crate aloft_store as store;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::check::{CheckResult, Outcome, Phases, ProbeName, ResultKey, Trigger};
use domain::judge::{IncidentChange, JudgeState, RegionResult, RegionState, StatusReason};
use domain::judge::{Transition, Vote};
use rules::monitor::{Check, HttpCheck, MonitorSettings};
use rules::{
    IncidentId, MonitorId, MonitorStatus, Periodicity, Region, Secret, SessionId, Timestamp,
    UserId, WorkspaceId,
};
use store::{
    Actor, AuditContext, Batch, Database, FREE_PLAN, MasterKeySource, NewMonitor, NewUser,
    SessionHash, Settings, Store, StoreError, UserSession, Workspace,
};

const DAYS: i64 = 30;
const HOUR_MS: i64 = 3_600_000;
const REGIONS: [Region; 3] = [Region::FlyAms, Region::FlyIad, Region::FlySin];
/// Period of the first monitor.
const BUSY_PERIOD_MS: i64 = 30_000;
const WORKSPACE: WorkspaceId = WorkspaceId::from_bits(1);
const USER: UserId = UserId::from_bits(1);
/// Latency above which a check is slow.
const DEGRADED_AT_MS: u32 = 100;
/// Number of results per commit.
const BATCH: usize = 2_000;
/// Number of concurrent commits.
const AT_ONCE: usize = 32;
/// Secret of the session. The data is thrown away after the bench.
const SECRET: [u8; 32] = [7; 32];

#[tokio::main]
async fn main() -> Result<(), StoreError> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, monitors, url, slow_url] = words.as_slice() else {
        println!("usage: fleet_past FOLDER MONITORS URL SLOW_URL");
        return Ok(());
    };
    let monitors: u64 = monitors.parse().unwrap_or(1);
    let (database, master_key) = (Database::Embedded, MasterKeySource::File);
    let store = Store::open(Settings { folder: folder.into(), database, master_key }).await?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = Timestamp::from_millis(now.as_millis() as i64 / HOUR_MS * HOUR_MS);
    create_owner(&store, now).await?;
    create_monitors(&store, monitors, [url, slow_url], now).await?;
    for day in (1..=DAYS).rev() {
        let from = now.as_millis() - day * 24 * HOUR_MS;
        commit(&store, results(monitors, from)).await?;
        while store.history().compact().await?.results > 0 {}
    }
    commit_states(&store, monitors, now).await?;
    println!("{} {}", URL_SAFE_NO_PAD.encode(SECRET), MonitorId::from_bits(1));
    store.close().await
}

async fn create_owner(store: &Store, now: Timestamp) -> Result<(), StoreError> {
    let change = AuditContext::new(Actor::User(USER), now);
    let owner = NewUser {
        id: USER,
        email: "bench@example.com".to_owned(),
        name: "Bench".to_owned(),
        password_hash: Secret::new(String::new()),
    };
    let workspace = Workspace {
        id: WORKSPACE,
        slug: "bench".to_owned(),
        name: "Bench".to_owned(),
        plan: FREE_PLAN.to_owned(),
        created_at: now,
        deletes_at: None,
    };
    store.users().create_first(owner, workspace, change).await?;
    let session = UserSession {
        id: SessionId::from_bits(1),
        user: USER,
        created_at: now,
        last_used_at: now,
        expires_at: now + Duration::from_hours(24),
        address: "127.0.0.1".to_owned(),
        user_agent: String::new(),
    };
    store.sessions().create(session, SessionHash::new(&SECRET)).await
}

async fn create_monitors(
    store: &Store,
    monitors: u64,
    urls: [&str; 2],
    now: Timestamp,
) -> Result<(), StoreError> {
    let change = AuditContext::new(Actor::User(USER), now - Duration::from_hours(24 * 31));
    let callers = (0..64_u64).map(|caller| {
        let (store, urls) = (store.clone(), urls.map(str::to_owned));
        tokio::spawn(async move {
            for number in (1..=monitors).filter(|number| number % 64 == caller) {
                store.monitors().create(a_monitor(number, &urls), change).await?;
            }
            Ok::<(), StoreError>(())
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await.expect("no caller panics")?;
    }
    Ok(())
}

fn a_monitor(number: u64, [url, slow_url]: &[String; 2]) -> NewMonitor {
    // Nothing listens at the port of monitors that are down.
    let base = match status(number) {
        MonitorStatus::Error => "http://127.0.0.1:9/",
        MonitorStatus::Degraded => slow_url,
        MonitorStatus::Active | MonitorStatus::Unknown => url,
    };
    let check = Check::Http(HttpCheck::new(format!("{base}{number}")));
    let is_degraded = status(number) == MonitorStatus::Degraded;
    NewMonitor {
        id: MonitorId::from_bits(number),
        workspace: WORKSPACE,
        settings: MonitorSettings {
            active: true,
            retry: 0,
            degraded_at_ms: is_degraded.then_some(DEGRADED_AT_MS),
            regions: regions(number).to_vec(),
            ..MonitorSettings::new(format!("service {number}"), Periodicity::OneHour, check)
        },
        idempotency: None,
    }
}

/// Returns the current status of a monitor.
const fn status(number: u64) -> MonitorStatus {
    match number % 100 {
        3 => MonitorStatus::Error,
        4 => MonitorStatus::Degraded,
        _ => MonitorStatus::Active,
    }
}

fn regions(number: u64) -> &'static [Region] {
    if number == 1 { &REGIONS } else { &REGIONS[..1] }
}

/// Returns the results of one day.
fn results(monitors: u64, from: i64) -> Vec<CheckResult> {
    let probe = ProbeName(Arc::from("this server"));
    let mut all = Vec::new();
    for hour in 0..24 {
        for number in 2..=monitors {
            let slot = from + hour * HOUR_MS + (number as i64 * 7_919) % HOUR_MS;
            all.push(a_result(number, REGIONS[0], slot, &probe));
        }
    }
    for period in 0..24 * HOUR_MS / BUSY_PERIOD_MS {
        for region in REGIONS {
            all.push(a_result(1, region, from + period * BUSY_PERIOD_MS, &probe));
        }
    }
    all
}

fn a_result(monitor: u64, region: Region, slot: i64, probe: &ProbeName) -> CheckResult {
    let chance =
        (slot as u64 ^ monitor.wrapping_mul(0x9E37_79B9)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let spread = |shift: u32, of: u32| (chance >> shift) as u32 % of;
    let phases = Phases {
        dns_us: Some(900 + spread(5, 600)),
        connect_us: Some(20_000 + spread(11, 4_000)),
        tls_us: Some(44_000 + spread(17, 9_000)),
        first_byte_us: Some(80_000 + spread(23, 40_000)),
        transfer_us: Some(200 + spread(31, 300)),
    };
    CheckResult {
        identity: ResultKey {
            monitor: MonitorId::from_bits(monitor),
            revision: 1,
            region,
            slot: Timestamp::from_millis(slot),
            trigger: Trigger::Scheduled,
        },
        finished_at: Timestamp::from_millis(slot + 200),
        outcome: Outcome::Success,
        latency_us: 150_000 + spread(23, 40_000),
        phases,
        status: Some(200),
        attempts: 1,
        probe: probe.clone(),
        evidence: None,
    }
}

async fn commit(store: &Store, mut results: Vec<CheckResult>) -> Result<(), StoreError> {
    let mut waiting = tokio::task::JoinSet::new();
    while !results.is_empty() {
        let batch = results.drain(..BATCH.min(results.len())).collect();
        let (store, batch) = (store.clone(), Batch { results: batch, ..Batch::default() });
        waiting.spawn(async move { store.commit(Arc::new(batch)).await });
        if waiting.len() >= AT_ONCE {
            waiting.join_next().await.expect("a task is running").expect("no commit panics")?;
        }
    }
    while let Some(done) = waiting.join_next().await {
        done.expect("no commit panics")?;
    }
    Ok(())
}

/// Commits the current state of each monitor, with an open incident of those that are down.
async fn commit_states(store: &Store, monitors: u64, now: Timestamp) -> Result<(), StoreError> {
    let mut batch = Batch { at: now, ..Batch::default() };
    for number in 1..=monitors {
        let (id, status) = (MonitorId::from_bits(number), status(number));
        let since = now - Duration::from_mins(number % 10_000);
        let incident = IncidentId::from_bits(number);
        let is_down = status == MonitorStatus::Error;
        let change = if is_down { IncidentChange::Opened(incident) } else { IncidentChange::None };
        batch.transitions.push((
            id,
            Transition {
                at: since,
                from: MonitorStatus::Unknown,
                to: status,
                incident: change,
                why: StatusReason::NoVotes,
            },
        ));
        let state = judge_state(number, (status, since), is_down.then_some(incident), now);
        batch.judge_states.push((id, state));
    }
    store.commit(Arc::new(batch)).await.map(drop)
}

fn judge_state(
    number: u64,
    (status, since): (MonitorStatus, Timestamp),
    incident: Option<IncidentId>,
    now: Timestamp,
) -> JudgeState {
    let vote = match status {
        MonitorStatus::Error => Vote::Failing,
        MonitorStatus::Degraded => Vote::Slow,
        MonitorStatus::Active | MonitorStatus::Unknown => Vote::Fine,
    };
    let trigger = Trigger::Scheduled;
    // The votes of a stopped server expire after two periods.
    let latest = RegionResult { slot: now, finished_at: now, revision: 1, trigger, vote };
    let region =
        |region: &Region| RegionState { region: *region, latest: Some(latest), before: None };
    JudgeState {
        status,
        since,
        revision: 1,
        incident,
        grace_period: None,
        tie_since: None,
        slow: status == MonitorStatus::Degraded,
        asked_at: None,
        regions: regions(number).iter().map(region).collect(),
    }
}
