//! Fleets: definitions and statuses of all monitors of a workspace, and causes of trouble.

use std::collections::HashMap;
use std::sync::Arc;

use domain::check::{CheckResult, Evidence, Outcome, Trigger};
use domain::history::{Span, Uptime};
use domain::judge::{IncidentChange, RegionResult, StatusReason, Transition, Vote};
use rules::monitor::{Check, MonitorSettings};
use rules::{MonitorId, MonitorStatus, Region};
use store::{Batch, ChangedDefinitions, DefinitionsVersion, MonitorDefinition, MonitorNumber};

use crate::harness::{
    Home, a_history, a_result, a_workspace, at, check_with_secret, for_each_engine, instant,
    monitor_id, settings, tags, with_evidence, workspace_id,
};
use crate::maintenances::{self, HOUR};

fn shown(check: &Check) -> String {
    match check {
        Check::Http(_) => "shown".to_owned(),
        Check::Tcp(check) => check.uri.clone(),
        Check::Dns(_) | Check::Heartbeat(_) => unreachable!("the tests have no such monitor"),
    }
}

async fn definitions(home: &Home) -> Vec<MonitorDefinition> {
    let none = HashMap::new();
    let all = home.store.fleets().changed_definitions(home.workspace, &none, shown).await;
    let mut all = all.unwrap().changed;
    all.sort_by_key(|it| it.id);
    all
}

async fn version(home: &Home) -> DefinitionsVersion {
    home.store.fleets().version(home.workspace).await.unwrap()
}

pub(crate) async fn number(home: &Home, id: MonitorId) -> MonitorNumber {
    definitions(home).await.iter().find(|it| it.id == id).unwrap().number
}

#[tokio::test]
async fn fleet_has_the_monitors_of_its_workspace() {
    for_each_engine(async |home| {
        home.store.workspaces().create(a_workspace(2), at(0)).await.unwrap();
        let tags = tags(&["Prod", "shop"]);
        let check = check_with_secret("hunter2");
        let paused = MonitorSettings { active: false, check, tags: tags.clone(), ..settings() };
        let first = home.monitor(1).await;
        home.monitor_with(2, paused).await;
        home.monitor(3).await;
        home.store.monitors().delete(home.workspace, monitor_id(3), at(5)).await.unwrap();
        let found = definitions(home).await;
        let parts: Vec<_> = found.iter().map(|it| (it.id, it.active, it.target.as_str())).collect();
        let expected = [(monitor_id(1), true, "example.com:443"), (monitor_id(2), false, "shown")];
        assert_eq!(parts, expected);
        assert_eq!((&found[0].tags, &found[1].tags), (&settings().tags, &tags));
        assert_eq!((found[0].name.as_str(), found[0].updated_at), ("API", first.updated_at));
        let none = HashMap::new();
        let other = home.store.fleets().changed_definitions(workspace_id(2), &none, shown).await;
        assert_eq!(other.unwrap(), ChangedDefinitions::default());
    })
    .await;
}

#[tokio::test]
async fn only_changed_definitions_are_read_again() {
    for_each_engine(async |home| {
        for number in 1..=3 {
            home.monitor(number).await;
        }
        let known: HashMap<_, _> =
            definitions(home).await.iter().map(|it| (it.number, it.updated_at)).collect();
        let fleets = home.store.fleets();
        let never = |_: &Check| panic!("the definition is known");
        let same = fleets.changed_definitions(home.workspace, &known, never).await.unwrap();
        assert!(same.changed.is_empty() && same.present.len() == 3);
        let second = home.store.monitors().get(home.workspace, monitor_id(2)).await.unwrap();
        let other = MonitorSettings { name: "other".to_owned(), ..settings() };
        home.store.monitors().update(second.monitor, other, at(1)).await.unwrap();
        home.store.monitors().delete(home.workspace, monitor_id(3), at(2)).await.unwrap();
        let found = fleets.changed_definitions(home.workspace, &known, shown).await.unwrap();
        let names: Vec<_> = found.changed.iter().map(|it| it.name.as_str()).collect();
        assert_eq!((names, found.present.len()), (vec!["other"], 2));
    })
    .await;
}

#[tokio::test]
async fn version_changes_with_definitions_only() {
    for_each_engine(async |home| {
        let mut seen = vec![version(home).await];
        let monitor = home.monitor(1).await;
        seen.push(version(home).await);
        let other = MonitorSettings { name: "other".to_owned(), ..settings() };
        home.store.monitors().update(monitor, other, at(1)).await.unwrap();
        seen.push(version(home).await);
        let judge_states = vec![(monitor_id(1), a_history(MonitorStatus::Error, 7))];
        home.commit(Batch { judge_states, ..Batch::default() }).await.unwrap();
        assert_eq!(version(home).await, seen[2]);
        home.store.monitors().delete(home.workspace, monitor_id(1), at(9)).await.unwrap();
        seen.push(version(home).await);
        assert!((0..seen.len()).all(|place| !seen[..place].contains(&seen[place])), "{seen:?}");
    })
    .await;
}

#[tokio::test]
async fn statuses_include_maintenance_and_its_next_change() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        home.monitor(2).await;
        let judge_states = vec![(monitor, a_history(MonitorStatus::Degraded, 7))];
        home.commit(Batch { judge_states, ..Batch::default() }).await.unwrap();
        let window =
            maintenances::with(HOUR, |draft| draft.monitor_ids = vec![monitor.to_string()]);
        maintenances::create(home, 1, window).await.unwrap();
        let number = number(home, monitor).await;
        for (now, until, changes_at) in [
            (HOUR - 1, None, Some(HOUR)),
            (HOUR, Some(3 * HOUR), Some(3 * HOUR)),
            (3 * HOUR, None, None),
        ] {
            let found = home.store.fleets().statuses(home.workspace, instant(now)).await.unwrap();
            let judged = found.by_monitor[&number];
            assert_eq!((judged.status, judged.since), (MonitorStatus::Degraded, instant(7)));
            assert_eq!(found.by_monitor.len(), 1);
            assert_eq!(found.maintenance.get(&number).copied(), until.map(instant), "{now}");
            assert_eq!(found.changes_at, changes_at.map(instant), "{now}");
        }
    })
    .await;
}

/// Returns a result with this reason.
fn because(result: CheckResult, outcome: Outcome, reason: &str) -> CheckResult {
    let result = with_evidence(result, outcome, "");
    let mut evidence = Evidence::clone(result.evidence.as_ref().unwrap());
    evidence.attempts[0].reasons = vec![reason.to_owned()];
    CheckResult { evidence: Some(Arc::new(evidence)), ..result }
}

#[tokio::test]
async fn cause_has_failing_regions_and_the_latest_reason() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let [ams, iad] = [Region::FlyAms, Region::FlyIad];
        let results = vec![
            because(a_result(monitor, ams, 1_000), Outcome::Failure, "an earlier reason"),
            because(a_result(monitor, ams, 31_000), Outcome::Failure, "status 503"),
            because(a_result(monitor, iad, 41_000), Outcome::Degraded, "slow"),
        ];
        let mut state = a_history(MonitorStatus::Error, 1_000);
        let latest = |vote, slot| RegionResult {
            slot: instant(slot),
            finished_at: instant(slot),
            revision: 1,
            trigger: Trigger::Scheduled,
            vote,
        };
        state.regions[0].latest = Some(latest(Vote::Failing, 31_000));
        let mut second = state.regions[0];
        second.region = iad;
        second.latest = Some(latest(Vote::Slow, 41_000));
        state.regions = Box::new([state.regions[0], second]);
        let judge_states = vec![(monitor, state)];
        home.commit(Batch { results, judge_states, ..Batch::default() }).await.unwrap();
        let number = number(home, monitor).await;
        let fleets = home.store.fleets();
        let causes = fleets.causes(home.workspace, &[number]).await.unwrap();
        assert_eq!(causes[0].regions, [ams]);
        assert_eq!((causes[0].of_regions.len(), causes[0].why.as_deref()), (2, Some("status 503")));
        let foreign = fleets.causes(workspace_id(2), &[number]).await.unwrap();
        assert!(foreign[0].regions.is_empty() && foreign[0].why.is_none());
    })
    .await;
}

#[tokio::test]
async fn figures_are_those_of_the_named_monitors() {
    for_each_engine(async |home| {
        let (first, second) = (monitor_id(1), monitor_id(2));
        home.monitor(1).await;
        home.monitor(2).await;
        let transition = |at, from, to| Transition {
            at: instant(at),
            from,
            to,
            incident: IncidentChange::None,
            why: StatusReason::NoVotes,
        };
        let (unknown, up, down) =
            (MonitorStatus::Unknown, MonitorStatus::Active, MonitorStatus::Error);
        let mut slow = a_result(first, Region::FlyAms, HOUR);
        slow.latency_us = 200_000;
        let results = vec![slow, a_result(second, Region::FlyAms, HOUR)];
        let transitions = vec![
            (first, transition(0, unknown, up)),
            (second, transition(0, unknown, down)),
            (first, transition(2 * HOUR, up, down)),
            (first, transition(3 * HOUR, down, up)),
        ];
        home.commit(Batch { results, transitions, ..Batch::default() }).await.unwrap();
        let number = number(home, first).await;
        let fleets = home.store.fleets();
        let range = Span { from: instant(HOUR), to: instant(5 * HOUR) };
        let found = fleets.figures(home.workspace, &[number], range).await.unwrap();
        assert_eq!(found.keys().collect::<Vec<_>>(), [&first]);
        let uptime = Uptime { known_ms: 4 * HOUR as u64, error_ms: HOUR as u64 };
        assert_eq!((found[&first].uptime, found[&first].latency.count()), (Some(uptime), 1));
        let foreign = fleets.figures(workspace_id(2), &[number], range).await.unwrap();
        assert!(foreign.is_empty());
    })
    .await;
}
