//! Suspect probes: their votes are void until a connectivity check passes, and the audit log
//! informs the owners of the affected workspaces.

use std::net::SocketAddr;
use std::time::Duration;

use http::Method;
use rules::monitor::TcpCheck;
use rules::{MonitorId, Scope, limits};
use serde_json::Value;
use server::config::Operator;
use store::AuditEntry;
use testkit::server::TestServer;
use testkit::target::{DnsTarget, HttpTarget, ScriptedResponse, TcpTarget};

use super::{PERIOD, Watched, until};

/// Number of hosts, each with a monitor. It exceeds the minimum for a probe to become suspect.
const HOSTS: usize = 6;

/// A server with monitors of [`HOSTS`] hosts.
struct Story {
    watched: Watched,
    target: HttpTarget,
    monitors: Vec<MonitorId>,
    _names: DnsTarget,
}

impl Story {
    async fn start(canaries: &[SocketAddr]) -> Self {
        Self::start_with_operator(canaries, None).await
    }

    /// Starts a server with these connectivity checks and operator. Waits for a result of every
    /// host.
    async fn start_with_operator(canaries: &[SocketAddr], operator: Option<Operator>) -> Self {
        let (target, names) = (HttpTarget::start().await, DnsTarget::start().await);
        target.on("/", ScriptedResponse::ok("fine"));
        let canary = |address: &SocketAddr| TcpCheck { uri: address.to_string() };
        let server = TestServer::start_with(|settings| {
            settings.nameservers = vec![names.address()];
            settings.connectivity_check_hosts = canaries.iter().map(canary).collect();
            settings.operator = operator;
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
            let mut told = audit.newest(self.watched.stored.workspace, 1_000).await.unwrap();
            told.retain(|entry| entry.action.starts_with("probe."));
            told.reverse();
            (told.len() >= rows).then_some(told)
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

fn format_entries(told: &[AuditEntry]) -> Vec<String> {
    let line =
        |it: &AuditEntry| format!("{} {} {}: {}", it.actor, it.action, it.resource_id, it.detail);
    told.iter().map(line).collect()
}

// design: §5 "the probe doubts itself: its votes are void until its connectivity checks succeed, and one alert to
// the workspace's owners says so"
#[tokio::test]
async fn probe_without_connectivity_has_no_vote() {
    let (canary, silent) = (TcpTarget::accepting().await, TcpTarget::refusing());
    let story = Story::start(&[canary.address(), silent.address(), silent.address()]).await;
    story.answer_all(ScriptedResponse::status(503)).await;
    let told = format_entries(&story.audit_entries(1).await);
    insta::assert_snapshot!(told.join("\n"), @"server probe.suspect this server: 4 of 6 hosts failed within a minute; its votes are void until its connectivity checks succeed");
    assert!(story.figure("aloft_probes_suspect 1").await);
    assert_eq!(story.health().await, "suspect");
    assert_eq!(story.statuses().await, ["unknown"; HOSTS]);
    until(async || (canary.taken() > 0).then_some(())).await;
    // One of three connectivity checks is not a majority, so the probe stays suspect and runs them
    // again. Advance by a whole period to include every check due in it.
    let asked = canary.taken();
    story.answer_all(ScriptedResponse::status(503)).await;
    until(async || (canary.taken() > asked).then_some(())).await;
    assert_eq!(story.statuses().await, ["unknown"; HOSTS]);
    // At least half of the hosts recover.
    story.answer_all(ScriptedResponse::ok("fine")).await;
    let told = format_entries(&story.audit_entries(2).await);
    assert_eq!(told.len(), 2, "each is told once: {told:?}");
    assert!(story.figure("aloft_probes_suspect 0").await);
    assert_eq!(story.health().await, "healthy");
    assert_eq!(story.statuses().await, ["active"; HOSTS]);
}

#[tokio::test]
async fn reachable_connectivity_hosts_confirm_the_outage() {
    let canary = TcpTarget::accepting().await;
    let story = Story::start(&[canary.address()]).await;
    story.answer_all(ScriptedResponse::status(503)).await;
    let told = format_entries(&story.audit_entries(2).await);
    insta::assert_snapshot!(told.join("\n"), @"
    server probe.suspect this server: 4 of 6 hosts failed within a minute; its votes are void until its connectivity checks succeed
    server probe.recovered this server: after 0 s: its connectivity checks succeed
    ");
    assert_eq!(story.statuses().await, ["error"; HOSTS]);
    let asked = canary.taken();
    story.answer_all(ScriptedResponse::status(503)).await;
    assert_eq!((canary.taken(), asked), (1, 1), "a probe without doubt asks nobody");
}

#[tokio::test]
async fn suspicion_without_connectivity_check_keeps_votes() {
    let story = Story::start(&[]).await;
    story.answer_all(ScriptedResponse::status(503)).await;
    story.audit_entries(1).await;
    // issue 16, point 5: failures of all sites at once reach the operator immediately
    assert_eq!(story.statuses().await, ["error"; HOSTS]);
    let rest = limits::SUSPICION_UNCONFIRMED_MAX + Duration::from_secs(1);
    story.watched.server.advance(rest);
    let told = story.audit_entries(2).await;
    assert_eq!(told[1].detail, "after 301 s: nothing confirmed it in time");
}

// issue 16 point 5: "Notify the operator (a setting: address or webhook)"
#[tokio::test]
async fn operator_is_notified_of_suspect_probe_and_recovery() {
    let hook = HttpTarget::start().await;
    hook.on("/", ScriptedResponse::ok(""));
    let story = Story::start_with_operator(&[], Operator::parse(&hook.url("/"))).await;
    story.answer_all(ScriptedResponse::status(503)).await;
    until(async || (hook.hits() > 0).then_some(())).await;
    story.answer_all(ScriptedResponse::ok("fine")).await;
    until(async || (hook.hits() > 1).then_some(())).await;
    let told: Vec<Value> = hook
        .received()
        .iter()
        .map(|request| serde_json::from_str(&request.body).unwrap())
        .collect();
    let types: Vec<_> = told.iter().map(|it| it["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["probe.suspect", "probe.recovered"]);
    let why = told[0]["data"]["message"].as_str().unwrap();
    assert!(why.starts_with("4 of 6 hosts failed within a minute"), "{why}");
}
