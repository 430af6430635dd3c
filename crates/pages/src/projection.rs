//! Fetches the stored data of a status page and the last checks of its monitors, and has
//! `domain::page` project them. `cache` keeps the result.

use std::sync::Arc;
use std::time::Duration;

use domain::page::{Facts, project};
use rules::status_page::StatusPage;
use rules::{MonitorId, PageId, Timestamp, WorkspaceId};
use store::{Generation, StoreError};
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use crate::snapshot::PageSnapshot;
use crate::source::{Backend, Source};

/// A page that was read, with its content for visitors.
#[derive(Clone, Debug)]
pub(crate) struct Projection {
    pub(crate) snapshot: PageSnapshot,
    /// Generation that was read before the data: while it is unchanged, so is the data.
    pub(crate) generation: Option<Generation>,
    /// Duration of the projection, after all data was read.
    pub(crate) took: Duration,
}

/// Reads a page of a workspace at `now`. Returns `None` if the page does not exist or is not
/// published.
pub(crate) async fn project_page(
    source: &Source,
    (workspace, page): (WorkspaceId, PageId),
    now: Timestamp,
) -> Result<Option<Projection>, StoreError> {
    let store = &source.store;
    let generation = store.generation(workspace);
    let page = store.public_pages().find(workspace, page).await?;
    let Some(page) = page.filter(|page| page.published) else { return Ok(None) };
    let facts = page_facts(source, page, now).await?;
    let work = spawn_blocking(move || {
        let began = Instant::now();
        let view = Arc::new(project(&facts));
        let snapshot = PageSnapshot { page: facts.page, view, is_outdated: false };
        Projection { snapshot, generation, took: began.elapsed() }
    });
    match work.await {
        Ok(projection) => Ok(Some(projection)),
        Err(why) if why.is_panic() => std::panic::resume_unwind(why.into_panic()),
        // The server is stopping and renders no more pages.
        Err(_) => Err(StoreError::Closed),
    }
}

/// Returns the data of a page at `now`, published or not.
pub(crate) async fn page_facts(
    source: &Source,
    page: StatusPage,
    now: Timestamp,
) -> Result<Facts, StoreError> {
    let mut facts = source.store.public_pages().facts(page, now).await?;
    set_last_checks(source.backend.as_ref(), &mut facts).await;
    Ok(facts)
}

/// Sets the time of the last check of each running monitor. A monitor that the judge does not run
/// yet has none.
async fn set_last_checks(backend: &dyn Backend, facts: &mut Facts) {
    let running = facts.components.iter().filter_map(|it| it.monitor.as_ref());
    let running: Vec<MonitorId> = running.filter(|it| it.runs).map(|it| it.id).collect();
    if running.is_empty() {
        return;
    }
    let known = backend.last_checks(running).await;
    for monitor in facts.components.iter_mut().filter_map(|it| it.monitor.as_mut()) {
        if let Some(at) = known.get(&monitor.id) {
            Arc::make_mut(monitor).checked_at = Some(*at);
        }
    }
}
