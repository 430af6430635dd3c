//! Version 2 of the interface of UptimeRobot: <https://uptimerobot.com/api/>.

use std::time::Duration;

use rules::Secret;
use serde_json::Value;

use super::{ApiRequest, Step};

/// Address, variable of the key and time between requests: free accounts have 10 a minute.
pub(super) const SERVICE: (&str, &str, Duration) =
    ("https://api.uptimerobot.com", "UPTIMEROBOT_API_KEY", Duration::from_secs(6));
/// Methods that list objects.
pub(super) const LISTS: [&str; 4] = ["getMonitors", "getAlertContacts", "getPSPs", "getMWindows"];

/// Maximum number of objects in an answer.
const LIMIT: u64 = 50;
/// Parts of monitors that are left out by default.
const DETAILS: &str = "alert_contacts=1&mwindows=1&custom_http_headers=1&custom_http_statuses=1\
    &http_request_details=1&auth_type=1&ssl=1";

pub(super) fn request(address: &str, token: &Secret<String>, step: &Step) -> ApiRequest {
    let details = if step.path == "getMonitors" { DETAILS } else { "" };
    let form = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("api_key", token.expose())
        .append_pair("format", "json")
        .append_pair("limit", &LIMIT.to_string())
        .append_pair("offset", &step.from.to_string())
        .finish();
    ApiRequest {
        method: "POST",
        url: format!("{address}/v2/{}", step.path),
        headers: vec![(
            "content-type",
            Secret::new("application/x-www-form-urlencoded".to_owned()),
        )],
        body: Secret::new(format!("{form}&{details}").trim_end_matches('&').to_owned()),
    }
}

pub(super) fn next(step: &Step, answer: &Value) -> Vec<Step> {
    let total = answer.pointer("/pagination/total").or_else(|| answer.get("total"));
    let total = total.and_then(Value::as_u64).unwrap_or(0);
    let from = step.from + LIMIT;
    if from < total { vec![step.from(from)] } else { Vec::new() }
}
