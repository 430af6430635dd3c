//! `aloft monitors`: creates, shows, changes and deletes monitors from flags and from JSON, on a
//! running server.

use std::fs;

use serde_json::{Value, json};
use testkit::pem;

use crate::user::{Dialogue, User};

/// All flags of an HTTP monitor.
const HTTP: &[&str] = &[
    "--name",
    "API",
    "--url",
    "http://me:pass@127.0.0.1:9/",
    "--periodicity",
    "1h",
    "--method",
    "POST",
    "--body",
    "ping",
    "--timeout",
    "1000",
    "--degraded-at",
    "500",
    "--retry",
    "0",
    "--follow-redirects=false",
    "--public",
    "--description",
    "The API.",
    "--tag",
    "web,prod",
    "--tag",
    "eu",
    "--region",
    "fly-iad,fly-ams",
    "--header",
    "X-Team: core",
    "--expect-status",
    "eq 200",
    "--expect-status",
    "lt 400",
    "--expect-body",
    "contains ok",
    "--expect-json",
    "$.jobs[?@.lag > 60] empty",
    "--expect-header",
    "content-type contains json",
];
/// The flags that a TCP monitor needs.
const TCP: &[&str] = &["--name", "db", "--uri", "127.0.0.1:9", "--periodicity", "1h"];

/// Creates a TCP monitor and returns its ID.
fn tcp(user: &User, flags: &[&str]) -> String {
    let create = [&["monitors", "create", "tcp", "--quiet"], TCP, flags].concat();
    user.done(&create).trim().to_owned()
}

// spec: §2.1–2.3
#[test]
fn each_kind_is_created_from_flags() {
    let user = User::logged_in();
    let created = user.json(&[&["monitors", "create", "http"], HTTP].concat());
    let monitor = &created["monitor"];
    let expected = json!({
        "name": "API", "url": "http://me:pass@127.0.0.1:9/", "periodicity": "1h", "method": "POST",
        "body": "ping", "timeout": 1000, "degradedAt": 500, "retry": 0, "followRedirects": false,
        "active": false, "public": true, "description": "The API.", "tags": ["eu", "prod", "web"],
        "regions": ["fly-ams", "fly-iad"], "headers": [{ "key": "X-Team", "value": "core" }],
        "statusCodeAssertions": [
            { "target": 200, "comparator": "eq" }, { "target": 400, "comparator": "lt" },
        ],
        "bodyAssertions": [{ "target": "ok", "comparator": "contains" }],
        "headerAssertions": [
            { "key": "content-type", "target": "json", "comparator": "contains" },
        ],
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(monitor[name], *value, "{name}");
    }
    let shown = user.done(&["monitors", "get", "API"]);
    let id = monitor["id"].as_str().unwrap();
    for line in ["kind                    http", "headers                 X-Team: …"] {
        assert!(shown.lines().any(|it| it == line), "{line}: {shown}");
    }
    for line in ["status code assertions  lt 400", "body                    …"] {
        assert!(shown.lines().any(|it| it == line), "{line}: {shown}");
    }
    assert!(shown.contains(id) && !shown.contains("pass") && !shown.contains("core"), "{shown}");
    let paused = user.run(&[&["monitors", "create", "tcp"], TCP].concat());
    assert!(paused.out.ends_with(" was created: the tcp monitor `db`\n"), "{}", paused.out);
    assert!(paused.err.contains("not checked until `active` is true"), "{}", paused.err);
    let dns = ["monitors", "create", "dns", "--name", "mail", "--uri", "example.com"];
    let more = ["--periodicity", "1h", "--expect-record", "MX contains mail"];
    let dns = user.json(&[&dns[..], &more].concat());
    let assertion = json!([{ "record": "MX", "target": "mail", "comparator": "contains" }]);
    assert_eq!(dns["monitor"]["recordAssertions"], assertion);
    let ids = user.done(&["monitors", "list", "--quiet"]);
    assert_eq!(ids.lines().filter(|line| line.starts_with("mon_")).count(), 3, "{ids}");
}

// decision 0085
#[test]
fn client_certificate_and_key_come_from_files() {
    let user = User::logged_in();
    for (name, text) in [
        ("client.pem", pem::CERTIFICATE),
        ("client.key", pem::KEY),
        ("other.pem", pem::OTHER_CERTIFICATE),
        ("other.key", pem::OTHER_KEY),
    ] {
        fs::write(user.home.path().join(name), text).unwrap();
    }
    let create = ["monitors", "create", "http", "--name", "partner", "--periodicity", "1h"];
    let more = ["--url", "https://127.0.0.1:9/", "--client-certificate-file", "client.pem"];
    let created = user.json(&[&create[..], &more, &["--client-key-file", "client.key"]].concat());
    assert_eq!(created["monitor"]["clientCertificate"], pem::CERTIFICATE.trim_end());
    assert_eq!(created["monitor"]["clientKey"], pem::KEY.trim_end());
    let shown = user.done(&["monitors", "get", "partner"]);
    assert!(shown.contains("BEGIN CERTIFICATE") && !shown.contains("PRIVATE KEY"), "{shown}");
    let update = ["monitors", "update", "partner", "--client-key-file", "other.key"];
    let refused = user.run(&update);
    let why = "`--client-key-file` must be the key of the certificate `CN=probe1`";
    assert!(refused.err.contains(why), "{}", refused.err);
    user.done(&[&update[..], &["--client-certificate-file", "other.pem"]].concat());
    let reset = ["--reset", "client-certificate-file,client-key-file"];
    let changed = user.json(&[&["monitors", "update", "partner"], &reset[..]].concat());
    assert!(changed["monitor"].get("clientKey").is_none(), "{changed}");
}

#[test]
fn update_changes_only_given_arguments() {
    let user = User::logged_in();
    let create = [&["monitors", "create", "http", "--quiet"], HTTP].concat();
    let id = user.done(&create).trim().to_owned();
    let update = ["monitors", "update", "API", "--name", "New", "--retry", "2"];
    let reset = ["--active=false", "--reset", "description,tag", "--reset", "expect-status"];
    let changed = user.done(&[&update[..], &reset].concat());
    assert_eq!(changed, format!("{id} was changed\n"));
    let monitor = user.json(&["monitors", "get", &id])["monitor"]["http"].clone();
    for (name, value) in [
        ("name", json!("New")),
        ("retry", json!(2)),
        ("tags", json!([])),
        ("statusCodeAssertions", json!([])),
        ("description", json!(null)),
        ("timeout", json!(1000)),
        ("body", json!("ping")),
    ] {
        assert_eq!(monitor[name], value, "{name}");
    }
    let db = tcp(&user, &[]);
    for (args, why) in [
        (&["update", "New"][..], "nothing to change; give a flag such as `--name`"),
        (
            &["update", &db, "--method", "GET"],
            "tcp monitors have no `--method`, and `db` is a tcp monitor",
        ),
        (&["update", &db, "--reset", "header"], "tcp monitors have no `--header`"),
        (
            &["update", "Newe", "--retry", "1"],
            "monitor `Newe` not found in this workspace; did you mean `New`?",
        ),
        (&["update", "mon_0000000000001", "--retry", "1"], "monitor `mon_0000000000001` not found"),
    ] {
        let refused = user.refused(&[&["monitors"], args].concat());
        assert!(refused.contains(why), "{args:?}: {refused}");
    }
}

#[test]
fn pause_and_resume_change_the_state() {
    let user = User::logged_in();
    let id = tcp(&user, &["--active"]);
    assert_eq!(user.done(&["monitors", "pause", "db"]), format!("{id} is paused\n"));
    let active = || user.json(&["monitors", "get", "db"])["monitor"]["tcp"]["active"].clone();
    assert_eq!(active(), json!(false));
    assert_eq!(user.done(&["monitors", "resume", &id, "--quiet"]), format!("{id}\n"));
    assert_eq!(active(), json!(true));
}

#[test]
fn shared_name_is_refused_with_the_ids() {
    let user = User::logged_in();
    let (one, two) = (tcp(&user, &[]), tcp(&user, &[]));
    for command in ["get", "pause", "trigger", "status", "logs", "open", "delete"] {
        let why = user.refused(&["monitors", command, "db"]);
        assert!(why.contains("2 monitors have the name `db`; give the ID of one: "), "{why}");
        assert!(why.contains(&one) && why.contains(&two), "{command}: {why}");
    }
    user.done(&["monitors", "get", &one]);
}

#[test]
fn delete_needs_an_agreement() {
    let user = User::logged_in();
    let id = tcp(&user, &[]);
    let why = user.refused(&["monitors", "delete", "db"]);
    assert!(why.contains(&format!("{id} without a terminal; add `--yes`")), "{why}");
    let prompt = &*format!("Delete the monitor `db` ({id})? [y/N] ");
    let delete = ["monitors", "delete", "db"];
    let kept = user.run_on_terminal(&delete, &Dialogue { prompt, answer: "n" });
    assert_eq!(kept.code, Some(1), "{}", kept.out);
    assert!(kept.out.contains(&format!("{id} was not deleted")), "{}", kept.out);
    let deleted = user.run_on_terminal(&delete, &Dialogue { prompt, answer: "y" });
    assert_eq!(deleted.code, Some(0), "{}", deleted.out);
    let other = tcp(&user, &[]);
    let deleted = user.done(&["monitors", "delete", &other, "--yes"]);
    assert_eq!(deleted, format!("{other} was deleted\n"));
    assert_eq!(user.done(&["monitors", "list", "--quiet"]), "");
}

#[test]
fn json_of_a_monitor_is_accepted_again() {
    let user = User::logged_in();
    user.done(&[&["monitors", "create", "http"], HTTP].concat());
    let shown = user.done(&["monitors", "get", "API", "--json"]);
    let create = ["monitors", "create", "http", "--from-json", "-", "--json"];
    let copy = user.run_with_input(&create, &shown);
    assert_eq!(copy.code, Some(0), "{}", copy.err);
    let copy: Value = serde_json::from_str(&copy.out).unwrap();
    let original: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(copy["monitor"]["headers"], original["monitor"]["http"]["headers"]);
    assert_ne!(copy["monitor"]["id"], original["monitor"]["http"]["id"]);
    let file = user.home.path().join("monitor.json");
    fs::write(&file, r#"{ "name": "Only", "url": "http://127.0.0.1:9/", "periodicity": "1m" }"#)
        .unwrap();
    let id = copy["monitor"]["id"].as_str().unwrap();
    let changed = user.json(&["monitors", "update", id, "--from-json", "monitor.json"]);
    let changed = &changed["monitor"];
    assert_eq!((&changed["name"], &changed["retry"]), (&json!("Only"), &json!(3)));
    assert_eq!((&changed["headers"], &changed["id"]), (&json!([]), &json!(id)));
    let mask = r#"{ "monitor": { "retry": 1 }, "updateMask": "retry" }"#;
    fs::write(&file, mask).unwrap();
    let changed = user.json(&["monitors", "update", id, "--from-json", "monitor.json"]);
    let changed = &changed["monitor"];
    assert_eq!((&changed["name"], &changed["retry"]), (&json!("Only"), &json!(1)));
}

#[test]
fn impossible_json_names_the_reason() {
    let user = User::logged_in();
    let file = user.home.path().join("monitor.json");
    let create = ["monitors", "create", "http", "--from-json", "monitor.json"];
    let missing = user.refused(&create);
    assert!(missing.contains("reading `monitor.json`: No such file"), "{missing}");
    for (text, why) in [
        ("{ \"name\": ", "`monitor.json` is not JSON: EOF while parsing a value at line 1"),
        ("[]", "`monitor.json` is not an object; write the fields of the monitor"),
        (r#"{ "tcp": { "name": "a" } }"#, "a monitor of the kind tcp instead of http"),
        (r#"{ "name": "a", "interval": "30s" }"#, "did you mean `periodicity`?"),
        (r#"{ "retry": "many" }"#, "`monitor.retry` must be a whole number"),
        (r#"{ "name": "a" }"#, "`monitor.url` must be given"),
    ] {
        fs::write(&file, text).unwrap();
        let refused = user.refused(&create);
        assert!(refused.contains(why), "{text}: {refused}");
    }
    let both = user.run(&[&create[..], &["--name", "a"]].concat());
    assert_eq!(both.code, Some(2), "{}", both.err);
}

#[test]
fn exceeded_limits_name_their_flags() {
    let user = User::logged_in();
    let with = |flags: &[&str]| user.run(&[&["monitors", "create", "http"], HTTP, flags].concat());
    for (flags, why) in [
        (&["--retry", "11"][..], "'11' for '--retry <NUMBER>': 11 is not in 0..=10"),
        (&["--timeout", "-1"], "'--timeout <NUMBER>': -1 is not in 0..=120000"),
        (&["--method", "FETCH"], "[possible values: GET, POST, "),
        (&["--expect-status", "200"], "'--expect-status <COMPARATOR CODE>': has no code"),
        (&["--header", "X-Team"], "'--header <NAME: VALUE>': has no colon"),
        (&["--regoin", "fly-ams"], "a similar argument exists: '--region'"),
    ] {
        // The last value of a flag would be a second one.
        let args: Vec<&str> = match HTTP.iter().position(|flag| *flag == flags[0]) {
            Some(at) if ["--retry", "--timeout", "--method"].contains(&flags[0]) => {
                [&HTTP[..at], &HTTP[at + 2..], flags].concat()
            }
            _ => [HTTP, flags].concat(),
        };
        let ran = user.run(&[&["monitors", "create", "http"], &*args].concat());
        assert_eq!(ran.code, Some(2), "{flags:?}: {}", ran.err);
        assert!(ran.err.contains(why), "{flags:?}: {}", ran.err);
    }
    let long = "x".repeat(257);
    let (status, tag) = (["--expect-status", "eq 99"], ["--tag", &"t".repeat(65)]);
    let ran = with(&[&status[..], &tag].concat());
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(
        ran.err.contains(
            "`--expect-status` number 3: `target` must be a whole number from 100 to 599"
        ),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("`--tag`"), "{}", ran.err);
    let name = user.refused(&[
        "monitors",
        "create",
        "tcp",
        "--name",
        &long,
        "--uri",
        "a:1",
        "--periodicity",
        "1m",
    ]);
    assert!(name.contains("`--name` must have at most 256 characters"), "{name}");
    let id = tcp(&user, &[]);
    let uri = user.refused(&["monitors", "update", &id, "--uri", "nowhere"]);
    assert!(uri.contains("`--uri` must be"), "{uri}");
    let required = user.run(&["monitors", "create", "dns", "--name", "a"]);
    assert_eq!(required.code, Some(2), "{}", required.err);
    assert!(required.err.contains("--uri <TEXT>\n  --periodicity <NAME>"), "{}", required.err);
}

#[test]
fn failures_of_the_service_are_explained() {
    let user = User::logged_in();
    let read = user.home.new_key(&["--scope", "read"]);
    let url = user.url();
    let read = [("SERVICE_API_TOKEN", read["key"].as_str().unwrap()), ("SERVICE_API_URL", &url)];
    let id = tcp(&user, &[]);
    for args in [&["pause", &id][..], &["delete", &id, "--yes"], &["trigger", &id]] {
        let ran = user.run_with(&[&["monitors"], args].concat(), &read);
        assert_eq!(ran.code, Some(1), "{args:?}: {}", ran.out);
        assert!(ran.err.contains("read-only") || ran.err.contains("scope"), "{}", ran.err);
    }
    assert_eq!(user.run_with(&["monitors", "status", &id], &read).code, Some(0));
    let User { home, server, .. } = user;
    assert!(server.stop().success());
    let down = home.command(&["monitors", "get", "db"]).env("HOME", home.path()).output().unwrap();
    let down = String::from_utf8(down.stderr).unwrap().replace(&url, "URL");
    assert!(down.contains("error: listing monitors at URL: cannot connect: "), "{down}");
    assert!(down.contains("start the server with `aloft serve`"), "{down}");
}

#[test]
fn help_has_limits_and_allowed_values() {
    let user = User::new();
    let help = user.done(&["monitors", "create", "http", "--help"]);
    // Long lines are folded.
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "at most 256 characters",
        "[possible values: 30s, 1m, 5m, 10m, 30m, 1h]",
        "0 to 120000",
        "[default: 45000]",
        "--expect-status <COMPARATOR CODE>",
        "--from-json <FILE>",
    ] {
        assert!(help.contains(part), "{part}: {help}");
    }
    let help = user.done(&["monitors", "update", "--help"]);
    assert!(help.contains("(http only)") && help.contains("--reset <FLAG>"), "{help}");
}

#[test]
fn heartbeat_url_is_replaced() {
    let user = User::logged_in();
    let create = ["monitors", "create", "heartbeat", "--name", "Backup", "--interval", "3600"];
    let first = user.json(&create)["monitor"]["url"].clone();
    let second = user.json(&["monitors", "rotate-url", "Backup"])["monitor"]["url"].clone();
    assert_ne!(first, second);
    let read = user.json(&["monitors", "get", "Backup"])["monitor"]["heartbeat"]["url"].clone();
    assert_eq!(read, second);
    let shown = user.done(&["monitors", "rotate-url", "Backup"]);
    assert!(shown.starts_with("the new URL is http"), "{shown}");
    assert!(!shown.contains(second.as_str().unwrap()), "{shown}");
}
