//! `/`: leads to the dashboard, the only public page, or the login. Programs get a list of addresses.

use crate::route::{Access, Route};
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http::header::{ACCEPT, CACHE_CONTROL, VARY};
use http::{HeaderMap, StatusCode};

use crate::error::ScreenError;
use crate::html::{self, Message, redirect};
use crate::origin::Client;
use crate::session;
use crate::state::Dashboard;

pub(crate) const ROUTES: &[Route] = &[Route::get("/", Access::Anyone, || get(show))];

/// Leads to where this browser belongs.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    client: Client,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    if !is_browser(&request) {
        let headers = [(VARY, "accept"), (CACHE_CONTROL, "no-store")];
        return Ok((headers, addresses(&state.origin)).into_response());
    }
    if let Some(signed_in) = session::find(&state, &request, client.address).await? {
        let first = signed_in.memberships.first();
        let path = first.map(|it| format!("/w/{}", it.workspace.slug));
        return Ok(redirect(path.as_deref().unwrap_or("/account")));
    }
    if let Some(slug) = state.store.pages().only_public_slug().await? {
        return Ok(redirect(&format!("/status/{slug}")));
    }
    if state.store.users().exist().await? {
        return Ok(redirect("/login"));
    }
    let text = "Nobody has an account yet. The server printed a set-up link when it started: open it \
                to create the first account.";
    let message = Message { title: "Set up this server", text: text.to_owned() };
    Ok(html::message(StatusCode::OK, message))
}

fn is_browser(request: &HeaderMap) -> bool {
    let accept = request.get(ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}

/// Returns the addresses of this server, as text.
fn addresses(origin: &str) -> String {
    format!(
        "Aloft: uptime monitoring from many regions, with alerts that arrive and status pages that \
         stay up.\n\n\
         Dashboard       {origin}/login\n\
         Documentation   {origin}/docs (all pages, in Markdown: {origin}/docs/llms.txt)\n\
         Who am I        {origin}/v1/whoami\n\
         Calls           POST {origin}/rpc/monitor.v1.MonitorService/ListMonitors\n\
         OpenAPI         {origin}/openapi.json\n\
         Health          {origin}/healthz, {origin}/readyz, {origin}/metrics\n"
    )
}
