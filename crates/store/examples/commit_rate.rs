//! Measures the rate of durable commits: batches of results of 10,000 monitors in the order of
//! their slots, one commit at a time. One result of each batch is degraded, so that every commit is
//! synced before the reply. In batches "with details", a tenth of the results also have evidence
//! and a new judge state, as on a busy server. Prints rows/s, CPU µs and bytes per row, and the
//! time to open the store. The CPU time is that of this process. Uses the embedded database, or an
//! empty PostgreSQL database. Run with:
//!
//! `cargo run --profile dist -p aloft-store --example commit_rate [-- postgres://…]`

#![expect(clippy::print_stdout, reason = "an example prints to its user")]

extern crate aloft_store as store;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use domain::check::{
    AttemptEvidence, CheckResult, Evidence, Outcome, Phases, ProbeName, ResultKey, Trigger,
};
use domain::judge::{JudgeState, RegionState};
use rules::monitor::{Check, MonitorSettings, TcpCheck};
use rules::{MonitorId, MonitorStatus, Periodicity, Region, Secret, Timestamp, WorkspaceId};
use store::{
    Actor, AuditContext, Batch, Database, FREE_PLAN, MasterKeySource, NewMonitor, Settings, Store,
    StoreError, Workspace,
};
use tokio::time::Instant;

const MONITORS: u64 = 10_000;
const ROWS: u64 = 1_000_000;
/// Number of rows with details. Fewer, because each detail is an encrypted row of its own.
const ROWS_WITH_DETAILS: u64 = 200_000;
/// One of so many results of a batch with details has evidence and a new state.
const DETAILED: u64 = 10;
const START: i64 = 1_800_000_000_000;
const WORKSPACE: WorkspaceId = WorkspaceId::from_bits(1);

/// Content of the batches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Results,
    WithDetails,
}

#[tokio::main]
async fn main() -> Result<(), StoreError> {
    let database = match std::env::args().nth(1) {
        Some(address) => Database::Postgres(Secret::new(address)),
        None => Database::Embedded,
    };
    let folder = tempfile::tempdir().expect("temporary folders can be created");
    let opening = Instant::now();
    let store = open(folder.path(), &database).await?;
    println!(
        "open an empty folder, migrations included: {:?}; memory then {} KiB",
        opening.elapsed(),
        memory_kib()
    );
    let creating = Instant::now();
    create_monitors(&store).await?;
    println!("create {MONITORS} monitors, 64 callers at once: {:?}", creating.elapsed());
    let reading = Instant::now();
    read_at_boot(&store).await?;
    println!("read {MONITORS} monitors at boot: {:?}", reading.elapsed());
    let before = size(folder.path());
    for content in [Content::Results, Content::WithDetails] {
        for batch in [10, 100, 500, 2_000] {
            measure(&store, batch, content).await?;
        }
    }
    let stored = store.results().count().await?;
    store.close().await?;
    if matches!(database, Database::Embedded) {
        println!("bytes/row: {:.1}", (size(folder.path()) - before) as f64 / stored as f64);
    }
    println!("memory in the end: {} KiB", memory_kib());
    let opening = Instant::now();
    let store = open(folder.path(), &database).await?;
    println!("open it again: {:?}", opening.elapsed());
    store.close().await
}

async fn open(folder: &Path, database: &Database) -> Result<Store, StoreError> {
    let settings = Settings {
        folder: folder.to_owned(),
        database: database.clone(),
        master_key: MasterKeySource::File,
    };
    Store::open(settings).await
}

async fn create_monitors(store: &Store) -> Result<(), StoreError> {
    let change = AuditContext::new(Actor::Server, Timestamp::from_millis(START));
    let workspace = Workspace {
        id: WORKSPACE,
        slug: "bench".to_owned(),
        name: "Bench".to_owned(),
        plan: FREE_PLAN.to_owned(),
        created_at: change.at,
        deletes_at: None,
    };
    store.workspaces().create(workspace, change).await?;
    let callers = (0..64_u64).map(|caller| {
        let store = store.clone();
        tokio::spawn(async move {
            for number in (1..=MONITORS).filter(|number| number % 64 == caller) {
                store.monitors().create(a_monitor(number), change).await?;
            }
            Ok::<(), StoreError>(())
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await.expect("no caller panics")?;
    }
    Ok(())
}

async fn read_at_boot(store: &Store) -> Result<(), StoreError> {
    let mut boot = store.monitors().all_for_boot();
    while boot.next_batch().await?.is_some() {}
    Ok(())
}

async fn measure(store: &Store, size: u64, content: Content) -> Result<(), StoreError> {
    let has_details = content == Content::WithDetails;
    let all = if has_details { ROWS_WITH_DETAILS } else { ROWS };
    let rows = all.min(size * 2_000);
    let probe = ProbeName(Arc::from("this server"));
    let (began, cpu) = (Instant::now(), cpu_micros());
    let mut slowest = std::time::Duration::ZERO;
    for first in (0..rows).step_by(size as usize) {
        // Each measurement has its own slots. Four results end in each millisecond.
        let start = START + (2 * size + u64::from(has_details)) as i64 * 50_000_000;
        let slot = |row| start + (row / 4) as i64;
        let mut results: Vec<_> =
            (first..first + size).map(|row| a_result(row, slot(row), &probe)).collect();
        results[0].outcome = Outcome::Degraded;
        let mut deferred_states = Vec::new();
        if has_details {
            for result in results.iter_mut().step_by(DETAILED as usize) {
                result.evidence = Some(Arc::new(some_evidence(result)));
                deferred_states.push((result.identity.monitor, a_state(result)));
            }
        }
        let batch = Batch { results, deferred_states, ..Batch::default() };
        let commit = Instant::now();
        let committed = store.commit(Arc::new(batch)).await?;
        slowest = slowest.max(commit.elapsed());
        assert_eq!(committed.stored, size, "every row is new");
    }
    println!(
        "batches of {size:>5}{}: {:>9.0} rows/s, {:>6.2} CPU µs/row, slowest commit {slowest:?}",
        if has_details { " with details" } else { "" },
        rows as f64 / began.elapsed().as_secs_f64(),
        (cpu_micros() - cpu) as f64 / rows as f64,
    );
    Ok(())
}

fn a_monitor(number: u64) -> NewMonitor {
    NewMonitor {
        id: MonitorId::from_bits(number),
        workspace: WORKSPACE,
        settings: MonitorSettings {
            active: true,
            regions: vec![Region::FlyAms, Region::FlyIad, Region::FlySin],
            ..MonitorSettings::new(
                format!("monitor {number}"),
                Periodicity::ThirtySeconds,
                Check::Tcp(TcpCheck::new("example.com:443")),
            )
        },
        idempotency: None,
    }
}

fn a_result(row: u64, slot: i64, probe: &ProbeName) -> CheckResult {
    let monitor = 1 + row.wrapping_mul(7_919) % MONITORS;
    CheckResult {
        identity: ResultKey {
            monitor: MonitorId::from_bits(monitor),
            revision: 1,
            region: Region::ALL[(row / MONITORS) as usize % Region::ALL.len()],
            slot: Timestamp::from_millis(slot),
            trigger: Trigger::Scheduled,
        },
        finished_at: Timestamp::from_millis(slot + 180),
        outcome: Outcome::Success,
        latency_us: 170_000 + (row % 5_000) as u32,
        phases: Phases {
            dns_us: Some(1_200),
            connect_us: Some(21_000),
            tls_us: Some(48_000),
            first_byte_us: Some(99_000),
            transfer_us: Some(310),
        },
        status: Some(200),
        attempts: 1,
        probe: probe.clone(),
        evidence: None,
    }
}

fn some_evidence(result: &CheckResult) -> Evidence {
    Evidence {
        attempts: vec![AttemptEvidence {
            started_at: result.identity.slot,
            latency_us: result.latency_us,
            failure: None,
            reasons: Vec::new(),
            assertions: Vec::new(),
            hops: Vec::new(),
            body: Some("a short response".to_owned()),
            body_truncated: false,
            body_cut: false,
            answers: Vec::new(),
        }],
    }
}

/// Returns the state of a monitor with three regions after this result.
fn a_state(result: &CheckResult) -> JudgeState {
    let regions = [Region::FlyAms, Region::FlyIad, Region::FlySin];
    JudgeState {
        status: MonitorStatus::Active,
        since: result.finished_at,
        revision: 1,
        incident: None,
        grace_period: None,
        tie_since: None,
        slow: false,
        asked_at: None,
        regions: regions.map(|region| RegionState { region, latest: None, before: None }).into(),
    }
}

fn size(folder: &Path) -> u64 {
    fs::metadata(folder.join("aloft.db")).map_or(0, |metadata| metadata.len())
}

/// Returns the resident memory of this process.
fn memory_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Returns the CPU time of this process over all cores.
fn cpu_micros() -> u64 {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    used.tv_sec as u64 * 1_000_000 + used.tv_nsec as u64 / 1_000
}
