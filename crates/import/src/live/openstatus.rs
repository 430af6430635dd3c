//! The Connect interface of OpenStatus (`packages/proto/api/openstatus/*/v1/service.proto`, August 2026).

use std::time::Duration;

use rules::Secret;
use serde_json::{Value, json};

use super::{ApiRequest, Step, ids};

/// Address, variable of the token and time between requests. No limit is documented.
pub(super) const SERVICE: (&str, &str, Duration) =
    ("https://api.openstatus.dev", "OPENSTATUS_API_KEY", Duration::ZERO);
/// Methods that list objects.
pub(super) const LISTS: [&str; 3] = [MONITORS, NOTIFICATIONS, PAGES];

const MONITORS: &str = "openstatus.monitor.v1.MonitorService/ListMonitors";
const NOTIFICATIONS: &str = "openstatus.notification.v1.NotificationService/ListNotifications";
const PAGES: &str = "openstatus.status_page.v1.StatusPageService/ListStatusPages";
/// Maximum number of objects in an answer.
const LIMIT: u64 = 100;

pub(super) fn request(address: &str, token: &Secret<String>, step: &Step) -> ApiRequest {
    let body = match &step.id {
        Some(id) => json!({ "id": id }),
        None => json!({ "limit": LIMIT, "offset": step.from }),
    };
    ApiRequest {
        method: "POST",
        url: format!("{address}/rpc/{}", step.path),
        headers: vec![
            ("content-type", Secret::new("application/json".to_owned())),
            ("x-openstatus-key", token.clone()),
        ],
        body: Secret::new(body.to_string()),
    }
}

pub(super) fn next(step: &Step, answer: &Value) -> Vec<Step> {
    if step.id.is_some() {
        return Vec::new();
    }
    let (list, details) = match step.path.as_str() {
        NOTIFICATIONS => {
            ("notifications", "openstatus.notification.v1.NotificationService/GetNotification")
        }
        PAGES => {
            ("statusPages", "openstatus.status_page.v1.StatusPageService/GetStatusPageContent")
        }
        _ => ("", ""),
    };
    let details =
        ids(answer.get(list)).into_iter().map(|id| Step { id: Some(id), ..Step::new(details) });
    let mut steps: Vec<Step> = details.collect();
    let total = answer.get("totalSize").and_then(Value::as_u64).unwrap_or(0);
    let from = step.from + LIMIT;
    if from < total {
        steps.push(step.from(from));
    }
    steps
}
