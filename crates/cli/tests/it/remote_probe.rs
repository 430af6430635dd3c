//! `aloft probe` beside a server: both are real processes, and both are killed.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::process::{
    Home, PATIENCE, Server, call_service, http_monitor, rpc, until, wait_for_line,
};
use crate::target::Target;

/// Number of kills, half of them of the server.
const KILLS: usize = 8;

/// A running probe. Dropping it kills it.
pub(crate) struct Probe {
    child: Child,
    /// Lines of its log, which are also in `probe.log`.
    log: Receiver<String>,
}

impl Probe {
    /// Runs a line that `aloft probes create` printed, in a folder of the home.
    pub(crate) fn run(home: &Home, line: &str) -> Self {
        Self::run_under(home, line, &[])
    }

    /// Runs such a line with these variables.
    pub(crate) fn run_under(home: &Home, line: &str, variables: &[(&str, &str)]) -> Self {
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        let mut command = home.command(&words);
        command.args(["--data", "probe", "--allow-private-networks"]);
        command.envs(variables.iter().copied());
        let mut file = std::fs::File::create(home.path().join("probe.log")).unwrap();
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        let (sender, log) = channel();
        std::thread::spawn(move || {
            for line in errors.lines().map_while(Result::ok) {
                writeln!(file, "{line}").unwrap();
                // The test may not wait for lines.
                let _ = sender.send(line);
            }
        });
        Self { child, log }
    }

    /// Waits until it logs a line that contains this text.
    pub(crate) fn wait_for_log(&self, text: &str) {
        wait_for_line(&self.log, text);
    }

    /// Returns its process ID.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends SIGTERM and returns whether it exits with success.
    pub(crate) fn stop(mut self) -> bool {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        self.child.wait().unwrap().success()
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until the only probe is connected or not.
pub(crate) fn wait_until_connected(home: &Home, expected: bool) {
    until("the state of the probe", || {
        let listed = home.json(&["probes", "list"]);
        (listed[0]["connected"] == expected).then_some(())
    });
}

pub(crate) fn create_monitor(server: &Server, key: &str, url: &str) -> Value {
    let monitor = http_monitor("site", url, &["fly-sin"]);
    let made = server.rpc(key, "CreateHttpMonitor", &json!({ "monitor": monitor }));
    json!({ "id": made["monitor"]["id"] })
}

// issue 19 point 1: "prints the one line to paste elsewhere"
#[test]
fn printed_line_connects_a_probe() {
    let (home, key) = Home::with_key();
    let server = home.serve_with(&[]);
    let created = home.json(&["probes", "create", "--region", "fly-sin"]);
    let probe = Probe::run(&home, created["command"].as_str().unwrap());
    wait_until_connected(&home, true);
    // The server itself may not connect to this address; the probe may.
    let target = Target::start();
    let id = create_monitor(&server, &key, &target.url("/"));
    target.visit(PATIENCE).expect("the probe checks the monitor");
    let status = until("the status", || {
        let status = server.rpc(&key, "GetMonitorStatus", &id);
        (status["status"] == "active").then_some(status)
    });
    assert_eq!(status["regions"][0]["servedBy"], "fly-sin", "{status}");
    assert!(probe.stop(), "it stops in order");
    wait_until_connected(&home, false);
    let log = std::fs::read_to_string(home.path().join("probe.log")).unwrap();
    assert!(log.contains("probe `fly-sin` serves fly-sin"), "{log}");
}

#[test]
fn refused_probe_explains_why() {
    let home = Home::with_database();
    let server = home.serve_with(&[]);
    let created = home.json(&["probes", "create", "--region", "fly-sin"]);
    let token = created["token"].as_str().unwrap();
    let address = format!("http://{}", server.address);
    home.json(&["probes", "delete", "fly-sin", "--yes"]);
    let run = |server: &str, token: &str| {
        home.run(&["probe", "--server", server, "--token", token, "--data", "probe"])
    };
    let deleted = run(&address, token);
    assert_eq!(deleted.code, Some(1));
    assert!(deleted.err.contains("the token is unknown, revoked or replaced"), "{}", deleted.err);
    let plain = run("http://aloft.example.com", token);
    assert!(plain.err.contains("is not encrypted") && plain.code == Some(1), "{}", plain.err);
    let missing = home.run(&["probe", "--server", &address]);
    assert!(missing.err.contains("ALOFT_PROBE_TOKEN"), "{}", missing.err);
}

/// Triggers the monitor until the probe answers. Returns the number of results, which are stored then.
pub(crate) fn trigger(server: &Server, key: &str, id: &Value) -> usize {
    until("a manual check", || {
        let reply = rpc(server.address, key, "TriggerMonitor", id).ok()?;
        let results = (reply.status == 200).then(|| reply.json())?;
        Some(results["results"].as_array().unwrap().len())
    })
}

// issue 19, faults: "no acknowledged result lost or duplicated, no false `error`"
#[test]
fn kills_of_server_and_probe_lose_no_result() {
    let (home, key) = Home::with_key();
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut server = home.serve_at(address);
    let created = home.json(&["probes", "create", "--region", "fly-sin"]);
    let line = created["command"].as_str().unwrap().to_owned();
    let mut probe = Probe::run(&home, &line);
    wait_until_connected(&home, true);
    let target = Target::start();
    let id = create_monitor(&server, &key, &target.url("/"));
    let mut answered = 0;
    for kill in 0..KILLS {
        answered += trigger(&server, &key, &id);
        if kill % 2 == 0 {
            probe.kill();
            probe = Probe::run(&home, &line);
        } else {
            server.kill();
            server = home.serve_at(address);
        }
        wait_until_connected(&home, true);
    }
    answered += trigger(&server, &key, &id);
    check_results(&server, &key, &id, answered);
    assert!(probe.stop());
}

/// Checks that all answered results are stored, each once, and that none opened an incident.
pub(crate) fn check_results(server: &Server, key: &str, id: &Value, answered: usize) {
    let request = json!({ "id": id["id"], "limit": 100 });
    let logs = server.rpc(key, "ListResponseLogs", &request)["logs"].as_array().unwrap().clone();
    let manual = logs.iter().filter(|it| it["trigger"] == "manual").count();
    assert!(manual >= answered, "{manual} of {answered} are stored");
    let slots: BTreeSet<String> =
        logs.iter().map(|it| format!("{} {}", it["slot"], it["trigger"])).collect();
    assert_eq!(slots.len(), logs.len(), "no result is stored twice");
    // A slot is skipped while the check before it has not ended. A check during which its probe stands still
    // is slow.
    for ran in logs.iter().filter(|it| it["outcome"] != "skipped") {
        assert!(ran["outcome"] != "failure" && ran["servedBy"] == "fly-sin", "{ran}");
    }
    let incidents = json!({ "monitorId": id["id"] });
    let found = call_service(
        server.address,
        key,
        "incident.v1.IncidentService",
        "ListIncidents",
        &incidents,
    );
    let found = found.unwrap();
    assert!(found.body.contains("\"incidents\":[]"), "no false alarm: {}", found.body);
}
