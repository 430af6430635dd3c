//! The interface of Better Stack Uptime: <https://betterstack.com/docs/uptime/api/>. Answers name the
//! address of the next page.

use std::time::Duration;

use rules::Secret;
use serde_json::Value;

use super::{ApiRequest, Step, ids};

/// Address, variable of the token and time between requests. No limit is documented.
pub(super) const SERVICE: (&str, &str, Duration) =
    ("https://uptime.betterstack.com", "BETTER_STACK_TOKEN", Duration::ZERO);
/// Paths of lists.
pub(super) const LISTS: [&str; 5] = [
    "/api/v2/monitors",
    "/api/v2/monitor-groups",
    "/api/v2/heartbeats",
    PAGES,
    "/api/v3/incidents",
];

const PAGES: &str = "/api/v2/status-pages";

pub(super) fn request(address: &str, token: &Secret<String>, step: &Step) -> ApiRequest {
    ApiRequest {
        method: "GET",
        url: format!("{address}{}", step.path),
        headers: vec![("authorization", Secret::new(format!("Bearer {}", token.expose())))],
        body: Secret::new(String::new()),
    }
}

pub(super) fn next(address: &str, step: &Step, answer: &Value) -> Vec<Step> {
    let list = step.path.split('?').next().unwrap_or_default();
    let objects = ids(answer.get("data")).into_iter();
    let mut steps: Vec<Step> = if list == PAGES {
        let parts = ["sections", "resources", "status-reports"];
        objects.flat_map(|id| parts.map(|part| Step::new(format!("{PAGES}/{id}/{part}")))).collect()
    } else if list.ends_with("/status-reports") {
        objects.map(|id| Step::new(format!("{list}/{id}/status-updates"))).collect()
    } else {
        Vec::new()
    };
    let next = answer.pointer("/pagination/next").and_then(Value::as_str);
    // The token goes to no other address.
    if let Some(path) = next.and_then(|next| next.strip_prefix(address))
        && path.starts_with('/')
        && path != step.path
    {
        steps.push(Step::new(path));
    }
    steps
}
