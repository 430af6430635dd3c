//! `aloft apply` and `aloft export` as commands on a running server: plans, changes, owners, faults and
//! the way back.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::process::{Ran, call_service};
use crate::user::{Dialogue, User};

const RECORD: &str = "configuration.v1.ConfigurationService";
/// A configuration of each kind, with a secret of the environment.
pub(crate) const WHOLE: &str = "
name: production
monitors:
  shop:
    kind: http
    name: Shop
    url: https://shop.example/
    periodicity: 1m
    headers: [{key: Accept, value: text/html}]
    status_code_assertions: [{target: 200, comparator: eq}]
    regions: [fly-lhr, fly-ams]
    tags: [Web, api]
  db: {kind: tcp, name: Database, uri: 'db.example:5432', periodicity: 30s, retry: 0}
  zone: {kind: dns, name: Zone, uri: shop.example, periodicity: 1h}
channels:
  on-call:
    ntfy: {topic: alerts, token: {env: NTFY_TOKEN}}
    monitor_ids: [shop, db]
    events: [error, recovered]
    remind_every: 60m
status_pages:
  status:
    title: Shop status
    slug: shop
    access_type: email-domain
    auth_email_domains: [b.example, a.example]
    groups:
      front: {name: Storefront}
    components:
      web: {type: monitor, monitor_id: shop, group_id: front, order: 2}
      mail: {type: static, name: Mail}
";
pub(crate) const ONE: &str =
    "monitors: {shop: {kind: http, name: Shop, url: 'https://shop.example/', periodicity: 1m}}";

/// Writes the file and returns what `aloft apply` with these flags did.
pub(crate) fn apply(user: &User, text: &str, flags: &[&str]) -> Ran {
    fs::write(user.home.path().join("aloft.yaml"), text).unwrap();
    let args = [&["apply", "-f", "aloft.yaml"], flags].concat();
    user.run_with(&args, &[("NTFY_TOKEN", "hidden-token")])
}

/// Applies a file, which must succeed, and returns the output.
pub(crate) fn applied(user: &User, text: &str, flags: &[&str]) -> String {
    let ran = apply(user, text, &[&["--yes"], flags].concat());
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    ran.out
}

/// Applies a file, which must fail with 1, and returns the error.
pub(crate) fn refused(user: &User, text: &str, flags: &[&str]) -> String {
    let ran = apply(user, text, &[&["--yes"], flags].concat());
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    ran.err.replace(&user.url(), "URL")
}

pub(crate) fn monitors(user: &User) -> Vec<String> {
    let listed = user.server.rpc(&user.key, "ListMonitors", &json!({}));
    let lists = ["httpMonitors", "tcpMonitors", "dnsMonitors"].map(|kind| listed[kind].as_array());
    let all = lists.into_iter().flatten().flatten();
    let mut names: Vec<String> = all.map(|it| it["name"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

fn create_monitor(user: &User, name: &str, url: &str) -> String {
    let monitor = json!({ "name": name, "url": url, "periodicity": "1m" });
    let answer = user.server.rpc(&user.key, "CreateHttpMonitor", &json!({ "monitor": monitor }));
    answer["monitor"]["id"].as_str().unwrap().to_owned()
}

pub(crate) fn record(user: &User, method: &str, request: &Value) -> Value {
    let reply = call_service(user.server.address, &user.key, RECORD, method, request).unwrap();
    assert_eq!(reply.status, 200, "{}", reply.body);
    reply.json()
}

#[test]
fn applied_configuration_has_nothing_to_do() {
    let user = User::logged_in();
    let planned = apply(&user, WHOLE, &["--plan", "--detailed-exitcode"]);
    assert_eq!(planned.code, Some(2), "{}{}", planned.out, planned.err);
    assert!(planned.out.ends_with("8 to create\n"), "{}", planned.out);
    assert!(monitors(&user).is_empty());
    let out = applied(&user, WHOLE, &[]);
    assert_eq!(out.matches(" created (").count(), 8, "{out}");
    let again = apply(&user, WHOLE, &["--plan", "--detailed-exitcode"]);
    assert_eq!(again.out, "configuration `production`:\n8 unchanged\n");
    assert_eq!(again.code, Some(0), "{}", again.err);
    let again = apply(&user, WHOLE, &["--yes", "--prune", "--detailed-exitcode"]);
    assert_eq!(again.code, Some(0), "{}{}", again.out, again.err);
}

#[test]
fn changes_and_deletions_leave_others_untouched() {
    let user = User::logged_in();
    create_monitor(&user, "Mine", "https://mine.example/");
    let other = ONE.replace("Shop", "Other");
    applied(&user, &other, &[]);
    applied(&user, WHOLE, &["--adopt"]);
    let changed = WHOLE
        .replace("Database", "Main database")
        .replace("60m", "2h")
        .replace("      mail: {type: static, name: Mail}\n", "")
        .replace("  zone: {kind: dns, name: Zone, uri: shop.example, periodicity: 1h}\n", "");
    let out = applied(&user, &changed, &[]);
    assert!(out.contains("name: \"Database\" -> \"Main database\""), "{out}");
    assert!(out.contains("remind_every: \"60m\" -> \"2h\""), "{out}");
    assert!(out.contains("keep DNS monitor `zone` (mon_"), "{out}");
    assert!(!out.contains("deleted"), "{out}");
    let out = applied(&user, &changed, &["--prune"]);
    assert!(out.contains("DNS monitor `zone` deleted (mon_"), "{out}");
    assert!(out.contains("component `status/mail` deleted (cmp_"), "{out}");
    let out = applied(&user, "name: production", &["--prune"]);
    assert!(out.contains("6 to delete"), "{out}");
    // One of the other configuration, and one of a person.
    assert_eq!(monitors(&user), ["Mine", "Other"]);
    let names = record(&user, "ListConfigurations", &json!({}));
    assert_eq!(names["configurations"].as_array().unwrap().len(), 1, "{names}");
    assert_eq!(apply(&user, &other, &["--plan", "--detailed-exitcode"]).code, Some(0));
}

#[test]
fn renamed_key_keeps_its_resource() {
    let user = User::logged_in();
    applied(&user, ONE, &[]);
    let renamed = ONE.replace("shop:", "store:");
    for _ in 0..2 {
        let out = applied(&user, &renamed, &["--rename", "shop=store", "--prune"]);
        assert!(out.contains("1 unchanged"), "{out}");
    }
    let why = refused(&user, &renamed, &["--rename", "shop=stor"]);
    assert!(why.contains("the configuration has no resource `shop`"), "{why}");
    assert_eq!(monitors(&user), ["Shop"]);
}

#[test]
fn twin_is_refused_without_adopt() {
    let user = User::logged_in();
    let id = create_monitor(&user, "Shop", "https://other.example/");
    let why = refused(&user, ONE, &[]);
    assert!(why.contains("aloft.yaml:1:12: `monitors.shop` has a twin"), "{why}");
    assert!(why.contains(&format!("{id}; take it over with --adopt, or rename")), "{why}");
    let out = applied(&user, ONE, &["--adopt"]);
    assert!(out.contains(&format!("HTTP monitor `shop` adopted ({id})")), "{out}");
    assert_eq!(monitors(&user), ["Shop"]);
    let read = user.server.rpc(&user.key, "GetMonitor", &json!({ "id": id }));
    assert_eq!(read["monitor"]["http"]["url"], "https://shop.example/");
}

#[test]
fn interrupted_creation_resumes_without_duplicate() {
    let user = User::logged_in();
    // The state after a kill between the creation and its record.
    let entry = json!({ "kind": "http_monitor", "key": "shop", "id": "" });
    let request = json!({ "name": "default", "put": [entry] });
    record(&user, "RecordConfiguredResources", &request);
    let id = create_monitor(&user, "Shop", "https://shop.example/");
    let out = applied(&user, ONE, &[]);
    assert!(out.contains(&format!("resume HTTP monitor `shop` ({id})")), "{out}");
    assert_eq!(monitors(&user), ["Shop"]);
    assert_eq!(apply(&user, ONE, &["--plan", "--detailed-exitcode"]).code, Some(0));
}

#[test]
fn killed_runs_resume_without_duplicates() {
    let user = User::logged_in();
    let names: Vec<String> = (10..40).map(|number| format!("m{number}")).collect();
    let monitor = |name: &String| {
        format!("  {name}: {{kind: tcp, name: {name}, uri: 'a.example:1', periodicity: 1h}}\n")
    };
    let file = format!("monitors:\n{}", names.iter().map(monitor).collect::<String>());
    fs::write(user.home.path().join("aloft.yaml"), &file).unwrap();
    // Any moment is right: the next run continues after each of them.
    for steps in 1..6 {
        let mut command = user.command(&["apply", "-f", "aloft.yaml", "--yes"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let done = lines.map_while(Result::ok).filter(|line| line.contains("` created ("));
        assert_eq!(done.take(steps).count(), steps);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    applied(&user, &file, &[]);
    assert_eq!(monitors(&user), names);
    assert_eq!(apply(&user, &file, &["--plan", "--detailed-exitcode"]).code, Some(0));
}

#[test]
fn deleted_resource_is_created_again() {
    let user = User::logged_in();
    applied(&user, ONE, &[]);
    user.done(&["monitors", "delete", "Shop", "--yes"]);
    let out = applied(&user, ONE, &[]);
    assert!(out.contains("the recorded one no longer exists"), "{out}");
    assert_eq!(monitors(&user), ["Shop"]);
}

#[test]
fn failure_stops_with_position_and_resumes() {
    let user = User::logged_in();
    let wrong = WHOLE.replace(
        "    remind_every: 60m\n",
        "    quiet_hours:\n      from: 22:00\n      until: 22:00\n      time_zone: UTC\n",
    );
    let why = refused(&user, &wrong, &[]);
    assert!(why.contains("aloft.yaml:22:14: `channels.on-call.quiet_hours.until`"), "{why}");
    assert!(
        why.contains("stopped at channel `on-call`: 7 of 8 steps done, 0 not attempted"),
        "{why}"
    );
    assert!(why.contains("warning: aloft.yaml:4:3: `monitors.shop.active` the monitor"), "{why}");
    assert_eq!(monitors(&user), ["Database", "Shop", "Zone"]);
    // A later run must not take somebody's channel for the refused one.
    let request = json!({ "name": "production", "limit": 100 });
    let entries = record(&user, "ListConfiguredResources", &request);
    assert_eq!(entries["resources"].as_array().unwrap().len(), 7, "{entries}");
    let out = applied(&user, WHOLE, &[]);
    assert!(out.contains("1 to create, 7 unchanged"), "{out}");
}

#[test]
fn read_key_plans_and_changes_nothing() {
    let user = User::logged_in();
    applied(&user, WHOLE, &[]);
    let key = user.home.new_key(&["--scope", "read"]);
    let key = key["key"].as_str().unwrap().to_owned();
    let url = user.url();
    let variables = [
        ("SERVICE_API_KEY", key.as_str()),
        ("SERVICE_API_URL", url.as_str()),
        ("NTFY_TOKEN", "hidden-token"),
    ];
    let ran = user.run_with(&["apply", "-f", "aloft.yaml", "--plan"], &variables);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("not compared, because a read key"), "{}", ran.out);
    assert!(ran.out.ends_with("8 unchanged\n"), "{}", ran.out);
    let ran = user.run_with(&["apply", "-f", "aloft.yaml", "--yes"], &variables);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(ran.err.contains("needs a key with the scope write"), "{}", ran.err);
}

#[test]
fn changes_need_an_agreement() {
    let user = User::logged_in();
    let ran = apply(&user, ONE, &[]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(ran.err.contains("without a terminal; add `--yes`"), "{}", ran.err);
    assert!(monitors(&user).is_empty());
    let dialogue = |answer| Dialogue { prompt: "Apply these changes? [y/N] ", answer };
    let ran = user.run_on_terminal(&["apply", "-f", "aloft.yaml"], &dialogue("no"));
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    let ran = user.run_on_terminal(&["apply", "-f", "aloft.yaml"], &dialogue("yes"));
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    assert_eq!(monitors(&user), ["Shop"]);
}

#[test]
fn folders_and_standard_input_are_read() {
    let user = User::logged_in();
    let folder = user.home.path().join("config");
    fs::create_dir(&folder).unwrap();
    let why = user.refused(&["apply", "-f", "config", "--yes"]);
    assert!(why.contains("has no file that ends in .yaml or .yml"), "{why}");
    fs::write(folder.join("a.yaml"), ONE).unwrap();
    fs::write(folder.join("topic.txt"), "alerts\n").unwrap();
    let channel = "channels: {chat: {ntfy: {topic: {file: topic.txt}}, monitor_ids: [shop]}}";
    fs::write(folder.join("b.yml"), channel).unwrap();
    fs::write(folder.join("notes.md"), "not YAML: [").unwrap();
    let out = user.done(&["apply", "-f", "config", "--yes"]);
    assert!(out.contains("2 to create"), "{out}");
    let ran = user.run_with_input(&["apply", "-f", "-", "-f", "config", "--yes"], ONE);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    let twice = "config/a.yaml:1:12: `monitors.shop` exists twice; the first one is at stdin:1:12";
    assert!(ran.err.contains(twice), "{}", ran.err);
    let why = user.refused(&["apply", "-f", "missing.yaml", "--yes"]);
    assert!(why.contains("opening `missing.yaml`: No such file"), "{why}");
}

#[test]
fn mistakes_are_reported_before_any_call() {
    // The server of the context does not exist, so a call would fail with another error.
    let user = User::new();
    let why =
        refused(&user, "monitors: {shop: {kind: http, nmae: Shop}}", &["--detailed-exitcode"]);
    assert!(why.contains("aloft.yaml:1:31: `monitors.shop.nmae`"), "{why}");
    assert!(why.contains("did you mean `name`?"), "{why}");
    let why = refused(&user, "monitors: {shop: {}, shop: {}}", &[]);
    assert!(why.contains("aloft.yaml:1:22: has the key `shop` twice"), "{why}");
    let why = user.run(&["apply", "-f", "a", "--detailed-exitcode", "--unknown"]);
    assert_eq!(why.code, Some(1), "{}", why.err);
    assert_eq!(user.run(&["apply"]).code, Some(2));
}

#[test]
fn programs_get_plan_and_outcome_as_json() {
    let user = User::logged_in();
    let ran = apply(&user, ONE, &["--json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    let read = |ran: &Ran| serde_json::from_str::<Value>(&ran.out).unwrap();
    let planned = read(&apply(&user, ONE, &["--json", "--plan"]));
    insta::assert_snapshot!(planned, @r#"{"configuration":"default","plan":{"renamed":[],"steps":[{"action":"create","kind":"http_monitor","key":"shop","id":null,"changes":[]}],"unchanged":0,"kept":[],"notCompared":0},"outcome":"planned","done":[],"error":null,"remaining":[]}"#);
    let done = read(&apply(&user, ONE, &["--json", "--yes"]));
    assert_eq!(done["outcome"], "applied");
    assert_eq!(done["done"][0]["key"], "shop");
    assert!(done["done"][0]["id"].as_str().unwrap().starts_with("mon_"), "{done}");
    assert_eq!(done["remaining"], json!([]));
}

#[test]
fn schema_accepts_files_and_rejects_mistakes() {
    let user = User::new();
    let schema: Value = serde_json::from_str(&user.done(&["apply", "--schema"])).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let monitor = json!({ "kind": "tcp", "name": "A", "uri": "a.example:1", "periodicity": "1m" });
    let mut file = json!({
        "monitors": { "a": monitor },
        "channels": { "c": { "slack": { "webhook_url": { "env": "A" } }, "monitor_ids": ["a"] } },
        "status_pages": { "p": { "title": "P", "slug": "p", "components": {
            "web": { "type": "monitor", "monitor_id": "a" },
        } } },
    });
    let errors: Vec<String> = validator.iter_errors(&file).map(|it| it.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    file["monitors"]["a"]["retries"] = json!(1);
    assert!(!validator.is_valid(&file));
    file["monitors"]["a"] = json!({ "kind": "tcp" });
    assert!(!validator.is_valid(&file));
}

#[test]
fn export_is_adopted_without_changes() {
    let user = User::logged_in();
    applied(&user, WHOLE, &[]);
    create_monitor(&user, "Shop", "https://user:password@shop.example/");
    let ran = user.run(&["export", "--with-secrets", "--out", "exported.yaml"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), "exported 9 resources\n"));
    let file = fs::metadata(user.home.path().join("exported.yaml")).unwrap();
    assert_eq!(file.permissions().mode() & 0o777, 0o600);
    let again = user.run(&["export", "--with-secrets", "--out", "exported.yaml"]);
    assert_eq!(again.code, Some(1), "{}", again.err);
    // Nobody owns the resources any more.
    record(&user, "DeleteConfiguration", &json!({ "name": "production" }));
    let plan = user.done(&["apply", "-f", "exported.yaml", "--plan", "--adopt"]);
    assert!(plan.ends_with("9 to adopt\n") && !plan.contains("->"), "{plan}");
    let out = user.run(&["export"]);
    assert!(!out.out.contains("hidden-token") && !out.out.contains("password@"), "{}", out.out);
    assert!(out.err.contains("ON_CALL_NTFY_TOKEN"), "{}", out.err);
    let terraform = user.done(&["export", "-o", "terraform"]);
    assert!(terraform.contains("resource \"service_http_monitor\""), "{terraform}");
}
