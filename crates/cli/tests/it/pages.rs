//! `aloft pages` as people use it: what visitors see, beside a server.

use serde_json::{Value, json};

use crate::process::{Home, call_service};

const PAGES: &str = "status_page.v1.StatusPageService";

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
}

// issue 7, point 1
#[test]
fn what_visitors_see_is_read_from_the_command_line() {
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
    let (code, days) = run(&["pages", "days", &component, "--days", "2"]);
    assert_eq!(code, Some(0), "{days}");
    assert!(days.contains("uptime -"), "{days}");
    let (code, refused) = run(&["pages", "days", &component, "--days", "91"]);
    assert_eq!(code, Some(1), "{refused}");
    assert!(refused.contains("`days` must be 1 to 90"), "{refused}");
}
