//! Two servers with one PostgreSQL. Without `replica_address`, the second one ends while the first one
//! runs, as often as it is started. With it, the second one waits as a standby, passes its connections on,
//! and takes over when the first one stops, is killed or hangs.

use std::net::{Ipv4Addr, SocketAddr};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use testkit::postgres;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpSocket;

use crate::process::{Home, Server, get, http_monitor, until};

/// Master key of both servers.
const KEY: &str = "c3RhbmRieSBrZXkgb2YgMzIgYnl0ZXMgZm9yIHRlc3Q=";

// issue 19, point 7: rolling upgrades. The unit in `packaging/systemd` starts a standby again and again.
#[test]
fn standby_takes_over_after_an_orderly_stop() {
    let database = postgres::database();
    let shared = [("ALOFT_DATABASE", database.as_str()), ("ALOFT_MASTER_KEY", KEY)];
    let (first, second) = (Home::new(), Home::new());
    let running = first.serve_under(&shared);
    let create = ["workspaces", "create", "--slug", "acme", "--name", "Acme"];
    let created = first.run_with(&create, &shared);
    assert_eq!(created.code, Some(0), "{}", created.err);

    let refused = second.run_with(&["serve", "--listen", "127.0.0.1:0"], &shared);
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    let holder = format!("aloft process {}", running.pid());
    assert!(refused.err.contains(&holder), "{}", refused.err);
    assert_eq!(running.get("/readyz", None).status, 200);

    assert!(running.stop().success());
    let standby = second.serve_under(&shared);
    assert_eq!(standby.get("/readyz", None).status, 200);
    let listed = second.run_with(&["workspaces", "list"], &shared);
    assert!(listed.out.contains("acme"), "{} {}", listed.out, listed.err);
    assert!(standby.stop().success());
}

/// Two servers that share a database, and a key of a workspace.
struct Replicas {
    owner: Server,
    standby: Server,
    /// Home of each.
    homes: [Home; 2],
    key: String,
    variables: Vec<(&'static str, String)>,
}

impl Replicas {
    fn start() -> Self {
        let variables = vec![
            ("ALOFT_DATABASE", postgres::database()),
            ("ALOFT_MASTER_KEY", KEY.to_owned()),
            ("ALOFT_REPLICA_ADDRESS", "127.0.0.1:0".to_owned()),
        ];
        let shared: Vec<_> = variables.iter().map(|(name, value)| (*name, &**value)).collect();
        let homes = [Home::new(), Home::new()];
        let owner = homes[0].serve_under(&shared);
        let create = ["workspaces", "create", "--slug", "acme", "--name", "Acme"];
        let created = homes[0].run_with(&create, &shared);
        assert_eq!(created.code, Some(0), "{}", created.err);
        let issue = ["keys", "create", "--workspace", "acme", "--name", "ci", "--scope", "write"];
        let issued = homes[0].run_with(&[&issue[..], &["--json"]].concat(), &shared);
        let issued: Value = serde_json::from_str(&issued.out).unwrap();
        let key = issued["key"].as_str().unwrap().to_owned();
        let standby = homes[1].serve_under(&shared);
        assert!(standby.log().contains("waiting as a standby"), "{}", standby.log());
        Self { owner, standby, homes, key, variables }
    }
}

/// Waits until the server at this address is ready.
fn wait_until_ready(address: SocketAddr) {
    until("a ready server", || get(address, "/readyz").ok().filter(|reply| reply.status == 200));
}

// issue 19, point 5: every replica answers
#[test]
fn standby_answers_as_the_owner_does() {
    let Replicas { owner, standby, homes, key, variables } = Replicas::start();
    wait_until_ready(standby.address);
    let monitor = http_monitor("home", "http://127.0.0.1:9/", &["fly-ams"]);
    let request = json!({ "monitor": monitor }).to_string();
    let client = Ipv4Addr::new(127, 0, 0, 9);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let answer = runtime.block_on(async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((client, 0).into()).unwrap();
        let mut stream = socket.connect(standby.address).await.unwrap();
        let head = format!(
            "POST /rpc/monitor.v1.MonitorService/CreateHttpMonitor HTTP/1.1\r\nhost: a\r\n\
             connection: close\r\nx-service-key: {key}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{request}",
            request.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    });
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let listed = owner.rpc(&key, "ListMonitors", &json!({}));
    assert_eq!(listed, standby.rpc(&key, "ListMonitors", &json!({})));
    assert_eq!(listed["totalSize"], 1);
    // The owner knows the client's own address.
    let shared: Vec<_> = variables.iter().map(|(name, value)| (*name, &**value)).collect();
    let audit = homes[0].run_with(&["audit", "--workspace", "acme", "--json"], &shared);
    assert!(audit.out.contains("127.0.0.9"), "{} {}", audit.out, audit.err);
    let metrics = || owner.get("/metrics", None).body;
    until("the standby in the metrics", || metrics().contains("aloft_standbys 1").then_some(()));
    assert!(standby.stop().success());
    assert!(owner.stop().success());
}

#[test]
fn standby_takes_over_from_a_killed_owner() {
    let Replicas { owner, standby, homes, key, variables } = Replicas::start();
    wait_until_ready(standby.address);
    owner.kill();
    wait_until_ready(standby.address);
    let listed = standby.rpc(&key, "ListMonitors", &json!({}));
    assert_eq!(listed["totalSize"], 0);
    // It has its own control socket now.
    let shared: Vec<_> = variables.iter().map(|(name, value)| (*name, &**value)).collect();
    let workspaces = homes[1].run_with(&["workspaces", "list"], &shared);
    assert!(workspaces.out.contains("acme"), "{} {}", workspaces.out, workspaces.err);
    // The former owner is a standby when it starts again.
    let again = homes[0].serve_under(&shared);
    assert!(again.log().contains("waiting as a standby"), "{}", again.log());
    wait_until_ready(again.address);
    assert!(again.stop().success());
    assert!(standby.stop().success());
}

// issue 19, target: SIGSTOP for a minute
#[test]
fn hanging_owner_is_replaced_and_ends() {
    let Replicas { owner, standby, key, .. } = Replicas::start();
    wait_until_ready(standby.address);
    let pid = Pid::from_raw(i32::try_from(owner.pid()).unwrap()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    standby.wait_for_log("the owner of the database was silent");
    wait_until_ready(standby.address);
    let monitor = http_monitor("home", "http://127.0.0.1:9/", &["fly-ams"]);
    standby.rpc(&key, "CreateHttpMonitor", &json!({ "monitor": monitor }));
    kill_process(pid, Signal::CONT).unwrap();
    assert_eq!(owner.ended().code(), Some(1));
    let listed = standby.rpc(&key, "ListMonitors", &json!({}));
    assert_eq!(listed["totalSize"], 1);
    assert!(standby.stop().success());
}

#[test]
fn stranger_at_the_replica_address_is_refused() {
    let Replicas { owner, standby, .. } = Replicas::start();
    let log = owner.log();
    let (_, address) = log.split_once("taking connections of standbys at ").unwrap();
    let address: SocketAddr = address.split_whitespace().next().unwrap().parse().unwrap();
    // It gets no answer.
    get(address, "/readyz").unwrap_err();
    owner.wait_for_log("refused a connection of 127.0.0.1 as a standby");
    wait_until_ready(standby.address);
    assert!(standby.stop().success());
    assert!(owner.stop().success());
}
