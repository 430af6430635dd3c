//! `aloft probe` and `aloft serve` through NATS: all three are real processes, and all three are killed.

use serde_json::Value;
use testkit::nats::{NatsServer, ProbeUser, users};

use crate::process::{Home, Server, until};
use crate::remote_probe::{Probe, check_results, create_monitor, trigger, wait_until_connected};
use crate::target::Target;

/// Number of kills: a third each of the probe, the server and NATS.
const KILLS: usize = 9;

/// A home with a key, and NATS with a user for the server and for the probe of `fly-sin`.
pub(crate) struct Setting {
    pub(crate) nats: NatsServer,
    pub(crate) home: Home,
    pub(crate) key: String,
    /// Line that starts the probe.
    pub(crate) line: String,
    pub(crate) probe_id: String,
}

impl Setting {
    pub(crate) fn new() -> Self {
        let mut nats = NatsServer::start("");
        let (home, key) = Home::with_key();
        let created = home.run_with(
            &["probes", "create", "--region", "fly-sin", "--json"],
            &[("ALOFT_NATS", &nats.url())],
        );
        let created: Value = serde_json::from_str(&created.out).unwrap();
        let probe_id = created["id"].as_str().unwrap().to_owned();
        nats.configure(&users(&[user(&probe_id)]));
        nats.restart();
        std::fs::write(home.path().join("fly-sin.creds"), user(&probe_id).credentials()).unwrap();
        std::fs::write(home.path().join("server.creds"), "server:secret").unwrap();
        let line = created["natsCommand"].as_str().unwrap().to_owned();
        Self { nats, home, key, line, probe_id }
    }

    /// Returns the lines of the configuration of NATS with its users.
    pub(crate) fn users(&self) -> String {
        users(&[user(&self.probe_id)])
    }

    pub(crate) fn serve(&self) -> Server {
        let url = self.nats.url();
        let nats = ["--nats", &url, "--nats-credentials-file", "server.creds"];
        self.home.serve_with(&[&nats[..], &["--allow-private-networks"]].concat())
    }
}

fn user(probe: &str) -> ProbeUser<'_> {
    ProbeUser { probe, password: "password-of-the-probe", region: "fly-sin" }
}

/// Waits until `/readyz` shows a state of NATS that begins like this.
pub(crate) fn wait_for_nats(server: &Server, state: &str) {
    until("the state of NATS", || {
        let ready = server.get("/readyz", None).json();
        let is_as_expected = ready["nats"].as_str().unwrap().starts_with(state);
        (is_as_expected && ready["ready"] == true).then_some(())
    });
}

// issue 19 point 3: "Probes may connect to NATS directly with credentials limited to their subjects"
#[test]
fn printed_line_connects_through_nats() {
    let setting = Setting::new();
    let server = setting.serve();
    let probe = Probe::run(&setting.home, &setting.line);
    wait_until_connected(&setting.home, true);
    let target = Target::start();
    let id = create_monitor(&server, &setting.key, &target.url("/"));
    let status = until("the status", || {
        let status = server.rpc(&setting.key, "GetMonitorStatus", &id);
        (status["status"] == "active").then_some(status)
    });
    assert_eq!(status["regions"][0]["servedBy"], "fly-sin", "{status}");
    assert!(probe.stop(), "it stops in order");
    wait_until_connected(&setting.home, false);
    assert!(!setting.nats.log().contains("Violation"), "{}", setting.nats.log());
}

// issue 19, faults: "no acknowledged result lost or duplicated, no false `error`"
#[test]
fn kills_through_nats_lose_no_result() {
    let mut setting = Setting::new();
    let mut server = setting.serve();
    let mut probe = Probe::run(&setting.home, &setting.line);
    wait_until_connected(&setting.home, true);
    let target = Target::start();
    let id = create_monitor(&server, &setting.key, &target.url("/"));
    let mut answered = 0;
    for kill in 0..KILLS {
        answered += trigger(&server, &setting.key, &id);
        match kill % 3 {
            0 => {
                probe.kill();
                probe = Probe::run(&setting.home, &setting.line);
            }
            1 => {
                server.kill();
                server = setting.serve();
            }
            _ => {
                setting.nats.kill();
                setting.nats.restart();
            }
        }
    }
    answered += trigger(&server, &setting.key, &id);
    check_results(&server, &setting.key, &id, answered);
    assert!(probe.stop());
}

#[test]
fn server_starts_before_nats() {
    let mut setting = Setting::new();
    setting.nats.kill();
    let server = setting.serve();
    wait_for_nats(&server, "not connected");
    let local = crate::process::http_monitor("local", "http://127.0.0.1:9/", &["fly-ams"]);
    let request = serde_json::json!({ "monitor": local });
    let made = server.rpc(&setting.key, "CreateHttpMonitor", &request);
    let id = serde_json::json!({ "id": made["monitor"]["id"] });
    until("a local check", || {
        let status = server.rpc(&setting.key, "GetMonitorStatus", &id);
        (status["status"] == "error").then_some(())
    });
    setting.nats.restart();
    wait_for_nats(&server, "ok");
    let probe = Probe::run(&setting.home, &setting.line);
    wait_until_connected(&setting.home, true);
    assert!(probe.stop());
    let log = server.stop_with_log();
    assert!(log.contains("cannot be reached") && log.contains("are not checked"), "{log}");
}

#[test]
fn wrong_credentials_are_explained() {
    let setting = Setting::new();
    std::fs::write(setting.home.path().join("fly-sin.creds"), "somebody:else").unwrap();
    std::fs::write(setting.home.path().join("server.creds"), "somebody:else").unwrap();
    let words: Vec<&str> = setting.line.split_whitespace().skip(1).collect();
    let refused = setting.home.run(&[&words[..], &["--data", "probe"]].concat());
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("refuses the credentials"), "{}", refused.err);
    let server = setting.serve();
    wait_for_nats(&server, "not connected");
    let log = server.stop_with_log();
    assert!(log.contains("refuses the credentials"), "{log}");
}

// issue 19, bad input: "NATS without JetStream or storage"
#[test]
fn nats_without_jetstream_is_explained() {
    let nats = NatsServer::start_without_jetstream();
    let server = Home::new().serve_with(&["--nats", &nats.url()]);
    wait_for_nats(&server, "not connected");
    let failures = until("a failed attempt", || {
        let metrics = server.get("/metrics", None).body;
        assert!(metrics.contains("\naloft_nats_connected 0\n"), "{metrics}");
        let count = metrics.lines().find_map(|it| it.strip_prefix("aloft_nats_failures_total "))?;
        count.parse::<u32>().ok().filter(|count| *count > 0)
    });
    assert!(failures > 0);
    let log = server.stop_with_log();
    assert!(log.contains("JetStream is off"), "{log}");
}

// issue 19, bad input: "NATS without JetStream or storage"
#[test]
fn nats_without_storage_is_explained() {
    let nats = NatsServer::start_without_storage();
    let server = Home::new().serve_with(&["--nats", &nats.url()]);
    wait_for_nats(&server, "not connected");
    let log = server.stop_with_log();
    assert!(log.contains("the stream ALOFT_RESULTS cannot be used"), "{log}");
    assert!(log.contains("it needs 256 MiB of `max_file_store`"), "{log}");
}
