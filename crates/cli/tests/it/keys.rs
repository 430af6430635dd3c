//! `aloft workspaces` and `aloft keys`, next to a running server and without one.

use serde_json::{Value, json};

use crate::process::{Home, until};

/// Replaces a value by its shape, which is the same in each run.
fn shaped(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            fields.iter().map(|(name, it)| (name.clone(), shaped(it))).collect()
        }
        Value::Array(items) => items.iter().map(shaped).collect(),
        Value::String(text) if text.starts_with("key_") => "[key id]".into(),
        Value::String(text) if text.starts_with("ws_") => "[workspace id]".into(),
        Value::String(text) if text.starts_with("mon_") => "[monitor id]".into(),
        Value::String(text) if text.starts_with("aloft_") => "[key]".into(),
        Value::String(text) if text.len() == 24 && text.ends_with('Z') => "[time]".into(),
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => value.clone(),
    }
}

#[test]
fn keys_and_workspaces_have_stable_json_shapes() {
    // issue 3, point 5: `{"id":"key_…","key":"…"}`
    let home = Home::with_database();
    let workspace = home.json(&["workspaces", "create", "--slug", "acme", "--name", "Acme"]);
    insta::assert_snapshot!(shaped(&workspace), @r#"{"id":"[workspace id]","slug":"acme","name":"Acme","plan":"free","createdAt":"[time]","deletesAt":null}"#);
    let made = home.new_key(&["--scope", "read", "--expires", "30d"]);
    insta::assert_snapshot!(shaped(&made), @r#"{"id":"[key id]","key":"[key]"}"#);
    let id = made["id"].as_str().unwrap();
    insta::assert_snapshot!(shaped(&home.json(&["keys", "revoke", id])), @r#"{"id":"[key id]","revoked":true}"#);
    insta::assert_snapshot!(shaped(&home.json(&["keys", "list"])), @r#"[{"id":"[key id]","workspace":"acme","name":"test","scope":"read","createdAt":"[time]","expiresAt":"[time]","lastUsedAt":null,"revokedAt":"[time]"}]"#);
    insta::assert_snapshot!(shaped(&home.json(&["workspaces", "list"])), @r#"[{"id":"[workspace id]","slug":"acme","name":"Acme","plan":"free","createdAt":"[time]","deletesAt":null,"limits":{"monitors":null,"shortestPeriod":null,"pages":null,"channels":null,"retentionDays":null,"weight":1},"usage":{"monitors":0,"shortestPeriod":null,"pages":0,"channels":0,"retentionDays":30},"isOperator":true}]"#);
}

#[test]
fn key_is_shown_only_at_creation() {
    let (home, key) = Home::with_key();
    let listed = home.run(&["keys", "list"]);
    assert_eq!(listed.out.lines().count(), 2, "{}", listed.out);
    assert!(!listed.out.contains(&key) && !home.json(&["keys", "list"]).to_string().contains(&key));
    let shown =
        home.run(&["keys", "create", "--workspace", "acme", "--name", "ci", "--scope", "read"]);
    let (key, about) = shown.out.split_once("\n\n").unwrap();
    assert!(key.starts_with("aloft_") && about.contains("shown only once"), "{}", shown.out);
}

#[test]
fn keys_created_before_and_during_a_server_work() {
    let (home, before) = Home::with_key();
    let server = home.serve();
    let beside = home.new_key(&["--scope", "read"]);
    let whoami = server.get("/v1/whoami", Some(&before));
    assert_eq!(
        (whoami.status, &whoami.json()["actor"]["scopes"]),
        (200, &serde_json::json!(["write"]))
    );
    let whoami = server.get("/v1/whoami", beside["key"].as_str());
    assert_eq!(
        (whoami.status, &whoami.json()["actor"]["scopes"]),
        (200, &serde_json::json!(["read"]))
    );
}

#[test]
fn revoked_key_fails_at_the_next_call() {
    let (home, key) = Home::with_key();
    let server = home.serve();
    assert_eq!(server.get("/v1/whoami", Some(&key)).status, 200);
    let id = home.json(&["keys", "list"])[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(home.run(&["keys", "revoke", &id]).code, Some(0));
    assert_eq!(server.get("/v1/whoami", Some(&key)).status, 401);
    let rows = home.json(&["keys", "list"]);
    assert!(rows[0]["revokedAt"].is_string(), "{rows}");
}

#[test]
fn expired_key_is_rejected() {
    let (home, _) = Home::with_key();
    let server = home.serve();
    let made = home.new_key(&["--scope", "read", "--expires", "1s"]);
    let key = made["key"].as_str();
    // On a busy machine the key may expire before its first use.
    let refused = until("the key expires", || {
        let reply = server.get("/v1/whoami", key);
        (reply.status != 200).then_some(reply)
    });
    assert_eq!((refused.status, &refused.json()["reason"]), (401, &"KEY_EXPIRED".into()));
}

#[test]
fn key_list_shows_expiry() {
    let (home, _) = Home::with_key();
    home.new_key(&["--scope", "read", "--expires", "30d"]);
    let rows = home.json(&["keys", "list"]);
    let row = rows.as_array().unwrap().iter().find(|row| row["expiresAt"].is_string()).unwrap();
    let day = |field: &str| row[field].as_str().unwrap().get(..10).unwrap().to_owned();
    let until = day("expiresAt");
    assert!(day("createdAt") < until, "{row}");
    let listed = home.run(&["keys", "list"]).out;
    assert!(listed.contains(&format!("valid until {until}")), "{listed}");
}

#[test]
fn invalid_arguments_are_rejected_with_a_fix() {
    let (home, _) = Home::with_key();
    let refusals = [
        &["keys", "list", "--data", "nowhere"][..],
        &["keys", "create", "--workspace", "other", "--name", "ci", "--scope", "read"],
        &["keys", "create", "--workspace", "acme", "--name", "ci", "--scope", "all"],
        &["keys", "create", "--workspace", "acme", "--name", "", "--scope", "read"],
        &[
            "keys",
            "create",
            "--workspace",
            "acme",
            "--name",
            "a",
            "--scope",
            "read",
            "--expires",
            "1",
        ],
        &["keys", "revoke", "key_0000000000000"],
        &["keys", "revoke", "mon_1"],
        &["workspaces", "create", "--slug", "acme", "--name", "Acme"],
        &["workspaces", "create", "--slug", "Ac me", "--name", "Acme"],
    ]
    .map(|args| {
        let refused = home.run(args);
        let why = refused.err.lines().next().unwrap();
        format!("{} {}", refused.code.unwrap(), home.masked(why))
    });
    insta::assert_snapshot!(refusals.join("\n"), @"
    1 error: there is no database at `[home]/nowhere/aloft.db`; name the server's data folder with --data, ALOFT_DATA or the configuration file, or create a database with `aloft serve --data '[home]/nowhere'`
    1 error: workspace `other` not found
    2 error: invalid value 'all' for '--scope <SCOPE>': unknown scope `all`; expected one of read, write
    1 error: `name` must not be empty
    2 error: invalid value '1' for '--expires <TIME>': `1` has no unit; write a duration such as 30d, 12h, 45m or 90s
    1 error: unknown key `key_0000000000000`; see `aloft keys list`
    1 error: invalid identifier `mon_1`; expected the form `key_…`
    1 error: workspace `acme` already exists; choose another name
    1 error: `slug` must be words of a–z and 0–9 joined by single hyphens, such as my-page (given: `Ac me`)
    ");
    assert!(!home.path().join("nowhere").exists());
}

#[test]
fn retention_is_set_per_workspace_within_bounds() {
    let home = Home::with_database();
    home.json(&["workspaces", "create", "--slug", "acme", "--name", "Acme"]);
    let keep =
        |days: &str| home.run(&["workspaces", "set-retention", "--slug", "acme", "--days", days]);
    for (days, code) in [("1", 0), ("3650", 0), ("0", 1), ("3651", 1), ("soon", 2)] {
        assert_eq!(keep(days).code, Some(code), "{days}");
    }
    assert!(keep("3651").err.contains("results are kept for 1 to 3650 days"));
    let back = home.json(&["workspaces", "set-retention", "--slug", "acme"]);
    assert_eq!(back.get("retentionDays"), Some(&serde_json::Value::Null), "{back}");
}

// issue 16 points 20 and 22: operator commands for workspaces, and `aloft audit`
#[test]
fn audit_lists_workspace_changes_newest_first() {
    let home = Home::with_database();
    home.json(&["workspaces", "create", "--slug", "acme", "--name", "Acme"]);
    home.json(&["workspaces", "rename", "--slug", "acme", "--new-slug", "acme-2"]);
    home.json(&["workspaces", "plan", "--slug", "acme-2", "--plan", "free"]);
    let rows = home.json(&["audit", "--workspace", "acme-2"]);
    let actions: Vec<_> =
        rows.as_array().unwrap().iter().map(|row| row["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["workspace.plan", "workspace.rename", "workspace.create"]);
    insta::assert_snapshot!(shaped(&rows[0]), @r#"{"at":"[time]","actor":"command_line","actorName":"","action":"workspace.plan","resourceId":"[workspace id]","detail":"free","address":null,"changes":[]}"#);
    let unsure = home.run(&["workspaces", "delete", "--slug", "acme-2"]);
    assert!(unsure.err.contains("add --yes"), "{}", unsure.err);
    home.json(&["workspaces", "delete", "--slug", "acme-2", "--yes"]);
    assert_eq!(home.json(&["workspaces", "list"]), Value::Array(Vec::new()));
}

#[test]
fn audit_names_keys_and_filters_changes() {
    let (home, key) = Home::with_key();
    let server = home.serve();
    let monitor = json!({ "name": "api", "url": "https://example.com", "periodicity": "1h" });
    let made = server.rpc(&key, "CreateHttpMonitor", &json!({ "monitor": monitor }));
    let monitor = made["monitor"]["id"].as_str().unwrap();
    let rows = home.json(&["audit", "--workspace", "acme", "--resource", monitor]);
    insta::assert_snapshot!(shaped(&rows), @r#"[{"at":"[time]","actor":"[key id]","actorName":"test","action":"monitor.create","resourceId":"[monitor id]","detail":"revision 1","address":"127.0.0.1","changes":[]}]"#);
    let (actor, at) = (rows[0]["actor"].as_str().unwrap(), rows[0]["at"].as_str().unwrap());
    let listed = home.run(&["audit", "--workspace", "acme", "--resource", monitor]).out;
    assert!(listed.contains(&format!("test ({actor})")), "{listed}");
    let actions = |filter: [&str; 2]| {
        let args = [&["audit", "--workspace", "acme"][..], &filter].concat();
        let rows = home.json(&args);
        let rows = rows.as_array().unwrap().iter();
        rows.map(|row| row["action"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(actions(["--actor", actor]), ["monitor.create"]);
    assert_eq!(actions(["--actor", "command_line"]), ["key.create", "workspace.create"]);
    assert_eq!(actions(["--from", at]), ["monitor.create"]);
    assert_eq!(actions(["--to", at]), ["key.create", "workspace.create"]);
    let refused = [["--actor", "me"], ["--from", "today"]].map(|filter| {
        let args = [&["audit", "--workspace", "acme"][..], &filter].concat();
        let refused = home.run(&args);
        let why = refused.err.lines().find(|line| line.starts_with("error"));
        format!("{} {}", refused.code.unwrap(), why.unwrap_or_default())
    });
    insta::assert_snapshot!(refused.join("\n"), @r"
    1 error: actor `me` must be the identifier of a key or a user, `command_line` or `server`
    2 error: invalid value 'today' for '--from <TIME>': `today` is not a time; write it as 2026-12-01T22:00:00Z
    ");
}
