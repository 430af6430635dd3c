//! page at work: fetches what is stored about a status page and when its monitors were last checked,
//! and has `domain::page` make of it what visitors see. Who keeps it, and in which words and forms it
//! goes out, is `status_page`'s.

use std::sync::Arc;

use domain::page::{PageView, project};
use rules::Timestamp;
use rules::status_page::StatusPage;
use store::{Generation, Store, StoreError};

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
}

/// The published page with this slug, as it is at `now`.
pub(crate) async fn project_page(
    store: &Store,
    pipeline: &Pipeline,
    slug: &str,
    now: Timestamp,
) -> Result<Option<Projection>, StoreError> {
    // Whose it is says whose generation counts, and that is asked before the page is read for good.
    let Some(page) = store.shown().by_slug(slug).await? else { return Ok(None) };
    let generation = store.generation(page.workspace);
    let page = store.shown().by_slug(slug).await?.filter(|page| page.published);
    let Some(page) = page else { return Ok(None) };
    let mut facts = store.shown().facts(page.clone(), now).await?;
    for component in &mut facts.components {
        let Some(monitor) = component.monitor.as_mut().filter(|monitor| monitor.runs) else {
            continue;
        };
        // A monitor that is not watched yet has not been checked by this server.
        let Ok(view) = pipeline.view(monitor.id).await else { continue };
        let last = view.regions.iter().filter_map(|region| region.checked_at).max();
        Arc::make_mut(monitor).checked_at = last;
    }
    let view = project(&facts);
    Ok(Some(Projection { page, view, generation }))
}
