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

/// Checks that every monitor is in the configuration with its threshold.
pub(crate) fn all_came(reader: &mut Reader) {
    let text = reader.run("cat aloft.yaml\n");
    let monitors = text.split("    name: Theirs ").skip(1);
    let came: Vec<(usize, usize)> = monitors
        .map(|monitor| {
            let number = monitor.lines().next().unwrap().parse().unwrap();
            let degraded_at = monitor.split("degraded_at: ").nth(1).unwrap();
            (number, degraded_at.lines().next().unwrap().parse().unwrap())
        })
        .collect();
    let degraded_at = |number| degraded_at(number).unwrap_or_default();
    let expected: Vec<_> = (0..HTTP).map(|number| (number, degraded_at(number))).collect();
    assert_eq!(came, expected);
}
