//! Functions, ephemeral resources, lists and actions: with the real `terraform` if it supports
//! them, otherwise over the wire.

use serde_json::{Value, json};

use crate::host::{Host, value};
use crate::notebook::{terraform, whole};

const NOTE: &str = "notebook_note";

#[tokio::test(flavor = "multi_thread")]
async fn configuration_uses_functions_and_ephemeral_values() {
    let rest = r#"
output "spelt" {
  value = provider::notebook::spell("ab", "c")
}
ephemeral "notebook_key" "one" {
  length = 3
}
resource "notebook_note" "main" {
  title   = "a"
  pass_wo = ephemeral.notebook_key.one.key
}
"#;
    let terraform = terraform();
    terraform.configure(&whole(rest)).unwrap();
    let state = terraform.apply().await.unwrap().state;
    assert_eq!(state.output("spelt"), &json!(["a", "b", "c"]));
    assert!(!state.json.to_string().contains("kkk"), "the key is in the state");
    assert!(terraform.plan().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn function_error_names_the_argument() {
    let terraform = terraform();
    let rest = "output \"spelt\" {\n  value = provider::notebook::spell(\"a\", \"\")\n}";
    terraform.configure(&whole(rest)).unwrap();
    let failed = terraform.plan().await.unwrap_err().to_string();
    assert!(failed.contains("a word must have letters"), "{failed}");
    assert!(failed.contains("\"more\""), "{failed}");
}

#[test]
fn list_returns_only_matching_objects() {
    let folder = tempfile::tempdir().unwrap();
    let notes = json!({
        "1": json!({ "id": "1", "title": "apple" }).to_string(),
        "2": json!({ "id": "2", "title": "pear" }).to_string(),
        "3": json!({ "id": "3", "title": "apricot" }).to_string(),
    });
    std::fs::write(folder.path().join("notes.json"), notes.to_string()).unwrap();
    let mut host = Host::configured(folder.path());
    let cases: [(Value, i64, &[&str]); 4] = [
        (Value::Null, 0, &["apple", "pear", "apricot"]),
        (Value::Null, 2, &["apple", "pear"]),
        (json!("ap"), 0, &["apple", "apricot"]),
        (json!("ap"), 1, &["apple"]),
    ];
    for (prefix, limit, names) in cases {
        let found = host.stream(
            "ListResource",
            json!({ "type_name": NOTE, "config": value(json!({ "prefix": prefix })),
                "limit": limit, "include_resource_object": limit == 0 }),
        );
        let listed: Vec<&str> =
            found.iter().map(|it| it["display_name"].as_str().unwrap()).collect();
        assert_eq!(listed, names, "{prefix} {limit}");
        assert_eq!(found[0]["identity"]["identity_data"], json!({ "id": "1" }));
        let title = &found[0]["resource_object"]["title"];
        assert_eq!(title, &if limit == 0 { json!("apple") } else { Value::Null });
    }
}

#[test]
fn failed_search_reports_error_in_stream() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.json"), "{broken").unwrap();
    let mut host = Host::configured(folder.path());
    let config = value(json!({ "prefix": null }));
    let events = host.stream("ListResource", json!({ "type_name": NOTE, "config": config }));
    let diagnostic = &events.last().unwrap()["diagnostic"][0];
    assert_eq!(diagnostic["summary"], "The notebook cannot be used", "{events:?}");
}

#[test]
fn action_reports_progress_and_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let notes = json!({ "1": json!({ "id": "1", "title": "apple" }).to_string() });
    std::fs::write(folder.path().join("notes.json"), notes.to_string()).unwrap();
    let mut host = Host::configured(folder.path());
    let mut invoke = |id: &str| {
        let config = value(json!({ "id": id, "stamp": null }));
        host.stream("InvokeAction", json!({ "action_type": "notebook_stamp", "config": config }))
    };
    let done = invoke("1");
    let lines: Vec<&Value> = done.iter().map(|it| &it["progress"]["message"]).collect();
    assert_eq!(
        lines,
        [&json!("looking for note 1"), &json!("stamping it with seen"), &Value::Null]
    );
    assert_eq!(done.last().unwrap()["completed"], json!({}));
    let failed = invoke("7");
    let diagnostic = &failed.last().unwrap()["completed"]["diagnostics"][0];
    assert_eq!(
        (&diagnostic["severity"], &diagnostic["summary"]),
        (&json!("ERROR"), &json!("Unknown note"))
    );
    let kept = std::fs::read_to_string(folder.path().join("notes.json")).unwrap();
    assert!(kept.contains(r#"\"text\":\"seen\""#), "{kept}");
}

#[test]
fn unknown_lists_and_actions_are_rejected() {
    let mut host = Host::start();
    for (method, request) in [
        ("ListResource", json!({ "type_name": "notebook_pen" })),
        ("InvokeAction", json!({ "action_type": "notebook_pen" })),
    ] {
        assert_eq!(host.call(method, request)["status"], "NotFound", "{method}");
    }
    let answer = host.call("CallFunction", json!({ "name": "sing" }));
    assert_eq!(answer["error"]["text"], "function not found in this provider");
}
