//! Faults between servers, a probe and NATS, which are all real processes: full disks, clocks that jump,
//! processes that stand still, and lines on which nothing arrives. `replicas` has servers that share a
//! database. `scene` has the monitor and its alerts, and checks that nothing is lost or invented. Kills
//! are in `remote_probe`, `nats` and `chaos`, too.

mod line;
mod replicas;
mod scene;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use self::line::Line;
use self::scene::Scene;
use crate::nats::Setting;
use crate::process::{Home, Server, until};
use crate::remote_probe::{Probe, create_monitor, wait_until_connected};

/// Text of the server when its probe connects.
const CONNECTED: &str = "probe `fly-sin` is connected";
/// Text of the server when it gives a stream up.
const GONE: &str = "probe `fly-sin` is no longer connected";
/// Text of a probe when its stream is open.
const SERVES: &str = "probe `fly-sin` serves fly-sin";
/// Text of a probe that hears nothing on its stream.
const SILENT: &str = "no connection to the server: no sign of life";
/// Seconds of a clock jump.
const HOUR: i64 = 3_600;

/// Returns a free address, for a server that others find again.
fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// Returns the variables of a process whose faults these files switch.
fn faulty(home: &Home, fault: &'static str, file: &str) -> [(&'static str, String); 3] {
    let library = testkit::faults::library(&PathBuf::from(env!("CARGO_TARGET_TMPDIR")));
    let path = |file: &str| home.path().join(file).display().to_string();
    [
        ("LD_PRELOAD", library.display().to_string()),
        (fault, path(file)),
        ("FAULTS_FOLDER", path("probe")),
    ]
}

fn borrowed<'v>(variables: &'v [(&'static str, String); 3]) -> [(&'v str, &'v str); 3] {
    variables.each_ref().map(|(name, value)| (*name, value.as_str()))
}

/// Creates a probe, and returns the line that starts it.
fn probe_line(home: &Home) -> String {
    let created = home.json(&["probes", "create", "--region", "fly-sin"]);
    created["command"].as_str().unwrap().to_owned()
}

fn serve(home: &Home, address: SocketAddr) -> Server {
    home.serve_as(&["--listen", &address.to_string(), "--allow-private-networks"], &[])
}

/// Lets a process stand still while `during` runs.
fn paused<T>(pid: u32, during: impl FnOnce() -> T) -> T {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    let done = during();
    kill_process(pid, Signal::CONT).unwrap();
    done
}

/// A target whose first request waits, and which answers the others at once.
struct HeldTarget {
    listener: TcpListener,
    url: String,
}

impl HeldTarget {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        Self { listener, url }
    }

    /// Waits for the first request, and returns it unanswered.
    fn first(self) -> TcpStream {
        let (first, _) = self.listener.accept().unwrap();
        std::thread::spawn(move || {
            self.listener.incoming().map_while(Result::ok).for_each(answer);
        });
        first
    }
}

/// Answers a request. Ignores a client that disconnects.
fn answer(mut stream: TcpStream) {
    let mut head = [0; 4_096];
    let _ = stream.read(&mut head);
    let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n");
}

/// Waits until the first scheduled result is stored, and returns it.
fn scheduled_result(server: &Server, key: &str, id: &Value) -> Value {
    until("the result", || {
        let request = json!({ "id": id["id"], "triggers": ["scheduled"] });
        let logs = server.rpc(key, "ListResponseLogs", &request)["logs"].as_array()?.clone();
        logs.last().cloned()
    })
}

// issue 19, faults: "a full disk on a probe"
#[test]
fn full_disk_of_a_probe_loses_no_result() {
    let (home, key) = Home::with_key();
    let address = free_address();
    let server = home.serve_at(address);
    let line = probe_line(&home);
    let variables = faulty(&home, "FAULTS_FULL", "full");
    let probe = Probe::run_under(&home, &line, &borrowed(&variables));
    server.wait_for_log(CONNECTED);
    let target = HeldTarget::new();
    let id = create_monitor(&server, &key, &target.url);
    let first = target.first();
    server.kill();
    fs::write(home.path().join("full"), "").unwrap();
    answer(first);
    probe.wait_for_log("they stay in memory");
    assert_eq!(fs::read_dir(home.path().join("probe/results")).unwrap().count(), 0);
    let server = home.serve_at(address);
    probe.wait_for_log("the server takes results again");
    let result = scheduled_result(&server, &key, &id);
    assert_eq!(
        (&result["outcome"], &result["statusCode"]),
        (&json!("success"), &json!(204)),
        "{result}"
    );
    fs::remove_file(home.path().join("full")).unwrap();
    assert!(probe.stop());
}

// issue 19, faults: `kill -9` of the server while a result is in flight
#[test]
fn nats_keeps_results_for_a_killed_server() {
    let setting = Setting::new();
    let server = setting.serve();
    let probe = Probe::run(&setting.home, &setting.line);
    server.wait_for_log(CONNECTED);
    let target = HeldTarget::new();
    let id = create_monitor(&server, &setting.key, &target.url);
    let first = target.first();
    server.kill();
    answer(first);
    assert!(probe.stop(), "it waits for the check, and gives its result to NATS");
    let spooled = fs::read_dir(setting.home.path().join("probe/results")).unwrap().count();
    assert_eq!(spooled, 0, "nothing waits on its disk");
    let server = setting.serve();
    let result = scheduled_result(&server, &setting.key, &id);
    assert_eq!(result["servedBy"], "fly-sin", "{result}");
    wait_until_connected(&setting.home, false);
}

// issue 19, faults: "a clock jump of one hour … on a probe"
#[test]
fn clock_jumps_of_a_probe_change_nothing() {
    let (home, key) = Home::with_key();
    let server = serve(&home, free_address());
    let line = probe_line(&home);
    let variables = faulty(&home, "FAULTS_CLOCK", "clock");
    let probe = Probe::run_under(&home, &line, &borrowed(&variables));
    server.wait_for_log(CONNECTED);
    let mut scene = Scene::new(&server, key);
    for jump in [HOUR, -HOUR] {
        fs::write(home.path().join("clock"), jump.to_string()).unwrap();
        scene.trigger(&server);
        let offset = until("the offset of its clock", || {
            let metrics = server.get("/metrics", None).body;
            let name = "aloft_probe_clock_offset_seconds{region=\"fly-sin\"} ";
            let offset: f64 = metrics.lines().find_map(|it| it.strip_prefix(name))?.parse().ok()?;
            (offset.abs() > HOUR as f64 / 2.0)
                .then_some(offset)
                .filter(|it| it.signum() == (jump as f64).signum())
        });
        assert!((offset - jump as f64).abs() < 60.0, "{offset}");
    }
    scene.check(&server);
    assert!(probe.stop());
}

/// Lets the clock of a server jump while a probe serves its monitor.
fn clock_jump_of_a_server(jump: i64) {
    let (home, key) = Home::with_key();
    let variables = faulty(&home, "FAULTS_CLOCK", "clock");
    let listen = free_address().to_string();
    let flags = ["--listen", &listen, "--allow-private-networks"];
    let server = home.serve_as(&flags, &borrowed(&variables));
    let probe = Probe::run(&home, &probe_line(&home));
    server.wait_for_log(CONNECTED);
    let mut scene = Scene::new(&server, key);
    let before = scene.trigger(&server);
    fs::write(home.path().join("clock"), jump.to_string()).unwrap();
    let after = scene.trigger(&server);
    let jumped = (after - before) / 1_000;
    assert!((jumped - jump).abs() < HOUR / 2, "{jumped}");
    if jump < 0 {
        scene.ignore_slots_after(before - HOUR / 2 * 1_000);
    }
    scene.check(&server);
    assert!(probe.stop());
}

// issue 19, faults: "a clock jump of one hour on a server"
#[test]
fn clock_jumps_of_a_server_lose_nothing() {
    std::thread::scope(|scope| {
        for jump in [HOUR, -HOUR] {
            scope.spawn(move || clock_jump_of_a_server(jump));
        }
    });
}

fn pause_of_a_probe() {
    let (home, key) = Home::with_key();
    let server = serve(&home, free_address());
    let probe = Probe::run(&home, &probe_line(&home));
    server.wait_for_log(CONNECTED);
    let scene = Scene::new(&server, key);
    paused(probe.pid(), || server.wait_for_log(GONE));
    server.wait_for_log(CONNECTED);
    scene.check(&server);
    assert!(probe.stop());
}

fn pause_of_a_server() {
    let (home, key) = Home::with_key();
    let server = serve(&home, free_address());
    let probe = Probe::run(&home, &probe_line(&home));
    probe.wait_for_log(SERVES);
    let scene = Scene::new(&server, key);
    paused(server.pid(), || probe.wait_for_log(SILENT));
    probe.wait_for_log(SERVES);
    scene.check(&server);
    assert!(probe.stop());
}

fn pause_of_nats() {
    let setting = Setting::new();
    let server = setting.serve();
    let probe = Probe::run(&setting.home, &setting.line);
    server.wait_for_log(CONNECTED);
    let scene = Scene::new(&server, setting.key.clone());
    let nats = setting.nats.pid().unwrap();
    paused(nats, || server.wait_for_log("regions of its probes are not checked until it works"));
    server.wait_for_log("serving probes through NATS");
    scene.check(&server);
    assert!(probe.stop());
}

fn partition_of_a_probe() {
    let (home, key) = Home::with_key();
    let server = serve(&home, free_address());
    let between = Line::start(server.address);
    let line = probe_line(&home);
    let line = line.replace(&server.address.to_string(), &between.address.to_string());
    let probe = Probe::run(&home, &line);
    server.wait_for_log(CONNECTED);
    probe.wait_for_log(SERVES);
    let scene = Scene::new(&server, key);
    between.hold();
    server.wait_for_log(GONE);
    probe.wait_for_log(SILENT);
    between.restore();
    probe.wait_for_log(SERVES);
    scene.check(&server);
    assert!(probe.stop());
}

// issue 19, faults: "a … partition between core and probes …; SIGSTOP for a minute". Each lasts until the
// others give up, and most of that time is idle, so they run at the same time.
#[test]
fn silent_processes_and_lines_lose_nothing() {
    std::thread::scope(|scope| {
        for fault in [pause_of_a_probe, pause_of_a_server, pause_of_nats, partition_of_a_probe] {
            scope.spawn(fault);
        }
    });
}
