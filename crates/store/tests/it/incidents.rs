//! Incidents: at most one is open, each closes with a reason, and they outlive their monitor.

mod actions;
mod evidence;
mod list;

use domain::judge::{CloseReason, IncidentChange, Transition};
use rules::monitor::MonitorSettings;
use rules::{IncidentId, MonitorKind, MonitorStatus};
use store::{Batch, Closed, Incident};

use crate::commit::{closed, opened};
use crate::harness::{a_history, at, for_each_engine, instant, workspace_id};

#[tokio::test]
async fn incident_opens_and_closes_with_its_transitions() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let of =
            |transition| Batch { transitions: vec![(monitor, transition)], ..Batch::default() };
        let incident = |id, opened_at, closed| Incident {
            id: IncidentId::from_bits(id),
            monitor,
            monitor_name: "API".to_owned(),
            monitor_kind: MonitorKind::Tcp,
            opened_at: instant(opened_at),
            acknowledged: None,
            closed,
        };
        home.commit(of(opened(1, 10))).await.unwrap();
        let open = home.store.incidents().open(home.workspace).await.unwrap();
        assert_eq!(open, [incident(1, 10, None)]);

        home.commit(of(closed(1, 20))).await.unwrap();
        home.commit(of(opened(2, 30))).await.unwrap();
        let recovered = Some(Closed { at: instant(20), reason: CloseReason::Recovered });
        let all =
            home.store.incidents().list_by_monitor(home.workspace, monitor, 10).await.unwrap();
        assert_eq!(all, [incident(2, 30, None), incident(1, 10, recovered)]);
        let foreign = home.store.incidents().list_by_monitor(workspace_id(2), monitor, 10).await;
        assert_eq!(foreign.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn open_incident_closes_when_the_next_opens() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        for transition in [opened(1, 10), opened(2, 30)] {
            let transitions = vec![(monitor, transition)];
            home.commit(Batch { transitions, ..Batch::default() }).await.unwrap();
        }
        let all =
            home.store.incidents().list_by_monitor(home.workspace, monitor, 10).await.unwrap();
        let ends: Vec<_> = all.iter().map(|incident| incident.closed.map(|end| end.at)).collect();
        assert_eq!(ends, [None, Some(instant(30))]);
    })
    .await;
}

// design: §5 "Pausing or deleting the monitor closes the incident"
#[tokio::test]
async fn pausing_a_monitor_closes_its_incident() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await;
        let transitions = vec![(monitor.id, opened(1, 10))];
        let judge_states = vec![(monitor.id, a_history(MonitorStatus::Error, 10))];
        home.commit(Batch { transitions, judge_states, ..Batch::default() }).await.unwrap();
        let paused = MonitorSettings { active: false, ..monitor.settings.clone() };
        home.store.monitors().update(monitor.clone(), paused, at(40)).await.unwrap();
        let all =
            home.store.incidents().list_by_monitor(home.workspace, monitor.id, 10).await.unwrap();
        assert_eq!(all[0].closed, Some(Closed { at: instant(40), reason: CloseReason::Paused }));
        assert_eq!(home.store.judge_states().get(monitor.id).await.unwrap(), None);
    })
    .await;
}

// If the process is killed in between, the status is unknown from the pause, so uptime is not
// counted further.
#[tokio::test]
async fn pause_ends_monitor_status_without_the_judge() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await;
        let changes = async || {
            let states = home.store.judge_states();
            let changes = states.changes(home.workspace, monitor.id, instant(0), 10).await.unwrap();
            changes.iter().map(|it| (it.at, it.from, it.to)).collect::<Vec<_>>()
        };
        let settings = |active| MonitorSettings { active, ..monitor.settings.clone() };
        let unknown = MonitorStatus::Unknown;
        let monitors = home.store.monitors();
        let paused = monitors.update(monitor.clone(), settings(false), at(5)).await.unwrap();
        assert_eq!(changes().await, [], "an unchecked monitor has no status to end");
        let runs = monitors.update(paused, settings(true), at(6)).await.unwrap();
        let transitions = vec![(runs.id, opened(1, 10))];
        home.commit(Batch { transitions, ..Batch::default() }).await.unwrap();
        let [failed] = changes().await[..] else { panic!("one status change is recorded") };
        let paused = monitors.update(runs, settings(false), at(40)).await.unwrap();
        let ended = (instant(40), MonitorStatus::Error, unknown);
        assert_eq!(changes().await, [failed, ended]);
        // The judge learns of it later, or never.
        let incident = IncidentChange::None;
        let transition =
            Transition { from: MonitorStatus::Error, to: unknown, incident, ..opened(1, 45) };
        let transitions = vec![(paused.id, transition)];
        home.commit(Batch { transitions, ..Batch::default() }).await.unwrap();
        assert_eq!(changes().await, [failed, ended]);
        monitors.delete(home.workspace, paused.id, at(50)).await.unwrap();
    })
    .await;
}

// design: §5 "Pausing or deleting the monitor closes the incident"
#[tokio::test]
async fn deleting_a_monitor_closes_and_keeps_its_incident() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let transitions = vec![(monitor, opened(1, 10))];
        home.commit(Batch { transitions, ..Batch::default() }).await.unwrap();
        home.store.monitors().delete(home.workspace, monitor, at(40)).await.unwrap();
        assert_eq!(home.store.incidents().open(home.workspace).await.unwrap(), []);
        let kept =
            home.store.incidents().list_by_monitor(home.workspace, monitor, 10).await.unwrap();
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].closed, Some(Closed { at: instant(40), reason: CloseReason::Deleted }));
    })
    .await;
}
