//! Idempotency keys: every method that accepts one rejects it with another request. The tests of
//! each service cover repeated requests.

use serde_json::{Value, json};
use testkit::server::{Reply, STATUS_PAGES, STATUS_REPORTS};

use super::incident::Outage;

/// The page that lists the methods that accept a key, generated from the contract.
const CALLING: &str = include_str!("../../../../../docs/reference/calling.md");

/// Returns the service and the name of each method that accepts a key.
fn methods() -> Vec<(&'static str, &'static str)> {
    let (_, listed) = CALLING.split_once("These methods accept the header:\n\n").unwrap();
    let services = listed.lines().map_while(|line| line.strip_prefix("- `")?.split_once("`: "));
    let of_service = |(service, links): (&'static str, &'static str)| {
        let names = links.split('[').skip(1).filter_map(|link| link.split(']').next());
        names.map(move |name| (service, name))
    };
    services.flat_map(of_service).collect()
}

/// Resources that requests refer to.
struct Parents {
    incident: String,
    monitor: String,
    page: Value,
    report: Value,
}

/// Returns a valid request that contains `text`.
fn request(method: &str, text: &str, parents: &Parents) -> Value {
    let Parents { incident, monitor, page, report } = parents;
    let update = json!({ "status": "monitoring", "text": text });
    match method {
        "CommentIncident" => json!({ "id": incident, "text": text }),
        "CreateMaintenance" => json!({ "maintenance": {
            "title": text, "startsAt": "2026-11-22T00:00:00Z", "duration": "1h",
            "monitorIds": [monitor],
        } }),
        "CreateHttpMonitor" => json!({ "monitor": {
            "name": text, "periodicity": "10m", "url": "https://example.com/",
        } }),
        "CreateTcpMonitor" => json!({ "monitor": {
            "name": text, "periodicity": "10m", "uri": "example.com:443",
        } }),
        "CreateDnsMonitor" => json!({ "monitor": {
            "name": text, "periodicity": "10m", "uri": "example.com",
        } }),
        "CreateNotification" => json!({ "notification": {
            "name": text, "providerType": "email", "email": { "email": "ops@example.com" },
        } }),
        "CreateStatusPage" => json!({ "statusPage": { "title": text, "slug": "shop" } }),
        "CreateComponent" => json!({ "component": {
            "pageId": page, "type": "static", "name": text,
        } }),
        "CreateComponentGroup" => json!({ "componentGroup": { "pageId": page, "name": text } }),
        "AddSubscriber" => json!({ "subscriber": {
            "pageId": page, "webhookUrl": format!("https://hooks.example/{text}"),
        } }),
        "CreateStatusReport" => json!({
            "statusReport": { "pageId": page, "title": text }, "update": update,
        }),
        "AddStatusReportUpdate" => json!({ "id": report, "update": update }),
        "CreateReportTemplate" => json!({ "template": { "name": text } }),
        other => panic!("`{other}` accepts an idempotency key: add its request here"),
    }
}

// issue 16, point 14
#[tokio::test]
async fn reused_idempotency_key_is_rejected_by_every_method() {
    let outage = Outage::begin().await;
    let send = async |service: &str, method: &str, request: Value| -> Reply {
        let request = http::Request::post(format!("/rpc/{service}/{method}"))
            .header("host", outage.watched.server.address().to_string())
            .header("content-type", "application/json")
            .header("idempotency-key", "once")
            .body(bytes::Bytes::from(request.to_string()).into());
        outage.caller.request(request.unwrap()).await
    };
    let page = json!({ "statusPage": { "title": "Acme", "slug": "acme" } });
    let page = outage.caller.call(STATUS_PAGES, "CreateStatusPage", page).await.json();
    let mut parents = Parents {
        incident: outage.incident.clone(),
        monitor: outage.monitor.to_string(),
        page: page["statusPage"]["id"].clone(),
        report: Value::Null,
    };
    let report = request("CreateStatusReport", "Disks", &parents);
    let report = outage.caller.call(STATUS_REPORTS, "CreateStatusReport", report).await.json();
    parents.report = report["statusReport"]["id"].clone();

    let methods = methods();
    assert!(methods.len() >= 13, "{methods:?}");
    for (service, method) in methods {
        let first = send(service, method, request(method, "one", &parents)).await;
        assert_eq!(first.status, 200, "{method}: {first}");
        let other = send(service, method, request(method, "two", &parents)).await;
        assert_eq!(
            other.to_string(),
            format!(
                "409 {{\"code\":\"already_exists\",\"message\":\"this idempotency key was used by \
                 another `{method}` request; send a new key\"}}"
            )
        );
        let again = send(service, method, request(method, "one", &parents)).await;
        assert_eq!(again.json(), first.json(), "{method}");
    }
}
