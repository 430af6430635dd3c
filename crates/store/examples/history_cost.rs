//! Measures the cost and read speed of the history: 10,000 monitors in three regions every 30
//! seconds. The default is one hour (3.6 million results); an argument gives another number of
//! hours.
//!
//! Prints the time to commit and compact each result, and its bytes on disk. Also prints the read
//! times of the newest 25 logs, a rare filter and summaries. For 50 million results, run:
//!
//! `cargo run --profile dist -p aloft-store --example history_cost -- 14`

#![expect(clippy::print_stdout, reason = "an example prints to its user")]

extern crate aloft_store as store;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use domain::check::{CheckResult, Outcome, Phases, ProbeName, ResultKey, Trigger};
use rules::monitor::{Check, MonitorSettings, TcpCheck};
use rules::{MonitorId, Periodicity, Region, Timestamp, WorkspaceId};
use store::{
    Actor, AuditContext, Batch, Database, FREE_PLAN, LogFilter, MasterKeySource, NewMonitor,
    Settings, Store, StoreError, Workspace,
};
use tokio::time::Instant;

const MONITORS: u64 = 10_000;
const REGIONS: [Region; 3] = [Region::FlyAms, Region::FlyIad, Region::FlySin];
const PERIOD_MS: i64 = 30_000;
const START: i64 = 1_800_000_000_000;
const WORKSPACE: WorkspaceId = WorkspaceId::from_bits(1);
/// Number of results per commit: those of 80 ms.
const BATCH: usize = 80;
/// Number of concurrent batches while the history is generated.
const AT_ONCE: usize = 64;
/// Number of monitors read for each figure.
const READS: u64 = 40;

#[tokio::main]
async fn main() -> Result<(), StoreError> {
    let hours: i64 = std::env::args().nth(1).and_then(|hours| hours.parse().ok()).unwrap_or(1);
    let folder = tempfile::tempdir().expect("temporary folders can be created");
    let settings = Settings {
        folder: folder.path().to_owned(),
        database: Database::Embedded,
        master_key: MasterKeySource::File,
    };
    let store = Store::open(settings).await?;
    create_monitors(&store).await?;
    let before = size(folder.path());
    let (mut committed, mut stats) = (Spent::default(), Spent::default());
    let mut slowest = Duration::ZERO;
    for part in 0..hours * 6 {
        committed.add(commit(&store, START + part * 600_000).await?);
        let begun = (Instant::now(), cpu_micros());
        let mut rows = 0;
        loop {
            let round = store.history().compact().await?;
            rows += round.results;
            if round.results == 0 {
                break;
            }
        }
        let spent = Spent::since(begun, rows);
        slowest = slowest.max(spent.elapsed);
        stats.add(spent);
    }
    println!("commit, {BATCH} at a time: {committed}");
    println!("compact: {stats}; slowest ten minutes {slowest:?}");
    let end = START + hours * 3_600_000;
    println!(
        "results in total {}, not compacted {}",
        committed.rows,
        store.results().count().await?
    );
    read(&store, Timestamp::from_millis(end)).await?;
    println!("memory at the end: {} KiB", memory_kib());
    store.close().await?;
    let bytes = (size(folder.path()) - before) as f64;
    println!("bytes on disk per result: {:.1}", bytes / committed.rows as f64);
    Ok(())
}

/// Cost of some work.
#[derive(Clone, Copy, Default)]
struct Spent {
    rows: u64,
    elapsed: Duration,
    cpu_us: u64,
}

impl Spent {
    fn since((began, cpu): (Instant, u64), rows: u64) -> Self {
        Self { rows, elapsed: began.elapsed(), cpu_us: cpu_micros() - cpu }
    }

    fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.elapsed += other.elapsed;
        self.cpu_us += other.cpu_us;
    }
}

impl std::fmt::Display for Spent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rows = self.rows.max(1) as f64;
        let (elapsed, cpu) = (self.elapsed.as_secs_f64(), self.cpu_us as f64);
        write!(f, "{:.2} µs each, {:.2} CPU µs each", elapsed * 1e6 / rows, cpu / rows)
    }
}

/// Commits ten minutes of results in the order of their slots.
async fn commit(store: &Store, from: i64) -> Result<Spent, StoreError> {
    let probe = ProbeName(Arc::from("this server"));
    let begun = (Instant::now(), cpu_micros());
    let mut rows = 0;
    for period in 0..600_000 / PERIOD_MS {
        // Regions take turns within the period, and monitors are spread over it.
        let mut results = Vec::with_capacity(REGIONS.len() * MONITORS as usize);
        for place in 0..REGIONS.len() * MONITORS as usize {
            let region = REGIONS[place / MONITORS as usize];
            let monitor = 1 + (place as u64).wrapping_mul(7_919) % MONITORS;
            let slot = from + period * PERIOD_MS + place as i64;
            results.push(a_result(monitor, region, slot, &probe));
        }
        rows += results.len() as u64;
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
    }
    Ok(Spent::since(begun, rows))
}

async fn read(store: &Store, now: Timestamp) -> Result<(), StoreError> {
    let all = LogFilter::default();
    let failures = LogFilter { outcomes: vec![Outcome::Failure], ..LogFilter::default() };
    for (what, filter) in [("newest 25 logs", &all), ("25 failures, none stored", &failures)] {
        timed(what, async |monitor| {
            store.logs().list(WORKSPACE, monitor, filter, None, 25).await.map(drop)
        })
        .await?;
    }
    for days in [1, 30, 90] {
        let since = now - Duration::from_hours(24 * days);
        timed(&format!("summary of {days} days"), async |monitor| {
            store.history().rollups(WORKSPACE, monitor, since).await.map(drop)
        })
        .await?;
    }
    Ok(())
}

/// Reads some monitors that were not read before. Prints the median and the maximum.
async fn timed(
    what: &str,
    read: impl AsyncFn(MonitorId) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut times = Vec::new();
    for turn in 0..READS {
        let monitor = MonitorId::from_bits(1 + turn * 241 % MONITORS);
        let began = Instant::now();
        read(monitor).await?;
        times.push(began.elapsed());
    }
    times.sort_unstable();
    println!("{what}: median {:?}, maximum {:?}", times[times.len() / 2], times[times.len() - 1]);
    Ok(())
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

fn a_monitor(number: u64) -> NewMonitor {
    NewMonitor {
        id: MonitorId::from_bits(number),
        workspace: WORKSPACE,
        settings: MonitorSettings {
            active: true,
            regions: REGIONS.to_vec(),
            ..MonitorSettings::new(
                format!("monitor {number}"),
                Periodicity::ThirtySeconds,
                Check::Tcp(TcpCheck::new("example.com:443")),
            )
        },
        idempotency: None,
    }
}

/// Returns a success with all five phases, with a realistic distribution of times.
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
    let spent =
        [phases.dns_us, phases.connect_us, phases.tls_us, phases.first_byte_us, phases.transfer_us];
    let latency_us = spent.into_iter().flatten().sum::<u32>() + 40;
    CheckResult {
        identity: ResultKey {
            monitor: MonitorId::from_bits(monitor),
            revision: 1,
            region,
            slot: Timestamp::from_millis(slot),
            trigger: Trigger::Scheduled,
        },
        finished_at: Timestamp::from_millis(slot + i64::from(latency_us / 1_000) + 2),
        outcome: Outcome::Success,
        latency_us,
        phases,
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
