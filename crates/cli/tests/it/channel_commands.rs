//! `aloft channels` and `aloft regions`: creates, shows, changes and deletes channels from JSON, on a
//! running server.

use serde_json::{Value, json};

use crate::user::{Dialogue, User};

/// A channel with a secret.
const NTFY: &str = r#"{ "name": "On call", "providerType": "ntfy",
    "ntfy": { "topic": "acme", "token": "hidden-token" } }"#;

/// Creates the channel and returns its ID.
fn create(user: &User) -> String {
    let ran = user.run_with_input(&["channels", "create", "--from-json", "-", "--quiet"], NTFY);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    ran.out.trim().to_owned()
}

#[test]
fn channel_is_created_changed_and_deleted() {
    let user = User::logged_in();
    let id = create(&user);
    let shown = user.done(&["channels", "get", "On call"]);
    assert!(shown.contains(&id) && shown.contains("kind        ntfy"), "{shown}");
    assert!(!shown.contains("hidden-token"), "{shown}");
    let json = user.done(&["channels", "get", &id, "--json"]);
    let read: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(read["notification"]["ntfy"]["token"], "hidden-token");
    let renamed = json.replace("On call", "Night");
    let update = ["channels", "update", "On call", "--from-json", "-", "--json"];
    let ran = user.run_with_input(&update, &renamed);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let changed: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(changed["notification"]["name"], "Night");
    assert_eq!(changed["notification"]["ntfy"]["token"], "hidden-token");
    // The former name of the command.
    assert_eq!(user.done(&["notifications", "list", "--quiet"]), format!("{id}\n"));
    let deliveries = user.json(&["channels", "deliveries", "--channel", "Night"]);
    assert_eq!(deliveries["deliveries"], json!([]));
    let why = user.refused(&["channels", "delete", "Night"]);
    assert!(why.contains("without a terminal; add `--yes`"), "{why}");
    let prompt = &*format!("Delete the channel `Night` ({id})? [y/N] ");
    let delete = ["channels", "delete", "Night"];
    let ran = user.run_on_terminal(&delete, &Dialogue { prompt, answer: "yes" });
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    assert_eq!(user.done(&["channels", "list", "--quiet"]), "");
    let why = user.refused(&["channels", "get", &id]);
    assert!(why.contains(&format!("channel `{id}` not found")), "{why}");
}

#[test]
fn flags_of_kinds_create_channels() {
    let user = User::logged_in();
    let create = ["monitors", "create", "tcp", "--name", "db", "--uri", "127.0.0.1:9"];
    let monitor = user.done(&[&create[..], &["--periodicity", "1h", "-q"]].concat());
    std::fs::write(user.home.path().join("token"), "hidden-token\n").unwrap();
    let create = ["channels", "create", "--ntfy", "acme", "--set", "ntfy.token=@token"];
    user.done(&[&create[..], &["--name", "Night", "--monitor", "db"]].concat());
    let channel = user.json(&["channels", "get", "Night"])["notification"].clone();
    assert_eq!(channel["ntfy"], json!({ "topic": "acme", "token": "hidden-token" }));
    assert_eq!(channel["monitorIds"], json!([monitor.trim()]));
    user.done(&["channels", "update", "Night", "--name", "Day"]);
    let channel = user.json(&["channels", "get", "Day"])["notification"].clone();
    assert_eq!(channel["monitorIds"], json!([monitor.trim()]));
    let two = user.refused(&["channels", "create", "--ntfy", "a", "--slack", "b"]);
    assert!(two.contains("a channel has one kind"), "{two}");
    assert_eq!(user.run(&["channels", "update", "Day"]).code, Some(2));
}

#[test]
fn impossible_channels_name_the_reason() {
    let user = User::logged_in();
    let create_from = |json: &str| {
        let ran = user.run_with_input(&["channels", "create", "--from-json", "-"], json);
        assert_eq!(ran.code, Some(1), "{}", ran.out);
        ran.err
    };
    for (json, why) in [
        ("{", "standard input is not JSON"),
        (r#"{ "providerType": "pigeon" }"#, "`notification.provider_type` must be one of"),
        (r#"{ "providerType": "ntfy", "ntfy": {} }"#, "`notification.ntfy.topic` must be given"),
        (r#"{ "kind": "ntfy" }"#, "is not a field of notification.v1.Notification"),
    ] {
        let refused = create_from(json);
        assert!(refused.contains(why), "{json}: {refused}");
    }
    let (one, two) = (create(&user), create(&user));
    for command in ["get", "test", "delete"] {
        let why = user.refused(&["channels", command, "On call"]);
        assert!(why.contains(&one) && why.contains(&two), "{command}: {why}");
    }
    let why = user.refused(&["channels", "get", "On cal"]);
    assert!(why.contains("did you mean `On call`?"), "{why}");
    let without = user.run(&["channels", "create"]);
    assert_eq!(without.code, Some(2), "{}", without.err);
}

#[test]
fn regions_are_listed_in_order() {
    let user = User::logged_in();
    let listed = user.done(&["regions", "list"]);
    assert!(listed.starts_with("REGION "), "{listed}");
    let row = listed.lines().find(|line| line.starts_with("fly-ams ")).unwrap();
    assert!(row.contains("this server") && row.ends_with("Amsterdam"), "{row}");
    let ids = user.done(&["regions", "list", "--quiet"]);
    assert_eq!(ids.lines().count(), rules::Region::PUBLIC.len());
    assert_eq!(user.json(&["regions", "list"])["regions"][0]["id"], ids.lines().next().unwrap());
}
