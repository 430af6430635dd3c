//! page at work: fetches what is stored about a status page and when its monitors were last checked,
//! and has `domain::page` make of it what visitors see. Who keeps it, and in which words and forms it
//! goes out, is `status_page`'s.

use std::sync::Arc;
use std::time::Duration;

use domain::page::{Facts, PageView, project};
use rules::status_page::StatusPage;
use rules::{MonitorId, PageId, Timestamp, WorkspaceId};
use store::{Generation, Store, StoreError};
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::Pipeline;

/// A page as it was at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Projection {
    /// The page.
    pub(crate) page: StatusPage,
    /// What visitors see.
    pub(crate) view: PageView,
    /// Asked before anything was read: while it is the same, nothing has changed but the time.
    pub(crate) generation: Option<Generation>,
    /// How long it took to decide what they see, once all was read.
    pub(crate) took: Duration,
}

/// A page of a workspace as it is at `now`; `None` where it is not there or not published.
pub(crate) async fn project_page(
    store: &Store,
    pipeline: &Pipeline,
    (workspace, page): (WorkspaceId, PageId),
    now: Timestamp,
) -> Result<Option<Projection>, StoreError> {
    let generation = store.generation(workspace);
    let page = match store.pages().get(workspace, page).await {
        Ok(page) if page.published => page,
        Ok(_) | Err(StoreError::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let facts = page_facts(store, pipeline, page, now).await?;
    let work = spawn_blocking(move || {
        let began = Instant::now();
        let view = project(&facts);
        Projection { page: facts.page, view, generation, took: began.elapsed() }
    });
    match work.await {
        Ok(projection) => Ok(Some(projection)),
        Err(why) if why.is_panic() => std::panic::resume_unwind(why.into_panic()),
        // The server is stopping, and shows no more pages.
        Err(_) => Err(StoreError::Closed),
    }
}

/// All that a page is made of as it is at `now`, published or not.
pub(crate) async fn page_facts(
    store: &Store,
    pipeline: &Pipeline,
    page: StatusPage,
    now: Timestamp,
) -> Result<Facts, StoreError> {
    let mut facts = store.shown().facts(page, now).await?;
    checked(pipeline, &mut facts).await;
    Ok(facts)
}

/// Writes into the facts when each monitor that runs was last checked. One that is not watched yet has
/// not been checked by this server.
async fn checked(pipeline: &Pipeline, facts: &mut Facts) {
    let running = facts.components.iter().filter_map(|it| it.monitor.as_ref());
    let running: Vec<MonitorId> = running.filter(|it| it.runs).map(|it| it.id).collect();
    if running.is_empty() {
        return;
    }
    // Where nobody answers, nothing is known of any.
    let Ok(known) = pipeline.checked(running).await else { return };
    for monitor in facts.components.iter_mut().filter_map(|it| it.monitor.as_mut()) {
        if let Some(at) = known.get(&monitor.id) {
            Arc::make_mut(monitor).checked_at = Some(*at);
        }
    }
}
