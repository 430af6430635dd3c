//! Suspect probes: their votes are void until a connectivity check passes, and the audit log
//! informs the owners of the affected workspaces.

use std::net::SocketAddr;
use std::time::Duration;

use domain::notify::EventKind;
use http::Method;
use rules::monitor::TcpCheck;
use rules::{MonitorId, Scope, limits};
use serde_json::{Value, json};
use server::config::Operator;
use store::{AuditEntry, DeliveryFilter, Incident, Page};
use testkit::mail::MailServer;
use testkit::person::Person;
use testkit::server::{NOTIFICATIONS, TestServer};
use testkit::target::{DnsTarget, HttpTarget, ScriptedResponse, TcpTarget};

use super::{PERIOD, Watched, until};
use crate::heartbeats;

/// Number of hosts, each with a monitor. It exceeds the minimum for a probe to become suspect.
const HOSTS: usize = 6;

/// A server with monitors of [`HOSTS`] hosts.
struct SuspicionFixture {
    watched: Watched,
    target: HttpTarget,
    monitors: Vec<MonitorId>,
    _names: DnsTarget,
}

impl SuspicionFixture {
    async fn start(hosts: &[SocketAddr]) -> Self {
        Self::start_with(hosts, None, None).await
    }

    /// Starts a server with these connectivity checks, operator and mail server. Waits for a result of
    /// every host.
    async fn start_with(
        hosts: &[SocketAddr],
        operator: Option<Operator>,
        mail: Option<&MailServer>,
    ) -> Self {
        let (target, names) = (HttpTarget::start().await, DnsTarget::start().await);
        target.on("/", ScriptedResponse::ok("fine"));
        let check_host = |address: &SocketAddr| TcpCheck::new(address.to_string());
        let server = TestServer::start_with(|settings| {
            settings.nameservers = vec![names.address()];
            settings.connectivity_check_hosts = hosts.iter().map(check_host).collect();
            settings.operator = operator;
            if let Some(mail) = mail {
                mail.set_up(settings);
            }
        })
        .await;
        let watched = Watched::on(server).await;
        let mut monitors = Vec::new();
        for number in 0..HOSTS {
            let host = format!("h{number}.test");
            names.address_of(&host, "127.0.0.1");
            monitors.push(watched.monitor(&target.url_as(&host, "/")).await);
        }
        for monitor in &monitors {
            watched.stored.at_least(1, *monitor).await;
        }
        Self { watched, target, monitors, _names: names }
    }

    /// Sets the response of every host, advances the clock by a period, and waits for all results.
    async fn answer_all(&self, answer: ScriptedResponse) {
        self.target.on("/", answer);
        let mut before = Vec::new();
        for monitor in &self.monitors {
            before.push(self.watched.stored.results(*monitor).await.len());
        }
        self.watched.server.advance(PERIOD);
        for (monitor, before) in self.monitors.iter().zip(before) {
            self.watched.stored.at_least(before + 1, *monitor).await;
        }
    }

    /// Waits for at least `rows` audit entries about probes and returns them, oldest first.
    async fn audit_entries(&self, rows: usize) -> Vec<AuditEntry> {
        until(async || {
            let audit = self.watched.stored.store.audit();
            let mut entries = audit.newest(self.watched.stored.workspace, 1_000).await.unwrap();
            entries.retain(|entry| entry.action.starts_with("probe."));
            entries.reverse();
            (entries.len() >= rows).then_some(entries)
        })
        .await
    }

    async fn statuses(&self) -> Vec<String> {
        let mut statuses = Vec::new();
        for monitor in &self.monitors {
            statuses.push(self.watched.status(*monitor).await);
        }
        statuses
    }

    async fn incidents(&self) -> Vec<Incident> {
        let mut incidents = Vec::new();
        for monitor in &self.monitors {
            incidents.extend(self.watched.stored.incidents(*monitor).await);
        }
        incidents
    }

    /// Returns the health of the first region.
    async fn health(&self) -> String {
        let path = "/rpc/region.v1.RegionService/ListRegions";
        let caller = self.watched.server.caller(Scope::Read);
        let reply = caller.send(Method::POST, path, "application/json", "{}").await;
        reply.json()["regions"][0]["health"].as_str().unwrap().to_owned()
    }

    async fn figure(&self, series: &str) -> bool {
        let page = self.watched.server.nobody().get("/metrics").await;
        String::from_utf8_lossy(&page.body).lines().any(|line| line == series)
    }
}

fn format_entries(entries: &[AuditEntry]) -> Vec<String> {
    let line =
        |it: &AuditEntry| format!("{} {} {}: {}", it.actor, it.action, it.resource_id, it.detail);
    entries.iter().map(line).collect()
}

// design: §5 "the probe doubts itself: its votes are void until its connectivity checks succeed, and one alert to
// the workspace's owners says so"
#[tokio::test]
async fn probe_without_connectivity_has_no_vote() {
    let (check_host, silent) = (TcpTarget::accepting().await, TcpTarget::refusing());
    let fixture =
        SuspicionFixture::start(&[check_host.address(), silent.address(), silent.address()]).await;
    fixture.answer_all(ScriptedResponse::status(503)).await;
    let entries = format_entries(&fixture.audit_entries(1).await);
    insta::assert_snapshot!(entries.join("\n"), @"server probe.suspect this server: 4 of 6 hosts failed within a minute; its votes are void until its connectivity checks succeed");
    assert!(fixture.figure("aloft_probes_suspect 1").await);
    assert_eq!(fixture.health().await, "suspect");
    let ada = Person::set_up(&fixture.watched.server).await;
    let page = ada.get("/w/acme/regions").await.text();
    assert!(page.contains("<span>Suspect<small"), "{page}");
    assert!(
        page.contains("Most of its hosts fail at once, so its results do not count."),
        "{page}"
    );
    assert_eq!(fixture.statuses().await, ["unknown"; HOSTS]);
    until(async || (check_host.taken() > 0).then_some(())).await;
    // One of three connectivity checks is not a majority, so the probe stays suspect and runs them
    // again. Advance by a whole period to include every check due in it.
    let asked = check_host.taken();
    fixture.answer_all(ScriptedResponse::status(503)).await;
    until(async || (check_host.taken() > asked).then_some(())).await;
    assert_eq!(fixture.statuses().await, ["unknown"; HOSTS]);
    // At least half of the hosts recover.
    fixture.answer_all(ScriptedResponse::ok("fine")).await;
    let entries = format_entries(&fixture.audit_entries(2).await);
    assert_eq!(entries.len(), 2, "each is recorded once: {entries:?}");
    assert!(fixture.figure("aloft_probes_suspect 0").await);
    assert_eq!(fixture.health().await, "healthy");
    assert_eq!(fixture.statuses().await, ["active"; HOSTS]);
}

// docs/invariants.md: "A new process knows everything that the previous one's verdicts depended on."
#[tokio::test]
async fn suspect_probe_has_no_vote_after_restart() {
    let silent = TcpTarget::refusing();
    let mut fixture = SuspicionFixture::start(&[silent.address()]).await;
    fixture.answer_all(ScriptedResponse::status(503)).await;
    fixture.audit_entries(1).await;
    fixture.answer_all(ScriptedResponse::status(503)).await;
    // The first hosts failed before the probe was suspect.
    let opened = fixture.incidents().await;
    fixture.watched =
        Watched::on(fixture.watched.server.restart(Duration::from_secs(1)).await).await;
    assert_eq!(fixture.health().await, "suspect");
    assert!(fixture.figure("aloft_probes_suspect 1").await);
    // The grace period ends meanwhile.
    fixture.watched.server.advance(Duration::from_secs(1));
    fixture.answer_all(ScriptedResponse::status(503)).await;
    assert_eq!(fixture.statuses().await, ["unknown"; HOSTS]);
    assert_eq!(fixture.incidents().await, opened, "no other incident opens");
    fixture.answer_all(ScriptedResponse::ok("fine")).await;
    let entries = fixture.audit_entries(2).await;
    assert_eq!(entries.len(), 2, "the suspicion goes on: {:?}", format_entries(&entries));
    assert_eq!(fixture.statuses().await, ["active"; HOSTS]);
}

// docs/decisions/0080-heartbeats.md: "A heartbeat monitor is a kind of monitor without a probe."
#[tokio::test]
async fn suspect_probe_does_not_void_reported_failures() {
    let silent = TcpTarget::refusing();
    let fixture = SuspicionFixture::start(&[silent.address()]).await;
    let server = &fixture.watched.server;
    let monitor = heartbeats::monitor(server, json!({})).await;
    fixture.answer_all(ScriptedResponse::status(503)).await;
    fixture.audit_entries(1).await;
    heartbeats::call(server, "GET", &heartbeats::path(&monitor, "/fail"), "").await;
    heartbeats::wait_for(server, &monitor, "error").await;
    assert_eq!(fixture.health().await, "suspect");
}

#[tokio::test]
async fn reachable_connectivity_hosts_confirm_the_outage() {
    let check_host = TcpTarget::accepting().await;
    let fixture = SuspicionFixture::start(&[check_host.address()]).await;
    fixture.answer_all(ScriptedResponse::status(503)).await;
    let entries = format_entries(&fixture.audit_entries(2).await);
    insta::assert_snapshot!(entries.join("\n"), @"
    server probe.suspect this server: 4 of 6 hosts failed within a minute; its votes are void until its connectivity checks succeed
    server probe.recovered this server: after 0 s: its connectivity checks succeed
    ");
    assert_eq!(fixture.statuses().await, ["error"; HOSTS]);
    let asked = check_host.taken();
    fixture.answer_all(ScriptedResponse::status(503)).await;
    assert_eq!((check_host.taken(), asked), (1, 1), "a trusted probe does not check connectivity");
}

#[tokio::test]
async fn suspicion_without_connectivity_check_keeps_votes() {
    let fixture = SuspicionFixture::start(&[]).await;
    fixture.answer_all(ScriptedResponse::status(503)).await;
    fixture.audit_entries(1).await;
    // issue 16, point 5: failures of all sites at once reach the operator immediately
    assert_eq!(fixture.statuses().await, ["error"; HOSTS]);
    let rest = limits::SUSPICION_UNCONFIRMED_MAX + Duration::from_secs(1);
    fixture.watched.server.advance(rest);
    let entries = fixture.audit_entries(2).await;
    assert_eq!(entries[1].detail, "after 301 s: nothing confirmed it in time");
}

// issue 16, point 5: "adds one line to alerts"
#[tokio::test]
async fn only_openings_mention_the_suspicion() {
    let fixture = SuspicionFixture::start(&[]).await;
    let caller = fixture.watched.server.caller(Scope::Write);
    let monitors: Vec<String> = fixture.monitors.iter().map(ToString::to_string).collect();
    let channel = json!({
        "name": "On call", "providerType": "slack", "monitorIds": monitors,
        "slack": { "webhookUrl": "http://127.0.0.1:1/" },
    });
    let request = json!({ "notification": channel });
    let reply = caller.call(NOTIFICATIONS, "CreateNotification", request).await;
    assert_eq!(reply.status, 200, "{reply}");
    let reasons = async |kind: EventKind| {
        let stored = &fixture.watched.stored;
        let page = Page { limit: 100, offset: 0, after: None };
        until(async || {
            let outbox = stored.store.outbox();
            let all = outbox.list(stored.workspace, DeliveryFilter::default(), page).await.unwrap();
            let events = all.rows.into_iter().map(|delivery| delivery.about.event);
            let of_kind: Vec<String> =
                events.filter(|event| event.kind == kind).map(|event| event.cause.why).collect();
            (of_kind.len() == HOSTS).then_some(of_kind)
        })
        .await
    };
    let mentions = |reasons: Vec<String>| {
        let line = "4 of 6 hosts failed within a minute; this server's own network may be at fault";
        reasons.iter().filter(|reason| reason.ends_with(line)).count()
    };
    fixture.answer_all(ScriptedResponse::status(503)).await;
    assert_eq!(mentions(reasons(EventKind::Error).await), 3, "from the fourth host on");
    fixture.answer_all(ScriptedResponse::ok("fine")).await;
    assert_eq!(mentions(reasons(EventKind::Recovered).await), 0);
}

// issue 16 point 5: "Notify the operator (a setting: address or webhook)"
#[tokio::test]
async fn operator_is_notified_of_suspect_probe_and_recovery() {
    let hook = HttpTarget::start().await;
    hook.on("/", ScriptedResponse::ok(""));
    let fixture = SuspicionFixture::start_with(&[], Operator::parse(&hook.url("/")), None).await;
    fixture.answer_all(ScriptedResponse::status(503)).await;
    until(async || (hook.hits() > 0).then_some(())).await;
    fixture.answer_all(ScriptedResponse::ok("fine")).await;
    until(async || (hook.hits() > 1).then_some(())).await;
    let messages: Vec<Value> = hook
        .received()
        .iter()
        .map(|request| serde_json::from_str(&request.body).unwrap())
        .collect();
    let types: Vec<_> = messages.iter().map(|it| it["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["probe.suspect", "probe.recovered"]);
    let why = messages[0]["data"]["message"].as_str().unwrap();
    assert!(why.starts_with("4 of 6 hosts failed within a minute"), "{why}");
}

// issue 16, point 5: "Notify the operator … and workspace owners once they exist"
#[tokio::test]
async fn owners_are_notified_of_suspect_probe_and_recovery() {
    let mail = MailServer::start().await;
    let fixture = SuspicionFixture::start_with(&[], None, Some(&mail)).await;
    Person::set_up(&fixture.watched.server).await;
    fixture.answer_all(ScriptedResponse::status(503)).await;
    let [begins] = &mail.takes(1).await[..] else { panic!("one email to the one owner") };
    assert_eq!(begins.to, ["ada@example.com"]);
    assert_eq!(begins.subject, "Aloft: probe `this server` may be at fault");
    assert!(begins.text.starts_with("4 of 6 hosts failed within a minute"), "{}", begins.text);
    fixture.answer_all(ScriptedResponse::ok("fine")).await;
    let ends = &mail.takes(2).await[1];
    assert_eq!(ends.subject, "Aloft: probe `this server` is no longer suspect");
}
