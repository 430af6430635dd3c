//! Edits a monitor.

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use serde_json::json;

use super::stored::StoredMonitor;
use super::workbench::{FormReply, Subject, Workbench};
use super::{conflict, fields, kept_key, posted, stored};
use crate::error::ScreenError;
use crate::extract::Posted;
use crate::form::{Values, resource};
use crate::html::redirect_with_notice;
use crate::session::Member;
use crate::state::Dashboard;

/// Shows the form.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let monitor = stored::find(&state, &member, &id).await?;
    let mut values = monitor.values();
    kept_key::hide(&mut values);
    values.set("revision", monitor.text("revision"));
    let bench = bench((&state, &member), (&id, &monitor), &request);
    bench.page(&values, FormReply::default()).await
}

/// Stores the edit, unless somebody else changed the monitor meanwhile.
pub(crate) async fn submit(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
    Posted(form): Posted<Vec<(String, String)>>,
) -> Result<Response, ScreenError> {
    let monitor = stored::find(&state, &member, &id).await?;
    let bench = bench((&state, &member), (&id, &monitor), &request);
    let mut form = posted::read(form, bench.table())?;
    if form.wants_row {
        return bench.page(&form.values, FormReply::default()).await;
    }
    posted::name_after_target(&mut form.values, bench.table());
    let values = form.values;
    let mut changed = resource(bench.table(), &kept_key::restored(&values, &monitor));
    changed.insert("id".to_owned(), json!(id));
    let mut update = fields::request(changed);
    if let Some(page) = bench.page_before_saving(&values, (&update, monitor.target())).await? {
        return Ok(page);
    }
    if let Some(revision) = values.first("revision").filter(|it| !it.is_empty()) {
        update["revision"] = json!(revision);
    }
    match state.send_json(member.caller(), fields::methods(bench.kind).update, &update).await {
        Ok(_) => {
            let path = member.path(&format!("/monitors/{id}"));
            Ok(redirect_with_notice(&path, "The monitor was saved."))
        }
        Err(error) if conflict::is_conflict(&error) => show_conflict(&bench, &id, values).await,
        Err(error) => bench.failure(&values, &error).await,
    }
}

/// Returns the form with the person's values and the difference from what is stored. Saving again
/// replaces what is stored.
async fn show_conflict(
    bench: &Workbench<'_>,
    id: &str,
    mut values: Values,
) -> Result<Response, ScreenError> {
    let now = stored::find(bench.state, bench.member, id).await?;
    let stored = (&now, bench.table());
    let happened = conflict::describe(bench.state, bench.member, stored, &values).await?;
    values.set("revision", now.text("revision"));
    let (status, conflict) = (StatusCode::CONFLICT, Some(happened));
    bench.page(&values, FormReply { status, conflict, ..FormReply::default() }).await
}

/// Returns the form of a stored monitor.
fn bench<'a>(
    (state, member): (&'a Dashboard, &'a Member),
    (id, monitor): (&str, &StoredMonitor),
    request: &'a HeaderMap,
) -> Workbench<'a> {
    let subject = Subject::Stored { id: id.to_owned(), name: monitor.name().to_owned() };
    Workbench { state, member, request, kind: monitor.kind, subject }
}
