//! Tests of the schema.

use super::*;

/// Copy of the schema in the documentation.
const COPY: &str = include_str!("../../../../docs/reference/configuration.schema.json");

#[test]
fn copy_in_the_documentation_is_current() {
    let current = format!("{:#}\n", schema());
    assert!(
        current == COPY,
        "write it with `aloft apply --schema > docs/reference/configuration.schema.json`"
    );
}

#[test]
fn fields_have_limits_defaults_and_sources() {
    let schema = schema();
    let http = &schema["properties"]["monitors"]["additionalProperties"]["oneOf"][0];
    insta::assert_snapshot!(http["properties"]["method"], @r##"{"anyOf":[{"type":"string","enum":["GET","POST","HEAD","PUT","PATCH","DELETE","OPTIONS"]},{"$ref":"#/$defs/source"}],"description":"Method of the request.","default":"GET"}"##);
    insta::assert_snapshot!(http["properties"]["retry"], @r#"{"type":"integer","minimum":0,"maximum":10,"description":"Retries after a failed attempt, 0 to 10, before a check counts as failed.","default":3}"#);
    insta::assert_snapshot!(http["properties"]["headers"]["maxItems"], @"20");
    insta::assert_snapshot!(http["required"], @r#"["kind","name","url","periodicity"]"#);
    let channel = &schema["properties"]["channels"]["additionalProperties"];
    insta::assert_snapshot!(channel["properties"]["monitor_ids"], @r##"{"type":"array","items":{"$ref":"#/$defs/reference"},"description":"Monitors whose incidents are sent to the channel."}"##);
    insta::assert_snapshot!(channel["required"], @"[]");
    let page = &schema["properties"]["status_pages"]["additionalProperties"]["properties"];
    insta::assert_snapshot!(page["components"]["additionalProperties"]["required"], @r#"["type"]"#);
}
