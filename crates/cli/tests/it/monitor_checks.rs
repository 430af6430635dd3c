//! `aloft monitors trigger`, `status`, `logs` and `open` on a running server.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use crate::process::until;
use crate::target::Target;
use crate::user::User;

/// Creates a paused monitor of a target and returns its ID.
fn monitor(user: &User, target: &Target) -> String {
    let url = target.url("/");
    let create = ["monitors", "create", "http", "--name", "API", "--url", &url, "--quiet"];
    let more = ["--periodicity", "1h", "--retry", "0", "--region", "fly-ams"];
    user.done(&[&create[..], &more].concat()).trim().to_owned()
}

#[test]
fn trigger_reports_the_worst_result() {
    let user = User::logged_in();
    let target = Target::start();
    let id = monitor(&user, &target);
    let before = user.done(&["monitors", "status", "API"]);
    assert!(before.starts_with(&format!("{id} (API): unknown")), "{before}");
    assert!(before.contains("fly-ams  unknown  never"), "{before}");
    let checked = user.run(&["monitors", "trigger", "API"]);
    assert_eq!(checked.code, Some(0), "{}", checked.err);
    assert!(checked.out.contains("fly-ams  success  "), "{}", checked.out);
    user.done(&["monitors", "update", &id, "--degraded-at", "1", "--expect-status", "eq 503"]);
    let failed = user.run(&["monitors", "trigger", &id]);
    assert_eq!(failed.code, Some(1), "{}", failed.out);
    assert!(failed.out.contains("fly-ams  failure  "), "{}", failed.out);
    assert!(failed.out.contains("status is 200"), "{}", failed.out);
    let json = user.run(&["monitors", "trigger", &id, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["results"][0]["region"], "fly-ams");
    let logs = user.done(&["monitors", "logs", "API", "--trigger", "manual"]);
    assert_eq!(logs.lines().count(), 4, "{logs}");
    let failures = user.json(&["monitors", "logs", &id, "--outcome", "failure"]);
    assert_eq!(failures["logs"].as_array().unwrap().len(), 2, "{failures}");
    let one = user.run(&["monitors", "logs", &id, "--limit", "1", "--quiet"]);
    assert!(one.out.starts_with("log_") && one.out.lines().count() == 1, "{}", one.out);
    let none = user.json(&["monitors", "logs", &id, "--to", "2020-01-01T00:00:00Z"]);
    assert_eq!(none["logs"].as_array().unwrap().len(), 0, "{none}");
    let unknown = user.run(&["monitors", "logs", &id, "--outcome", "good"]);
    assert_eq!(unknown.code, Some(2), "{}", unknown.err);
    assert!(unknown.err.contains("success, degraded, failure, skipped"), "{}", unknown.err);
    let at = user.run(&["monitors", "logs", &id, "--from", "yesterday"]);
    assert_eq!(at.code, Some(2), "{}", at.err);
}

#[test]
fn open_prints_and_opens_the_page() {
    let user = User::logged_in();
    let id = monitor(&user, &Target::start());
    let page = format!("http://{}/w/acme/monitors/{id}\n", user.server.address);
    let without = user.run_with(&["monitors", "open", "API"], &[("PATH", "/nonexistent")]);
    assert_eq!((without.code, &*without.out), (Some(0), &*page));
    assert!(without.err.contains("no browser was opened: failed to run `"), "{}", without.err);
    let folder = user.home.path().join("bin");
    fs::create_dir(&folder).unwrap();
    let opened = user.home.path().join("opened");
    for name in ["xdg-open", "open"] {
        let script = format!("#!/bin/sh\necho \"$1\" > '{}'\n", opened.display());
        fs::write(folder.join(name), script).unwrap();
        fs::set_permissions(folder.join(name), Permissions::from_mode(0o755)).unwrap();
    }
    let with = user.run_with(&["monitors", "open", &id], &[("PATH", folder.to_str().unwrap())]);
    assert_eq!((with.code, &*with.err, &with.out), (Some(0), "", &page));
    until("the browser", || fs::read_to_string(&opened).ok().filter(|text| *text == page));
}
