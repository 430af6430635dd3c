//! `aloft probes`, next to a running server and without one.

use serde_json::Value;

use crate::process::Home;

/// Replaces a value by its shape, which is the same in each run.
fn shaped(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            fields.iter().map(|(name, it)| (name.clone(), shaped(it))).collect()
        }
        Value::Array(items) => items.iter().map(shaped).collect(),
        Value::String(text) if text.starts_with("prb_") => "[probe id]".into(),
        Value::String(text) if text.len() == 24 && text.ends_with('Z') => "[time]".into(),
        Value::String(text) => match text.split_once("aloftprobe_") {
            Some((before, _)) => format!("{before}[token]").into(),
            None => value.clone(),
        },
        Value::Number(_) | Value::Bool(_) | Value::Null => value.clone(),
    }
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_else(|| panic!("`{field}` of {value}")).to_owned()
}

// issue 19 point 1: "`aloft probes create --region fly-ams` prints the one line to paste elsewhere"
#[test]
fn probes_have_stable_json_shapes() {
    let home = Home::with_database();
    let create = ["probes", "create", "--region", "fly-ams"];
    let made = home.json(&create);
    insta::assert_snapshot!(shaped(&made), @r#"{"id":"[probe id]","name":"fly-ams","regions":["fly-ams"],"token":"[token]","command":"aloft probe --server http://127.0.0.1:8080 --token [token]"}"#);
    let rotated = home.json(&["probes", "rotate", "fly-ams"]);
    assert_eq!(shaped(&rotated), shaped(&made));
    assert_eq!(rotated["id"], made["id"]);
    assert_ne!(rotated["token"], made["token"]);
    insta::assert_snapshot!(shaped(&home.json(&["probes", "list"])), @r#"[{"id":"[probe id]","name":"fly-ams","workspace":null,"regions":["fly-ams"],"createdAt":"[time]","lastSeenAt":null,"version":null,"address":null,"previousTokenEndsAt":"[time]","connected":null}]"#);
    let deleted = home.json(&["probes", "delete", "fly-ams", "--yes"]);
    insta::assert_snapshot!(shaped(&deleted), @r#"{"id":"[probe id]","name":"fly-ams","deleted":true}"#);
    assert_eq!(home.json(&["probes", "list"]), Value::Array(Vec::new()));
}

#[test]
fn token_is_shown_only_once_in_a_command() {
    let home = Home::with_database();
    let create =
        ["probes", "create", "--region", "fly-nrt", "--region", "koyeb-tyo", "--name", "tokyo"];
    let url = [("ALOFT_PUBLIC_URL", "https://aloft.example.com")];
    let shown = home.run_with(&create, &url).out;
    let (command, about) = shown.split_once("\n\n").unwrap();
    let token = command.split_once(" --token ").unwrap().1;
    assert_eq!(command, format!("aloft probe --server https://aloft.example.com --token {token}"));
    assert!(token.starts_with("aloftprobe_") && !token.contains(' '), "{token}");
    assert!(about.contains("probe `tokyo`") && about.contains("only once"), "{about}");
    assert!(about.contains("fly-nrt, koyeb-tyo") && !about.contains("public_url"), "{about}");
    let listed = home.run(&["probes", "list"]).out;
    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert!(listed.contains("fly-nrt, koyeb-tyo") && listed.contains("never"), "{listed}");
    let secret = token.rsplit('_').next().unwrap();
    assert!(
        !listed.contains(secret) && !home.json(&["probes", "list"]).to_string().contains(secret)
    );

    let rotated = home.run(&["probes", "rotate", "tokyo"]).out;
    assert!(rotated.contains("previous token stays valid") && !rotated.contains(secret));
    assert!(rotated.contains("set `public_url`"), "other machines cannot reach it: {rotated}");
}

#[test]
fn command_names_the_url_of_the_running_server() {
    let home = Home::with_database();
    let create = ["probes", "create", "--region", "fly-ams"];
    let server = home.serve();
    let command = text(&home.json(&create), "command");
    assert!(command.contains(&format!(" --server http://{} ", server.address)), "{command}");
    assert!(server.stop().success());
    let server = home.serve_with(&["--public-url", "https://aloft.example.com/"]);
    let command = text(&home.json(&["probes", "rotate", "fly-ams"]), "command");
    assert!(command.contains(" --server https://aloft.example.com --token "), "{command}");
    assert!(server.stop().success());
}

#[test]
fn invalid_arguments_are_rejected_with_a_fix() {
    let home = Home::with_database();
    home.json(&["probes", "create", "--region", "fly-ams"]);
    let refusals = [
        &["probes", "create", "--region", "fly-amz"][..],
        &["probes", "create", "--region", "mars", "--name", "mars"],
        &["probes", "create", "--region", "fly-ams", "--name", "second"],
        &["probes", "create", "--region", "fly-arn", "--name", "fly-ams"],
        &["probes", "create", "--region", "fly-arn", "--name", "Stockholm"],
        &["probes", "rotate", "fly-amss"],
        &["probes", "delete", "fly-ams"],
        &["probes", "delete", "fly-arn", "--yes"],
    ]
    .map(|args| {
        let refused = home.run(args);
        let why = refused.err.lines().next().unwrap();
        format!("{} {}", refused.code.unwrap(), home.masked(why))
    });
    insta::assert_snapshot!(refusals.join("\n"), @"
    2 error: invalid value 'fly-amz' for '--region <REGION>': unknown region `fly-amz`; did you mean `fly-ams`?
    2 error: invalid value 'mars' for '--region <REGION>': unknown region `mars`; expected one of fly-ams, fly-arn, fly-bom, fly-cdg, fly-dfw, fly-ewr, fly-fra, fly-gru, fly-iad, fly-jnb, fly-lax, fly-lhr, fly-nrt, fly-ord, fly-sjc, fly-sin, fly-syd, fly-yyz, koyeb-fra, koyeb-par, koyeb-sfo, koyeb-sin, koyeb-tyo, koyeb-was, railway-us-west2, railway-us-east4, railway-europe-west4, railway-asia-southeast1, private-1, private-2, private-3, private-4, private-5, private-6, private-7, private-8, private-9, private-10, private-11, private-12, private-13, private-14, private-15, private-16
    1 error: region `fly-ams` is served by the probe `fly-ams`; leave the region out, or delete that probe first
    1 error: probe `fly-ams` already exists; choose another name
    1 error: `name` must be words of a–z and 0–9 joined by single hyphens, such as my-page (given: `Stockholm`)
    1 error: unknown probe `fly-amss`; did you mean `fly-ams`?
    1 error: this ends the token of probe `fly-ams`, and the server checks from its regions, except private ones; add --yes to confirm
    1 error: unknown probe `fly-arn`; did you mean `fly-ams`?
    ");
    assert_eq!(home.run(&["probes", "create"]).code, Some(2), "a region is required");
    assert_eq!(home.json(&["probes", "list"]).as_array().unwrap().len(), 1);
}
