//! Latencies of checks for badges. Only public monitors are included. All monitors of a page are
//! read from the rollups of the history, one after another on one connection. The result is cached
//! for a minute.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use domain::history::Sketch;
use rules::{ComponentId, MonitorId};

use super::super::badge::LATENCY_HOURS;
use super::super::detail_cache::{Latencies, get_latencies};
use super::super::snapshot::PageSnapshot;
use crate::Pages;

/// Returns the latencies of a component, or of the whole page if `component` is `None`. They are
/// empty if no monitor is public or the database is unavailable.
pub(crate) async fn read(
    pages: &Pages,
    snapshot: &PageSnapshot,
    component: Option<ComponentId>,
) -> Sketch {
    let known = match read_all(pages, snapshot).await {
        Ok(known) => known,
        Err(why) => {
            tracing::warn!(page.id = %snapshot.page.id, "a badge has no latencies: {why}");
            return Sketch::default();
        }
    };
    let about = snapshot.view.components().filter(|it| component.is_none_or(|id| id == it.id));
    let monitors = about.filter(|it| it.is_public).filter_map(|it| it.monitor);
    let mut all = Sketch::default();
    for sketch in monitors.filter_map(|monitor| known.get(&monitor)) {
        all.merge(sketch);
    }
    all
}

async fn read_all(pages: &Pages, snapshot: &PageSnapshot) -> Result<Latencies, String> {
    let (page, workspace) = (snapshot.page.id, snapshot.page.workspace);
    let public = snapshot.view.components().filter(|it| it.is_public);
    let monitors: Vec<MonitorId> = public.filter_map(|it| it.monitor).collect();
    let since = snapshot.view.at - Duration::from_hours(LATENCY_HOURS);
    let read = || async {
        pages.source.store.history().latencies(workspace, &monitors, since).await.map(Arc::new)
    };
    // The set of public monitors is part of the key, because a change makes the latencies
    // different.
    let mut which = DefaultHasher::new();
    monitors.hash(&mut which);
    let key = (page, which.finish());
    get_latencies(&pages.details.latencies, &pages.source, key, read).await
}
