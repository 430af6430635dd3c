//! `aloft serve`: start, failures to start, and shutdown.

use std::net::TcpListener;
use std::process::Command;

use serde_json::json;

use crate::process::{Home, get, http_monitor, until};

/// Returns the last line of a server's output: the error after its log.
fn last_line(err: &str) -> &str {
    err.lines().last().unwrap()
}

#[test]
fn server_serves_health_and_metrics_and_shuts_down() {
    let server = Home::new();
    let server = server.serve();
    assert_eq!(server.get("/healthz", None).body, "ok\n");
    let ready = server.get("/readyz", None);
    assert_eq!((ready.status, ready.json()["ready"].as_bool()), (200, Some(true)));
    assert!(server.get("/metrics", None).body.contains("\naloft_"));
    assert_eq!(server.get("/v1/whoami", None).status, 401);
    assert_eq!(server.stop().code(), Some(0));
}

#[test]
fn second_signal_stops_immediately() {
    // The check of a target that never responds takes two minutes, and a shutdown waits for it.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let (home, key) = Home::with_key();
    let server = home.serve();
    let mut monitor = http_monitor("silent", &url, &["fly-ams"]);
    monitor["timeout"] = 120_000.into();
    server.rpc(&key, "CreateHttpMonitor", &json!({ "monitor": monitor }));
    let (_check, _) = silent.accept().unwrap();
    let asked = Command::new("kill").arg(server.pid().to_string()).status().unwrap();
    assert!(asked.success());
    let address = server.address;
    until("the server stops listening", || get(address, "/healthz").is_err().then_some(()));
    assert_eq!(server.stop().code(), Some(130));
}

#[test]
fn unknown_variable_is_named() {
    let home = Home::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let listen = ["serve", "--listen", address.as_str()];
    // The port is taken, so the server exits by itself.
    let errors = home.run_with(&listen, &[("ALOFT_LISTNE", "x"), ("ALOFT_DATA", "data")]).err;
    assert!(errors.contains("`ALOFT_LISTNE` is not a setting"), "{errors}");
    assert!(!errors.contains("`ALOFT_DATA`"), "{errors}");
}

#[test]
fn new_server_prints_setup_link_and_first_commands() {
    let home = Home::new();
    let server = home.serve();
    let mut lines = server.out.iter();
    let steps: Vec<String> = lines.by_ref().take(8).collect();
    let program = env!("CARGO_BIN_EXE_aloft");
    let token = steps[2].split_once("/setup/").unwrap().1;
    let shown = steps.join("\n").replace(program, "[aloft]").replace(token, "[token]");
    let shown = shown.replace(&server.address.to_string(), "[address]");
    insta::assert_snapshot!(home.masked(&shown), @"
    Nobody has an account yet. Open this link to create the first one. It is valid until then:

    http://[address]/setup/[token]

    Or work without the dashboard: create a workspace with a key while this runs:

        [aloft] workspaces create --data [home]/data --slug acme --name Acme
        [aloft] keys create --data [home]/data --workspace acme --name ci --scope write
    ");
    for step in &steps[6..] {
        let words: Vec<&str> = step.split_whitespace().skip(1).collect();
        let ran = home.run(&words.iter().map(|word| word.trim_matches('\'')).collect::<Vec<_>>());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
}

#[test]
fn second_server_on_a_folder_is_rejected() {
    // design: §6
    let home = Home::new();
    let first = home.serve();
    let second = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!((second.code, second.out.as_str()), (Some(1), ""));
    let why = last_line(&second.err).replace(&first.pid().to_string(), "[pid]");
    insta::assert_snapshot!(home.masked(&why), @"error: the data folder `[home]/data` is in use by process [pid]; stop that server or choose another folder");
    assert_eq!(first.get("/healthz", None).status, 200);
}

#[test]
fn taken_port_is_named_with_a_fix() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let refused = Home::new().run(&["serve", "--listen", &address]);
    assert_eq!(refused.code, Some(1));
    insta::assert_snapshot!(last_line(&refused.err).replace(&address, "[address]"), @"error: cannot listen on [address]: Address already in use (os error 98); choose another with --listen");
}

#[test]
fn unusable_folder_is_named() {
    let home = Home::new();
    std::fs::write(home.path().join("file"), "").unwrap();
    let refused = home.run(&["serve", "--data", "file/data"]);
    assert_eq!(refused.code, Some(1));
    insta::assert_snapshot!(home.masked(last_line(&refused.err)), @"error: `[home]/file/data` cannot be used: Not a directory (os error 20)");
}

// issue 16 point 27: "Suggest close names for unknown flags"
#[test]
fn unknown_flag_suggests_a_close_one() {
    let home = Home::new();
    for (args, close) in [
        (&["serve", "--lisen", "127.0.0.1:0"][..], "--listen"),
        (&["serve", "--retention-day", "5"], "--retention-days"),
        (&["check", "http", "--expect-statu", "200", "http://127.0.0.1"], "--expect-status"),
        (&["audit", "--workspac", "acme"], "--workspace"),
    ] {
        let refused = home.run(args);
        assert_eq!(refused.code, Some(2), "{args:?}: {}", refused.err);
        let tip = refused
            .err
            .lines()
            .find(|line| line.trim_start().starts_with("tip: "))
            .unwrap_or_default();
        assert!(tip.contains(&format!("'{close}'")), "{args:?}: {}", refused.err);
    }
}

#[test]
fn usage_error_differs_from_failed_command() {
    let home = Home::new();
    let refused = home.run(&["serve", "--frobnicate"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("unexpected argument '--frobnicate'"), "{}", refused.err);
    assert_eq!(home.run(&[]).code, Some(2));
    let version = home.run(&["--version"]);
    assert_eq!((version.code, version.out.as_str()), (Some(0), "aloft 0.1.0\n"));
}
