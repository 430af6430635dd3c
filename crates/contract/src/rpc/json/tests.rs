//! JSON requests that pass, and the messages for those that are rejected.

use proto::monitor::v1::UpdateHttpMonitorRequest;

use super::*;

const CREATE: &str = "/monitor.v1.MonitorService/CreateHttpMonitor";
const UPDATE: &str = "/monitor.v1.MonitorService/UpdateHttpMonitor";

/// Returns the violations of a body, one per line.
fn found(path: &str, body: &str) -> String {
    let violations = check_json(path, body.as_bytes()).err().unwrap_or_default();
    violations.0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_designs_own_example_passes_in_both_spellings() {
    // design: §4
    let camel = r#"{"monitor":{"name":"API","url":"https://example.com/health","periodicity":"30s",
        "regions":["fly-ams","fly-iad"],"active":true,"retry":0,
        "statusCodeAssertions":[{"target":200,"comparator":"eq"}]}}"#;
    assert_eq!(found(CREATE, camel), "");
    let snake = camel.replace("statusCodeAssertions", "status_code_assertions");
    assert_eq!(found(CREATE, &snake), "");
}

#[test]
fn unknown_fields_are_rejected_at_any_depth() {
    // issue 3: bad input
    let body = r#"{"monitor":{"colour":{"deep":[1]},"headers":[{"key":"a"},{"vallue":"b"}]},"dryRun":true}"#;
    insta::assert_snapshot!(found(CREATE, body), @r#"
    `monitor.colour` is not a field of monitor.v1.HttpMonitor
    `monitor.headers[1].vallue` is not a field of monitor.v1.Header; did you mean `value`?
    `dryRun` is not a field of monitor.v1.CreateHttpMonitorRequest
    "#);
}

#[test]
fn mistyped_value_is_rejected_with_its_path() {
    let body = r#"{"monitor":{"timeout":1.5,"retry":3000000000,"degradedAt":"soon","active":"yes",
        "name":5,"regions":"fly-ams","headers":[null],"description":{},"method":["GET"],"body":true},
        "updateMask":["name"]}"#;
    insta::assert_snapshot!(found(UPDATE, body), @r#"
    `monitor.timeout` must be a whole number of 32 bits (given: `1.5`)
    `monitor.retry` must be a whole number of 32 bits (given: `3000000000`)
    `monitor.degraded_at` must be a whole number of 32 bits (given: `a string`)
    `monitor.active` must be true or false (given: `a string`)
    `monitor.name` must be a string (given: `a number`)
    `monitor.regions` must be a list (given: `a string`)
    `monitor.headers[0]` must be an object (given: `null`)
    `monitor.description` must be a string (given: `an object`)
    `monitor.method` must be a string (given: `a list`)
    `monitor.body` must be a string (given: `a bool`)
    `update_mask` must be a string (given: `a list`)
    "#);
}

#[test]
fn valid_protobuf_json_passes() {
    let body = r#"{"monitor":{"timeout":5.0,"retry":"3","description":null,"regions":null,
        "createdAt":"2026-11-21T00:00:00Z"},"updateMask":"name,statusCodeAssertions"}"#;
    assert_eq!(found(UPDATE, body), "");
}

#[test]
fn misspelt_masks_and_times_are_rejected() {
    // design: §4; the decoder reports only line and column
    let body = r#"{"monitor":{"createdAt":"yesterday"},"updateMask":"name,degraded_at"}"#;
    insta::assert_snapshot!(found(UPDATE, body), @r"
    `monitor.created_at` must be a time of RFC 3339, such as 2026-11-21T00:00:00Z
    `update_mask` must name fields as JSON does, in lowerCamelCase and joined by commas, such as `name,monitorIds`
    ");
    for mask in ["", "name", "name,degradedAt", "status_code_assertions", "Name", "name,,url"] {
        let body = format!(r#"{{"updateMask":"{mask}"}}"#);
        let decoded = serde_json::from_str::<UpdateHttpMonitorRequest>(&body);
        assert_eq!(found(UPDATE, &body).is_empty(), decoded.is_ok(), "{mask}: {decoded:?}");
    }
}

#[test]
fn a_request_that_is_no_object_is_refused() {
    for body in ["null", "[]", "5", "\"text\"", "true"] {
        assert!(found(CREATE, body).starts_with("`request` must be an object"), "{body}");
    }
}

#[test]
fn broken_json_is_left_to_the_decoder() {
    for body in ["", "{", "{\"monitor\":{\"name\":", "\u{0}", "{}}"] {
        assert_eq!(found(CREATE, body), "", "{body}");
    }
    assert_eq!(found("/grpc.health.v1.Health/Check", r#"{"anything":1}"#), "");
}

#[test]
fn response_to_many_violations_is_short() {
    let fields: Vec<String> =
        (0..1000).map(|index| format!("\"{}{index}\":1", "x".repeat(500))).collect();
    let answer = found(CREATE, &format!("{{{}}}", fields.join(",")));
    assert_eq!(answer.lines().count(), VIOLATIONS_MAX);
    assert!(answer.len() < 4096, "{}", answer.len());
}

#[test]
fn deep_nesting_is_no_stack_overflow() {
    let body = format!("{{\"monitor\":{}", "[".repeat(100_000));
    insta::assert_snapshot!(found(CREATE, &body), @"`monitor` must be an object (given: `a list`)");
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_it_panic(body: Vec<u8>) {
        let _ = check_json(CREATE, &body);
    }

    /// Bodies that pass the check may fail to decode only because of their syntax or the format of
    /// a string. The check already reports wrong types with their path.
    #[test]
    fn body_that_passes_the_check_is_decoded(body in requests()) {
        use proto::monitor::v1::CreateHttpMonitorRequest;
        let decoded = serde_json::from_str::<CreateHttpMonitorRequest>(&body);
        if check_json(CREATE, body.as_bytes()).is_ok() {
            proptest::prop_assert!(decoded.is_ok(), "{body}: {decoded:?}");
        }
    }
}

/// Generates requests with known fields and values of any type.
fn requests() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    let name = prop::sample::select(vec![
        "name",
        "timeout",
        "retry",
        "active",
        "regions",
        "headers",
        "bodyAssertions",
        "url",
    ]);
    let value = prop::sample::select(vec![
        "null",
        "true",
        "0",
        "-1",
        "1.0",
        "1.5",
        "1e3",
        "1e300",
        "2147483648",
        "\"\"",
        "\"7\"",
        "\"x\"",
        "[]",
        "[null]",
        "[\"fly-ams\"]",
        "[{}]",
        "{}",
        "[{\"key\":\"a\"}]",
        "[[]]",
    ]);
    prop::collection::btree_map(name, value, 0..4).prop_map(|fields| {
        let fields: Vec<String> =
            fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{\"monitor\":{{{}}}}}", fields.join(","))
    })
}
