//! Faults of servers that share a database, with a probe that reaches them through the standby.

use serde_json::Value;
use testkit::flaky_proxy::FlakyProxy;
use testkit::postgres;

use super::scene::Scene;
use super::{CONNECTED, paused, probe_line};
use crate::process::{Home, Server};
use crate::remote_probe::Probe;

/// Master key of both servers.
const KEY: &str = "c3RhbmRieSBrZXkgb2YgMzIgYnl0ZXMgZm9yIHRlc3Q=";
/// Text of a standby that ends the session of the owner.
const SILENT_OWNER: &str = "the owner of the database was silent";

/// An owner, its standby, and a monitor that a probe checks.
struct Replicas {
    owner: Server,
    standby: Server,
    probe: Probe,
    scene: Scene,
    /// Folders of the servers and the probe.
    _homes: [Home; 2],
}

impl Replicas {
    /// Starts everything. The owner reaches the database at an address of its own.
    fn start(owners_database: &str, database: &str) -> Self {
        let variables = |database| {
            let own = ("ALOFT_DATABASE", database);
            [own, ("ALOFT_MASTER_KEY", KEY), ("ALOFT_REPLICA_ADDRESS", "127.0.0.1:0")]
        };
        let homes = [Home::new(), Home::new()];
        let owner = homes[0].serve_under(&variables(owners_database));
        let created = homes[0].run(&["workspaces", "create", "--slug", "acme", "--name", "Acme"]);
        assert_eq!(created.code, Some(0), "{}", created.err);
        let key: Value = homes[0].new_key(&["--scope", "write"]);
        let key = key["key"].as_str().unwrap().to_owned();
        let standby = homes[1].serve_under(&variables(database));
        let line = probe_line(&homes[0]);
        let line = line.replace(&owner.address.to_string(), &standby.address.to_string());
        let probe = Probe::run(&homes[0], &line);
        owner.wait_for_log(CONNECTED);
        let scene = Scene::new(&owner, key);
        Self { owner, standby, probe, scene, _homes: homes }
    }
}

fn kill_of_the_owner() {
    let database = postgres::database();
    let Replicas { owner, standby, probe, scene, _homes } = Replicas::start(&database, &database);
    owner.kill();
    standby.wait_for_log(CONNECTED);
    scene.check(&standby);
    assert!(probe.stop());
    assert!(standby.stop().success());
}

fn stop_of_the_owner() {
    let database = postgres::database();
    let Replicas { owner, standby, probe, scene, _homes } = Replicas::start(&database, &database);
    assert!(owner.stop().success());
    standby.wait_for_log(CONNECTED);
    scene.check(&standby);
    assert!(probe.stop());
    assert!(standby.stop().success());
}

fn pause_of_the_owner() {
    let database = postgres::database();
    let Replicas { owner, standby, probe, scene, _homes } = Replicas::start(&database, &database);
    paused(owner.pid(), || {
        standby.wait_for_log(SILENT_OWNER);
        standby.wait_for_log(CONNECTED);
    });
    assert_eq!(owner.ended().code(), Some(1));
    scene.check(&standby);
    assert!(probe.stop());
    assert!(standby.stop().success());
}

fn partition_of_the_owner() {
    let database = postgres::database();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let line = runtime.block_on(FlakyProxy::start(&database));
    let through = line.address();
    let Replicas { owner, standby, probe, scene, _homes } = Replicas::start(&through, &database);
    line.silence();
    standby.wait_for_log(SILENT_OWNER);
    // It cannot learn from the database that it was replaced.
    assert_eq!(owner.ended().code(), Some(1));
    standby.wait_for_log(CONNECTED);
    scene.check(&standby);
    assert!(probe.stop());
    assert!(standby.stop().success());
}

// issue 19, faults: `kill -9`, SIGSTOP and a partition between one server and PostgreSQL. Most of the time is
// idle, so they run at the same time.
#[test]
fn standby_replaces_an_owner_without_loss() {
    std::thread::scope(|scope| {
        for fault in
            [kill_of_the_owner, stop_of_the_owner, pause_of_the_owner, partition_of_the_owner]
        {
            scope.spawn(fault);
        }
    });
}
