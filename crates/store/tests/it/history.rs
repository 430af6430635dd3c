//! History: what is gathered reads back as it was written, is counted once, and goes when it is old.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::check::{CheckResult, Outcome, Phases, Trigger};
use domain::judge::{IncidentChange, Share, Transition, Why};
use futures_util::future::join_all;
use rules::MonitorStatus::{Active, Degraded, Unknown};
use rules::{MonitorId, Region};
use store::{Batch, Gathered, LogFilter};

use crate::harness::{Engine, Home, a_result, at, for_each_engine, instant, open};

const MINUTE: i64 = 60_000;

fn of(results: Vec<CheckResult>) -> Batch {
    Batch { results, ..Batch::default() }
}

/// A check each minute in two regions, from `from` on; every tenth fails.
fn an_hour(monitor: MonitorId, from: i64, minutes: i64) -> Vec<CheckResult> {
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

async fn gather_all(home: &Home) -> Gathered {
    let mut all = Gathered::default();
    loop {
        let round = home.store.history().gather().await.unwrap();
        if round.results == 0 {
            return all;
        }
        all.results += round.results;
        all.added += round.added;
    }
}

async fn counts(home: &Home, monitor: MonitorId) -> BTreeMap<&'static str, (u32, u32)> {
    let sums = home.store.history().sums(home.workspace, monitor, instant(0)).await.unwrap();
    sums.iter().map(|(region, sum)| (region.as_str(), (sum.success, sum.failure))).collect()
}

async fn all_logs(home: &Home, monitor: MonitorId) -> Vec<String> {
    let all = LogFilter::default();
    let page = home.store.logs().list(home.workspace, monitor, &all, None, 10_000).await.unwrap();
    assert!(page.next.is_none());
    page.logs.iter().map(|log| format!("{log:?}")).collect()
}

#[tokio::test]
async fn gathering_changes_nothing_that_is_read() {
    for_each_engine(async |home| {
        let (monitor, other) = (home.monitor(1).await.id, home.monitor(2).await.id);
        home.commit(of(an_hour(monitor, 0, 90))).await.unwrap();
        home.commit(of(an_hour(other, 7, 90))).await.unwrap();
        let expected = BTreeMap::from([("fly-ams", (81, 9)), ("koyeb-sin", (81, 9))]);
        let logs = all_logs(home, monitor).await;
        assert_eq!(logs.len(), 180);
        assert_eq!(counts(home, monitor).await, expected);

        let gathered = gather_all(home).await;
        assert!(gathered.results >= 300 && gathered.results == gathered.added, "{gathered:?}");
        assert_eq!(home.store.results().count().await.unwrap(), 360 - gathered.results);
        assert_eq!(all_logs(home, monitor).await, logs);
        assert_eq!(counts(home, monitor).await, expected);
        assert_eq!(gather_all(home).await, Gathered::default());
    })
    .await;
}

#[tokio::test]
async fn a_result_of_any_shape_is_gathered_as_it_was() {
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
        home.commit(of(odd)).await.unwrap();
        let logs = all_logs(home, monitor).await;
        assert_eq!(gather_all(home).await, Gathered { results: 4, added: 4 });
        assert_eq!(all_logs(home, monitor).await, logs);
    })
    .await;
}

#[tokio::test]
async fn a_summary_that_is_read_while_results_move_counts_each_once() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        home.commit(of(an_hour(monitor, 0, 90))).await.unwrap();
        let expected = counts(home, monitor).await;
        let history = home.store.history();
        let (mut moved, mut reads) = (0, 0);
        while moved == 0 || reads < 50 {
            let reading = async { (0..10).map(|_| counts(home, monitor)).collect::<Vec<_>>() };
            let (gathered, counts) =
                tokio::join!(history.gather(), async { join_all(reading.await).await });
            moved += gathered.unwrap().results;
            reads += counts.len();
            assert!(counts.iter().all(|counts| *counts == expected), "{counts:?}");
        }
    })
    .await;
}

// design: §5 "the second of one identity is dropped"
#[tokio::test]
async fn a_result_that_comes_again_or_late_is_counted_once() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let results = an_hour(monitor, 0, 30);
        home.commit(of(results.clone())).await.unwrap();
        gather_all(home).await;
        let logs = all_logs(home, monitor).await;
        // The first ten were gathered; they come once more, as something else, with one that is new.
        let mut late = results[..10].to_vec();
        for result in &mut late {
            result.outcome = Outcome::Degraded;
        }
        late.push(a_result(monitor, Region::FlyArn, 5));
        home.commit(of(late)).await.unwrap();
        for again in [false, true] {
            let expected =
                BTreeMap::from([("fly-ams", (27, 3)), ("fly-arn", (1, 0)), ("koyeb-sin", (27, 3))]);
            assert_eq!(counts(home, monitor).await, expected, "{again}");
            assert_eq!(all_logs(home, monitor).await.len(), logs.len() + 1);
            if !again {
                assert_eq!(gather_all(home).await, Gathered { results: 11, added: 1 });
            }
        }
    })
    .await;
}

// design: §5 "the second of one identity is dropped"
#[tokio::test]
async fn of_two_with_one_identity_the_one_that_was_stored_first_is_gathered() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        for outcome in [Outcome::Success, Outcome::Failure, Outcome::Degraded] {
            let mut results = vec![a_result(monitor, Region::FlyAms, 0); 2];
            results[0].outcome = outcome;
            home.commit(of(results)).await.unwrap();
        }
        home.commit(of(vec![a_result(monitor, Region::KoyebSin, 20 * MINUTE)])).await.unwrap();
        let expected = BTreeMap::from([("fly-ams", (1, 0)), ("koyeb-sin", (1, 0))]);
        assert_eq!(counts(home, monitor).await, expected);
        let logs = all_logs(home, monitor).await;
        assert_eq!(gather_all(home).await, Gathered { results: 3, added: 1 });
        assert_eq!(counts(home, monitor).await, expected);
        assert_eq!(all_logs(home, monitor).await, logs);
    })
    .await;
}

// The rows of what comes in while a stretch is gathered lie behind those that are taken away.
#[tokio::test]
async fn a_result_that_comes_in_while_its_stretch_is_gathered_is_kept() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        home.commit(of(an_hour(monitor, 0, 60))).await.unwrap();
        let history = home.store.history();
        let late_ones = |first| {
            let slots = (first..first + 5).map(|late| late % 60 * MINUTE + late);
            slots.map(|slot| home.commit(of(vec![a_result(monitor, Region::FlyArn, slot)])))
        };
        for late in (0..50).step_by(5) {
            let (gathered, _) = tokio::join!(history.gather(), join_all(late_ones(late)));
            gathered.unwrap();
            assert_eq!(all_logs(home, monitor).await.len() as i64, 125 + late);
        }
        gather_all(home).await;
        assert_eq!(all_logs(home, monitor).await.len(), 170);
        assert_eq!(counts(home, monitor).await["fly-arn"], (50, 0));
    })
    .await;
}

#[tokio::test]
async fn what_the_process_before_left_behind_is_read_and_gathered() {
    for engine in Engine::ALL {
        let mut home = Home::new(*engine).await;
        let (monitor, other) = (home.monitor(1).await.id, home.monitor(2).await.id);
        for minute in 0..90 {
            let slots = [monitor, other].map(|it| a_result(it, Region::FlyAms, minute * MINUTE));
            home.commit(of(slots.into())).await.unwrap();
        }
        let logs = all_logs(&home, monitor).await;
        home.store.clone().close().await.unwrap();
        home.store = open(home.settings()).await;
        assert_eq!(all_logs(&home, monitor).await, logs);
        // One that was left behind comes again, as something else.
        let mut again = a_result(monitor, Region::FlyAms, 7 * MINUTE);
        again.outcome = Outcome::Failure;
        home.commit(of(vec![again])).await.unwrap();
        assert_eq!(all_logs(&home, monitor).await, logs);
        // One that is late lies before what is there, and one that is new behind it.
        let late = a_result(monitor, Region::FlyArn, 40 * MINUTE);
        home.commit(of(vec![late, a_result(monitor, Region::FlyArn, 90 * MINUTE)])).await.unwrap();
        let logs = all_logs(&home, monitor).await;
        assert_eq!(logs.len(), 92);
        let gathered = gather_all(&home).await;
        assert!(gathered.results >= 160 && gathered.results == gathered.added + 1, "{gathered:?}");
        assert_eq!(all_logs(&home, monitor).await, logs);
    }
}

#[tokio::test]
async fn the_last_minutes_stay_for_a_restart() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        home.commit(of(an_hour(monitor, 0, 60))).await.unwrap();
        gather_all(home).await;
        let latest = home.store.results().latest_slot().await.unwrap().unwrap();
        assert_eq!(latest, instant(59 * MINUTE));
        let since = latest - Duration::from_mins(5);
        let left = home.store.results().since_for_boot(since).await.unwrap();
        assert_eq!(left.len(), 10);
    })
    .await;
}

#[tokio::test]
async fn only_scheduled_checks_are_summed_up() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let mut manual = a_result(monitor, Region::FlyAms, 1);
        manual.identity.trigger = Trigger::Manual;
        let mut opinion = a_result(monitor, Region::FlyAms, 2);
        opinion.identity.trigger = Trigger::Opinion;
        home.commit(of(vec![manual, opinion, a_result(monitor, Region::FlyAms, 3)])).await.unwrap();
        assert_eq!(counts(home, monitor).await, BTreeMap::from([("fly-ams", (1, 0))]));
        assert_eq!(all_logs(home, monitor).await.len(), 3);
    })
    .await;
}

#[tokio::test]
async fn a_workspace_keeps_its_results_as_long_as_it_says() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        home.commit(of(an_hour(monitor, 0, 60))).await.unwrap();
        gather_all(home).await;
        let day = 24 * 60 * MINUTE;
        let setting = Duration::from_hours(24 * 3);
        let now = instant(2 * day);
        let history = home.store.history();
        assert_eq!(history.prune(setting, now).await.unwrap().blocks, 0);
        history.keep_results(home.workspace, Some(1), at(0)).await.unwrap();
        let pruned = history.prune(setting, now).await.unwrap();
        assert!(pruned.blocks >= 5 && !pruned.is_there_more, "{pruned:?}");
        assert!(all_logs(home, monitor).await.len() <= 20);
        // What was summed up stays.
        assert_eq!(counts(home, monitor).await["fly-ams"], (54, 6));
        assert_eq!(history.prune(setting, instant(500 * day)).await.unwrap().sums, 2);
    })
    .await;
}

#[tokio::test]
async fn a_step_of_retention_is_bounded_for_all_workspaces_together() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        home.commit(of(an_hour(monitor, 0, 60))).await.unwrap();
        gather_all(home).await;
        for number in 2..=3 {
            home.store
                .workspaces()
                .create(crate::harness::a_workspace(number), at(0))
                .await
                .unwrap();
        }
        // A day and a half after the first block each workspace has more than a step's worth.
        let now = instant(36 * 60 * MINUTE);
        let pruned = home.store.history().prune(Duration::ZERO, now).await.unwrap();
        assert!(pruned.blocks == 5 && pruned.is_there_more, "{pruned:?}");
        assert_eq!(home.count("workspaces WHERE blocks_kept_from IS NOT NULL").await, 1);
        let rest = home.store.history().prune(Duration::ZERO, now).await.unwrap();
        assert!(rest.blocks == 0 && !rest.is_there_more, "nobody has any more: {rest:?}");
    })
    .await;
}

#[tokio::test]
async fn the_course_begins_with_the_status_that_stood() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let change = |millis, from, to| {
            let why = Why::Fine(Share { votes: 0, of_votes: 1, regions: 0, of_regions: 1 });
            let incident = IncidentChange::None;
            (monitor, Transition { from, to, at: instant(millis), incident, why })
        };
        let transitions = vec![change(10, Unknown, Active), change(20, Active, Degraded)];
        home.commit(Batch { transitions, ..Batch::default() }).await.unwrap();
        let course = async |since| {
            let (before, changes) =
                home.store.history().course(home.workspace, monitor, instant(since)).await.unwrap();
            (before, changes.iter().map(|change| change.status).collect::<Vec<_>>())
        };
        assert_eq!(course(0).await, (Unknown, vec![Active, Degraded]));
        assert_eq!(course(15).await, (Active, vec![Degraded]));
        assert_eq!(course(30).await, (Degraded, vec![]));
    })
    .await;
}
