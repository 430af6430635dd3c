//! `aloft reports` on a running server.

use serde_json::{Value, json};

use crate::process::{Home, Server, call_service};

const PAGES: &str = "status_page.v1.StatusPageService";

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
}

/// A server with a page and a component, and commands on it.
struct ReportFixture {
    home: Home,
    _server: Server,
    address: String,
    key: String,
    page: String,
    component: String,
}

impl ReportFixture {
    fn start() -> Self {
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
        Self { home, _server: server, address, key, page, component }
    }

    fn run(&self, args: &[&str]) -> (Option<i32>, String) {
        let variables = [("SERVICE_API_URL", &*self.address), ("SERVICE_API_TOKEN", &*self.key)];
        let ran = self.home.run_with(args, &variables);
        (ran.code, ran.out + &ran.err)
    }

    /// Returns the output of a command that must succeed.
    fn done(&self, args: &[&str]) -> String {
        let (code, printed) = self.run(args);
        assert_eq!(code, Some(0), "{args:?}: {printed}");
        printed
    }
}

// issue 7, point 3
#[test]
fn report_is_created_updated_and_resolved() {
    let fixture = ReportFixture::start();
    let template =
        ["reports", "templates", "create", "--name", "Mail", "--text", "We look.", "--json"];
    let template: Value = serde_json::from_str(&fixture.done(&template)).unwrap();
    let (template, impact) = (text(&template["id"]), format!("{}=down", fixture.component));
    let create =
        ["reports", "create", "--page", &fixture.page, "--title", "Mail is stuck", "--json"];
    let first = ["--template", &template, "--status", "investigating", "--component", &impact];
    let opened = fixture.done(&[&create[..], &first[..]].concat());
    let opened: Value = serde_json::from_str(&opened).unwrap();
    let (report, update) = (text(&opened["id"]), text(&opened["updates"][0]["id"]));
    assert_eq!(opened["updates"][0]["text"], "We look.");
    let update_it =
        ["reports", "add-update", &report, "--status", "identified", "--text", "A queue."];
    let known = fixture.done(&[&update_it[..], &["--no-notify"][..]].concat());
    assert!(known.starts_with(&format!("{report} is identified (upd_")), "{known}");
    let edited = fixture.done(&["reports", "edit-update", &update, "--text", "We *look*."]);
    assert!(edited.starts_with(&format!("{report} is identified")), "{edited}");
    let shown = fixture.done(&["reports", "show", &report]);
    assert!(shown.contains("We *look*.") && shown.contains(&impact), "{shown}");
    fixture.done(&["reports", "resolve", &report, "--text", "Over."]);
    let listed = fixture.done(&["reports", "list", "--state", "resolved"]);
    assert!(listed.contains(&report) && listed.contains("Mail is stuck"), "{listed}");
    assert!(!fixture.done(&["reports", "list", "--state", "open"]).contains(&report));
    let changed =
        fixture.done(&["reports", "edit", &report, "--title", "Mail was stuck", "--json"]);
    let changed: Value = serde_json::from_str(&changed).unwrap();
    assert_eq!(changed["title"], "Mail was stuck", "{changed}");
    assert_eq!(
        changed["updates"].as_array().unwrap().len(),
        3,
        "the number of updates is unchanged"
    );
    fixture.done(&["reports", "delete", &update, "--yes"]);
    let gone = fixture.done(&["reports", "delete", &report, "--yes"]);
    assert_eq!(gone.trim(), format!("{report} was deleted"));
    let edit = ["reports", "templates", "edit", &template, "--title", "Mail waits", "--json"];
    let edited: Value = serde_json::from_str(&fixture.done(&edit)).unwrap();
    assert_eq!((&edited["title"], &edited["text"]), (&json!("Mail waits"), &json!("We look.")));
    fixture.done(&["reports", "templates", "delete", &template, "--yes"]);
    assert!(!fixture.done(&["reports", "templates", "list"]).contains(&template));
}

#[test]
fn impossible_changes_name_the_reason() {
    let fixture = ReportFixture::start();
    for (args, why) in [
        (
            &["reports", "show", "rpt_0000000000001"][..],
            "status report `rpt_0000000000001` not found",
        ),
        (&["reports", "edit-update", "upd_0000000000001"], "nothing to change"),
        (&["reports", "edit", "rpt_0000000000001"], "nothing to change"),
        (
            &["reports", "delete", "upd_0000000000001"],
            "nobody can confirm the deletion of upd_0000000000001 without a terminal; add `--yes`",
        ),
        (
            &["reports", "delete", "upd_0000000000001", "--yes"],
            "update of a report `upd_0000000000001` not found",
        ),
        (&["reports", "templates", "delete", "tpl_0000000000001"], "add `--yes`"),
        (&["subscribers", "remove", "sub_0000000000001"], "add `--yes`"),
    ] {
        let (code, printed) = fixture.run(args);
        assert_eq!(code, Some(1), "{args:?}: {printed}");
        assert!(printed.contains(why), "{args:?}: {printed}");
    }
}
