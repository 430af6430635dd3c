//! A fake of the service that `docs/guides/move-from-openstatus.md` moves from, and the check of
//! the result. It has three pages of monitors. The last page has no monitor to move.

use serde_json::{Value, json};
use testkit::target::{Received, ScriptedResponse};

use crate::reader::Reader;

/// Address in the guide.
pub(crate) const ADDRESS: &str = "https://api.openstatus.dev";
/// Path of its list.
const LIST: &str = "/rpc/openstatus.monitor.v1.MonitorService/ListMonitors";
/// Numbers of monitors of each kind, in this order.
const HTTP: usize = 101;
const TCP: usize = 100;
/// Command with which the guide lists the monitors of our server.
const OURS: &str = r#"curl -sS --fail-with-body -H "x-service-key: $SERVICE_API_KEY" -H 'content-type: application/json' \
  "$SERVICE_API_URL/monitor.v1.MonitorService/ListMonitors" -d"#;

/// Returns the response to a list request. Omits empty lists and unset fields, as the service's
/// encoding does.
pub(crate) fn answer(received: &Received, url: &str) -> Option<ScriptedResponse> {
    if received.target != LIST {
        return None;
    }
    let asked: Value = serde_json::from_str(&received.body).ok()?;
    let number = |name: &str| asked[name].as_u64().unwrap_or_default() as usize;
    let (limit, offset) = (number("limit"), number("offset"));
    let page = (0..HTTP + TCP).skip(offset).take(limit.min(100));
    let (http, tcp): (Vec<_>, Vec<_>) = page.partition(|number| *number < HTTP);
    let mut answer = json!({ "totalSize": HTTP + TCP });
    if !http.is_empty() {
        answer["httpMonitors"] = http.into_iter().map(|number| http_monitor(number, url)).collect();
    }
    if !tcp.is_empty() {
        let tcp = tcp.into_iter().map(|number| json!({ "id": number.to_string() }));
        answer["tcpMonitors"] = tcp.collect();
    }
    Some(ScriptedResponse::ok(answer.to_string()).header("content-type", "application/json"))
}

fn http_monitor(number: usize, url: &str) -> Value {
    let mut monitor = json!({
        "id": number.to_string(), "name": format!("Theirs {number}"), "url": url,
        "periodicity": "PERIODICITY_10M", "method": "HTTP_METHOD_GET", "timeout": "45000", "retry": "3",
        "regions": ["REGION_FLY_AMS"],
    });
    if let Some(degraded_at) = degraded_at(number) {
        monitor["degradedAt"] = degraded_at.to_string().into();
    }
    monitor
}

/// Returns the degraded threshold of a monitor in milliseconds. Every third monitor has none.
fn degraded_at(number: usize) -> Option<usize> {
    (!number.is_multiple_of(3)).then_some(1_000 + number)
}

/// Checks that every monitor was moved with its threshold.
pub(crate) fn all_came(reader: &mut Reader) {
    let mut came = Vec::new();
    for offset in [0, 100] {
        let page = reader.run(&format!("{OURS} '{{\"limit\":100,\"offset\":{offset}}}'\n"));
        let page: Value = serde_json::from_str(&page).unwrap();
        for monitor in page["httpMonitors"].as_array().unwrap() {
            let name = monitor["name"].as_str().unwrap().to_owned();
            came.push((name, monitor["degradedAt"].clone()));
        }
    }
    came.retain(|(name, _)| name.starts_with("Theirs "));
    came.sort_by_key(|(name, _)| name[7..].parse::<usize>().unwrap());
    let degraded_at = |number| json!(degraded_at(number).unwrap_or_default());
    let expected: Vec<_> =
        (0..HTTP).map(|number| (format!("Theirs {number}"), degraded_at(number))).collect();
    assert_eq!(came, expected);
}
