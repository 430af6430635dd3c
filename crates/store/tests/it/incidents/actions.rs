//! Actions of people on an incident, and its timeline.

use domain::judge::{CloseReason, IncidentChange, StatusReason, Transition};
use rules::{IncidentId, MonitorStatus, Region, Scope, limits};
use store::{
    Actor, ApiKey, AuditContext, Batch, Closed, Created, FailedRegion, Idempotency, KeyHash,
    NewComment, Person, StoreError, TimelineEntry, TimelineEvent,
};

use crate::commit::opened;
use crate::harness::{Home, at, for_each_engine, instant, key_id, monitor_id, workspace_id};

const INCIDENT: IncidentId = IncidentId::from_bits(1);

/// Opens an incident at 10 ms, and creates a key called `on call`.
async fn an_incident(home: &Home) {
    let monitor = home.monitor(1).await.id;
    let transitions = vec![(monitor, opened(1, 10))];
    home.commit(Batch { transitions, ..Batch::default() }).await.unwrap();
    let key = ApiKey {
        id: key_id(1),
        workspace: home.workspace,
        name: "on call".to_owned(),
        scope: Some(Scope::Write),
        created_at: instant(0),
        expires_at: None,
        last_used_at: None,
        revoked_at: None,
    };
    home.store.keys().create(key, KeyHash::new("secret"), at(0)).await.unwrap();
}

/// Returns a change by the owner of the key.
const fn by_key(millis: i64) -> AuditContext {
    AuditContext::new(Actor::Key(key_id(1)), instant(millis))
}

fn comment(text: &str, key: Option<&str>) -> NewComment {
    let key = key.map(str::to_owned);
    NewComment {
        workspace: workspace_id(1),
        incident: INCIDENT,
        text: text.to_owned(),
        idempotency: key.map(|key| Idempotency {
            method: "CommentIncident",
            key,
            request: [7; 32],
        }),
    }
}

fn resolved(at: i64) -> Batch {
    let transition = Transition {
        from: MonitorStatus::Error,
        to: MonitorStatus::Error,
        at: instant(at),
        incident: IncidentChange::Closed { id: INCIDENT, reason: CloseReason::Resolved },
        why: StatusReason::Resolved,
    };
    Batch { transitions: vec![(monitor_id(1), transition)], ..Batch::default() }
}

/// Returns the timeline as text, with actors.
async fn timeline(home: &Home) -> Vec<String> {
    let whole = home.store.incidents().get(home.workspace, INCIDENT).await.unwrap();
    whole.timeline.iter().map(format_entry).collect()
}

fn format_entry(entry: &TimelineEntry) -> String {
    let at = entry.at.as_millis() - instant(0).as_millis();
    let what = match &entry.what {
        TimelineEvent::Commented(text) => format!("commented: {text}"),
        TimelineEvent::RegionFailed(region) => format!("joined: {region}"),
        TimelineEvent::Closed(how) => format!("closed: {}", how.as_str()),
        TimelineEvent::Notified(it) => format!("notified: {} {}", it.event, it.state),
        TimelineEvent::Opened | TimelineEvent::Acknowledged | TimelineEvent::Resolved => {
            entry.what.as_str().to_owned()
        }
    };
    let by = entry
        .by
        .as_ref()
        .map_or_else(String::new, |by| format!(" by {}", by.name.as_deref().unwrap_or(&by.actor)));
    format!("{at} {what}{by}")
}

async fn audited(home: &Home) -> Vec<String> {
    let audit = home.store.audit().newest(home.workspace, 100).await.unwrap();
    let of_incident = audit.iter().rev().filter(|entry| entry.action.starts_with("incident."));
    of_incident.map(|entry| format!("{} by {}", entry.action, entry.actor)).collect()
}

// issue 6: "acknowledged and resolved by people, with a timeline"
#[tokio::test]
async fn timeline_lists_events_of_an_incident() {
    for_each_engine(async |home| {
        an_incident(home).await;
        let (incidents, workspace) = (home.store.incidents(), home.workspace);
        incidents.acknowledge(workspace, INCIDENT, by_key(20)).await.unwrap();
        let joined = FailedRegion {
            workspace,
            monitor: monitor_id(1),
            incident: INCIDENT,
            region: Region::FlySin,
            at: instant(30),
        };
        incidents.record_failed_regions(vec![joined, joined]).await.unwrap();
        incidents
            .record_failed_regions(vec![FailedRegion { at: instant(35), ..joined }])
            .await
            .unwrap();
        incidents.comment(comment("the disk is full", None), at(40)).await.unwrap();
        incidents.request_resolution(workspace, INCIDENT, by_key(50)).await.unwrap();
        home.commit(resolved(60)).await.unwrap();
        home.commit(resolved(60)).await.unwrap();
        let key = key_id(1);
        assert_eq!(
            timeline(home).await,
            [
                "10 opened",
                "20 acknowledged by on call",
                "30 joined: fly-sin",
                "40 commented: the disk is full by command line",
                "60 resolved by on call",
            ]
        );
        assert_eq!(
            audited(home).await,
            [
                format!("incident.acknowledge by {key}"),
                "incident.comment by command line".to_owned(),
                format!("incident.resolve by {key}"),
            ]
        );
        let closed = incidents.find(workspace, INCIDENT).await.unwrap().closed;
        assert_eq!(closed, Some(Closed { at: instant(60), reason: CloseReason::Resolved }));
    })
    .await;
}

#[tokio::test]
async fn incident_is_acknowledged_once_while_open() {
    for_each_engine(async |home| {
        an_incident(home).await;
        let (incidents, workspace) = (home.store.incidents(), home.workspace);
        let first = incidents.acknowledge(workspace, INCIDENT, by_key(20)).await.unwrap();
        let acknowledged = first.acknowledged.clone().unwrap();
        assert_eq!(acknowledged.at, instant(20));
        let person = Person { actor: key_id(1).to_string(), name: Some("on call".to_owned()) };
        assert_eq!(acknowledged.by, person);
        let second = incidents.acknowledge(workspace, INCIDENT, at(30)).await.unwrap();
        assert_eq!(second, first);
        assert_eq!(timeline(home).await.len(), 2);
        assert_eq!(audited(home).await.len(), 1);
    })
    .await;
    for_each_engine(async |home| {
        an_incident(home).await;
        home.commit(resolved(15)).await.unwrap();
        let (incidents, workspace) = (home.store.incidents(), home.workspace);
        let late = incidents.acknowledge(workspace, INCIDENT, by_key(20)).await.unwrap();
        assert_eq!(late.acknowledged, None);
        let requested =
            incidents.request_resolution(workspace, INCIDENT, by_key(30)).await.unwrap();
        assert_eq!(
            requested.closed,
            Some(Closed { at: instant(15), reason: CloseReason::Resolved })
        );
        assert_eq!(timeline(home).await, ["10 opened", "15 resolved"]);
    })
    .await;
}

#[tokio::test]
async fn repeated_comment_is_stored_once() {
    for_each_engine(async |home| {
        an_incident(home).await;
        let incidents = home.store.incidents();
        let send = async |text: &str, millis| {
            incidents.comment(comment(text, Some("once")), by_key(millis)).await.unwrap()
        };
        let first = send("look at the disk", 20).await;
        let Created::Now(entry) = first else { panic!("{first:?}") };
        assert_eq!(send("look at the disk", 30).await, Created::Before(entry));
        assert_eq!(
            timeline(home).await,
            ["10 opened", "20 commented: look at the disk by on call"]
        );
    })
    .await;
}

#[tokio::test]
async fn comment_beyond_the_limit_is_rejected() {
    for_each_engine(async |home| {
        an_incident(home).await;
        let incidents = home.store.incidents();
        for number in 0..limits::INCIDENT_COMMENTS_MAX {
            incidents.comment(comment(&number.to_string(), None), at(20)).await.unwrap();
        }
        let error = incidents.comment(comment("and more", None), at(20)).await.unwrap_err();
        let StoreError::Refused(violation) = error else { panic!("{error:?}") };
        assert_eq!(
            violation.to_string(),
            "`text` cannot be added: an incident has at most 500 comments"
        );
    })
    .await;
}

#[tokio::test]
async fn other_workspace_cannot_change_incidents() {
    for_each_engine(async |home| {
        an_incident(home).await;
        let (incidents, other) = (home.store.incidents(), workspace_id(2));
        let comment = NewComment { workspace: other, ..comment("hello", None) };
        let refusals = [
            incidents.acknowledge(other, INCIDENT, by_key(20)).await.unwrap_err(),
            incidents.comment(comment, by_key(20)).await.unwrap_err(),
            incidents.request_resolution(other, INCIDENT, by_key(20)).await.unwrap_err(),
        ];
        for refusal in refusals {
            assert!(matches!(refusal, StoreError::NotFound { what: "incident", .. }), "{refusal}");
        }
        home.commit(resolved(30)).await.unwrap();
        assert_eq!(timeline(home).await, ["10 opened", "30 resolved"]);
        assert_eq!(audited(home).await, ["incident.resolve by server"]);
    })
    .await;
}
