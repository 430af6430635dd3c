//! Tests a monitor before it is saved: checks the values of a form from some places and shows the
//! outcome beside the form. Nothing is stored.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use serde::Deserialize;

use super::check_view::CheckView;
use super::create::parse_kind;
use super::workbench::{FormReply, Subject, Workbench, warnings};
use super::{fields, kept_key, posted, regions, stored};
use crate::error::ScreenError;
use crate::extract::{Asked, Posted};
use crate::form::{Messages, resource};
use crate::session::Member;
use crate::state::Dashboard;

/// Form that is tested.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct TestedForm {
    kind: Option<String>,
    /// ID of the monitor, if it is stored.
    monitor: Option<String>,
}

/// Checks the values of the form.
pub(crate) async fn submit(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Asked(asked): Asked<TestedForm>,
    request: HeaderMap,
    Posted(form): Posted<Vec<(String, String)>>,
) -> Result<Response, ScreenError> {
    let stored = match &asked.monitor {
        Some(id) => Some(stored::find(&state, &member, id).await?),
        None => None,
    };
    let (kind, subject) = match (&stored, asked.monitor) {
        (Some(monitor), Some(id)) => {
            (monitor.kind, Subject::Stored { id, name: monitor.name().to_owned() })
        }
        (Some(_) | None, _) => (parse_kind(asked.kind.as_deref())?, Subject::New),
    };
    let (state, member) = (&state, &member);
    let bench = Workbench { state, member, request: &request, kind, subject };
    let values = posted::read(form, bench.table())?.values;
    let mut named =
        stored.as_ref().map_or_else(|| values.clone(), |it| kept_key::restored(&values, it));
    posted::name_after_target(&mut named, bench.table());
    let draft = fields::request(resource(bench.table(), &named));
    let from = regions::test_regions(&values, &regions::list(state, member).await?);
    let reply = match bench.check(&draft, from).await {
        Ok(checked) => FormReply {
            messages: Messages::default(),
            warnings: warnings(&checked),
            tested: Some(checked.results.iter().map(CheckView::new).collect()),
            ..FormReply::default()
        },
        Err(error) => {
            FormReply { messages: Messages::from_error(&error, "monitor"), ..FormReply::default() }
        }
    };
    // The script shows the outcome only if the status is a success.
    bench.page(&values, FormReply { status: StatusCode::OK, ..reply }).await
}
