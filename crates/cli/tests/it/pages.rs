//! `aloft pages` on a running server.

use serde_json::{Value, json};

use crate::process::{Home, call_service};

const PAGES: &str = "status_page.v1.StatusPageService";

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
}

// issue 7, point 1
#[test]
fn overview_shows_the_visitors_view() {
    let (home, key) = Home::with_key();
    let server = home.serve();
    let made = |method: &str, field: &str, fields: Value| {
        let request = json!({ field: fields });
        let reply = call_service(server.address, &key, PAGES, method, &request).unwrap().json();
        text(&reply[field]["id"])
    };
    let page = json!({ "title": "Acme", "slug": "acme" });
    let page = made("CreateStatusPage", "statusPage", page);
    let component = json!({ "pageId": page, "type": "static", "name": "Mail" });
    let component = made("CreateComponent", "component", component);
    let address = format!("http://{}/rpc", server.address);
    let variables = [("SERVICE_API_URL", &*address), ("SERVICE_API_TOKEN", &*key)];
    let run = |args: &[&str]| {
        let ran = home.run_with(args, &variables);
        (ran.code, ran.out + &ran.err)
    };
    let (code, listed) = run(&["pages", "list"]);
    assert_eq!(code, Some(0), "{listed}");
    assert!(listed.contains(&page) && listed.contains("public"));
    let (code, seen) = run(&["pages", "overview", &page]);
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.starts_with(&format!("{page}: up")), "{seen}");
    assert!(seen.contains(&component) && seen.contains("Mail"), "{seen}");
    let (_, json) = run(&["pages", "overview", &page, "--json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["overview"]["components"][0]["state"], "up", "{json}");
    let (code, days) = run(&["pages", "uptime", &component, "--days", "2"]);
    assert_eq!(code, Some(0), "{days}");
    assert!(days.contains("uptime -"), "{days}");
    let (code, listed) = run(&["pages", "components", &page]);
    assert_eq!(code, Some(0), "{listed}");
    assert!(listed.contains(&component) && listed.contains("Mail"), "{listed}");
    let (code, refused) = run(&["pages", "uptime", &component, "--days", "91"]);
    assert_eq!(code, Some(1), "{refused}");
    assert!(refused.contains("`days` must be 1 to 90"), "{refused}");
}

// issue 7, point 5: "`robots` choice"
#[test]
fn page_settings_are_shown_and_changed() {
    let (home, key) = Home::with_key();
    let server = home.serve();
    let request = json!({ "statusPage": { "title": "Acme", "slug": "acme" } });
    let made = call_service(server.address, &key, PAGES, "CreateStatusPage", &request).unwrap();
    let page = text(&made.json()["statusPage"]["id"]);
    let address = format!("http://{}/rpc", server.address);
    let variables = [("SERVICE_API_URL", &*address), ("SERVICE_API_TOKEN", &*key)];
    let run = |args: &[&str]| {
        let ran = home.run_with(args, &variables);
        (ran.code, ran.out + &ran.err)
    };
    let done = |args: &[&str]| {
        let (code, printed) = run(args);
        assert_eq!(code, Some(0), "{args:?}: {printed}");
        printed
    };
    let shown = || -> Vec<String> {
        let shown = done(&["pages", "show", &page]);
        let names = ["access ", "shown ", "theme ", "search engines "];
        let lines = shown.lines().filter(|line| names.iter().any(|name| line.starts_with(name)));
        lines.map(|line| line.split_once("  ").unwrap().1.trim().to_owned()).collect()
    };
    assert_eq!(shown(), ["public", "published", "system", "may list it"]);
    let printed = done(&["pages", "indexing", &page, "forbid"]);
    assert_eq!(printed.trim(), format!("{page} may not be indexed by search engines"));
    done(&["pages", "theme", &page, "dark"]);
    done(&["pages", "unpublish", &page]);
    assert_eq!(shown(), ["public", "hidden", "dark", "may not list it"]);
    assert_eq!(server.get("/status/acme", None).status, 404);
    done(&["pages", "publish", &page]);
    let reply = server.get("/status/acme", None);
    assert_eq!(reply.status, 200);
    assert!(reply.body.contains("<meta name=\"robots\" content=\"noindex\">"), "{}", reply.body);
    let allowed = done(&["pages", "indexing", &page, "allow", "--json"]);
    let allowed: Value = serde_json::from_str(&allowed).unwrap();
    assert_eq!(allowed["allowIndexing"], true, "{allowed}");
    let (code, refused) = run(&["pages", "theme", &page, "pink"]);
    assert_eq!(code, Some(1), "{refused}");
    assert!(refused.contains("must be one of system, light, dark"), "{refused}");
    let (code, refused) = run(&["pages", "show", "page_0000000000001"]);
    assert_eq!(code, Some(1), "{refused}");
    assert!(refused.contains("status page `page_0000000000001` not found"), "{refused}");
}
