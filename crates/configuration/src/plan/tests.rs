//! Tests of plans: what a user sees before an apply.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::*;
use crate::read::{Document, Sources, read};

const FILE: &str = "
monitors:
  shop: {kind: http, name: Shop, url: 'https://shop.example', periodicity: 1m}
  db: {kind: tcp, name: Database, uri: 'db.example:1', periodicity: 1m}
channels:
  chat: {ntfy: {topic: alerts, token: t}, monitor_ids: [shop]}
status_pages:
  status:
    title: Status
    slug: status
    components: {web: {type: monitor, monitor_id: shop}}
";

fn configuration(text: &str) -> Configuration {
    let variable = |_: &str| None;
    let file = |_: &Path| Err(io::Error::from(io::ErrorKind::NotFound));
    let document =
        Document { name: "a.yaml".to_owned(), folder: PathBuf::new(), text: text.to_owned() };
    read(&[document], Sources { variable: &variable, file: &file }).unwrap()
}

/// Returns the resources as the service would return them, all of them recorded.
fn applied(configuration: &Configuration) -> Current {
    let mut current = Current::default();
    let id_of = |address: &Address| format!("id_{}", address.key.replace('/', "_"));
    for desired in &configuration.resources {
        let mut json = desired.wire(id_of);
        json["id"] = id_of(&desired.address).into();
        json["revision"] = "1".into();
        current.existing.push(Existing { kind: desired.kind(), json });
        let address = desired.address.clone();
        current.recorded.push(Recorded { id: id_of(&address), address });
    }
    current
}

fn text_of(configuration: &Configuration, current: &Current, options: &PlanOptions) -> String {
    match plan(configuration, current, options) {
        Ok(plan) => plan.text(),
        Err(problems) => format!("error: {problems}"),
    }
}

fn existing<'a>(current: &'a mut Current, id: &str) -> &'a mut Json {
    let found = current.existing.iter_mut().find(|it| it.json["id"] == id);
    &mut found.unwrap().json
}

const NOTHING: PlanOptions = PlanOptions { prune: false, adopt: false, renames: Vec::new() };
const PRUNE: PlanOptions = PlanOptions { prune: true, adopt: false, renames: Vec::new() };
const ADOPT: PlanOptions = PlanOptions { prune: false, adopt: true, renames: Vec::new() };

#[test]
fn empty_workspace_gets_everything_in_order() {
    let shown = text_of(&configuration(FILE), &Current::default(), &NOTHING);
    insta::assert_snapshot!(shown, @r"
    + create HTTP monitor `shop`
    + create TCP monitor `db`
    + create status page `status`
    + create component `status/web`
    + create channel `chat`
    5 to create
    ");
}

#[test]
fn applied_configuration_has_nothing_to_do() {
    let configuration = configuration(FILE);
    let mut current = applied(&configuration);
    // The service returns defaults, effective values and outputs.
    let shop = existing(&mut current, "id_shop");
    shop["timeout"] = 45_000.into();
    shop["effectiveDegradedAt"] = 30_000.into();
    shop["status"] = "active".into();
    shop["regions"] = json!([]);
    shop["description"] = "".into();
    assert_eq!(text_of(&configuration, &current, &PRUNE), "5 unchanged");
}

#[test]
fn differences_are_changes_without_secrets() {
    let configuration = configuration(FILE);
    let mut current = applied(&configuration);
    existing(&mut current, "id_shop")["timeout"] = 5.into();
    existing(&mut current, "id_shop")["headers"] = json!([{"key": "A", "value": "secret"}]);
    existing(&mut current, "id_shop")["degradedAt"] = 7.into();
    existing(&mut current, "id_chat")["ntfy"]["token"] = "other".into();
    existing(&mut current, "id_chat")["monitorIds"] = json!(["id_shop", "id_db"]);
    existing(&mut current, "id_status_web")["type"] = "static".into();
    insta::assert_snapshot!(text_of(&configuration, &current, &NOTHING), @r#"
    ~ change HTTP monitor `shop` (id_shop)
        timeout: 5 -> 45000
        headers[0]: {"key":"A","value":"(secret)"} -> (none)
    -/+ replace component `status/web` (id_status_web); a field cannot change in place
        type: "static" -> "monitor"
    ~ change channel `chat` (id_chat)
        monitor_ids: ["db","shop"] -> ["shop"]
        ntfy.token: (secret) -> (secret)
    2 to change, 1 to replace, 2 unchanged
    "#);
    let json = plan(&configuration, &current, &NOTHING).unwrap().json().to_string();
    assert!(!json.contains("other") && !json.contains("\"t\""), "{json}");
}

#[test]
fn removed_resources_are_kept_without_prune() {
    let whole = configuration(FILE);
    let current = applied(&whole);
    let rest = configuration(
        "monitors:
  db: {kind: tcp, name: Database, uri: 'db.example:1', periodicity: 1m}",
    );
    insta::assert_snapshot!(text_of(&rest, &current, &NOTHING), @r"
      keep channel `chat` (id_chat), which is no longer in the file: --prune deletes it
      keep component `status/web` (id_status_web), which is no longer in the file: --prune deletes it
      keep status page `status` (id_status), which is no longer in the file: --prune deletes it
      keep HTTP monitor `shop` (id_shop), which is no longer in the file: --prune deletes it
    1 unchanged
    ");
    insta::assert_snapshot!(text_of(&rest, &current, &PRUNE), @r"
    - delete channel `chat` (id_chat)
    - delete component `status/web` (id_status_web)
    - delete status page `status` (id_status); with its subscribers and reports
    - delete HTTP monitor `shop` (id_shop)
    4 to delete, 1 unchanged
    ");
}

#[test]
fn deletion_precedes_new_owner_of_slug() {
    let current = applied(&configuration(FILE));
    let renamed = configuration("status_pages: {other: {title: Status, slug: status}}");
    insta::assert_snapshot!(text_of(&renamed, &current, &NOTHING), @"error: a.yaml:1:16: `status_pages.other` needs a value that only one resource can have, and that status page `status` has, which is no longer in the file: keep that resource with --rename status=other, or delete it with --prune");
    insta::assert_snapshot!(text_of(&renamed, &current, &PRUNE), @r"
    - delete status page `status` (id_status); with its subscribers and reports
    + create status page `other`
    - delete channel `chat` (id_chat)
    - delete component `status/web` (id_status_web)
    - delete TCP monitor `db` (id_db)
    - delete HTTP monitor `shop` (id_shop)
    1 to create, 5 to delete
    ");
}

#[test]
fn twins_are_adopted_on_request_only() {
    let configuration = configuration(FILE);
    let mut current = applied(&configuration);
    current.recorded.clear();
    existing(&mut current, "id_db")["retry"] = 1.into();
    insta::assert_snapshot!(text_of(&configuration, &current, &NOTHING), @r"
    error: a.yaml:3:3: `monitors.shop` has a twin that no configuration owns: id_shop; take it over with --adopt, or rename one of the two
    a.yaml:4:3: `monitors.db` has a twin that no configuration owns: id_db; take it over with --adopt, or rename one of the two
    a.yaml:6:3: `channels.chat` has a twin that no configuration owns: id_chat; take it over with --adopt, or rename one of the two
    a.yaml:8:3: `status_pages.status` has a twin that no configuration owns: id_status; take it over with --adopt, or rename one of the two
    ");
    insta::assert_snapshot!(text_of(&configuration, &current, &ADOPT), @r"
    ~ adopt HTTP monitor `shop` (id_shop)
    ~ adopt TCP monitor `db` (id_db)
        retry: 1 -> 3
    ~ adopt status page `status` (id_status)
    ~ adopt component `status/web` (id_status_web)
    ~ adopt channel `chat` (id_chat)
    5 to adopt
    ");
}

#[test]
fn resources_of_other_configuration_are_refused() {
    let configuration = configuration(FILE);
    let mut current = applied(&configuration);
    current.recorded.clear();
    let ids = current.existing.iter().map(|it| text(&it.json, "id").to_owned());
    current.foreign = ids.map(|id| (id, "production".to_owned())).collect();
    let shown = text_of(&configuration, &current, &ADOPT);
    assert_eq!(shown.matches("configuration `production` owns").count(), 4, "{shown}");
    insta::assert_snapshot!(shown.lines().next().unwrap(), @"error: a.yaml:3:3: `monitors.shop` has a twin that the configuration `production` owns: id_shop; give the file `name: production`, rename one of the two, or forget the other configuration with DeleteConfiguration");
}

#[test]
fn equal_one_of_several_twins_is_adopted() {
    let configuration = configuration(
        "monitors:
  db: {kind: tcp, name: Database, uri: 'db.example:1', periodicity: 1m}",
    );
    let mut current = applied(&configuration);
    current.recorded.clear();
    let mut other = current.existing[0].clone();
    other.json["id"] = "id_other".into();
    other.json["uri"] = "other.example:1".into();
    current.existing.insert(0, other);
    insta::assert_snapshot!(text_of(&configuration, &current, &ADOPT), @r"
    ~ adopt TCP monitor `db` (id_db)
    1 to adopt
    ");
    existing(&mut current, "id_db")["retry"] = 1.into();
    insta::assert_snapshot!(text_of(&configuration, &current, &ADOPT), @"error: a.yaml:2:3: `monitors.db` has several twins that no configuration owns: id_other, id_db; rename or delete all but one");
}

#[test]
fn interrupted_creation_resumes_without_duplicate() {
    let configuration = configuration(FILE);
    let mut current = applied(&configuration);
    for entry in &mut current.recorded {
        entry.id = String::new();
    }
    current.existing.retain(|it| it.json["id"] != "id_db");
    insta::assert_snapshot!(text_of(&configuration, &current, &NOTHING), @r"
    ~ resume HTTP monitor `shop` (id_shop); an interrupted run created it
    + create TCP monitor `db`
    ~ resume status page `status` (id_status); an interrupted run created it
    ~ resume component `status/web` (id_status_web); an interrupted run created it
    ~ resume channel `chat` (id_chat); an interrupted run created it
    1 to create, 4 to adopt
    ");
}

#[test]
fn lost_resources_are_created_again_or_forgotten() {
    let whole = configuration(FILE);
    let mut current = applied(&whole);
    current.existing.retain(|it| it.json["id"] != "id_db");
    let shown = text_of(&whole, &current, &NOTHING);
    insta::assert_snapshot!(shown, @r"
    + recreate TCP monitor `db`; the recorded one no longer exists
    1 to create, 4 unchanged
    ");
    let nothing = configuration("name: default");
    current.existing.clear();
    insta::assert_snapshot!(text_of(&nothing, &current, &PRUNE), @r"
    - forget channel `chat` (id_chat); its resource does not exist
    - forget component `status/web` (id_status_web); its resource does not exist
    - forget status page `status` (id_status); its resource does not exist
    - forget TCP monitor `db` (id_db); its resource does not exist
    - forget HTTP monitor `shop` (id_shop); its resource does not exist
    5 to forget
    ");
    assert_eq!(text_of(&nothing, &current, &NOTHING), "nothing to do");
}

#[test]
fn read_key_compares_visible_values_only() {
    let configuration = configuration(FILE);
    let mut current = applied(&configuration);
    current.reads_only = true;
    let hidden = existing(&mut current, "id_chat")["ntfy"].as_object_mut().unwrap();
    hidden.remove("token");
    existing(&mut current, "id_shop")["url"] = "https://other.example".into();
    insta::assert_snapshot!(text_of(&configuration, &current, &NOTHING), @r#"
    ~ change HTTP monitor `shop` (id_shop)
        url: "https://other.example" -> "https://shop.example"
    2 values not compared, because a read key does not show secrets
    1 to change, 4 unchanged
    "#);
}

#[test]
fn renamed_key_keeps_its_resource() {
    let current = applied(&configuration(FILE));
    let renamed = FILE.replace("  status:", "  main:").replace("  db:", "  database:");
    let renamed = configuration(&renamed);
    let shown = |old: &str, new: &str| {
        let rename = |old: &str, new: &str| Rename { old: old.to_owned(), new: new.to_owned() };
        let renames = vec![rename("db", "database"), rename(old, new)];
        text_of(&renamed, &current, &PlanOptions { prune: true, adopt: false, renames })
    };
    insta::assert_snapshot!(shown("status", "main"), @r"
    ~ rename TCP monitor `db` to `database`
    ~ rename status page `status` to `main`
    ~ rename component `status/web` to `main/web`
    3 to rename, 5 unchanged
    ");
    assert_eq!(shown("gone", "shop").lines().count(), 6);
    insta::assert_snapshot!(shown("stat", "main"), @"error: cannot rename `stat` to `main`: the configuration has no resource `stat`");
    insta::assert_snapshot!(shown("status", "mian"), @"error: cannot rename `status` to `mian`: the file has no resource `mian`; did you mean `main`?");
    insta::assert_snapshot!(shown("shop", "main"), @"error: cannot rename `shop` to `main`: the file still has `shop`; remove it");
    insta::assert_snapshot!(shown("status", "database"), @"error: cannot rename `status` to `database`: `database` has another kind, or is recorded already");
}

#[test]
fn deletion_precedes_new_component_of_monitor() {
    let current = applied(&configuration(FILE));
    let renamed = configuration(&FILE.replace("{web:", "{site:"));
    insta::assert_snapshot!(text_of(&renamed, &current, &NOTHING), @"error: a.yaml:11:18: `status_pages.status.components.site` needs a value that only one resource can have, and that component `status/web` has, which is no longer in the file: keep that resource with --rename status/web=status/site, or delete it with --prune");
    insta::assert_snapshot!(text_of(&renamed, &current, &PRUNE), @r"
    - delete component `status/web` (id_status_web)
    + create component `status/site`
    1 to create, 1 to delete, 4 unchanged
    ");
}

#[test]
fn giver_of_a_unique_value_goes_first() {
    let pages = |a: &str, b: &str, c: &str| {
        let page = |key: &str, slug: &str| format!("{key}: {{title: T, slug: {slug}}}");
        let all = [page("a", a), page("b", b), page("c", c)].join(", ");
        configuration(&format!("status_pages: {{{all}}}"))
    };
    let current = applied(&pages("x", "y", "z"));
    let shown = text_of(&pages("y", "z", "new"), &current, &NOTHING);
    insta::assert_snapshot!(shown, @r#"
    ~ change status page `c` (id_c)
        slug: "z" -> "new"
    ~ change status page `b` (id_b)
        slug: "y" -> "z"
    ~ change status page `a` (id_a)
        slug: "x" -> "y"
    3 to change
    "#);
    let new = "{d: {title: T, slug: x}, a: {title: T, slug: w}}";
    let shown = text_of(&configuration(&format!("status_pages: {new}")), &current, &NOTHING);
    assert!(shown.find("change status page `a`") < shown.find("create status page `d`"), "{shown}");
    let circle = text_of(&pages("y", "x", "z"), &current, &NOTHING);
    insta::assert_snapshot!(circle, @r"
    error: a.yaml:1:16: `status_pages.a` exchanges a value that only one resource can have with others; give one of them another value first, and apply twice
    a.yaml:1:40: `status_pages.b` exchanges a value that only one resource can have with others; give one of them another value first, and apply twice
    ");
}

#[test]
fn page_with_parts_of_others_is_not_deleted() {
    let mut current = applied(&configuration(FILE));
    let part = json!({ "id": "grp_9", "pageId": "id_status", "name": "Mine" });
    current.existing.push(Existing { kind: Kind::Group, json: part });
    let shown = text_of(&configuration("name: default"), &current, &PRUNE);
    insta::assert_snapshot!(shown, @"error: status page `status` cannot be deleted, because that deletes the component group grp_9, which this configuration does not own: delete or move that first");
    assert_eq!(text_of(&configuration(FILE), &current, &PRUNE), "5 unchanged");
}

#[test]
fn interrupted_creation_outside_the_file_is_named() {
    let mut current = applied(&configuration(FILE));
    current.recorded.retain(|it| it.address.key == "db");
    current.recorded[0].id.clear();
    let nothing = configuration("name: default");
    insta::assert_snapshot!(text_of(&nothing, &current, &NOTHING), @r"
      keep the entry of TCP monitor `db`; its creation was interrupted: look whether it exists, and delete it yourself; --prune forgets the entry
    nothing to do
    ");
    insta::assert_snapshot!(text_of(&nothing, &current, &PRUNE), @r"
    - forget TCP monitor `db`; its creation was interrupted: look whether it exists, and delete it yourself
    1 to forget
    ");
}

#[test]
fn interrupted_creation_does_not_take_different_kind() {
    let text = "status_pages: {p: {title: P, slug: p, components: {c: {type: static, name: C}}}}";
    let configuration = configuration(text);
    let mut current = applied(&configuration);
    current.recorded[1].id.clear();
    let shown = text_of(&configuration, &current, &NOTHING);
    assert!(shown.contains("~ resume component `p/c` (id_p_c)"), "{shown}");
    existing(&mut current, "id_p_c")["type"] = "monitor".into();
    let shown = text_of(&configuration, &current, &NOTHING);
    assert!(shown.contains("has a twin that no configuration owns: id_p_c"), "{shown}");
}
