//! Grafana OnCall's rules for a formatted webhook. The vendor reads six fields and requires none.
//! Beyond the vendor's own errors, this receiver rejects values that its templates could not show
//! or resolve.
//! Reference: <https://grafana.com/docs/oncall/latest/configure/integrations/references/webhook/>,
//! answers: <https://github.com/grafana/oncall/blob/dev/engine/apps/integrations/views.py>

use serde_json::{Value, json};

use super::validation::{
    Validation, is_url, json as answer, object, path, refuse, text, text_response, unknown,
};
use crate::target::Received;

/// Key of the only valid integration.
pub(super) const KEY: &str = "bJ8Kd0mN3pQ6rS9tU2vW5xY";

const FIELDS: [&str; 6] =
    ["alert_uid", "title", "image_url", "state", "link_to_upstream_details", "message"];

pub(super) fn validate(request: &Received) -> Validation {
    match path(request)[..] {
        ["integrations", "v1", "formatted_webhook", KEY, ""] => {}
        ["integrations", "v1", "formatted_webhook", _, ""] => {
            let detail = "Integration key was not found. Permission denied.";
            return Err(refuse("another key", text_response(403, detail)));
        }
        ["integrations", "v1", _, KEY, ""] => {
            let detail = "This url is for integration with another kind.";
            return Err(refuse("another kind of integration", text_response(400, detail)));
        }
        _ => return Err(refuse("unknown path", text_response(404, "Not Found"))),
    }
    let Some(alert) = object(request) else {
        let body =
            json!({ "detail": "JSON parse error - Expecting value: line 1 column 1 (char 0)" });
        return Err(refuse("the body is not JSON", answer(400, &body)));
    };
    let wrong = |why: String| Err(refuse(&*why, text_response(400, &why)));
    if let Some(name) = unknown(&alert, &FIELDS) {
        return wrong(format!("`{name}` is not recognised"));
    }
    if let Some(name) =
        FIELDS.iter().find(|name| alert.get(**name).is_some_and(|it| !it.is_string()))
    {
        return wrong(format!("`{name}` is not text"));
    }
    for name in ["alert_uid", "title"] {
        if alert.get(name).and_then(Value::as_str).is_none_or(|text| text.trim().is_empty()) {
            return wrong(format!("`{name}` is empty: nothing could be grouped or shown by it"));
        }
    }
    if !matches!(text(&alert, "/state"), Some("alerting" | "ok")) {
        return wrong("`state` is neither `alerting` nor `ok`".to_owned());
    }
    for name in ["image_url", "link_to_upstream_details"] {
        if alert
            .get(name)
            .and_then(Value::as_str)
            .is_some_and(|url| !url.is_empty() && !is_url(url))
        {
            return wrong(format!("`{name}` is not a URL"));
        }
    }
    Ok(answer(200, &json!("Ok.")))
}
