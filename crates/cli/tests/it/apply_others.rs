//! `aloft apply` beside other people, other configurations and many resources: nothing of others is
//! overwritten, and no secret is printed.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use serde_json::json;

use crate::apply::{ONE, WHOLE, applied, apply, monitors, refused};
use crate::user::User;

/// Returns a file with the monitor `shop` at this URL, and `count` others.
fn many(url: &str, count: usize) -> String {
    let shop = format!("kind: http, name: Shop, url: '{url}', periodicity: 1m");
    let other = |number: usize| {
        format!(
            "  m{number}: {{kind: tcp, name: m{number}, uri: 'a.example:1', periodicity: 1h}}\n"
        )
    };
    let others: String = (0..count).map(other).collect();
    format!("monitors:\n  shop: {{{shop}}}\n{others}")
}

#[test]
fn change_between_plan_and_apply_survives() {
    let user = User::logged_in();
    applied(&user, ONE, &[]);
    let listed = user.server.rpc(&user.key, "ListMonitors", &json!({}));
    let id = listed["httpMonitors"][0]["id"].as_str().unwrap().to_owned();
    // The plan is longer than what a pipe holds, so the program waits with the plan half printed.
    let file = many("https://mine.example/", 4_000);
    fs::write(user.home.path().join("aloft.yaml"), file).unwrap();
    let errors = user.home.path().join("errors.txt");
    let mut command = user.command(&["apply", "-f", "aloft.yaml", "--yes"]);
    command.stdout(Stdio::piped()).stderr(File::create(&errors).unwrap());
    let mut child = command.spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "configuration `default`:\n");
    let theirs = json!({ "id": id, "url": "https://theirs.example/" });
    let request = json!({ "monitor": theirs, "updateMask": "url" });
    user.server.rpc(&user.key, "UpdateHttpMonitor", &request);
    out.read_to_string(&mut line).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let why = fs::read_to_string(errors).unwrap();
    assert!(why.contains("stopped at HTTP monitor `shop`: 0 of"), "{why}");
    let read = user.server.rpc(&user.key, "GetMonitor", &json!({ "id": id }));
    assert_eq!(read["monitor"]["http"]["url"], "https://theirs.example/");
    assert_eq!(monitors(&user), ["Shop"]);
}

#[test]
fn resource_of_another_configuration_is_refused() {
    let user = User::logged_in();
    applied(&user, ONE, &[]);
    for flags in [&[][..], &["--adopt"]] {
        let why = refused(&user, &format!("name: other\n{ONE}"), flags);
        assert!(
            why.contains("`monitors.shop` has a twin that the configuration `default`"),
            "{why}"
        );
        assert!(why.contains("give the file `name: default`"), "{why}");
    }
    assert_eq!(monitors(&user), ["Shop"]);
    let out = user.done(&["export"]);
    assert!(out.starts_with("# The configuration `default` owns 1 resource of this file"), "{out}");
}

#[test]
fn secrets_stay_out_of_plans() {
    let user = User::logged_in();
    let hidden = WHOLE.replace("[Web, api]", "[{env: NTFY_TOKEN}]");
    applied(&user, &WHOLE.replace("{env: NTFY_TOKEN}", "old-token"), &[]);
    for flags in [&["--plan"][..], &["--plan", "--json"], &["--yes", "--json"]] {
        let ran = apply(&user, &hidden, flags);
        assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
        assert!(ran.out.contains("secret") && ran.out.contains("ntfy.token"), "{}", ran.out);
        let all = ran.out + &ran.err;
        assert!(!all.contains("hidden-token") && !all.contains("old-token"), "{all}");
    }
}

#[test]
fn more_resources_than_a_page_converge() {
    let user = User::logged_in();
    let file = many("https://shop.example/", 105);
    applied(&user, &file, &[]);
    let again = apply(&user, &file, &["--plan", "--detailed-exitcode"]);
    assert_eq!(again.out, "configuration `default`:\n106 unchanged\n");
    let out = applied(&user, ONE, &["--prune"]);
    assert!(out.contains("105 to delete, 1 unchanged"), "{out}");
}
