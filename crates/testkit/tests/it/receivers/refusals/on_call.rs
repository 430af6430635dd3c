//! Rejections by services for on-call duty.

use super::*;

#[tokio::test]
async fn pagerduty() {
    let mut bench = Bench::new(ProviderType::Pagerduty, EventKind::Error).await;
    bench.with("/routing_key", Value::Null).await;
    bench.with("/routing_key", json!("e93facc04764012d7bfb002500d5d1a7")).await;
    bench.with("/event_action", json!("close")).await;
    bench.with("/event_action", Value::Null).await;
    bench.with("/dedup_key", long(256)).await;
    bench.with("/payload/summary", long(1_025)).await;
    bench.with("/payload/summary", json!(" ")).await;
    bench.with("/payload/severity", json!("fatal")).await;
    bench.with("/payload/source", Value::Null).await;
    bench.with("/payload/timestamp", json!("now")).await;
    bench.with("/payload/custom_details", json!([])).await;
    bench.with("/links/0/href", json!("x y")).await;
    bench.with("/payload/custom_details", json!({ "x": "x".repeat(512 * 1_024) })).await;
    bench.spoiled("no JSON", |bad| bad.body = b"x".to_vec()).await;
    bench.url("/v2/", "/v1/").await;
    insta::assert_snapshot!(bench.render(), @r#"
    says 400 {"status":"invalid event","message":"Event object is invalid","errors":["'routing_key' is missing or blank","Length of 'routing_key' is incorrect (should be 32 characters)","Invalid routing key"]}
    /routing_key = null: 400 'routing_key' is missing or blank; Length of 'routing_key' is incorrect (should be 32 characters); Invalid routing key
    /routing_key = "e93facc04764012d7bfb002500d5d1a7": 400 Invalid routing key
    /event_action = "close": 400 'event_action' must be one of: trigger, acknowledge, resolve
    /event_action = null: 400 'event_action' must be one of: trigger, acknowledge, resolve
    /dedup_key of 258 bytes: 400 'dedup_key' has 1 to 255 characters
    /payload/summary of 1027 bytes: 400 'payload.summary' has at most 1024 characters
    /payload/summary = " ": 400 'payload.summary' is missing or blank
    /payload/severity = "fatal": 400 'payload.severity' must be one of: critical, error, warning, info
    /payload/source = null: 400 'payload.source' is missing or blank
    /payload/timestamp = "now": 400 'payload.timestamp' is not ISO 8601
    /payload/custom_details = []: 400 'payload.custom_details' is not an object
    /links/0/href = "x y": 400 'links' need an 'href' that is a URL
    /payload/custom_details of 524296 bytes: 413 the event is too large
    no JSON: 400 the body is not JSON
    /v2/ → /v1/: 404 unknown path
    "#);
    let mut over = Bench::new(ProviderType::Pagerduty, EventKind::Recovered).await;
    over.with("/dedup_key", Value::Null).await;
    insta::assert_snapshot!(over.render(), @r#"
    says 400 {"status":"invalid event","message":"Event object is invalid","errors":["'dedup_key' is missing or blank"]}
    /dedup_key = null: 400 'dedup_key' is missing or blank
    "#);
}

#[tokio::test]
async fn opsgenie() {
    let mut bench = Bench::new(ProviderType::Opsgenie, EventKind::Error).await;
    for (name, max) in [
        ("message", 130),
        ("alias", 512),
        ("description", 15_000),
        ("entity", 512),
        ("source", 100),
    ] {
        bench.with(&format!("/{name}"), long(max + 1)).await;
    }
    bench.with("/message", Value::Null).await;
    bench.with("/priority", json!("P0")).await;
    bench.with("/tags", Value::from(vec![long(51)])).await;
    bench.with("/tags", Value::from(vec!["x"; 21])).await;
    bench.with("/details", json!({ "x": "x".repeat(8_000) })).await;
    bench.with("/details", json!({ "x": 1 })).await;
    bench.header(AUTHORIZATION, None).await;
    bench.header(AUTHORIZATION, Some("Bearer eb243592-faa2-4ba2-a551-1afdf565c889")).await;
    bench.header(AUTHORIZATION, Some("GenieKey other")).await;
    bench.url("/v2/", "/v1/").await;
    insta::assert_snapshot!(bench.render(), @r#"
    says 422 {"message":"Request body is not processable. Please check the errors.","errors":{"message":"is a text of at most 130 characters."},"took":0.001,"requestId":"513085b8-caf3-4f91-aa23-be5fdefc3570"}
    /message of 133 bytes: 422 Request body is not processable. Please check the errors. {"message":"is a text of at most 130 characters."}
    /alias of 515 bytes: 422 Request body is not processable. Please check the errors. {"alias":"is a text of at most 512 characters."}
    /description of 15003 bytes: 422 Request body is not processable. Please check the errors. {"description":"is a text of at most 15000 characters."}
    /entity of 515 bytes: 422 Request body is not processable. Please check the errors. {"entity":"is a text of at most 512 characters."}
    /source of 103 bytes: 422 Request body is not processable. Please check the errors. {"source":"is a text of at most 100 characters."}
    /message = null: 422 Request body is not processable. Please check the errors. {"message":"Message can not be empty."}
    /priority = "P0": 422 Request body is not processable. Please check the errors. {"priority":"should be one of [ P1, P2, P3, P4, P5 ]."}
    /tags of 55 bytes: 422 Request body is not processable. Please check the errors. {"tags":"are at most 20 texts of at most 50 characters."}
    /tags of 85 bytes: 422 Request body is not processable. Please check the errors. {"tags":"are at most 20 texts of at most 50 characters."}
    /details of 8008 bytes: 422 Request body is not processable. Please check the errors. {"details":"are texts of at most 8000 characters together."}
    /details = {"x":1}: 422 Request body is not processable. Please check the errors. {"details":"are texts of at most 8000 characters together."}
    authorization None: 401 Could not authenticate {}
    authorization Some("Bearer eb243592-faa2-4ba2-a551-1afdf565c889"): 401 Could not authenticate {}
    authorization Some("GenieKey other"): 422 Key format is not valid! {}
    /v2/ → /v1/: 404 Not Found {}
    "#);
    let mut over = Bench::new(ProviderType::Opsgenie, EventKind::Recovered).await;
    over.url("?identifierType=alias", "").await;
    over.with("/note", long(25_001)).await;
    insta::assert_snapshot!(over.render(), @r#"
    says 422 {"message":"Identifier is not an id","errors":{"id":"inc_0000000000005"},"took":0.001,"requestId":"513085b8-caf3-4f91-aa23-be5fdefc3570"}
    ?identifierType=alias → : 422 Identifier is not an id {"id":"inc_0000000000005"}
    /note of 25003 bytes: 422 Request body is not processable. Please check the errors. {"note":"is a text of at most 25000 characters."}
    "#);
}

#[tokio::test]
async fn grafana_oncall() {
    let mut bench = Bench::new(ProviderType::GrafanaOncall, EventKind::Error).await;
    bench.with("/state", json!("down")).await;
    bench.with("/title", json!("")).await;
    bench.with("/alert_uid", Value::Null).await;
    bench.with("/message", json!({})).await;
    bench.with("/link_to_upstream_details", json!("x y")).await;
    bench.with("/severity", json!("high")).await;
    bench.spoiled("no JSON", |bad| bad.body = b"x".to_vec()).await;
    bench.url("/formatted_webhook/", "/webhook/").await;
    bench.url("/bJ8K", "/other").await;
    insta::assert_snapshot!(bench.render(), @r#"
    says 400 `state` is neither `alerting` nor `ok`
    /state = "down": 400 `state` is neither `alerting` nor `ok`
    /title = "": 400 `title` is empty: nothing could be grouped or shown by it
    /alert_uid = null: 400 `alert_uid` is empty: nothing could be grouped or shown by it
    /message = {}: 400 `message` is not text
    /link_to_upstream_details = "x y": 400 `link_to_upstream_details` is not a URL
    /severity = "high": 400 `severity` is not recognised
    no JSON: 400 the body is not JSON
    /formatted_webhook/ → /webhook/: 400 another kind of integration
    /bJ8K → /other: 403 another key
    "#);
}
