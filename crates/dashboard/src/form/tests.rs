//! From the browser to the request, and from violations to the form.

use rules::tables::{HTTP_MONITOR, NOTIFICATION};
use serde_json::json;

use super::*;

fn posted(fields: &[(&str, &str)]) -> Values {
    let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Values::posted(fields.collect(), &HTTP_MONITOR)
}

fn spec() -> FormSpec<'static> {
    FormSpec {
        resource: &HTTP_MONITOR,
        main: &["name", "url", "periodicity"],
        more: &["retry", "active", "headers"],
        choices: &|_| None,
    }
}

#[test]
fn posted_form_becomes_the_resource() {
    let values = posted(&[
        ("name", "API"),
        ("url", "https://example.com"),
        ("periodicity", "1m"),
        ("retry", ""),
        ("active", "true"),
        ("regions", "fly-ams"),
        ("regions", "fly-iad"),
        ("headers[0].key", ""),
        ("headers[0].value", ""),
        ("headers[3].key", "x-team"),
        ("headers[3].value", "core"),
        ("status_code_assertions[0].target", "200"),
        ("status_code_assertions[0].comparator", "eq"),
    ]);
    assert_eq!(
        json!(resource(&HTTP_MONITOR, &values)),
        json!({
            "name": "API", "url": "https://example.com", "periodicity": "1m", "active": true,
            "public": false, "followRedirects": false, "regions": ["fly-ams", "fly-iad"],
            "headers": [{ "key": "x-team", "value": "core" }],
            "statusCodeAssertions": [{ "target": 200, "comparator": "eq" }],
        })
    );
}

#[test]
fn tags_are_one_text_with_commas() {
    let tags =
        |text: &str| json!(resource(&HTTP_MONITOR, &posted(&[("tags", text)])))["tags"].clone();
    assert_eq!(tags(" Prod ,shop,, "), json!(["Prod", "shop"]));
    assert_eq!(tags(" , "), json!(null));
    let values = Values::stored(&json!({ "tags": ["Prod", "shop"] }), &HTTP_MONITOR);
    let spec = FormSpec { main: &["tags"], more: &[], ..spec() };
    let form = Form::new(spec, &values, &Messages::default());
    let Input::Field(field) = &form.main[0] else { panic!("a field") };
    let Control::Line { value, .. } = &field.control else { panic!("a line") };
    assert_eq!(value, "Prod, shop");
}

#[test]
fn stored_resource_fills_the_same_form() {
    let stored = json!({
        "name": "API", "url": "https://example.com", "periodicity": "1m", "retry": 3,
        "followRedirects": true, "active": true, "public": false, "regions": ["fly-ams"],
        "headers": [{ "key": "x-team", "value": "core" }],
    });
    let values = Values::stored(&stored, &HTTP_MONITOR);
    assert_eq!(json!(resource(&HTTP_MONITOR, &values)), stored);
}

#[test]
fn new_form_shows_defaults_and_keeps_details_closed() {
    let form = Form::new(spec(), &Values::default(), &Messages::default());
    assert!(!form.is_more_open && form.message.is_none());
    let Input::Field(retry) = &form.more[0] else { panic!("a field") };
    let Control::Number { value, min, max, .. } = &retry.control else { panic!("a number") };
    assert_eq!((value.as_str(), *min, *max), ("3", 0, 10));
}

#[test]
fn violations_appear_beside_their_fields() {
    let violation = rules::Violation::new("monitor.headers[0].key", "a b", "must be a token");
    let error = rpc::invalid(&Violations(vec![violation]));
    let messages = Messages::from_error(&error, "monitor");
    let values = posted(&[("headers[5].key", "a b"), ("headers[5].value", "x")]);
    let form = Form::new(spec(), &values, &messages);
    assert!(form.is_more_open);
    assert_eq!(form.message.as_deref(), Some("Nothing was saved. One field needs a change."));
    let Input::Rows(headers) = &form.more[2] else { panic!("rows") };
    assert_eq!(headers.rows.len(), 1);
    assert_eq!(headers.rows[0][0].error.as_deref(), Some("Must be a token (given: `a b`)."));
    let Control::Line { value, .. } = &headers.rows[0][0].control else { panic!("a line") };
    assert_eq!(value, "a b");
}

fn channel(fields: &[(&str, &str)]) -> Values {
    let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Values::posted(fields.collect(), &NOTIFICATION)
}

#[test]
fn block_that_appears_once_becomes_an_object() {
    let values = channel(&[
        ("name", "Ops"),
        ("webhook.endpoint", "https://example.com/hook"),
        ("webhook.headers[1].key", "x-team"),
        ("webhook.headers[1].value", "core"),
        ("slack.webhook_url", ""),
    ]);
    let json = json!(resource(&NOTIFICATION, &values));
    assert_eq!(
        json,
        json!({
            "name": "Ops", "monitorIds": [],
            "webhook": {
                "endpoint": "https://example.com/hook",
                "headers": [{ "key": "x-team", "value": "core" }],
            },
        })
    );
    let again = Values::stored(&json, &NOTIFICATION);
    assert_eq!(json!(resource(&NOTIFICATION, &again)), json);
}

#[test]
fn violation_in_a_block_appears_beside_its_field() {
    let violation =
        rules::Violation::new("notification.webhook.headers[0].key", "a b", "must be a token");
    let messages =
        Messages::from_error(&rpc::invalid(&Violations(vec![violation])), "notification");
    let values = channel(&[("webhook.headers[0].key", "a b")]);
    let spec =
        FormSpec { resource: &NOTIFICATION, main: &["webhook"], more: &[], choices: &|_| None };
    let form = Form::new(spec, &values, &messages);
    let Input::Group(webhook) = &form.main[0] else { panic!("a group") };
    assert_eq!(webhook.fields[0].name, "webhook.endpoint");
    let header = &webhook.rows[0].rows[0][0];
    assert_eq!(header.name, "webhook.headers[0].key");
    assert_eq!(header.error.as_deref(), Some("Must be a token (given: `a b`)."));
}
