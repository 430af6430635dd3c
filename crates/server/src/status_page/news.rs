//! News for open browsers: an event whenever what a page shows has changed, so that they ask again. It
//! says nothing but that.

use std::convert::Infallible;
use std::time::Duration;

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use domain::page::PageView;
use futures_util::stream;
use http::HeaderMap;
use tokio_util::sync::CancellationToken;

use super::respond::{find, language};
use crate::app::App;

/// How often a page is looked at for those who wait.
const LOOK: Duration = Duration::from_millis(500);
/// Least time between two words to a browser where nothing happened, so that proxies keep the line.
const ALIVE: Duration = Duration::from_secs(20);

/// Cancelled when the server stops, which streams would not outlive.
#[derive(Clone, Debug)]
pub(super) struct Stop(pub(super) CancellationToken);

/// A stream of events `changed`, each with the time of which the page is.
pub(super) async fn events(
    State(app): State<App>,
    Extension(Stop(stop)): Extension<Stop>,
    Path(slug): Path<String>,
    headers: HeaderMap,
) -> Response {
    let words = language(&headers);
    let seen = match find(&app, &slug, words, &headers).await {
        Ok((shown, _)) => outline(&shown.view),
        Err(refusal) => return *refusal,
    };
    let news = stream::unfold((app, slug, seen, headers), move |(app, slug, seen, headers)| {
        let stop = stop.clone();
        async move {
            loop {
                tokio::select! {
                    () = tokio::time::sleep(LOOK) => {}
                    () = stop.cancelled() => return None,
                }
                // Who may no longer look is told no more.
                let (shown, _) = find(&app, &slug, words, &headers).await.ok()?;
                let now = outline(&shown.view);
                if now != seen {
                    let event = Event::default().event("changed").data(shown.view.at.to_string());
                    let next = (app, slug, now, headers);
                    return Some((Ok::<_, Infallible>(event), next));
                }
            }
        }
    });
    Sse::new(news).keep_alive(KeepAlive::new().interval(ALIVE)).into_response()
}

/// What open browsers are told of when it changes: states, what is open, and what is planned.
fn outline(view: &PageView) -> Vec<String> {
    let states = view.components().map(|it| format!("{}{}{}", it.id, it.state, it.is_stale));
    let open = view.open.iter().map(|it| format!("{}{}", it.id, it.acknowledged_at.is_some()));
    let planned = view.planned.iter().map(|it| format!("{}{}", it.id, it.window.from));
    states.chain(open).chain(planned).collect()
}
