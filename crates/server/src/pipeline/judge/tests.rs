//! Judge with a store that ends or rejects commits.

use std::sync::Arc;

use domain::check::{CheckResult, Outcome, Phases, ProbeName, ResultKey, Trigger};
use domain::judge::{
    FailedHosts, HostMark, IncidentChange, JudgeState, Policy, ProbeTrust, ServedRegion, Share,
    StatusReason, StoredSuspicion, Transition,
};
use domain::notify::Cause;
use futures_util::FutureExt as _;
use rules::{MonitorStatus, Region, Secret, WorkspaceId};
use store::{Database, MasterKeySource, Settings};
use testkit::flaky_proxy::FlakyProxy;
use tokio::sync::oneshot;

use super::*;
use crate::lane::remote::RemoteLane;
use crate::observe::log::captured;
use crate::pipeline::Probes;
use crate::pipeline::check::tests::a_monitor;

const NOW: Timestamp = Timestamp::from_millis(1_000);

/// Longer than a shutdown takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

async fn a_store(folder: &std::path::Path) -> Store {
    let settings = Settings {
        folder: folder.join("data"),
        database: Database::Embedded,
        master_key: MasterKeySource::File,
    };
    Store::open(settings).await.unwrap()
}

fn a_result() -> CheckResult {
    let (monitor, slot) = (MonitorId::from_bits(1), Timestamp::from_millis(1_000));
    let trigger = Trigger::Manual;
    CheckResult {
        identity: ResultKey { monitor, revision: 1, region: Region::FlyAms, slot, trigger },
        finished_at: slot,
        outcome: Outcome::Success,
        latency_us: 1,
        phases: Phases::default(),
        status: None,
        attempts: 1,
        probe: ProbeName("this server".into()),
        evidence: None,
    }
}

/// Fixture: a judge without monitors, its channels and its cancellation token.
struct JudgeFixture {
    metrics: Metrics,
    inputs: mpsc::Sender<JudgeInput>,
    input_receiver: mpsc::Receiver<JudgeInput>,
    judge: Judge,
    abandon: CancellationToken,
}

fn a_judge(store: Store) -> JudgeFixture {
    let (ctx, _clock) = Context::manual(NOW);
    let (schedule_commands, _cadence) = mpsc::channel(8);
    let (inputs, input_receiver) = mpsc::channel(8);
    let abandon = CancellationToken::new();
    let probes = Probes::embedded(probe::Probe::new(probe::Settings::default()), Vec::new());
    let metrics = Metrics::new();
    let (around, key) = ((ctx.clone(), metrics.clone()), remote::TicketKey::derive(&[1; 32]));
    let (sink, _) = mpsc::channel(1);
    let remote = RemoteLane::new(around, key, probes.clone(), Arc::default(), sink);
    let connectivity_checks =
        ConnectivityChecks::new(ctx.clone(), probes, remote, &[], inputs.downgrade()).unwrap();
    let judge = Judge::new(
        ctx,
        metrics.clone(),
        store,
        schedule_commands.downgrade(),
        connectivity_checks,
        abandon.clone(),
        Arc::default(),
    );
    JudgeFixture { metrics, inputs, input_receiver, judge, abandon }
}

#[tokio::test]
async fn judge_ends_after_its_store_ended() {
    let folder = tempfile::tempdir().unwrap();
    let store = a_store(folder.path()).await;
    store.clone().close().await.unwrap();
    let JudgeFixture { judge, inputs, input_receiver, .. } = a_judge(store);
    let (commands, command_receiver) = mpsc::channel(8);
    let judging = tokio::spawn(
        judge.run(BatchedReceiver::new(input_receiver, Arc::default()), command_receiver),
    );
    let (reply, answer) = oneshot::channel();
    inputs.send(JudgeInput::Result(a_result(), Some(reply))).await.unwrap();
    let ended = tokio::time::timeout(PATIENCE, judging).await;
    ended.expect("it ends by itself").unwrap();
    assert!(answer.await.is_err(), "what is not stored is not answered as if it were");
    assert!(commands.is_closed(), "a caller gets an error immediately");
}

/// Opens a store whose database can be cut off.
async fn a_store_at_a_distance(folder: &std::path::Path) -> (Store, FlakyProxy) {
    let line = FlakyProxy::start(&testkit::postgres::database()).await;
    let settings = Settings {
        folder: folder.join("data"),
        database: Database::Postgres(Secret::new(line.address())),
        master_key: MasterKeySource::File,
    };
    (Store::open(settings).await.unwrap(), line)
}

async fn until_a_commit_failed(metrics: &Metrics) {
    let failed = async {
        while metrics.commits_failed.get() == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, failed).await.expect("the store refuses");
}

// design: §2 "Memory never runs ahead of the database"
#[tokio::test]
async fn failed_commit_is_retried_until_stored() {
    let folder = tempfile::tempdir().unwrap();
    let (store, line) = a_store_at_a_distance(folder.path()).await;
    let JudgeFixture { judge, metrics, inputs, input_receiver, .. } = a_judge(store.clone());
    let (_commands, command_receiver) = mpsc::channel(8);
    line.cut();
    let judging = tokio::spawn(
        judge.run(BatchedReceiver::new(input_receiver, Arc::default()), command_receiver),
    );
    let (reply, mut answer) = oneshot::channel();
    inputs.send(JudgeInput::Result(a_result(), Some(reply))).await.unwrap();
    until_a_commit_failed(&metrics).await;
    assert!(answer.try_recv().is_err(), "no reply before");
    line.restore();
    let answered = tokio::time::timeout(PATIENCE, answer).await.expect("it is stored in the end");
    assert_eq!(answered.unwrap().identity, a_result().identity);
    drop(inputs);
    judging.await.unwrap();
    store.close().await.unwrap();
}

#[tokio::test]
async fn failing_commits_do_not_block_a_stop() {
    let folder = tempfile::tempdir().unwrap();
    let (store, line) = a_store_at_a_distance(folder.path()).await;
    let JudgeFixture { judge, metrics, inputs, input_receiver, abandon } = a_judge(store);
    let (_commands, command_receiver) = mpsc::channel(8);
    line.cut();
    let judging = tokio::spawn(
        judge.run(BatchedReceiver::new(input_receiver, Arc::default()), command_receiver),
    );
    let (reply, answer) = oneshot::channel();
    inputs.send(JudgeInput::Result(a_result(), Some(reply))).await.unwrap();
    until_a_commit_failed(&metrics).await;
    drop(inputs);
    abandon.cancel();
    tokio::time::timeout(PATIENCE, judging).await.expect("it ends all the same").unwrap();
    assert!(answer.await.is_err(), "what is not stored is not answered as if it were");
}

#[tokio::test]
async fn idle_commit_stays_on_the_judge_thread() {
    let folder = tempfile::tempdir().unwrap();
    let mut judge = a_judge(a_store(folder.path()).await).judge;
    let stored_at_once = async {
        loop {
            judge.pending.add_result(a_result(), None);
            // The store's own thread may be checking for work at this moment.
            match judge.commit_idle().now_or_never() {
                Some(stored) => return stored.is_ok(),
                None => tokio::task::yield_now().await,
            }
        }
    };
    let stored = tokio::time::timeout(PATIENCE, stored_at_once).await;
    assert!(stored.expect("nobody has to be woken"));
}

// design: §5 "After start, resume or an edit, a grace period holds the status."
#[tokio::test]
async fn change_of_probe_begins_no_grace_period() {
    let folder = tempfile::tempdir().unwrap();
    let mut judge = a_judge(a_store(folder.path()).await).judge;
    let monitor = a_monitor(1);
    let judged = |probe| {
        let policy = Policy::new(
            &monitor.settings,
            1,
            vec![ServedRegion { region: Region::FlyAms, probe: ProbeIndex(probe) }],
        );
        let state = JudgeState { grace_period: None, ..JudgeState::new(&policy, NOW) };
        JudgedMonitor::new(&monitor, policy, state, Some(HostMark::new("127.0.0.1")), NOW)
    };
    judge.judged.insert(monitor.id, judged(0));
    fail_from_a_suspect_probe(&mut judge, monitor.id);
    let (done, moved) = oneshot::channel();
    assert!(judge.handle(Command::Move { judged: Box::new(judged(1)), done }).await.is_ok());
    moved.await.unwrap();
    let judged = &judge.judged[&monitor.id];
    assert_eq!(judged.state.grace_period, None);
    assert_eq!(judged.policy.probe_of(Region::FlyAms), Some(ProbeIndex(1)));
    // The trust in the new probe does not make the failure of the suspect one count.
    assert_eq!(judged.state.region(Region::FlyAms).unwrap().latest, None);
    assert_eq!(judged.state.status, MonitorStatus::Unknown);
}

/// Makes the server's own probe suspect, and lets a monitor have failed there.
fn fail_from_a_suspect_probe(judge: &mut Judge, monitor: MonitorId) {
    let suspicion = StoredSuspicion {
        suspicion: Some((NOW, FailedHosts { failing: 4, of_hosts: 6 })),
        trust: ProbeTrust::Suspect,
        changed_at: NOW,
    };
    // Without connectivity checks, a suspicion mutes nothing.
    judge.suspicions = ProbeSuspicions::new(true);
    judge.restore_suspicions(vec![(ProbeName("this server".into()), suspicion)]);
    let mut failure = a_result().identity;
    failure.trigger = Trigger::Scheduled;
    let state = &mut judge.judged.get_mut(&monitor).unwrap().state;
    state.recall(&failure, NOW, Outcome::Failure);
    assert!(state.region(Region::FlyAms).unwrap().latest.is_some());
}

// issue 16, point 26: "Log lines name the monitor and the cause."
#[test]
fn status_change_logs_monitor_and_cause() {
    let probes = [ServedRegion { region: Region::FlyAms, probe: ProbeIndex::EMBEDDED }];
    let monitor = a_monitor(1);
    let policy = Policy::new(&monitor.settings, 1, probes.into());
    let judge_state = JudgeState::new(&policy, NOW);
    let host = Some(HostMark::new("127.0.0.1"));
    let judged = JudgedMonitor::new(&monitor, policy, judge_state, host, NOW);
    let share = Share { votes: 1, of_votes: 1, regions: 1, of_regions: 1 };
    let transition = Transition {
        from: MonitorStatus::Active,
        to: MonitorStatus::Error,
        at: NOW,
        incident: IncidentChange::None,
        why: StatusReason::Failing(share),
    };
    let cause = Cause { why: "status is 503, expected 2xx".to_owned(), regions: Vec::new() };
    let lines = captured(|| log(&judged, &transition, &cause));
    insta::assert_snapshot!(lines.trim(), @"INFO monitor `database` (mon_0000000000001) went from active to error, the check fails: status is 503, expected 2xx monitor.id=mon_0000000000001 monitor.name=database");
}

/// Adds a monitor that has run for long without a result; without a host if no probe checks it.
fn add_silent(judge: &mut Judge, number: u64, host: Option<HostMark>) -> MonitorId {
    let monitor = a_monitor(number);
    let probe = if host.is_some() { ProbeIndex::EMBEDDED } else { ProbeIndex::NONE };
    let serving = ServedRegion { region: Region::FlyAms, probe };
    let policy = Policy::new(&monitor.settings, monitor.revision, vec![serving]);
    let (state, runs_since) = (JudgeState::new(&policy, NOW), NOW - Duration::from_mins(10));
    let judged = JudgedMonitor::new(&monitor, policy, state, host, runs_since);
    judge.judged.insert(monitor.id, judged);
    monitor.id
}

#[tokio::test]
async fn monitor_without_probe_stalls_no_region() {
    let folder = tempfile::tempdir().unwrap();
    let mut judge = a_judge(a_store(folder.path()).await).judge;
    add_silent(&mut judge, 1, None);
    let regions = judge.regions(WorkspaceId::from_bits(1));
    assert!(regions.iter().all(|it| it.health == Health::Healthy), "{regions:?}");
}

#[tokio::test]
async fn monitor_without_probe_hides_no_stall() {
    let folder = tempfile::tempdir().unwrap();
    let mut judge = a_judge(a_store(folder.path()).await).judge;
    add_silent(&mut judge, 2, Some(HostMark::new("127.0.0.1")));
    add_silent(&mut judge, 1, None);
    judge.record(JudgeInput::Result(a_result(), None));
    let regions = judge.regions(WorkspaceId::from_bits(1));
    let first = regions.iter().find(|it| it.region == Region::FlyAms).unwrap();
    assert_eq!((first.health, first.last_check_at), (Health::Stalled, None));
}
