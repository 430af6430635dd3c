//! How long checks took, for badges: of public monitors alone, read of the sums that the history keeps, all of
//! a page one after the other on one connection, and kept for a minute.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use domain::history::Sketch;
use rules::MonitorId;

use super::Wish;
use crate::app::App;
use crate::status_page::shelf::Shown;

/// The hours until now whose checks are counted.
pub(super) const HOURS: u64 = 24;

/// The latencies of a page's public monitors.
pub(in crate::status_page) type Latencies = Arc<HashMap<MonitorId, Sketch>>;

/// The latencies of the component that a badge is about, or of all that the page has; empty where its
/// monitors are not public or what is stored cannot be read.
pub(in crate::status_page) async fn read(app: &App, shown: &Shown, wish: &Wish) -> Sketch {
    let known = match read_all(app, shown).await {
        Ok(known) => known,
        Err(why) => {
            tracing::warn!(page.id = %shown.page.id, "a badge has no latencies: {why}");
            return Sketch::default();
        }
    };
    let about = shown.view.components().filter(|it| wish.component.is_none_or(|id| id == it.id));
    let monitors = about.filter(|it| it.is_public).filter_map(|it| it.monitor);
    let mut all = Sketch::default();
    for sketch in monitors.filter_map(|monitor| known.get(&monitor)) {
        all.merge(sketch);
    }
    all
}

async fn read_all(app: &App, shown: &Shown) -> Result<Latencies, String> {
    let (page, workspace) = (shown.page.id, shown.page.workspace);
    let public = shown.view.components().filter(|it| it.is_public);
    let monitors: Vec<MonitorId> = public.filter_map(|it| it.monitor).collect();
    let since = shown.view.at - Duration::from_hours(HOURS);
    let read = async {
        let latencies = app.store.history().latencies(workspace, &monitors, since).await?;
        Ok(Some(Arc::new(latencies)))
    };
    // Others are public now than before: they are other latencies.
    let mut which = DefaultHasher::new();
    monitors.hash(&mut which);
    let key = (page, which.finish());
    Ok(app.behind.latencies.get(app, workspace, key, read).await?.unwrap_or_default())
}
