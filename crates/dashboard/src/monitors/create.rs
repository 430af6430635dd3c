//! Creates a monitor. A target is enough to start, and another monitor can be the model.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;
use rules::{MonitorKind, tables};
use serde::Deserialize;
use serde_json::Value as Json;

use super::workbench::{FormReply, Subject, Workbench};
use super::{fields, kept_key, posted, stored};
use crate::error::ScreenError;
use crate::extract::{Asked, Posted};
use crate::form::{Values, resource};
use crate::html::redirect_with_notice;
use crate::session::Member;
use crate::state::Dashboard;

/// Interval of a monitor for which the person chose none.
const PERIODICITY: &str = "1m";

/// Which form is shown.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct NewForm {
    kind: Option<String>,
    /// ID of a monitor whose values the form gets.
    from: Option<String>,
}

/// Shows the form.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Asked(asked): Asked<NewForm>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let (kind, values) = if let Some(id) = &asked.from {
        let model = stored::find(&state, &member, id).await?;
        let mut values = model.values();
        kept_key::replace(&mut values, "");
        values.set("name", copied_name(model.name()));
        (model.kind, values)
    } else {
        let mut values = Values::default();
        values.set("periodicity", PERIODICITY);
        values.set("active", "true");
        (parse_kind(asked.kind.as_deref())?, values)
    };
    let bench = bench((&state, &member), kind, &request);
    bench.page(&values, FormReply::default()).await
}

/// Creates the monitor.
pub(crate) async fn submit(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Asked(asked): Asked<NewForm>,
    request: HeaderMap,
    Posted(form): Posted<Vec<(String, String)>>,
) -> Result<Response, ScreenError> {
    let kind = parse_kind(asked.kind.as_deref())?;
    let bench = bench((&state, &member), kind, &request);
    let mut form = posted::read(form, bench.table())?;
    if form.wants_row {
        return bench.page(&form.values, FormReply::default()).await;
    }
    posted::name_after_target(&mut form.values, bench.table());
    let values = form.values;
    let monitor = fields::request(resource(bench.table(), &values));
    if let Some(page) = bench.page_before_saving(&values, (&monitor, "")).await? {
        return Ok(page);
    }
    match state.send_json(member.caller(), fields::methods(kind).create, &monitor).await {
        Ok(created) => Ok(created_response(&member, &created)),
        Err(error) => bench.failure(&values, &error).await,
    }
}

/// Returns the request that creates an HTTP monitor of this URL, with the defaults of the form.
pub(crate) fn request_for_url(url: &str) -> Json {
    let table = tables::monitor(MonitorKind::Http);
    let mut values = Values::default();
    for (field, value) in [("url", url), ("periodicity", PERIODICITY), ("active", "true")] {
        values.set(field, value);
    }
    posted::name_after_target(&mut values, table);
    fields::request(resource(table, &values))
}

/// Parses the kind in a URL.
pub(super) fn parse_kind(word: Option<&str>) -> Result<MonitorKind, ScreenError> {
    let word = word.unwrap_or(MonitorKind::Http.as_str());
    MonitorKind::parse(word).map_err(|_| ScreenError::NotFound)
}

fn bench<'a>(
    (state, member): (&'a Dashboard, &'a Member),
    kind: MonitorKind,
    request: &'a HeaderMap,
) -> Workbench<'a> {
    Workbench { state, member, request, kind, subject: Subject::New }
}

fn created_response(member: &Member, created: &Json) -> Response {
    let monitor = &created["monitor"];
    let id = monitor["id"].as_str().unwrap_or_default();
    let name = monitor["name"].as_str().unwrap_or_default();
    redirect_with_notice(
        &member.path(&format!("/monitors/{id}")),
        &format!("“{name}” was created."),
    )
}

/// Returns the name of a copy.
fn copied_name(name: &str) -> String {
    let start: String = name.chars().take(249).collect();
    format!("{start} (copy)")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn quick_start_has_the_defaults_of_the_form() {
        let request = request_for_url("https://a.example");
        let monitor = &request["monitor"];
        assert_eq!(monitor["followRedirects"], true, "{request}");
        assert_eq!((&monitor["active"], &monitor["public"]), (&json!(true), &json!(false)));
    }
}
