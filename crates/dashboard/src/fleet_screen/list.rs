//! Lists the monitors of a workspace.

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, StatusCode};

use super::view::{FleetScreen, FleetView};
use crate::error::ScreenError;
use crate::extract::Asked;
use crate::html::{self, Frame, Section};
use crate::session::Member;
use crate::state::Dashboard;

#[derive(Template)]
#[template(path = "fleet.html")]
struct FleetPage<'f> {
    frame: Frame,
    fleet: FleetView<'f>,
}

/// Shows the monitors that the URL chooses.
pub(super) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Asked(asked): Asked<Vec<(String, String)>>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let snapshot = state.fleet.get(&state.store, member.workspace(), state.ctx.now()).await?;
    let which = (&*snapshot, FleetScreen::Monitors);
    let fleet = FleetView::new(&state, &member, which, &asked).await?;
    let url = fleet.pushed_url(&request);
    let frame = Frame::of_member(&member, Section::Monitors, "Monitors", &request);
    let mut response = html::page(&FleetPage { frame, fleet }, &request);
    response.headers_mut().extend(url);
    Ok(response)
}

/// Returns the list after a bulk change that was refused.
pub(super) fn refused_page(member: &Member, fleet: FleetView<'_>, request: &HeaderMap) -> Response {
    let frame = Frame::of_member(member, Section::Monitors, "Monitors", request);
    let page = FleetPage { frame, fleet };
    html::page_with_status(StatusCode::UNPROCESSABLE_ENTITY, &page, request)
}
