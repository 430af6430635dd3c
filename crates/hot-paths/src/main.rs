//! Deterministic workloads for `cargo xtask instructions`, one per hot path.
//!
//! `hot-paths NAME TIMES` sets up the workload and runs it TIMES times. The work happens in one
//! function whose name begins with `counted`. A path with threads of its own is counted as a whole.
//!
//! This is a separate crate to keep its build small.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use contract::SecretVisibility;
use contract::monitor::{StoredMonitor, wire};
use domain::cadence::{FirstRun, Regions, Schedule};
use domain::check::{
    Attempt, CheckPlan, CheckResult, Hop, HttpObservation, Observation, ObservedBody, Outcome,
    Phases, PlannedCheck, ProbeName, ResultKey, Trigger, assess,
};
use domain::judge::{
    JudgeState, Policy, ProbeIndex, ProbeSuspicions, ServedRegion, StepContext, receive,
};
use rules::monitor::{Check, HttpCheck, Monitor, MonitorSettings};
use rules::{MonitorId, MonitorStatus, Periodicity, Region, Timestamp, WorkspaceId};
use store::{Actor, AuditContext, Batch, Database, FREE_PLAN, MasterKeySource, NewMonitor, Store};

const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);
const PERIOD: Duration = Duration::from_secs(30);
const WORKSPACE: WorkspaceId = WorkspaceId::from_bits(1);
const REGIONS: [Region; 3] = [Region::FlyAms, Region::FlyIad, Region::FlySin];
/// Number of monitors in the schedule and in the store.
const MONITORS: u64 = 1_000;
/// Number of results in one commit under load.
const BATCH: u64 = 512;
/// Number of monitors on one list page.
const LISTED: u64 = 50;

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let usage = "usage: hot-paths NAME TIMES";
    let name = words.next().context(usage)?;
    let times: u64 = words.next().context(usage)?.parse().context(usage)?;
    match name.as_str() {
        "assess" => assess_a_success(times),
        "judge" => judge_results(times),
        "schedule" => schedule_a_period(times),
        "list" => list_monitors(times),
        "commit" => commit_results(times),
        unknown => bail!("unknown hot path `{unknown}`; {usage}"),
    }
}

fn assess_a_success(times: u64) -> Result<()> {
    let plan = CheckPlan::new(&monitor(1))?;
    let PlannedCheck::Http(http) = &plan.check else { bail!("the monitor is HTTP") };
    let hop = Hop {
        url: http.url.clone(),
        address: Some(([127, 0, 0, 1], 80).into()),
        phases: phases(),
        version: http::Version::HTTP_11,
        status: Some(200),
        headers: http::HeaderMap::new(),
        certificate: None,
    };
    let body = ObservedBody {
        bytes: bytes::Bytes::from_static(&[b'.'; 64]),
        truncated: false,
        ..ObservedBody::default()
    };
    let attempt = Attempt {
        started_at: START,
        latency_us: 20_000,
        observation: Observation::Http(HttpObservation { hops: vec![hop], body }),
        failure: None,
    };
    counted_assess(&plan, &attempt, times);
    Ok(())
}

#[inline(never)]
fn counted_assess(plan: &CheckPlan, attempt: &Attempt, times: u64) {
    for _ in 0..times {
        assert_eq!(assess(plan, std::hint::black_box(attempt)).outcome, Outcome::Success);
    }
}

fn judge_results(times: u64) -> Result<()> {
    let serving = |region| ServedRegion { region, probe: ProbeIndex::EMBEDDED };
    let policy = Policy::new(&monitor(1).settings, 1, REGIONS.map(serving).to_vec());
    let mut judge_state = JudgeState::new(&policy, START);
    let results: Vec<CheckResult> = (0..times).map(|row| result(1, row, START)).collect();
    counted_judge(&policy, &mut judge_state, &results);
    if times >= 3 && judge_state.status != MonitorStatus::Active {
        bail!("all regions succeeded and the monitor is {}", judge_state.status);
    }
    Ok(())
}

#[inline(never)]
fn counted_judge(policy: &Policy, judge_state: &mut JudgeState, results: &[CheckResult]) {
    let suspicions = ProbeSuspicions::default();
    for result in results {
        let context = StepContext { now: result.finished_at, random: 7, suspicions: &suspicions };
        std::hint::black_box(receive(policy, judge_state, result, context));
    }
}

fn schedule_a_period(times: u64) -> Result<()> {
    let mut schedule = Schedule::default();
    let regions: Regions = REGIONS.into_iter().collect();
    for number in 1..=MONITORS {
        schedule.insert(MonitorId::from_bits(number), PERIOD, regions, START, FirstRun::Regular);
    }
    let taken = counted_schedule(&mut schedule, times);
    if taken < times {
        bail!("{taken} slots were due, and {times} were wanted");
    }
    Ok(())
}

/// Pops slots in order and advances the time until `times` slots are popped.
#[inline(never)]
fn counted_schedule(schedule: &mut Schedule, times: u64) -> u64 {
    let mut taken = 0;
    while taken < times {
        let Some(now) = schedule.next_due() else { return taken };
        while let Some(due) = schedule.pop_due(now) {
            schedule.finish(due.handle, due.region);
            taken += 1;
        }
    }
    taken
}

fn list_monitors(times: u64) -> Result<()> {
    let monitors: Vec<Monitor> = (1..=LISTED).map(monitor).collect();
    let length = counted_list(&monitors, times)?;
    if times > 0 && length < 10_000 {
        bail!("{LISTED} monitors in {length} bytes");
    }
    Ok(())
}

#[inline(never)]
fn counted_list(monitors: &[Monitor], times: u64) -> Result<usize> {
    let mut length = 0;
    for _ in 0..times {
        let mut answer = wire::ListMonitorsResponse::default();
        for monitor in monitors {
            let shown = StoredMonitor {
                heartbeat: None,
                monitor,
                status: MonitorStatus::Active,
                default_regions: &REGIONS,
                secrets: SecretVisibility::Visible,
            };
            // As `ListMonitors` does it.
            if let wire::Kind::Http(monitor) = shown.kind() {
                answer.http_monitors.push(*monitor);
            }
        }
        length = serde_json::to_vec(&answer)?.len();
    }
    Ok(length)
}

fn commit_results(times: u64) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let store = Store::open(store::Settings {
            folder: folder.path().to_owned(),
            database: Database::Embedded,
            master_key: MasterKeySource::File,
        })
        .await?;
        fill(&store).await?;
        for batch in 0..times {
            let slot = START + PERIOD * batch as u32;
            let results = (1..=BATCH).map(|number| result(number, 0, slot)).collect();
            let committed = store.commit(Arc::new(Batch { results, ..Batch::default() })).await?;
            if committed.stored != BATCH {
                bail!("{} of {BATCH} results were stored", committed.stored);
            }
        }
        Ok(store.close().await?)
    })
}

async fn fill(store: &Store) -> Result<()> {
    let change = AuditContext::new(Actor::Server, START);
    let workspace = store::Workspace {
        id: WORKSPACE,
        slug: "hot".to_owned(),
        name: "Hot".to_owned(),
        plan: FREE_PLAN.to_owned(),
        created_at: START,
        deletes_at: None,
    };
    store.workspaces().create(workspace, change).await?;
    for number in 1..=BATCH {
        let settings = monitor(number).settings;
        let id = MonitorId::from_bits(number);
        let new = NewMonitor { id, workspace: WORKSPACE, settings, idempotency: None };
        store.monitors().create(new, change).await?;
    }
    Ok(())
}

/// Returns the successful result of row `row`. Regions alternate, and each round takes one period.
fn result(monitor: u64, row: u64, from: Timestamp) -> CheckResult {
    let slot = from + PERIOD * (row / REGIONS.len() as u64) as u32;
    CheckResult {
        identity: ResultKey {
            monitor: MonitorId::from_bits(monitor),
            revision: 1,
            region: REGIONS[row as usize % REGIONS.len()],
            slot,
            trigger: Trigger::Scheduled,
        },
        finished_at: slot + Duration::from_millis(180),
        outcome: Outcome::Success,
        latency_us: 170_000 + (monitor % 5_000) as u32,
        phases: phases(),
        status: Some(200),
        attempts: 1,
        probe: ProbeName(Arc::from("this server")),
        evidence: None,
    }
}

fn phases() -> Phases {
    Phases {
        dns_us: Some(1_200),
        connect_us: Some(21_000),
        tls_us: Some(48_000),
        first_byte_us: Some(99_000),
        transfer_us: Some(310),
    }
}

fn monitor(number: u64) -> Monitor {
    Monitor {
        id: MonitorId::from_bits(number),
        workspace: WORKSPACE,
        revision: 1,
        settings: MonitorSettings {
            active: true,
            regions: REGIONS.to_vec(),
            ..MonitorSettings::new(
                format!("monitor {number}"),
                Periodicity::ThirtySeconds,
                Check::Http(HttpCheck::new("https://example.com/health")),
            )
        },
        created_at: START,
        updated_at: START,
    }
}
