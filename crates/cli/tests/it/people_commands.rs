//! `aloft members`, `keys`, `usage` and `open` with a key, on a running server.

use serde_json::json;

use crate::user::User;

#[test]
fn members_are_listed_and_invited_in_the_dashboard() {
    let user = User::logged_in();
    assert_eq!(user.done(&["members", "list", "--quiet"]), "");
    assert!(user.done(&["members", "invitations"]).starts_with("INVITATION  ROLE"));
    assert_eq!(user.json(&["members", "list"])["members"], json!([]));
    let help = user.done(&["members", "--help"]);
    assert!(help.contains("`aloft open members`"), "{help}");
    let address = user.url().replace("/rpc", "/w/acme/settings/members\n");
    assert_eq!(user.done(&["open", "members", "--print"]), address);
    let why = user.refused(&["open", "members", "ada"]);
    assert!(why.contains("no name for this screen"), "{why}");
}

#[test]
fn keys_are_listed_and_revoked_without_a_database() {
    let user = User::logged_in();
    let other = user.home.new_key(&["--scope", "read"]);
    let context = ["--context", "acme"];
    let listed = user.json(&[&["keys", "list"], &context[..]].concat());
    assert_eq!(listed["apiKeys"].as_array().unwrap().len(), 2, "{listed}");
    let id = other["id"].as_str().unwrap();
    let why = user.refused(&[&["keys", "revoke", "test"], &context[..]].concat());
    assert!(why.contains("2 keys have the name `test`; give the ID of one"), "{why}");
    let revoked = user.done(&[&["keys", "revoke", id], &context[..]].concat());
    assert_eq!(revoked, format!("{id} was revoked\n"));
    let create = ["keys", "create", "--workspace", "acme", "--name", "x", "--scope", "read"];
    let why = user.refused(&[&create[..], &context].concat());
    assert!(why.contains("a key never creates a key"), "{why}");
    assert!(why.contains("/w/acme/settings/keys"), "{why}");
    let elsewhere = user.home.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut command = user.command(&["keys", "list", "--jq", ".apiKeys | length"]);
    let ran = command.env_remove("ALOFT_DATA").current_dir(elsewhere).output().unwrap();
    assert_eq!(String::from_utf8(ran.stdout).unwrap(), "2\n");
    // The folder of a server precedes the context.
    assert_eq!(user.done(&["keys", "list"]).lines().count(), 3);
}

#[test]
fn usage_shows_the_limits_of_the_plan() {
    let user = User::logged_in();
    let shown = user.done(&["usage"]);
    assert!(shown.contains("slug  acme") && shown.contains("monitors"), "{shown}");
    assert_eq!(user.json(&["usage"])["workspace"]["usage"]["monitors"], 0);
}

#[test]
fn open_prints_addresses_of_the_dashboard() {
    let user = User::logged_in();
    let create = ["monitors", "create", "tcp", "--name", "db", "--uri", "127.0.0.1:9"];
    let id = user.done(&[&create[..], &["--periodicity", "1h", "--quiet"]].concat());
    let origin = user.url().replace("/rpc", "/w/acme");
    for (args, path) in [
        (&[][..], String::new()),
        (&["monitor"], "/monitors".to_owned()),
        (&["monitor", "db"], format!("/monitors/{}", id.trim())),
        (&["page"], "/pages".to_owned()),
        (&["incident"], "/incidents".to_owned()),
    ] {
        let printed = user.done(&[&["open", "--print"], args].concat());
        assert_eq!(printed, format!("{origin}{path}\n"), "{args:?}");
    }
    // A machine without a browser prints the address too.
    let mut command = user.command(&["open", "monitor", "db"]);
    let ran = command.env("PATH", "/nowhere").output().unwrap();
    assert!(ran.status.success());
    assert!(String::from_utf8(ran.stderr).unwrap().contains("no browser was opened"));
    let why = user.refused(&["open", "incident", "db"]);
    assert!(why.contains("has no open incident"), "{why}");
}

#[test]
fn private_probe_is_managed_with_a_key() {
    let user = User::logged_in();
    let ran = user.run(&[
        "probes",
        "create",
        "--region",
        "private-1",
        "--name",
        "office",
        "--context",
        "acme",
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.starts_with("aloft probe --server "), "{}", ran.out);
    assert!(ran.err.contains("Its token is shown only once"), "{}", ran.err);
    let listed = user.done(&["probes", "list", "--context", "acme"]);
    assert!(listed.contains("office  private-1  no"), "{listed}");
    let rotated = user.json(&["probes", "rotate", "office", "--context", "acme"]);
    assert!(!rotated["token"].as_str().unwrap().is_empty());
    let why = user.refused(&["probes", "delete", "office", "--context", "acme"]);
    assert!(why.contains("add --yes to confirm"), "{why}");
    user.done(&["probes", "delete", "office", "--yes", "--context", "acme"]);
    assert_eq!(user.json(&["probes", "list", "--context", "acme"])["probes"], json!([]));
}
