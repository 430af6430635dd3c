//! The table of tools agrees with the contract and with the reference.

use std::collections::BTreeSet;

use contract::rpc;
use rules::Scope;
use serde_json::{Value, json};

use super::{find, of_scope};
use crate::tools::{Effect, NOTIFY, Notice, Reach, TOOLS, Tool};

const PAGE: &str = include_str!("../../../../docs/reference/mcp.md");
/// Maximum size of the list of tools, in bytes: a model reads it in each conversation.
const LIST_BYTES_MAX: usize = 96 * 1024;

fn schema(tool: &str) -> Value {
    Value::Object((*find(tool).unwrap().shown.input_schema).clone())
}

#[test]
fn each_tool_calls_existing_methods_of_its_kind() {
    for tool in TOOLS {
        let methods = tool.action.methods();
        let methods: Vec<_> = methods
            .iter()
            .map(|path| rpc::method(path).unwrap_or_else(|| panic!("{}: {path}", tool.name)))
            .collect();
        let reads = methods.iter().all(|method| method.reads_only);
        assert_eq!(reads, tool.effect == Effect::Reads, "{}", tool.name);
        // Keys must not call the methods for people.
        for method in methods {
            assert_eq!(rules::person_role(&method.path), None, "{}", tool.name);
        }
    }
}

#[test]
fn hints_follow_from_contract_and_table() {
    for entry in of_scope(Scope::Write) {
        let hints = entry.shown.annotations.as_ref().unwrap();
        let tool = entry.tool;
        let shown = (hints.read_only_hint, hints.destructive_hint, hints.open_world_hint);
        let expected = (
            Some(tool.effect == Effect::Reads),
            Some(tool.effect == Effect::Destroys),
            Some(tool.reach == Reach::World),
        );
        assert_eq!(shown, expected, "{}", tool.name);
    }
    let idempotent =
        |name| find(name).unwrap().shown.annotations.clone().unwrap().idempotent_hint.unwrap();
    assert!(
        idempotent("get_monitor") && idempotent("pause_monitor") && idempotent("delete_monitor")
    );
    assert!(!idempotent("create_http_monitor") && !idempotent("comment_incident"));
    assert!(!idempotent("trigger_monitor") && !idempotent("test_channel"));
}

#[test]
fn names_are_unique_and_plain() {
    let names: BTreeSet<_> = TOOLS.iter().map(|tool| tool.name).collect();
    assert_eq!(names.len(), TOOLS.len());
    for name in names {
        let is_plain = |it: u8| it.is_ascii_lowercase() || it == b'_';
        assert!(name.len() <= 32 && name.bytes().all(is_plain), "{name}");
    }
}

#[test]
fn choice_to_notify_is_that_of_the_contract() {
    for tool in TOOLS {
        let request = &rpc::method(tool.action.input()).unwrap().request;
        let has_choice = rpc::field_names(request).unwrap().any(|field| field == NOTIFY);
        assert_eq!(has_choice, tool.notice == Notice::Chosen, "{}", tool.name);
    }
}

#[test]
fn list_is_short_and_needs_no_other_document() {
    let listed: Vec<_> = of_scope(Scope::Write).map(|entry| &entry.shown).collect();
    let text = json!(listed).to_string();
    assert!(text.len() < LIST_BYTES_MAX, "{} bytes", text.len());
    for needless in ["$ref", "readOnly\"", "int32", "\"offset\"", "updateMask"] {
        assert!(!text.contains(needless), "{needless}");
    }
}

#[test]
fn schemas_have_the_limits_of_the_tables() {
    let monitor = &schema("create_http_monitor")["properties"]["monitor"];
    assert_eq!(monitor["required"], json!(["name", "url", "periodicity"]));
    assert_eq!(monitor["properties"]["retry"]["maximum"], json!(10));
    assert_eq!(monitor["properties"]["retry"]["default"], json!(3));
    let monitor = &schema("update_tcp_monitor")["properties"]["monitor"];
    assert_eq!(monitor["required"], json!(["id"]));
    assert_eq!(monitor["properties"]["periodicity"]["enum"][0], "30s");
    for absent in ["status", "active"] {
        assert!(monitor["properties"].get(absent).is_none(), "{absent}");
    }
}

#[test]
fn schema_asks_for_consent_and_offers_retries() {
    insta::assert_snapshot!(format!("{:#}", schema("test_channel")), @r#"
    {
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "id": {
          "type": "string",
          "description": "ID of a saved channel, `chn_…`, tested as stored."
        },
        "notify": {
          "type": "boolean",
          "const": true,
          "description": "Must be true: this call can send messages to people. Ask the person first."
        }
      },
      "required": [
        "id",
        "notify"
      ]
    }
    "#);
    let retry = &schema("comment_incident")["properties"]["idempotencyKey"];
    assert_eq!(retry["maxLength"], json!(rules::limits::IDEMPOTENCY_KEY_CHARS_MAX));
    assert_eq!(schema("create_status_report")["required"], json!(["statusReport", "notify"]));
    assert_eq!(
        schema("whoami"),
        json!({ "type": "object", "properties": {}, "additionalProperties": false })
    );
    assert_eq!(schema("list_monitors")["properties"]["limit"]["default"], json!(20));
}

#[test]
fn reference_lists_every_tool() {
    let rows: String = TOOLS.iter().map(row).collect();
    assert!(PAGE.contains(&rows), "docs/reference/mcp.md lacks this table:\n{rows}");
}

/// Returns the line of a tool in the reference.
fn row(tool: &Tool) -> String {
    let scope = if tool.effect == Effect::Reads { "read" } else { "write" };
    let methods = tool.action.methods();
    let methods: Vec<_> = methods
        .iter()
        .filter_map(|path| rpc::method(path))
        .map(|method| {
            let package = method.service.rsplit_once('.').map_or("", |(package, _)| package);
            format!("[{}]({package}.md#{})", method.name, method.name.to_lowercase())
        })
        .collect();
    let consent = match tool.notice {
        Notice::Silent => "",
        Notice::Chosen => " Requires `notify`.",
        Notice::Certain => " Requires `notify: true`.",
    };
    format!(
        "| `{}` | {scope} | {}{consent} | {} |\n",
        tool.name,
        tool.description,
        methods.join(", ")
    )
}
