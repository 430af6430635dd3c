//! Incidents: retrieval and changes by callers.
//!
//! Modules `auth` and `protocols` hold the lists of keys and protocols.

use insta::assert_snapshot;
use rules::{MonitorId, Scope};
use serde_json::{Value, json};
use testkit::server::{Caller, INCIDENTS, Reply, TestServer};
use testkit::target::{HttpTarget, ScriptedResponse};

use crate::pipeline::{PERIOD, Watched, until};

/// Outage: a failing target, its monitor and the open incident.
pub(crate) struct Outage {
    target: HttpTarget,
    pub(crate) watched: Watched,
    pub(crate) monitor: MonitorId,
    pub(crate) incident: String,
    pub(super) caller: Caller,
}

impl Outage {
    pub(crate) async fn begin() -> Self {
        let target = HttpTarget::start().await;
        let broken = ScriptedResponse::status(503).header("set-cookie", "session=hunter2");
        target.on("/", broken);
        let watched = Watched::start().await;
        let monitor = watched.monitor(&target.url("/")).await;
        let caller = watched.server.caller(Scope::Write);
        let incident = open(&caller, 1).await;
        Self { target, watched, monitor, incident, caller }
    }

    async fn call(&self, method: &str) -> Reply {
        self.caller.call(INCIDENTS, method, json!({ "id": self.incident })).await
    }

    /// Returns the status and the open incident from `GetMonitorStatus`.
    async fn status(&self) -> (String, String) {
        let request = json!({ "id": self.monitor.to_string() });
        let status = self.caller.rpc("GetMonitorStatus", request).await.json();
        let text = |field: &str| status[field].as_str().unwrap().to_owned();
        (text("status"), text("incidentId"))
    }

    /// Advances the clock by a period and waits until the result is stored.
    async fn next_result(&self) {
        let before = self.watched.stored.at_least(1, self.monitor).await.len();
        self.watched.server.advance(PERIOD);
        self.watched.stored.at_least(before + 1, self.monitor).await;
    }

    async fn timeline(&self) -> Vec<String> {
        let whole = self.call("GetIncident").await.json();
        let in_words = |entry: &Value| {
            let by = entry["by"]["name"].as_str().map(|name| format!(" by {name}"));
            format!("{}{}", entry["kind"].as_str().unwrap(), by.unwrap_or_default())
        };
        whole["timeline"].as_array().unwrap().iter().map(in_words).collect()
    }
}

/// Waits until there are this many incidents and returns the newest.
async fn open(caller: &Caller, count: usize) -> String {
    until(async || {
        let listed = caller.call(INCIDENTS, "ListIncidents", json!({})).await.json();
        let incidents = listed["incidents"].as_array().unwrap();
        let newest = incidents.first().filter(|_| incidents.len() == count);
        newest.map(|newest| newest["id"].as_str().unwrap().to_owned())
    })
    .await
}

/// Returns a response without the parts that differ between runs.
fn stable(reply: &Reply, outage: &Outage) -> String {
    let text = reply.to_string().replace(&outage.incident, "[incident]");
    let key = outage.watched.server.key_id(Scope::Write).to_string();
    text.replace(&outage.monitor.to_string(), "[monitor]").replace(&key, "[key]")
}

// issue 6: "with a timeline and evidence per region (attempts, phases, status, redacted headers, ...)"
#[tokio::test]
async fn incident_includes_timeline_and_evidence_by_region() {
    let outage = Outage::begin().await;
    assert_eq!(outage.status().await, ("error".to_owned(), outage.incident.clone()));
    let whole = outage.call("GetIncident").await;
    assert!(!whole.to_string().contains("hunter2"), "{whole}");
    let whole = whole.json();
    assert_eq!(whole["incident"]["state"], "open");
    assert_eq!(whole["incident"]["monitorName"], "local");
    assert_eq!(whole["incident"]["openedAt"], "2026-11-21T00:00:00Z");
    let timeline = json!([whole["timeline"][0]["kind"], whole["timeline"][0]["at"]]);
    assert_eq!(timeline, json!(["opened", "2026-11-21T00:00:00Z"]));
    let evidence = &whole["evidence"][0];
    assert_eq!(
        (&evidence["region"], &evidence["trigger"]),
        (&json!("fly-ams"), &json!("scheduled"))
    );
    let attempt = &evidence["attempts"][0];
    assert_eq!(attempt["reasons"], json!(["status is 503, expected 2xx"]));
    let hop = &attempt["hops"][0];
    assert_eq!(hop["statusCode"], 503);
    assert!(hop["phases"]["connectUs"].is_number(), "{hop}");
    let cookie = json!({ "key": "set-cookie", "value": "…" });
    assert!(hop["headers"].as_array().unwrap().contains(&cookie), "{hop}");
}

#[tokio::test]
async fn incident_is_acknowledged_only_once() {
    let outage = Outage::begin().await;
    let first = outage.call("AcknowledgeIncident").await;
    assert_snapshot!(stable(&first, &outage), @r#"200 {"incident":{"id":"[incident]","monitorId":"[monitor]","monitorName":"local","state":"open","openedAt":"2026-11-21T00:00:00Z","acknowledgedAt":"2026-11-21T00:00:00Z","acknowledgedBy":{"keyId":"[key]","name":"test write"},"closeReason":""}}"#);
    outage.watched.server.advance(PERIOD);
    let again = outage.call("AcknowledgeIncident").await;
    assert_eq!(again.json(), first.json());
    assert_eq!(outage.timeline().await, ["opened", "acknowledged by test write"]);
}

// issue 6: "resolved by people"
#[tokio::test]
async fn resolving_closes_incident_of_failing_monitor() {
    let outage = Outage::begin().await;
    let resolved = outage.call("ResolveIncident").await;
    assert_eq!(resolved.status, 200, "{resolved}");
    let shown = &resolved.json()["incident"];
    let end = [&shown["state"], &shown["closeReason"], &shown["closedAt"]];
    assert_eq!(end, ["closed", "resolved", "2026-11-21T00:00:00Z"]);
    assert_eq!(outage.status().await, ("error".to_owned(), String::new()));
    outage.next_result().await;
    assert_eq!(outage.call("ResolveIncident").await.json(), resolved.json(), "it is over");
    assert_eq!(outage.timeline().await, ["opened", "resolved by test write"]);
    assert_eq!(open(&outage.caller, 1).await, outage.incident, "it still fails, and none opens");

    outage.target.on("/", ScriptedResponse::ok("fine"));
    outage.next_result().await;
    assert_eq!(outage.status().await.0, "active");
    outage.target.on("/", ScriptedResponse::status(503));
    outage.next_result().await;
    let next = open(&outage.caller, 2).await;
    assert_eq!(outage.status().await, ("error".to_owned(), next));
}

#[tokio::test]
async fn incident_resolution_is_stored_for_later_processes() {
    let outage = Outage::begin().await;
    outage.call("ResolveIncident").await;
    let store = &outage.watched.server.running().app().store;
    let history = store.judge_states().get(outage.monitor).await.unwrap().unwrap();
    assert_eq!((history.status.as_str(), history.incident), ("error", None));
}

#[tokio::test]
async fn comment_length_is_limited_and_repeat_is_idempotent() {
    let outage = Outage::begin().await;
    let send = async |text: Value, key: &str| {
        let body = json!({ "id": outage.incident, "text": text }).to_string();
        let request = http::Request::post(format!("/rpc/{INCIDENTS}/CommentIncident"))
            .header("host", outage.watched.server.address().to_string())
            .header("content-type", "application/json")
            .header("idempotency-key", key)
            .body(bytes::Bytes::from(body).into())
            .unwrap();
        outage.caller.request(request).await
    };
    let first = send(json!("the disk is full"), "k1").await;
    assert_snapshot!(stable(&first, &outage), @r#"200 {"entry":{"at":"2026-11-21T00:00:00Z","kind":"commented","by":{"keyId":"[key]","name":"test write"},"text":"the disk is full","region":"","closeReason":"","place":""}}"#);
    assert_eq!(send(json!("the disk is full"), "k1").await.json(), first.json());
    let longest = send(json!("é".repeat(4_096)), "k2").await;
    assert_eq!(longest.status, 200, "{longest}");
    for (text, expected_message) in [
        (Value::Null, "`text` must be given"),
        (json!(""), "`text` must not be empty"),
        (json!(" \n "), "`text` must not be only spaces"),
        (json!("é".repeat(4_097)), "`text` must have at most 4096 characters"),
    ] {
        let refused = send(text, "k3").await;
        let message = refused.json()["message"].as_str().unwrap().to_owned();
        assert_eq!(refused.status, 400, "{refused}");
        assert!(message.contains(expected_message), "{message}");
    }
    let expected = ["opened", "commented by test write", "commented by test write"];
    assert_eq!(outage.timeline().await, expected);
}

#[tokio::test]
async fn each_incident_change_writes_an_audit_entry() {
    // design: §6
    let outage = Outage::begin().await;
    for method in
        ["AcknowledgeIncident", "AcknowledgeIncident", "ResolveIncident", "ResolveIncident"]
    {
        outage.call(method).await;
    }
    let store = &outage.watched.server.running().app().store;
    let acme = store.workspaces().by_slug("acme").await.unwrap().id;
    let audit = store.audit().newest(acme, 10).await.unwrap();
    let key = outage.watched.server.key_id(Scope::Write).to_string();
    let of_incident = audit.iter().rev().filter(|entry| entry.resource_id == outage.incident);
    let actions: Vec<(&str, bool)> =
        of_incident.map(|entry| (entry.action.as_str(), entry.actor == key)).collect();
    assert_eq!(actions, [("incident.acknowledge", true), ("incident.resolve", true)]);
}

#[tokio::test]
async fn incident_list_supports_paging_and_filters() {
    let outage = Outage::begin().await;
    let list =
        async |request: Value| outage.caller.call(INCIDENTS, "ListIncidents", request).await.json();
    outage.call("ResolveIncident").await;
    outage.target.on("/", ScriptedResponse::ok("fine"));
    outage.next_result().await;
    outage.target.on("/", ScriptedResponse::status(503));
    outage.next_result().await;
    let newest = open(&outage.caller, 2).await;
    let first = list(json!({ "limit": 1 })).await;
    assert_eq!((&first["incidents"][0]["id"], &first["totalSize"]), (&json!(newest), &json!(2)));
    let second = list(json!({ "limit": 1, "pageToken": first["nextPageToken"] })).await;
    assert_eq!(second["incidents"][0]["id"], json!(outage.incident));
    assert_eq!(second["nextPageToken"], "");
    // design: §4, lists accept a limit, an offset and a token
    assert_eq!(list(json!({ "offset": 1 })).await["incidents"], second["incidents"]);
    let monitor = outage.monitor.to_string();
    for (filter, expected) in [
        (json!({ "state": "open" }), vec![&newest]),
        (json!({ "state": "closed" }), vec![&outage.incident]),
        (json!({ "monitorId": monitor, "from": "2026-11-21T00:00:01Z" }), vec![&newest]),
        (json!({ "to": "2026-11-21T00:00:01Z" }), vec![&outage.incident]),
        (json!({ "monitorId": MonitorId::from_bits(7).to_string() }), vec![]),
    ] {
        let listed = list(filter.clone()).await;
        let ids = listed["incidents"].as_array().unwrap().iter();
        let ids: Vec<&str> = ids.map(|incident| incident["id"].as_str().unwrap()).collect();
        assert_eq!(ids, expected, "{filter}");
    }
}

#[tokio::test]
async fn all_invalid_filters_are_reported_together() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Read);
    let request = json!({ "limit": 101, "state": "ajar", "monitorId": "api", "pageToken": "x" });
    assert_snapshot!(caller.call(INCIDENTS, "ListIncidents", request).await, @r#"400 {"code":"invalid_argument","message":"`state` must be one of open, closed (given: `ajar`); `monitor_id` must be a monitor's identifier, mon_… (given: `api`); `limit` must be 1 to 100 (given: `101`); `page_token` must be the next_page_token of an earlier response"}"#);
    let missing = caller.call(INCIDENTS, "GetIncident", json!({})).await;
    assert_snapshot!(missing, @r#"400 {"code":"invalid_argument","message":"`id` must be given"}"#);
    let unknown = json!({ "id": "inc_0000000000007" });
    assert_snapshot!(caller.call(INCIDENTS, "GetIncident", unknown).await, @r#"404 {"code":"not_found","message":"incident `inc_0000000000007` not found in this workspace"}"#);
}
