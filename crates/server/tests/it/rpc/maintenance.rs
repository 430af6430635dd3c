//! Maintenance over RPC: round trips, status, updates by mask, early ends, and exclusion from
//! uptime.
//!
//! Tests of the store cover the effect on alerts.

use std::sync::Arc;
use std::time::Duration;

use domain::judge::{IncidentChange, StatusReason, Transition};
use insta::assert_snapshot;
use rules::{MonitorId, MonitorStatus, Scope, Timestamp};
use serde_json::{Value, json};
use store::Batch;
use testkit::server::{Caller, MAINTENANCES, Reply, START, TestServer};

use crate::protocols::a_monitor;

async fn start() -> (TestServer, Caller) {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    (server, caller)
}

async fn call(caller: &Caller, method: &str, request: Value) -> Reply {
    caller.call(MAINTENANCES, method, request).await
}

/// Calls a method that must succeed and returns `maintenance` from its response.
async fn done(caller: &Caller, method: &str, request: Value) -> Value {
    let reply = call(caller, method, request).await;
    assert_eq!(reply.status, 200, "{method}: {reply}");
    reply.json()["maintenance"].clone()
}

/// Creates a monitor and returns its ID.
async fn monitor(caller: &Caller) -> Value {
    let request = json!({ "monitor": a_monitor("tcp") });
    caller.rpc("CreateTcpMonitor", request).await.json()["monitor"]["id"].clone()
}

/// Formats a time after the start as responses do.
fn after_start(minutes: u64) -> String {
    (START + Duration::from_mins(minutes)).to_string().replace(".000Z", "Z")
}

/// Returns a request for one hour of maintenance of this monitor, with these fields.
fn an_hour(monitor: &Value, fields: Value) -> Value {
    let mut hour = json!({
        "title": "Moving", "startsAt": after_start(60), "duration": "1h", "monitorIds": [monitor],
    });
    if let (Value::Object(hour), Value::Object(fields)) = (&mut hour, fields) {
        hour.extend(fields);
    }
    json!({ "maintenance": hour })
}

/// Returns the paths of the fields in the violations of an error.
fn paths(reply: &Reply) -> Vec<String> {
    let violations = reply.error().map(|error| contract::rpc::field_violations(&error));
    violations.unwrap_or_default().into_iter().map(|violation| violation.field).collect()
}

#[tokio::test]
async fn created_maintenance_reads_back_equal() {
    // issue 6 point 5; design: §4
    let (_server, caller) = start().await;
    let monitor = monitor(&caller).await;
    let written = json!({
        "description": "", "timeZone": "Europe/Berlin", "recurrence": "freq=weekly;count=2",
        "startsAt": after_start(90), "duration": "90m",
    });
    let created = done(&caller, "CreateMaintenance", an_hour(&monitor, written.clone())).await;
    for (field, value) in written.as_object().unwrap() {
        assert_eq!(&created[field], value, "{field}");
    }
    assert_eq!((&created["monitorIds"], &created["componentIds"]), (&json!([monitor]), &json!([])));
    assert_eq!(created["status"], "scheduled");
    assert_eq!(
        created["nextWindow"],
        json!({ "startsAt": after_start(90), "endsAt": after_start(180) })
    );
    assert!(created.get("currentWindow").is_none());
    let read = done(&caller, "GetMaintenance", json!({ "id": created["id"] })).await;
    assert_eq!(read, created);
    let list = call(&caller, "ListMaintenances", json!({})).await.json();
    assert_eq!(list, json!({ "maintenances": [read], "totalSize": 1, "nextPageToken": "" }));
    let bare = done(&caller, "CreateMaintenance", an_hour(&monitor, json!({}))).await;
    assert_eq!(bare["timeZone"], "UTC", "the default is stored and answered");
    assert!(bare.get("recurrence").is_none() && bare.get("description").is_none());
}

#[tokio::test]
async fn maintenance_status_follows_time() {
    let (server, caller) = start().await;
    let monitor = monitor(&caller).await;
    let created = done(&caller, "CreateMaintenance", an_hour(&monitor, json!({}))).await;
    let window = json!({ "startsAt": after_start(60), "endsAt": after_start(120) });
    for (minutes, status, current) in
        [(0, "scheduled", None), (60, "active", Some(&window)), (60, "completed", None)]
    {
        server.advance(Duration::from_mins(minutes));
        let seen = done(&caller, "GetMaintenance", json!({ "id": created["id"] })).await;
        assert_eq!((&seen["status"], seen.get("currentWindow")), (&json!(status), current));
        let of_status = call(&caller, "ListMaintenances", json!({ "status": status })).await.json();
        assert_eq!(of_status["totalSize"], 1, "{status}");
    }
    let of_monitor = json!({ "monitorId": monitor, "status": "active" });
    assert_eq!(call(&caller, "ListMaintenances", of_monitor).await.json()["totalSize"], 0);
}

#[tokio::test]
async fn invalid_maintenance_is_refused_by_path() {
    // issue 6, bad input
    let (server, caller) = start().await;
    let ours = monitor(&caller).await;
    let theirs = monitor(&server.stranger()).await;
    let wrong = json!({
        "title": "", "startsAt": "1999-12-31T23:59:59Z", "duration": "0m", "timeZone": "Berlin",
        "recurrence": "FREQ=SECONDLY", "monitorIds": ["x"], "componentIds": ["cmp_?"],
    });
    let refused = call(&caller, "CreateMaintenance", an_hour(&ours, wrong)).await;
    assert_snapshot!(paths(&refused).join("\n"), @"
    maintenance.title
    maintenance.starts_at
    maintenance.duration
    maintenance.time_zone
    maintenance.recurrence
    maintenance.monitor_ids
    maintenance.component_ids
    ");
    let over = json!({ "startsAt": (START - Duration::from_hours(1)).to_string() });
    let never = json!({ "recurrence": "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30" });
    for (fields, path) in [
        (json!({ "monitorIds": [] }), "maintenance.monitor_ids"),
        (json!({ "monitorIds": [ours, theirs] }), "maintenance.monitor_ids"),
        (
            json!({ "monitorIds": [], "componentIds": ["cmp_0000000000001"] }),
            "maintenance.component_ids",
        ),
        (over, "maintenance.starts_at"),
        (never, "maintenance.recurrence"),
    ] {
        let refused = call(&caller, "CreateMaintenance", an_hour(&ours, fields)).await;
        assert_eq!((refused.status.as_u16(), paths(&refused)), (400, vec![path.to_owned()]));
    }
    let refused = call(&caller, "CreateMaintenance", json!({})).await;
    assert_eq!(paths(&refused), ["maintenance"]);
    let request = json!({ "status": "past", "limit": 101, "monitorId": "x" });
    let refused = call(&caller, "ListMaintenances", request).await;
    assert_eq!(paths(&refused), ["limit", "status", "monitor_id"]);
    let list = call(&caller, "ListMaintenances", json!({})).await.json();
    assert_eq!(list["totalSize"], 0);
}

#[tokio::test]
async fn values_beyond_limits_are_refused() {
    let (_server, caller) = start().await;
    let monitor = monitor(&caller).await;
    let rule = |length: usize| {
        format!("FREQ=DAILY;BYHOUR={}", "1,".repeat(300))[..length - 1].to_owned() + "1"
    };
    for (field, holds, breaks) in [
        ("title", json!("ü".repeat(256)), json!("ü".repeat(257))),
        ("description", json!("ü".repeat(4_096)), json!("ü".repeat(4_097))),
        ("duration", json!("720h"), json!("721h")),
        ("duration", json!("1m"), json!("0m")),
        ("startsAt", json!("2100-01-01T00:00:00Z"), json!("2100-01-01T00:00:00.001Z")),
        ("recurrence", json!(rule(511)), json!(rule(513))),
    ] {
        for (value, status) in [(holds, 200), (breaks, 400)] {
            let request = an_hour(&monitor, json!({ field: value }));
            let reply = call(&caller, "CreateMaintenance", request).await;
            assert_eq!(reply.status, status, "{field} {value}: {reply}");
        }
    }
}

#[tokio::test]
async fn update_mask_changes_named_fields_and_clears_missing() {
    // design: §4 update_mask
    let (_server, caller) = start().await;
    let monitor = monitor(&caller).await;
    let full =
        json!({ "description": "d", "recurrence": "FREQ=DAILY", "timeZone": "Europe/Berlin" });
    let before = done(&caller, "CreateMaintenance", an_hour(&monitor, full)).await;
    let update = async |maintenance: Value, mask: Option<&str>| {
        let mut request = json!({ "maintenance": maintenance });
        if let Some(mask) = mask {
            request["updateMask"] = json!(mask);
        }
        call(&caller, "UpdateMaintenance", request).await
    };
    let id = &before["id"];
    let renamed = update(json!({ "id": id, "title": "On" }), Some("title,description")).await;
    let renamed = renamed.json()["maintenance"].clone();
    assert_eq!((&renamed["title"], renamed.get("description")), (&json!("On"), None));
    assert_eq!(renamed["recurrence"], "FREQ=DAILY");
    assert_eq!(renamed["nextWindow"], before["nextWindow"]);
    let once = update(json!({ "id": id }), Some("recurrence")).await.json();
    assert!(once["maintenance"].get("recurrence").is_none());
    let whole = json!({
        "id": id, "title": "Whole", "startsAt": after_start(300), "duration": "2h",
        "monitorIds": [monitor],
    });
    let replaced = update(whole, None).await.json()["maintenance"].clone();
    assert_eq!(replaced["timeZone"], "UTC", "without a mask all arguments are replaced");
    assert_eq!(replaced["nextWindow"]["endsAt"], after_start(420));
    let refused = update(json!({ "id": id }), Some("status")).await;
    assert_eq!((refused.status.as_u16(), paths(&refused)), (400, vec!["update_mask".to_owned()]));
    let refused = update(json!({ "id": id, "duration": "1d" }), Some("duration")).await;
    assert_eq!(paths(&refused), ["maintenance.duration"]);
    let unknown = update(json!({ "id": "mnt_0000000000001", "title": "x" }), Some("title")).await;
    assert_eq!(unknown.status, 404);
}

#[tokio::test]
async fn a_repeated_create_answers_the_first_ones_maintenance() {
    // design: §4, idempotency
    let (server, caller) = start().await;
    let monitor = monitor(&caller).await;
    let body = an_hour(&monitor, json!({})).to_string();
    let create = || {
        let request = http::Request::post(format!("/rpc/{MAINTENANCES}/CreateMaintenance"))
            .header("host", server.address().to_string())
            .header("content-type", "application/json")
            .header("idempotency-key", "once")
            .body(bytes::Bytes::from(body.clone()).into());
        caller.request(request.unwrap())
    };
    let first = create().await.json();
    assert_eq!(create().await.json(), first);
    call(&caller, "DeleteMaintenance", json!({ "id": first["maintenance"]["id"] })).await;
    assert_eq!(create().await.status, 409);
}

#[tokio::test]
async fn ended_maintenance_stays_excluded_from_uptime() {
    // issue 6 point 5; design: §5 "Uptime"
    let (server, caller) = start().await;
    let request = json!({ "monitor": { "name": "db", "uri": "db.example.com:5432", "periodicity": "1h", "active": false } });
    let monitor = caller.rpc("CreateTcpMonitor", request).await.json()["monitor"]["id"].clone();
    let hour = an_hour(&monitor, json!({ "startsAt": START.to_string() }));
    let created = done(&caller, "CreateMaintenance", hour).await;
    assert_eq!(created["status"], "active");
    // In error from the start, and active after an hour.
    let change = |minutes, from, to| {
        let id = MonitorId::parse(monitor.as_str().unwrap()).unwrap();
        let at: Timestamp = START + Duration::from_mins(minutes);
        (
            id,
            Transition { from, to, at, incident: IncidentChange::None, why: StatusReason::NoVotes },
        )
    };
    let transitions = vec![
        change(0, MonitorStatus::Unknown, MonitorStatus::Error),
        change(60, MonitorStatus::Error, MonitorStatus::Active),
    ];
    let batch = Batch { transitions, ..Batch::default() };
    server.running().app().store.commit(Arc::new(batch)).await.unwrap();
    server.advance(Duration::from_mins(30));
    let ended = done(&caller, "EndMaintenance", json!({ "id": created["id"] })).await;
    assert_eq!(ended["status"], "completed");
    let again = done(&caller, "EndMaintenance", json!({ "id": created["id"] })).await;
    assert_eq!(again, ended);
    server.advance(Duration::from_mins(90));
    let uptime = async || {
        let summary = caller.rpc("GetMonitorSummary", json!({ "id": monitor })).await.json();
        summary["uptimeMillionths"].clone()
    };
    // Half an hour of error and one active hour count.
    assert_eq!(uptime().await, 666_666);
    let deleted = call(&caller, "DeleteMaintenance", json!({ "id": created["id"] })).await;
    assert_eq!(deleted.to_string(), "200 {}");
    assert_eq!(call(&caller, "GetMaintenance", json!({ "id": created["id"] })).await.status, 404);
    assert_eq!(uptime().await, 666_666);
}

// design: §5 "Maintenance mutes alerts and leaves checks running"
#[tokio::test]
async fn monitor_status_includes_maintenance_end() {
    let (server, caller) = start().await;
    let monitor = monitor(&caller).await;
    let until = async || {
        let request = json!({ "id": monitor });
        let reply = server.caller(Scope::Read).rpc("GetMonitorStatus", request).await;
        assert_eq!(reply.status, 200, "{reply}");
        reply.json()["maintenanceUntil"].clone()
    };
    done(&caller, "CreateMaintenance", an_hour(&monitor, json!({}))).await;
    let following = json!({ "startsAt": after_start(120), "duration": "30m" });
    let following = done(&caller, "CreateMaintenance", an_hour(&monitor, following)).await;
    assert_eq!(until().await, Value::Null, "it is to come");
    server.advance(Duration::from_hours(1));
    assert_eq!(until().await, json!(after_start(150)), "the second follows without a gap");
    done(&caller, "DeleteMaintenance", json!({ "id": following["id"] })).await;
    assert_eq!(until().await, json!(after_start(120)));
    server.advance(Duration::from_hours(1));
    assert_eq!(until().await, Value::Null, "it is over");
}
