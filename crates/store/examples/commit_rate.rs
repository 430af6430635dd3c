//! Measures the rate of durable commits: batches of results of 10,000 monitors in the order of
//! their slots, one commit at a time. One result of each batch is degraded, so that every commit is
//! synced before the reply. Prints rows/s, CPU µs and bytes per row, and the time to open the
//! store. Run with:
//!
//! `cargo run --profile dist -p aloft-store --example commit_rate`

#![expect(clippy::print_stdout, reason = "an example prints to its user")]

extern crate aloft_store as store;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use domain::check::{CheckResult, Outcome, Phases, ProbeName, ResultKey, Trigger};
use rules::monitor::{Check, MonitorSettings, TcpCheck};
use rules::{MonitorId, Periodicity, Region, Timestamp, WorkspaceId};
use store::{
    Actor, AuditContext, Batch, Database, FREE_PLAN, MasterKeySource, NewMonitor, Settings, Store,
    StoreError, Workspace,
};
use tokio::time::Instant;

const MONITORS: u64 = 10_000;
const ROWS: u64 = 1_000_000;
const START: i64 = 1_800_000_000_000;
const WORKSPACE: WorkspaceId = WorkspaceId::from_bits(1);

#[tokio::main]
async fn main() -> Result<(), StoreError> {
    let folder = tempfile::tempdir().expect("temporary folders can be created");
    let opening = Instant::now();
    let store = open(folder.path()).await?;
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
    for batch in [10, 100, 500, 2_000] {
        measure(&store, batch).await?;
    }
    let stored = store.results().count().await?;
    store.close().await?;
    println!("bytes/row: {:.1}", (size(folder.path()) - before) as f64 / stored as f64);
    println!("memory in the end: {} KiB", memory_kib());
    let opening = Instant::now();
    let store = open(folder.path()).await?;
    println!("open it again: {:?}", opening.elapsed());
    store.close().await
}

async fn open(folder: &Path) -> Result<Store, StoreError> {
    let settings = Settings {
        folder: folder.to_owned(),
        database: Database::Embedded,
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

async fn measure(store: &Store, size: u64) -> Result<(), StoreError> {
    let rows = ROWS.min(size * 2_000);
    let probe = ProbeName(Arc::from("this server"));
    let (began, cpu) = (Instant::now(), cpu_micros());
    let mut slowest = std::time::Duration::ZERO;
    for first in (0..rows).step_by(size as usize) {
        // Each batch size has its own slots. Four results end in each millisecond.
        let slot = |row| START + (size * 100_000_000 + row / 4) as i64;
        let mut results: Vec<_> =
            (first..first + size).map(|row| a_result(row, slot(row), &probe)).collect();
        results[0].outcome = Outcome::Degraded;
        let commit = Instant::now();
        let committed = store.commit(Arc::new(Batch { results, ..Batch::default() })).await?;
        slowest = slowest.max(commit.elapsed());
        assert_eq!(committed.stored, size, "every row is new");
    }
    println!(
        "batches of {size:>5}: {:>9.0} rows/s, {:>6.2} CPU µs/row, slowest commit {slowest:?}",
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
                Check::Tcp(TcpCheck { uri: "example.com:443".to_owned() }),
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
