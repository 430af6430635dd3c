//! Full and failing disks under a running server.

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::PathBuf;

use serde_json::json;

use crate::process::{Home, Server, get, http_monitor, rpc, until};
use crate::target::Target;

/// Exit code of a server whose disk failed to sync.
const UNSYNCED: i32 = 74;

/// Starts a server whose data folder has this fault while the file exists.
fn serve(home: &Home, fault: &str, file: &str) -> Server {
    let library = testkit::faults::library(&PathBuf::from(env!("CARGO_TARGET_TMPDIR")));
    let file = home.path().join(file);
    home.serve_under(&[
        ("LD_PRELOAD", library.to_str().unwrap()),
        (fault, file.to_str().unwrap()),
        ("FAULTS_FOLDER", home.data().to_str().unwrap()),
    ])
}

// issue 16, point 11: the response took five seconds, longer than load balancers wait
#[test]
fn full_disk_is_reported_immediately_and_loses_nothing() {
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
    assert_eq!(checked.join().unwrap().unwrap(), 200, "the waiting results are stored");
    assert!(server.stop().success());
}

#[test]
fn full_disk_fails_calls_and_readiness() {
    const NAMED: &str = "no space left on the data folder's disk";
    let (home, key) = Home::with_key();
    let server = serve(&home, "FAULTS_FULL", "full");
    let address = server.address;
    let mut monitor = http_monitor("API", "https://example.com", &["fly-ams"]);
    monitor["active"] = false.into();
    let create =
        || rpc(address, &key, "CreateHttpMonitor", &json!({ "monitor": monitor })).unwrap();

    fs::write(home.path().join("full"), "").unwrap();
    let refused = create();
    assert_eq!(refused.status, 503, "{}", refused.body);
    assert!(refused.body.contains(NAMED), "{}", refused.body);
    // No result was refused yet: nothing is checked.
    let ready = get(address, "/readyz").unwrap();
    assert_eq!(ready.status, 503, "{}", ready.body);
    assert!(ready.body.contains(NAMED), "{}", ready.body);

    fs::remove_file(home.path().join("full")).unwrap();
    assert_eq!(get(address, "/readyz").unwrap().status, 200);
    assert_eq!(create().status, 200);
    assert!(server.stop().success());
}

#[test]
fn stop_on_full_disk_logs_lost_results() {
    let (home, key) = Home::with_key();
    let server = serve(&home, "FAULTS_FULL", "full");
    let target = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", target.local_addr().unwrap());
    let monitor = http_monitor("API", &url, &["fly-ams"]);
    server.rpc(&key, "CreateHttpMonitor", &json!({ "monitor": monitor }));
    let (mut checked, _) = target.accept().unwrap();
    fs::write(home.path().join("full"), "").unwrap();
    checked.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
    let address = server.address;
    until("no result can be stored", || {
        get(address, "/readyz").unwrap().body.contains("nothing can be stored").then_some(())
    });
    let log = server.stop_with_log();
    // A slow machine may miss slots meanwhile.
    let lost = log.split_once("ended without storing 1 result, ").map(|(_, rest)| rest);
    assert!(lost.is_some_and(|rest| rest.contains(" missed slot")), "{log}");
}

// docs/decisions/0047-failed-sync.md
#[test]
fn failed_sync_stops_server_and_keeps_stored_data() {
    let (home, key) = Home::with_key();
    let server = serve(&home, "FAULTS_SYNC", "broken");
    let monitor = |name: &str| {
        let mut monitor = http_monitor(name, "https://example.com", &["fly-ams"]);
        monitor["active"] = false.into();
        json!({ "monitor": monitor })
    };
    server.rpc(&key, "CreateHttpMonitor", &monitor("before"));
    fs::write(home.path().join("broken"), "").unwrap();
    // Not confirmed, because the connection breaks with the process.
    let answer = rpc(server.address, &key, "CreateHttpMonitor", &monitor("after"));
    assert!(answer.is_err(), "{:?}", answer.map(|it| it.body));
    assert_eq!(server.ended().code(), Some(UNSYNCED));

    let again = home.serve();
    let listed = again.rpc(&key, "ListMonitors", &json!({}));
    assert!(listed["httpMonitors"].as_array().unwrap().iter().any(|it| it["name"] == "before"));
    assert!(again.stop().success());
}
