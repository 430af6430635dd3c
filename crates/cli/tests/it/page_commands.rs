//! `aloft pages`, `components` and `groups`: creates, changes, moves and deletes by names, on a running
//! server.

use std::fs;

use serde_json::{Value, json};

use crate::user::User;

/// Creates a page with the monitors `API` and `Shop` as components, and a static one.
fn page(user: &User) {
    for name in ["API", "Shop"] {
        let create = ["monitors", "create", "tcp", "--name", name, "--uri", "127.0.0.1:9"];
        user.done(&[&create[..], &["--periodicity", "1h"]].concat());
    }
    user.done(&["pages", "create", "--title", "Acme", "--slug", "acme-status"]);
    for monitor in ["API", "Shop"] {
        let create = ["components", "create", "--page", "acme-status", "--type", "monitor"];
        user.done(&[&create[..], &["--monitor", monitor]].concat());
    }
    let create = ["components", "create", "--page", "Acme", "--type", "static"];
    user.done(&[&create[..], &["--name", "Docs"]].concat());
}

/// Returns the names of the components in the order of the page.
fn order(user: &User) -> String {
    let overview = user.json(&["pages", "overview", "acme-status"]);
    let components = overview["overview"]["components"].as_array().unwrap().clone();
    let names = components.iter().map(|it| it["name"].as_str().unwrap().to_owned());
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn page_is_created_changed_and_deleted() {
    let user = User::logged_in();
    let id = user.done(&["pages", "create", "--title", "Acme", "--slug", "acme-status", "-q"]);
    let id = id.trim();
    fs::write(user.home.path().join("password"), "open sesame\n").unwrap();
    let update = ["pages", "update", "acme-status", "--access-type", "password"];
    user.done(&[&update[..], &["--password-file", "password"]].concat());
    let shown = user.done(&["pages", "get", "Acme"]);
    assert!(shown.contains("slug            acme-status"), "{shown}");
    assert!(!shown.contains("sesame"), "{shown}");
    let json = user.json(&["pages", "get", id]);
    assert_eq!(json["statusPage"]["accessType"], "password");
    assert_eq!(user.done(&["pages", "publish", "acme-status", "-q"]), format!("{id}\n"));
    let why = user.refused(&["pages", "publish", "acme-statu"]);
    assert!(
        why.contains("page `acme-statu` not found in this workspace; did you mean `acme-status`?")
    );
    let missing = user.run(&["pages", "update", id, "--password-file", "none"]);
    assert_eq!(missing.code, Some(2), "{}", missing.err);
    assert!(missing.err.contains("reading the file: No such file"), "{}", missing.err);
    let why = user.refused(&["pages", "delete", id]);
    assert!(why.contains("without a terminal; add `--yes`"), "{why}");
    user.done(&["pages", "delete", "Acme", "--yes"]);
    assert_eq!(user.done(&["pages", "list", "--quiet"]), "");
}

#[test]
fn components_are_found_by_names() {
    let user = User::logged_in();
    page(&user);
    let listed = user.done(&["components", "list", "--page", "Acme"]);
    assert!(listed.lines().any(|line| line.ends_with("  API")), "{listed}");
    // A component without a name has that of its monitor.
    let api = user.json(&["components", "get", "API"]);
    assert_eq!(api["component"]["type"], "monitor");
    user.done(&["components", "update", "API", "--name", "Public API", "--description", "v1"]);
    let api = user.json(&["components", "get", "Public API", "--page", "Acme"]);
    assert_eq!(api["component"]["description"], "v1");
    let fixed = user.run(&["components", "update", "Docs", "--type", "monitor"]);
    assert_eq!(fixed.code, Some(2), "{}", fixed.err);
    let why = user.refused(&["components", "get", "Doc"]);
    assert!(
        why.contains("component `Doc` not found in this workspace; did you mean `Docs`?"),
        "{why}"
    );
    let create = ["components", "create", "--page", "Acme", "--type", "static"];
    let why = user.refused(&create);
    assert!(why.contains("`--name` must be given"), "{why}");
    let report =
        ["reports", "create", "--page", "Acme", "--title", "Down", "--status", "identified"];
    let report = [&report[..], &["--text", "Broken.", "--component", "Docs=down"]].concat();
    user.done(&report);
    let shown = user.json(&["reports", "get", "Down"]);
    assert_eq!(shown["components"][0]["impact"], "down");
    user.done(&["components", "delete", "Docs", "--yes"]);
    assert_eq!(user.done(&["components", "list", "-q"]).lines().count(), 2);
}

#[test]
fn moves_change_the_order_of_the_page() {
    let user = User::logged_in();
    page(&user);
    user.done(&["groups", "create", "--page", "Acme", "--name", "Web"]);
    assert_eq!(order(&user), "API Shop Docs");
    user.done(&["components", "move", "Docs", "--first"]);
    assert_eq!(order(&user), "Docs API Shop");
    user.done(&["components", "move", "API", "--last", "--group", "Web"]);
    let moved = user.done(&["components", "move", "Shop", "--before", "API"]);
    assert!(moved.contains("Web / Shop\n"), "{moved}");
    assert_eq!(order(&user), "Docs Shop API");
    user.done(&["groups", "move", "Web", "--before", "Docs"]);
    assert_eq!(order(&user), "Shop API Docs");
    user.done(&["components", "move", "Shop", "--last", "--no-group"]);
    assert_eq!(order(&user), "API Docs Shop");
    let component = user.json(&["components", "get", "Shop"])["component"].clone();
    assert_eq!(component.get("groupId"), None, "{component}");
    for (args, why) in [
        (&["components", "move", "API", "--before", "API"][..], "moved beside itself"),
        (&["components", "move", "API", "--after", "Dosc"], "did you mean `Docs`?"),
        (&["groups", "move", "Wbe", "--first"], "did you mean `Web`?"),
    ] {
        let refused = user.refused(args);
        assert!(refused.contains(why), "{args:?}: {refused}");
    }
    assert_eq!(user.run(&["components", "move", "API"]).code, Some(2));
    user.done(&["groups", "update", "Web", "--name", "Sites"]);
    user.done(&["groups", "delete", "Sites", "--yes"]);
    assert_eq!(user.json(&["groups", "list"])["componentGroups"], json!([]));
}

#[test]
fn names_select_in_all_commands() {
    let user = User::logged_in();
    page(&user);
    let plan = ["maintenance", "plan", "--title", "Moving", "--for", "2h", "--monitor", "API"];
    user.done(&plan);
    user.done(&["maintenance", "update", "Moving", "--duration", "3h", "--component", "Shop"]);
    let moving = user.json(&["maintenance", "get", "Moving"])["maintenance"].clone();
    assert_eq!(
        (&moving["duration"], moving["componentIds"].as_array().unwrap().len()),
        (&json!("3h"), 1)
    );
    let listed = user.json(&["maintenance", "list", "--monitor", "API"]);
    assert_eq!(listed["totalSize"], 1);
    let why = user.refused(&["maintenance", "delete", "Moving"]);
    assert!(why.contains("add `--yes`"), "{why}");
    user.done(&["maintenance", "delete", "Moving", "--yes"]);
    let add = ["subscribers", "add", "--page", "Acme", "--webhook-url", "http://127.0.0.1:9/"];
    user.done(&[&add[..], &["--component", "Docs"]].concat());
    let subscribers = user.json(&["subscribers", "list", "--page", "acme-status"]);
    assert_eq!(subscribers["totalSize"], 1);
    assert_eq!(user.json(&["missed", "API"])["missed"], Value::Array(vec![]));
    let none = user.refused(&["incidents", "acknowledge", "API"]);
    assert!(none.contains("monitor `API` has no open incident"), "{none}");
    let typo = user.refused(&["incidents", "list", "--monitor", "APi"]);
    assert!(typo.contains("did you mean `API`?"), "{typo}");
}
