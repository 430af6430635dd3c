//! Statements of a commit: their number does not depend on the number of results, and commits that
//! wait share one transaction. Each statement is a wait for the network. Read from the log of a
//! server.

use std::fs;
use std::sync::Arc;

use domain::cadence::{Missed, MissedReason};
use domain::check::{Outcome, Trigger};
use insta::assert_snapshot;
use rules::{MonitorStatus, Region, Secret};
use store::{Batch, Database};

use crate::harness::{
    Engine, Home, a_history, a_result, a_workspace, at, instant, monitor_id, until, with_evidence,
};
use crate::server::PostgresServer;

const MONITORS: u64 = 200;

/// Log of a server with all statements that the store sends.
struct StatementLog {
    server: PostgresServer,
    read: usize,
}

impl StatementLog {
    fn start() -> Self {
        Self { server: PostgresServer::start(None, "-c log_statement=all", &[]), read: 0 }
    }

    /// Returns the statements since the last call, in order, without their values.
    fn new_statements(&mut self) -> Vec<String> {
        let log = fs::read_to_string(self.server.file("log")).unwrap();
        let new = log[self.read..].lines().filter_map(|line| {
            let (_, statement) = line.split_once("LOG:  ")?;
            let kind = statement.strip_prefix("statement: ");
            let prepared = || statement.strip_prefix("execute ")?.split_once(": ").map(|it| it.1);
            kind.or_else(prepared).map(str::to_owned)
        });
        let new = new.collect();
        self.read = log.len();
        new
    }

    async fn home(&self) -> Home {
        let database = Database::Postgres(Secret::new(self.server.create("aloft")));
        let home = Home::at(Engine::Postgres, tempfile::tempdir().unwrap(), database).await;
        home.store.workspaces().create(a_workspace(1), at(0)).await.unwrap();
        home
    }
}

/// Returns the first words of each statement.
fn words(statements: &[String]) -> String {
    let words = |it: &String| it.split(' ').take(3).collect::<Vec<_>>().join(" ");
    statements.iter().map(words).collect::<Vec<_>>().join("\n")
}

/// Returns a batch with results, evidence, states and missed slots of this many monitors.
fn a_batch(monitors: u64, slot: i64) -> Arc<Batch> {
    let mut batch = Batch::default();
    for number in 1..=monitors {
        let monitor = monitor_id(number);
        // The details of each manual check are stored.
        let mut success = a_result(monitor, Region::FlyAms, slot);
        success.identity.trigger = Trigger::Manual;
        batch.results.push(with_evidence(success, Outcome::Success, "fine"));
        let failure = a_result(monitor, Region::KoyebSin, slot);
        batch.results.push(with_evidence(failure, Outcome::Failure, "broken"));
        batch.judge_states.push((monitor, a_history(MonitorStatus::Active, slot)));
        batch.deferred_states.push((monitor, a_history(MonitorStatus::Active, slot + 1)));
        batch.missed.push(Missed {
            monitor,
            region: Region::FlyAms,
            first_slot: instant(slot - 1),
            last_slot: instant(slot - 1),
            count: 1,
            reason: MissedReason::Unknown,
        });
    }
    Arc::new(batch)
}

// issue 19, point 6: "Batched result writes (`COPY` or `UNNEST`)"
#[tokio::test]
async fn batch_of_any_size_takes_equally_many_statements() {
    let mut log = StatementLog::start();
    let home = log.home().await;
    for number in 1..=MONITORS {
        home.monitor(number).await;
    }
    // The first commit looks up where its bucket ends.
    home.store.commit(a_batch(1, 1_000)).await.unwrap();
    log.new_statements();
    home.store.commit(a_batch(1, 2_000)).await.unwrap();
    let small = words(&log.new_statements());
    assert_snapshot!(small, @"
    BEGIN
    INSERT INTO recent_results
    DELETE FROM evidence
    INSERT INTO evidence
    INSERT INTO missed_slots
    INSERT INTO judge_states
    INSERT INTO judge_states
    COMMIT
    ");
    let committed = home.store.commit(a_batch(MONITORS, 700_000)).await.unwrap();
    assert_eq!(committed.stored, 2 * MONITORS);
    let first = words(&log.new_statements());
    assert_eq!(first.lines().filter(|line| line.starts_with("SELECT m.id,")).count(), 1, "{first}");
    home.store.commit(a_batch(MONITORS, 701_000)).await.unwrap();
    assert_eq!(words(&log.new_statements()), small);
    assert_eq!(home.count("judge_states").await, MONITORS as i64);
    assert_eq!(home.count("missed_slots").await, 2 * MONITORS as i64 + 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commits_that_wait_share_one_transaction() {
    const WAITING: u64 = 40;
    let mut log = StatementLog::start();
    let home = log.home().await;
    home.monitor(1).await;
    log.new_statements();
    log.server.pause();
    let callers: Vec<_> = (0..WAITING)
        .map(|caller| {
            let store = home.store.clone();
            let result = a_result(monitor_id(1), Region::FlyAms, caller as i64);
            let batch = Batch { results: vec![result], ..Batch::default() };
            tokio::spawn(async move { store.commit(Arc::new(batch)).await })
        })
        .collect();
    // All of them wait by then.
    until(async || home.store.ready().await.err()).await;
    log.server.resume();
    for caller in callers {
        assert_eq!(caller.await.unwrap().unwrap().stored, 1);
    }
    let statements = log.new_statements();
    let count = |statement: &str| statements.iter().filter(|it| *it == statement).count();
    // Those that came first, if the writer was that quick, and the others. Between two of a transaction
    // there is one message.
    let commits = count("COMMIT") as u64;
    assert!((1..=2).contains(&commits), "{statements:#?}");
    assert_eq!(count("RELEASE task; SAVEPOINT task") as u64, WAITING - commits);
}
