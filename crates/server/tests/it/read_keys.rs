//! Secrets and read-only keys: no method that a read-only key may call returns a field marked
//! `debug_redact` in the contract.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use contract::rpc::{methods, redacted_fields};
use rules::{InvitationId, Role, Scope, Secret, UserId};
use serde_json::{Value, json};
use store::{Actor, AuditContext, InvitationHash, NewInvitation, NewUser};
use testkit::pem;
use testkit::server::{Caller, NOTIFICATIONS, START, STATUS_PAGES, TestServer};
use testkit::target::{HttpTarget, ScriptedResponse};

use crate::pipeline::{Watched, until};

/// Substring of every secret below. It occurs nowhere else.
const SECRET: &str = "hunter2";

/// The URL of a heartbeat monitor, which the server creates: every such URL has its path.
const HEARTBEAT_URL: &str = "monitor.v1.HeartbeatMonitor.url";

/// Returns each secret field, under its contract name, with an example of its text.
fn secrets() -> Vec<(&'static str, String)> {
    let text = |what: &str| format!("{SECRET}-{what}");
    let url = |what: &str| format!("https://example.com/{SECRET}-{what}");
    vec![
        ("monitor.v1.Header.value", text("monitor-header")),
        ("monitor.v1.HttpMonitor.url", text("monitor-query")),
        ("monitor.v1.HttpMonitor.body", text("monitor-body")),
        // Text before the object in PEM is ignored.
        ("monitor.v1.HttpMonitor.client_key", format!("{SECRET}-client-key\n{}", pem::KEY)),
        (HEARTBEAT_URL, "/heartbeat/".to_owned()),
        ("notification.v1.Discord.webhook_url", url("discord")),
        ("notification.v1.Slack.webhook_url", url("slack")),
        ("notification.v1.Pagerduty.integration_key", text("pagerduty")),
        ("notification.v1.Opsgenie.api_key", text("opsgenie")),
        ("notification.v1.Webhook.endpoint", url("endpoint")),
        ("notification.v1.Header.value", text("channel-header")),
        ("notification.v1.GoogleChat.webhook_url", url("google-chat")),
        ("notification.v1.GrafanaOncall.webhook_url", url("grafana-oncall")),
        ("notification.v1.Ntfy.server_url", format!("https://user:{SECRET}-ntfy-url@example.com/")),
        ("notification.v1.Ntfy.token", text("ntfy")),
        ("notification.v1.MsTeams.webhook_url", url("ms-teams")),
        ("status_page.v1.StatusPage.password", text("page-password")),
        ("status_page.v1.Subscriber.email", format!("{SECRET}@example.com")),
        ("status_page.v1.Subscriber.webhook_url", url("subscriber")),
        ("member.v1.Member.email", format!("{SECRET}-member@example.com")),
        ("member.v1.Invitation.email", format!("{SECRET}-invited@example.com")),
    ]
}

fn secret(field: &str) -> String {
    let found = secrets().into_iter().find(|(name, _)| *name == field);
    found.unwrap_or_else(|| panic!("write here what {field} holds")).1
}

/// Calls a method that must succeed.
async fn call(caller: &Caller, service: &str, method: &str, request: Value) -> Value {
    let reply = caller.call(service, method, request).await;
    assert_eq!(reply.status, 200, "{method}: {reply}");
    reply.json()
}

/// Creates a workspace with a secret in every marked field. The target echoes its requests. Returns
/// the monitor.
async fn full_of_secrets(watched: &Watched, target: &HttpTarget) -> String {
    let owner = watched.server.caller(Scope::Write);
    let (header, body) = (secret("monitor.v1.Header.value"), secret("monitor.v1.HttpMonitor.body"));
    let path = format!("/?token={}", secret("monitor.v1.HttpMonitor.url"));
    let echo = format!("{path} {header} {} {body}", STANDARD.encode(format!("a{header}")));
    target.on(&path, ScriptedResponse::status(500).header("x-echo", &header).body(echo));
    let monitor = json!({
        "name": "echo", "url": target.url(&path),
        "periodicity": "30s", "regions": ["fly-ams"], "method": "POST", "active": true,
        "body": body, "clientCertificate": pem::CERTIFICATE,
        "clientKey": secret("monitor.v1.HttpMonitor.client_key"),
        "headers": [{ "key": "Authorization", "value": header }],
        "statusCodeAssertions": [{ "target": 204, "comparator": "eq" }],
    });
    let made = owner.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await.json();
    let monitor = made["monitor"]["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
    let backup = json!({ "monitor": { "name": "backup", "interval": 60, "active": true } });
    owner.rpc("CreateHeartbeatMonitor", backup).await;
    let field = |name: &str| secret(&format!("notification.v1.{name}"));
    let header = json!({ "key": "X-Token", "value": field("Header.value") });
    let channels = [
        ("discord", json!({ "webhookUrl": field("Discord.webhook_url") })),
        ("slack", json!({ "webhookUrl": field("Slack.webhook_url") })),
        ("pagerduty", json!({ "integrationKey": field("Pagerduty.integration_key") })),
        ("opsgenie", json!({ "apiKey": field("Opsgenie.api_key"), "region": "eu" })),
        ("webhook", json!({ "endpoint": field("Webhook.endpoint"), "headers": [header] })),
        ("google_chat", json!({ "webhookUrl": field("GoogleChat.webhook_url") })),
        ("grafana_oncall", json!({ "webhookUrl": field("GrafanaOncall.webhook_url") })),
        (
            "ntfy",
            json!({
                "topic": "alerts",
                "serverUrl": field("Ntfy.server_url"),
                "token": field("Ntfy.token"),
            }),
        ),
        ("ms_teams", json!({ "webhookUrl": field("MsTeams.webhook_url") })),
    ];
    for (kind, block) in channels {
        let mut channel = json!({ "name": kind, "providerType": kind });
        let (first, rest) = kind.split_once('_').unwrap_or((kind, ""));
        let upper = rest.get(..1).unwrap_or_default().to_uppercase();
        channel[format!("{first}{upper}{}", rest.get(1..).unwrap_or_default())] = block;
        call(&owner, NOTIFICATIONS, "CreateNotification", json!({ "notification": channel })).await;
    }
    let page = json!({
        "title": "Acme", "slug": "acme", "accessType": "password",
        "password": secret("status_page.v1.StatusPage.password"),
    });
    let page = call(&owner, STATUS_PAGES, "CreateStatusPage", json!({ "statusPage": page })).await;
    let email = json!({ "email": secret("status_page.v1.Subscriber.email") });
    let webhook = json!({ "webhookUrl": secret("status_page.v1.Subscriber.webhook_url") });
    for mut subscriber in [email, webhook] {
        subscriber["pageId"] = page["statusPage"]["id"].clone();
        let request = json!({ "subscriber": subscriber, "confirm": false });
        call(&owner, STATUS_PAGES, "AddSubscriber", request).await;
    }
    add_people(&watched.server).await;
    monitor
}

/// Adds a member and an invitation to the workspace.
async fn add_people(server: &TestServer) {
    let store = &server.running().app().store;
    let change = AuditContext::new(Actor::CommandLine, START);
    let workspace = store.workspaces().by_slug("acme").await.unwrap();
    let user = NewUser {
        id: UserId::from_bits(1),
        email: secret("member.v1.Member.email"),
        name: "Ada".to_owned(),
        password_hash: Secret::new("$argon2id$none".to_owned()),
    };
    let new = NewInvitation {
        id: InvitationId::from_bits(1),
        workspace: workspace.id,
        email: Some(secret("member.v1.Invitation.email")),
        role: Role::Viewer,
        expires_at: server.running().app().ctx.now() + Duration::from_hours(1),
    };
    store.users().create_first(user, workspace, change).await.unwrap();
    let hash = InvitationHash::new("a token");
    store.invitations().create(new, hash, change).await.unwrap();
}

/// Collects the IDs in a response that have this prefix.
fn ids<'a>(value: &'a Value, prefix: &str, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) if text.starts_with(prefix) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| ids(item, prefix, found)),
        Value::Object(fields) => fields.values().for_each(|field| ids(field, prefix, found)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns all data that this caller may read, as text. Each response is paired with its method.
async fn everything(caller: &Caller, monitor: &str) -> Vec<(String, String)> {
    let mut answers: Vec<(String, Value)> = Vec::new();
    for method in methods().iter().filter(|it| it.reads_only && it.name.starts_with("List")) {
        let of_monitor = ["ListResponseLogs", "ListMissedSlots"].contains(&method.name.as_str());
        let request = match method.name.as_str() {
            "ListConfiguredResources" => json!({ "name": "production" }),
            _ if of_monitor => json!({ "id": monitor }),
            _ => json!({}),
        };
        answers.push((
            method.name.clone(),
            call(caller, &method.service, &method.name, request).await,
        ));
    }
    let lists: Vec<Value> = answers.iter().map(|(_, answer)| answer.clone()).collect();
    let known = |prefix: &str| {
        let mut found = Vec::new();
        for list in &lists {
            ids(list, prefix, &mut found);
        }
        found.sort_unstable();
        found.dedup();
        found.into_iter().map(str::to_owned).collect::<Vec<String>>()
    };
    for (method, service, prefix) in [
        ("GetMonitor", "monitor.v1.MonitorService", "mon_"),
        ("GetNotification", NOTIFICATIONS, "chn_"),
        ("GetStatusPage", STATUS_PAGES, "page_"),
        ("GetIncident", "incident.v1.IncidentService", "inc_"),
    ] {
        let found = known(prefix);
        assert!(!found.is_empty(), "there is nothing for {method} in {lists:?}");
        for id in found {
            answers.push((
                method.to_owned(),
                call(caller, service, method, json!({ "id": id })).await,
            ));
        }
    }
    let logs = lists.iter().find_map(|list| list["logs"].as_array()).expect("there are logs");
    for log in logs {
        let request = json!({ "monitorId": monitor, "id": log["id"] });
        let answer = call(caller, "monitor.v1.MonitorService", "GetResponseLog", request).await;
        answers.push(("GetResponseLog".to_owned(), answer));
    }
    answers.into_iter().map(|(method, answer)| (method, answer.to_string())).collect()
}

// issue 16: "Define what read keys see once, as an annotation in the contract that a test walks"
#[tokio::test]
async fn read_keys_read_no_field_that_is_marked() {
    let target = HttpTarget::start().await;
    let watched = Watched::start().await;
    let monitor = full_of_secrets(&watched, &target).await;
    let (reader, owner) = (watched.server.caller(Scope::Read), watched.server.caller(Scope::Write));
    until(async || {
        let open = owner.call("incident.v1.IncidentService", "ListIncidents", json!({})).await;
        (open.json()["totalSize"] == 1).then_some(())
    })
    .await;
    let written: String =
        everything(&owner, &monitor).await.into_iter().map(|(_, answer)| answer).collect();
    // Read keys cannot call the methods of these.
    let never_read = [
        "member.v1.CreateInvitationRequest.email",
        "member.v1.CreateInvitationResponse.token",
        "probe.v1.CreateProbeResponse.token",
        "probe.v1.CreateProbeResponse.command",
        "probe.v1.RotateProbeTokenResponse.token",
        "probe.v1.RotateProbeTokenResponse.command",
    ];
    let marked = redacted_fields().into_iter();
    for field in marked.filter(|field| !never_read.contains(&field.as_str())) {
        let text = Value::String(secret(&field)).to_string();
        let text = text.trim_matches('"');
        assert!(written.contains(text), "{field} was not written: {written}");
    }
    for (method, answer) in everything(&reader, &monitor).await {
        assert!(!answer.contains(SECRET), "{method} shows a secret: {answer}");
        assert!(!answer.contains(&secret(HEARTBEAT_URL)), "{method} shows a URL: {answer}");
        // Base64 of "hunter2-…", for the target that echoes its requests.
        assert!(!answer.contains("aHVudGVyM"), "{method} shows a secret: {answer}");
    }
    let seen = target.received();
    assert!(seen.iter().any(|request| request.body.contains(SECRET)), "the target saw it");
}
