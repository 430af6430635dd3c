//! "Copy as Terraform" of the dashboard: applying the copied text imports the monitor and changes nothing.

use serde_json::{Value, json};
use terraform_plugin::harness::PlannedAction;
use testkit::person::Person;

use crate::world::World;

/// Returns a text of a page as a person copies it.
fn copied(page: &str, id: &str) -> String {
    let start = format!("<pre class=\"code\" id=\"{id}\" tabindex=\"0\">");
    let (_, rest) = page.split_once(&start).unwrap_or_else(|| panic!("no {id} in {page}"));
    let text = rest.split_once("</pre>").unwrap().0;
    // The ampersand comes last: it begins the other ones.
    let replaced =
        [("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'"), ("&#38;", "&")];
    replaced.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// Returns a monitor of each kind with all arguments and awkward values, and one with few arguments.
fn monitors() -> [(&'static str, Value); 6] {
    let common = |name: &str, more: Value| {
        let mut monitor = json!({
            "name": name, "periodicity": "10m", "timeout": 0, "degradedAt": 0, "retry": 0,
            "active": false, "public": true, "description": "für ${everyone} %{if}",
            "regions": ["fly-ams", "fly-iad", "fly-sin"], "tags": ["shop", "a \"b\" \\c"],
        });
        let all = monitor.as_object_mut().unwrap();
        all.extend(more.as_object().unwrap().clone());
        monitor
    };
    let http = json!({
        "url": "https://user:s3cret@example.com/${x}?a=%7B", "method": "POST",
        "body": "{\"a\": \"${b}\", \"c\": \"\\ $${d} %%{e}\"}\r\n\t監視 🚀 \u{202e}",
        "followRedirects": false,
        "headers": [
            { "key": "X-Token", "value": "s3cret" },
            { "key": "x-token", "value": "s3cret" },
            { "key": "Accept", "value": "text/html" },
            { "key": "X-Empty", "value": "" },
        ],
        "statusCodeAssertions": [{ "target": 599, "comparator": "lte" }],
        "bodyAssertions": [{ "target": "", "comparator": "not_empty" }],
        "headerAssertions": [{ "key": "Server", "target": "%{x}", "comparator": "neq" }],
    });
    let records = json!({
        "uri": "example.com",
        "recordAssertions": [
            { "record": "TXT", "target": "v=spf1 \"$${all}\"", "comparator": "not_contains" },
            { "record": "A", "target": "192.0.2.1", "comparator": "neq" },
        ],
    });
    let few =
        |target: &str, value: &str| json!({ "name": "1st", "periodicity": "1m", target: value });
    [
        ("CreateHttpMonitor", common("API ${x}", http)),
        ("CreateTcpMonitor", common("監視", json!({ "uri": "[2001:db8::1]:443" }))),
        ("CreateDnsMonitor", common("2 \"records\"", records)),
        ("CreateHttpMonitor", few("url", "https://example.com/")),
        ("CreateTcpMonitor", few("uri", "example.com:443")),
        ("CreateDnsMonitor", few("uri", "example.com")),
    ]
}

// issue 18, point 4: "*Copy as Terraform*"
#[tokio::test]
async fn copied_monitors_are_only_imported() {
    let world = World::start().await;
    let ada = Person::set_up(&world.server).await;
    for (method, monitor) in monitors() {
        let made = world.rpc("monitor.v1.MonitorService", method, json!({ "monitor": monitor }));
        let id = made.await["monitor"]["id"].as_str().unwrap().to_owned();
        let page = ada.get(&format!("/w/acme/monitors/{id}/terraform")).await.text();
        let text = copied(&page, "configuration");
        assert!(!text.contains("s3cret"), "{text}");
        world.terraform.write("copied.tf", &text).unwrap();
        let formatted = world.terraform.run(&["fmt", "-check", "-diff", "copied.tf"]).await;
        formatted.unwrap_or_else(|why| panic!("{why}"));
        let declared =
            text.lines().filter_map(|line| line.strip_prefix("variable \"")?.split('"').next());
        let values = declared.map(|name| {
            let value = if name.ends_with("_credentials") { "user:s3cret" } else { "s3cret" };
            format!("{name} = \"{value}\"\n")
        });
        world.terraform.write("known.auto.tfvars", &values.collect::<String>()).unwrap();
        let plan = world.plan("").await;
        let [change] = &plan.changes[..] else { panic!("{}\n{text}", plan.summary()) };
        assert_eq!(change.action, PlannedAction::Nothing, "{}\n{text}", plan.summary());
        assert!(change.importing.is_some(), "{}\n{text}", plan.summary());
        world.apply_planned().await;
        world.must_be_settled().await;
        // The command is for versions without import blocks.
        world.terraform.remove_state().unwrap();
        let (resource, _) = text.split_once("\nimport {").unwrap();
        world.terraform.write("copied.tf", resource).unwrap();
        let import = copied(&page, "import");
        let words: Vec<&str> = import.split(' ').collect();
        let ["terraform", "import", address, id] = words[..] else { panic!("{import}") };
        world.terraform.import(address, id).await.unwrap_or_else(|why| panic!("{why}"));
        world.must_be_settled().await;
        world.terraform.remove_state().unwrap();
    }
}
