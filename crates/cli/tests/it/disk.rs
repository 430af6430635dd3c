//! Disks that are full or fail, under a server that runs.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::process::{Home, Server, get, http_monitor, rpc, until};
use crate::target::Target;

/// How a server ends whose disk failed to sync.
const UNSYNCED: i32 = 74;

/// A server whose data folder has this fault while the file is there.
fn serve(home: &Home, fault: &str, file: &str) -> Server {
    let library = testkit::faults::library(&PathBuf::from(env!("CARGO_TARGET_TMPDIR")));
    let file = home.path().join(file);
    home.serve_under(&[
        ("LD_PRELOAD", library.to_str().unwrap()),
        (fault, file.to_str().unwrap()),
        ("FAULTS_FOLDER", home.data().to_str().unwrap()),
    ])
}

// issue 16, point 11: it was answered after five seconds, when load balancers had given up
#[test]
fn a_full_disk_is_told_at_once_and_nothing_is_lost() {
    let (home, key) = Home::with_key();
    let server = serve(&home, "FAULTS_FULL", "full");
    let target = Target::start();
    let monitor = http_monitor("API", &target.url("/"), &["fly-ams"]);
    let created = server.rpc(&key, "CreateHttpMonitor", &json!({ "monitor": monitor }));
    let id = created["monitor"]["id"].clone();
    assert_eq!(server.get("/readyz", None).status, 200);

    fs::write(home.path().join("full"), "").unwrap();
    let address = server.address;
    let (asked, monitor) = (key.clone(), id.clone());
    let checked = std::thread::spawn(move || {
        rpc(address, &asked, "TriggerMonitor", &json!({ "id": monitor })).map(|it| it.status)
    });
    until("the disk is full", || {
        let ready = get(address, "/readyz").unwrap();
        (ready.status == 503 && ready.body.contains("nothing can be stored")).then_some(())
    });
    for _ in 0..50 {
        assert_eq!(get(address, "/readyz").unwrap().status, 503);
    }
    fs::remove_file(home.path().join("full")).unwrap();
    until("there is room again", || (get(address, "/readyz").unwrap().status == 200).then_some(()));
    assert_eq!(checked.join().unwrap().unwrap(), 200, "what waited is stored");
    assert!(server.stop().success());
}

// docs/decisions/0047-failed-sync.md
#[test]
fn a_failed_sync_ends_the_server_and_what_was_stored_is_there() {
    let (home, key) = Home::with_key();
    let server = serve(&home, "FAULTS_SYNC", "broken");
    let monitor = |name: &str| {
        let mut monitor = http_monitor(name, "https://example.com", &["fly-ams"]);
        monitor["active"] = false.into();
        json!({ "monitor": monitor })
    };
    server.rpc(&key, "CreateHttpMonitor", &monitor("before"));
    fs::write(home.path().join("broken"), "").unwrap();
    // It is not confirmed: the connection breaks with the process.
    let answer = rpc(server.address, &key, "CreateHttpMonitor", &monitor("after"));
    assert!(answer.is_err(), "{:?}", answer.map(|it| it.body));
    assert_eq!(server.ended().code(), Some(UNSYNCED));

    let again = home.serve();
    let listed = again.rpc(&key, "ListMonitors", &json!({}));
    assert!(listed["httpMonitors"].as_array().unwrap().iter().any(|it| it["name"] == "before"));
    assert!(again.stop().success());
}
