//! `aloft reports` as people use it: an outage that is told of beside a server.

use serde_json::{Value, json};

use crate::process::{Home, call_service};

const PAGES: &str = "status_page.v1.StatusPageService";

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
}

// issue 7, point 3
#[test]
fn an_outage_is_told_of_from_the_command_line() {
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
    let done = |args: &[&str]| {
        let (code, said) = run(args);
        assert_eq!(code, Some(0), "{args:?}: {said}");
        said
    };
    let template =
        done(&["reports", "templates", "create", "--name", "Mail", "--text", "We look.", "--json"]);
    let template: Value = serde_json::from_str(&template).unwrap();
    let template = text(&template["id"]);
    let impact = format!("{component}=down");
    let opened = done(&[
        "reports",
        "create",
        "--page",
        &page,
        "--title",
        "Mail is stuck",
        "--template",
        &template,
        "--status",
        "investigating",
        "--component",
        &impact,
        "--json",
    ]);
    let opened: Value = serde_json::from_str(&opened).unwrap();
    let (report, update) = (text(&opened["id"]), text(&opened["updates"][0]["id"]));
    assert_eq!(opened["updates"][0]["text"], "We look.");
    let known = done(&[
        "reports",
        "update",
        &report,
        "--status",
        "identified",
        "--text",
        "A queue.",
        "--no-notify",
    ]);
    assert!(known.starts_with(&format!("{report} is identified by upd_")), "{known}");
    let edited = done(&["reports", "edit", &update, "--text", "We *look*."]);
    assert!(edited.starts_with(&format!("{report} is identified")), "{edited}");
    let shown = done(&["reports", "show", &report]);
    assert!(shown.contains("We *look*.") && shown.contains(&impact), "{shown}");
    done(&["reports", "resolve", &report, "--text", "Over."]);
    let listed = done(&["reports", "list", "--state", "resolved"]);
    assert!(listed.contains(&report) && listed.contains("Mail is stuck"), "{listed}");
    assert!(!done(&["reports", "list", "--state", "open"]).contains(&report));
    done(&["reports", "delete", &update]);
    assert_eq!(done(&["reports", "delete", &report]).trim(), format!("{report} is deleted"));
    done(&["reports", "templates", "delete", &template]);
    assert!(!done(&["reports", "templates", "list"]).contains(&template));
    let (code, refused) = run(&["reports", "show", &report]);
    assert_eq!(code, Some(1), "{refused}");
    assert!(refused.contains("there is no status report"), "{refused}");
    let (code, refused) = run(&["reports", "edit", &update]);
    assert_eq!(code, Some(1), "{refused}");
    assert!(refused.contains("nothing is to change"), "{refused}");
}
