//! History: compacted results read back equal, are counted once, and expire.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::check::{CheckResult, Outcome, Phases, Trigger};
use domain::judge::{IncidentChange, Share, StatusReason, Transition};
use futures_util::future::join_all;
use rules::MonitorStatus::{Active, Degraded, Unknown};
use rules::plan::Plans;
use rules::{MonitorId, Region};
use store::{Batch, CompactionStats, LogFilter, WorkspaceEdit};

use crate::harness::{Engine, Home, a_result, at, for_each_engine, instant, open, workspace_id};

const MINUTE: i64 = 60_000;

pub(crate) fn batch_of(results: Vec<CheckResult>) -> Batch {
    Batch { results, ..Batch::default() }
}

/// Returns a check each minute in two regions, starting at `from`. Every tenth fails.
pub(crate) fn an_hour(monitor: MonitorId, from: i64, minutes: i64) -> Vec<CheckResult> {
    let mut results = Vec::new();
    for minute in 0..minutes {
        for region in [Region::FlyAms, Region::KoyebSin] {
            let mut result = a_result(monitor, region, from + minute * MINUTE);
            result.latency_us = 100_000 + minute as u32;
            if minute % 10 == 0 {
                result.outcome = Outcome::Failure;
            }
            results.push(result);
        }
    }
    results
}

pub(crate) async fn compact_all(home: &Home) -> CompactionStats {
    let mut all = CompactionStats::default();
    loop {
        let round = home.store.history().compact().await.unwrap();
        if round.results == 0 {
            return all;
        }
        all.results += round.results;
        all.added += round.added;
    }
}

async fn counts(home: &Home, monitor: MonitorId) -> BTreeMap<&'static str, (u32, u32)> {
    let rollups = home.store.history().rollups(home.workspace, monitor, instant(0)).await.unwrap();
    rollups.iter().map(|(region, sum)| (region.as_str(), (sum.success, sum.failure))).collect()
}

async fn all_logs(home: &Home, monitor: MonitorId) -> Vec<String> {
    let all = LogFilter::default();
    let page = home.store.logs().list(home.workspace, monitor, &all, None, 10_000).await.unwrap();
    assert!(page.next.is_none());
    page.logs.iter().map(|log| format!("{log:?}")).collect()
}

#[tokio::test]
async fn compaction_does_not_change_reads() {
    for_each_engine(async |home| {
        let (monitor, other) = (home.monitor(1).await.id, home.monitor(2).await.id);
        home.commit(batch_of(an_hour(monitor, 0, 90))).await.unwrap();
        home.commit(batch_of(an_hour(other, 7, 90))).await.unwrap();
        let expected = BTreeMap::from([("fly-ams", (81, 9)), ("koyeb-sin", (81, 9))]);
        let logs = all_logs(home, monitor).await;
        assert_eq!(logs.len(), 180);
        assert_eq!(counts(home, monitor).await, expected);

        let stats = compact_all(home).await;
        assert!(stats.results >= 300 && stats.results == stats.added, "{stats:?}");
        assert_eq!(home.store.results().count().await.unwrap(), 360 - stats.results);
        assert_eq!(all_logs(home, monitor).await, logs);
        assert_eq!(counts(home, monitor).await, expected);
        assert_eq!(compact_all(home).await, CompactionStats::default());
    })
    .await;
}

#[tokio::test]
async fn results_of_any_shape_survive_compaction() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let plain = || a_result(monitor, Region::RailwayAsiaSoutheast1, 0);
        let mut odd = vec![plain(); 4];
        odd[1].identity.revision = i32::MAX as u32;
        odd[1].status = Some(i16::MAX as u16);
        odd[1].attempts = 100;
        odd[2].identity.trigger = Trigger::Manual;
        odd[2].outcome = Outcome::Skipped;
        odd[2].status = None;
        odd[2].latency_us = i32::MAX as u32;
        odd[2].phases =
            Phases { tls_us: Some(0), transfer_us: Some(u32::MAX), ..Phases::default() };
        odd[3].identity.slot = instant(1);
        odd[3].finished_at = instant(-5);
        odd[3].phases = Phases::default();
        odd.push(a_result(monitor, Region::FlyAms, 20 * MINUTE));
        home.commit(batch_of(odd)).await.unwrap();
        let logs = all_logs(home, monitor).await;
        assert_eq!(compact_all(home).await, CompactionStats { results: 4, added: 4 });
        assert_eq!(all_logs(home, monitor).await, logs);
    })
    .await;
}

#[tokio::test]
async fn summary_during_compaction_counts_results_once() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        home.commit(batch_of(an_hour(monitor, 0, 90))).await.unwrap();
        let expected = counts(home, monitor).await;
        let history = home.store.history();
        let (mut moved, mut reads) = (0, 0);
        while moved == 0 || reads < 50 {
            let reading = async { (0..10).map(|_| counts(home, monitor)).collect::<Vec<_>>() };
            let (stats, counts) =
                tokio::join!(history.compact(), async { join_all(reading.await).await });
            moved += stats.unwrap().results;
            reads += counts.len();
            assert!(counts.iter().all(|counts| *counts == expected), "{counts:?}");
        }
    })
    .await;
}

// design: §5 "The second result of one identity is dropped"
#[tokio::test]
async fn repeated_or_late_result_is_counted_once() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let results = an_hour(monitor, 0, 30);
        home.commit(batch_of(results.clone())).await.unwrap();
        compact_all(home).await;
        let logs = all_logs(home, monitor).await;
        // The first ten were compacted. They arrive again with another outcome, together with a new
        // result.
        let mut late = results[..10].to_vec();
        for result in &mut late {
            result.outcome = Outcome::Degraded;
        }
        late.push(a_result(monitor, Region::FlyArn, 5));
        home.commit(batch_of(late)).await.unwrap();
        for again in [false, true] {
            let expected =
                BTreeMap::from([("fly-ams", (27, 3)), ("fly-arn", (1, 0)), ("koyeb-sin", (27, 3))]);
            assert_eq!(counts(home, monitor).await, expected, "{again}");
            assert_eq!(all_logs(home, monitor).await.len(), logs.len() + 1);
            if !again {
                assert_eq!(compact_all(home).await, CompactionStats { results: 11, added: 1 });
            }
        }
    })
    .await;
}

// design: §5 "The second result of one identity is dropped"
#[tokio::test]
async fn first_of_duplicate_results_is_compacted() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        for outcome in [Outcome::Success, Outcome::Failure, Outcome::Degraded] {
            let mut results = vec![a_result(monitor, Region::FlyAms, 0); 2];
            results[0].outcome = outcome;
            home.commit(batch_of(results)).await.unwrap();
        }
        home.commit(batch_of(vec![a_result(monitor, Region::KoyebSin, 20 * MINUTE)]))
            .await
            .unwrap();
        let expected = BTreeMap::from([("fly-ams", (1, 0)), ("koyeb-sin", (1, 0))]);
        assert_eq!(counts(home, monitor).await, expected);
        let logs = all_logs(home, monitor).await;
        assert_eq!(compact_all(home).await, CompactionStats { results: 3, added: 1 });
        assert_eq!(counts(home, monitor).await, expected);
        assert_eq!(all_logs(home, monitor).await, logs);
    })
    .await;
}

// Results that arrive during compaction get keys after the rows that are deleted.
#[tokio::test]
async fn result_arriving_during_compaction_is_kept() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        home.commit(batch_of(an_hour(monitor, 0, 60))).await.unwrap();
        let history = home.store.history();
        let late_ones = |first| {
            let slots = (first..first + 5).map(|late| late % 60 * MINUTE + late);
            slots.map(|slot| home.commit(batch_of(vec![a_result(monitor, Region::FlyArn, slot)])))
        };
        for late in (0..50).step_by(5) {
            let (stats, _) = tokio::join!(history.compact(), join_all(late_ones(late)));
            stats.unwrap();
            assert_eq!(all_logs(home, monitor).await.len() as i64, 125 + late);
        }
        compact_all(home).await;
        assert_eq!(all_logs(home, monitor).await.len(), 170);
        assert_eq!(counts(home, monitor).await["fly-arn"], (50, 0));
    })
    .await;
}

#[tokio::test]
async fn results_of_earlier_process_are_read_and_compacted() {
    for engine in Engine::ALL {
        let mut home = Home::new(*engine).await;
        let (monitor, other) = (home.monitor(1).await.id, home.monitor(2).await.id);
        for minute in 0..90 {
            let slots = [monitor, other].map(|it| a_result(it, Region::FlyAms, minute * MINUTE));
            home.commit(batch_of(slots.into())).await.unwrap();
        }
        let logs = all_logs(&home, monitor).await;
        home.store.clone().close().await.unwrap();
        home.store = open(home.settings()).await;
        assert_eq!(all_logs(&home, monitor).await, logs);
        // A result of the earlier process arrives again with another outcome.
        let mut again = a_result(monitor, Region::FlyAms, 7 * MINUTE);
        again.outcome = Outcome::Failure;
        home.commit(batch_of(vec![again])).await.unwrap();
        assert_eq!(all_logs(&home, monitor).await, logs);
        // A late result sorts before the existing ones, and a new one after them.
        let late = a_result(monitor, Region::FlyArn, 40 * MINUTE);
        home.commit(batch_of(vec![late, a_result(monitor, Region::FlyArn, 90 * MINUTE)]))
            .await
            .unwrap();
        let logs = all_logs(&home, monitor).await;
        assert_eq!(logs.len(), 92);
        let stats = compact_all(&home).await;
        assert!(stats.results >= 160 && stats.results == stats.added + 1, "{stats:?}");
        assert_eq!(all_logs(&home, monitor).await, logs);
    }
}

#[tokio::test]
async fn last_minutes_stay_uncompacted_for_restart() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        home.commit(batch_of(an_hour(monitor, 0, 60))).await.unwrap();
        compact_all(home).await;
        let latest = home.store.results().latest_slot().await.unwrap().unwrap();
        assert_eq!(latest, instant(59 * MINUTE));
        let since = latest - Duration::from_mins(5);
        let left = home.store.results().since_for_boot(since).await.unwrap();
        assert_eq!(left.len(), 10);
    })
    .await;
}

#[tokio::test]
async fn only_scheduled_checks_are_rolled_up() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let mut manual = a_result(monitor, Region::FlyAms, 1);
        manual.identity.trigger = Trigger::Manual;
        let mut confirmation = a_result(monitor, Region::FlyAms, 2);
        confirmation.identity.trigger = Trigger::Confirmation;
        home.commit(batch_of(vec![manual, confirmation, a_result(monitor, Region::FlyAms, 3)]))
            .await
            .unwrap();
        assert_eq!(counts(home, monitor).await, BTreeMap::from([("fly-ams", (1, 0))]));
        assert_eq!(all_logs(home, monitor).await.len(), 3);
    })
    .await;
}

#[tokio::test]
async fn workspace_retention_overrides_the_setting() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        home.commit(batch_of(an_hour(monitor, 0, 60))).await.unwrap();
        compact_all(home).await;
        let day = 24 * 60 * MINUTE;
        let setting = Duration::from_hours(24 * 3);
        let now = instant(2 * day);
        let history = home.store.history();
        assert_eq!(history.prune(setting, now).await.unwrap().blocks, 0);
        for days in ["-1", "0", "9000000000"] {
            home.execute_owned(format!("UPDATE workspaces SET retention_days = {days}")).await;
            let pruned = history.prune(setting, now).await.unwrap();
            assert_eq!(
                (pruned.blocks, pruned.days),
                (0, 0),
                "{days} is damage: the setting decides"
            );
        }
        history.set_retention(home.workspace, Some(1), at(0)).await.unwrap();
        let pruned = history.prune(setting, now).await.unwrap();
        let is_pruned = if home.is_embedded() { pruned.blocks >= 5 } else { pruned.days == 1 };
        assert!(is_pruned && !pruned.is_there_more, "{pruned:?}");
        assert!(all_logs(home, monitor).await.len() <= 20);
        // Rollups stay.
        assert_eq!(counts(home, monitor).await["fly-ams"], (54, 6));
        assert_eq!(history.prune(setting, instant(500 * day)).await.unwrap().rollups, 2);
    })
    .await;
}

// decision 0049: "a workspace keeps results for the plan's time at most"
#[tokio::test]
async fn plan_shortens_the_retention_of_a_workspace() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        home.commit(batch_of(an_hour(monitor, 0, 60))).await.unwrap();
        compact_all(home).await;
        home.store.set_plans(Plans::parse("small retention_days=1").unwrap(), 3);
        let (setting, now) = (Duration::from_hours(24 * 3), instant(2 * 24 * 60 * MINUTE));
        for (plan, is_pruned) in [("free", false), ("small", true)] {
            let edit = WorkspaceEdit::Plan(plan.to_owned());
            home.store.workspaces().edit(home.workspace, edit, at(0)).await.unwrap();
            let pruned = home.store.history().prune(setting, now).await.unwrap();
            assert_eq!(pruned.blocks + pruned.days > 0, is_pruned, "{plan}: {pruned:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn retention_step_is_bounded_over_all_workspaces() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        home.commit(batch_of(an_hour(monitor, 0, 60))).await.unwrap();
        compact_all(home).await;
        for number in 2..=3 {
            home.store
                .workspaces()
                .create(crate::harness::a_workspace(number), at(0))
                .await
                .unwrap();
        }
        // The last workspace keeps everything, so that PostgreSQL does not drop the day. A day and a
        // half after the first block, the others have more than one step of expired buckets.
        let last = workspace_id(3);
        home.store.history().set_retention(last, Some(30), at(0)).await.unwrap();
        let now = instant(36 * 60 * MINUTE);
        let pruned = home.store.history().prune(Duration::ZERO, now).await.unwrap();
        assert!(pruned.blocks == 5 && pruned.is_there_more, "{pruned:?}");
        assert_eq!(home.count("workspaces WHERE blocks_kept_from IS NOT NULL").await, 1);
        let rest = home.store.history().prune(Duration::ZERO, now).await.unwrap();
        assert!(rest.blocks == 0 && !rest.is_there_more, "no expired blocks remain: {rest:?}");
    })
    .await;
}

#[tokio::test]
async fn status_history_begins_with_the_earlier_status() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let change = |millis, from, to| {
            let why =
                StatusReason::Fine(Share { votes: 0, of_votes: 1, regions: 0, of_regions: 1 });
            let incident = IncidentChange::None;
            (monitor, Transition { from, to, at: instant(millis), incident, why })
        };
        let transitions = vec![change(10, Unknown, Active), change(20, Active, Degraded)];
        home.commit(Batch { transitions, ..Batch::default() }).await.unwrap();
        let course = async |since| {
            let (before, changes) = home
                .store
                .history()
                .status_history(home.workspace, monitor, instant(since))
                .await
                .unwrap();
            (before, changes.iter().map(|change| change.status).collect::<Vec<_>>())
        };
        assert_eq!(course(0).await, (Unknown, vec![Active, Degraded]));
        assert_eq!(course(15).await, (Active, vec![Degraded]));
        assert_eq!(course(30).await, (Degraded, vec![]));
    })
    .await;
}
