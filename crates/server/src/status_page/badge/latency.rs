//! How long checks took, for badges: of public monitors alone, read of the sums that the history keeps, and
//! once while a page is as it is.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;

use domain::history::Sketch;
use rules::MonitorId;
use store::StoreError;
use tokio::sync::Mutex;

use super::Wish;
use crate::app::App;
use crate::status_page::shelf::Shown;

/// The hours until now whose checks are counted.
pub(super) const HOURS: u64 = 24;

/// What was read already. Whoever reads more of it holds it, so that nothing is read twice.
pub(in crate::status_page) type Latencies = Mutex<HashMap<MonitorId, Sketch>>;

/// The latencies of the component that a badge is about, or of all that the page has; empty where its
/// monitors are not public or what is stored cannot be read.
pub(in crate::status_page) async fn read(app: &App, shown: &Shown, wish: &Wish) -> Sketch {
    read_all(app, shown, wish).await.unwrap_or_else(|why| {
        tracing::warn!(page.id = %shown.page.id, "a badge has no latencies: {why}");
        Sketch::default()
    })
}

async fn read_all(app: &App, shown: &Shown, wish: &Wish) -> Result<Sketch, StoreError> {
    let about = shown.view.components().filter(|it| wish.component.is_none_or(|id| id == it.id));
    let monitors = about.filter(|it| it.is_public).filter_map(|it| it.monitor);
    let since = shown.view.at - Duration::from_hours(HOURS);
    let mut known = shown.latencies.lock().await;
    let mut all = Sketch::default();
    for monitor in monitors {
        let sketch = match known.entry(monitor) {
            Entry::Occupied(read) => read.into_mut(),
            Entry::Vacant(unread) => {
                let sums = app.store.history().sums(shown.page.workspace, monitor, since).await?;
                let mut sketch = Sketch::default();
                for sum in sums.values() {
                    sketch.merge(&sum.latency);
                }
                unread.insert(sketch)
            }
        };
        all.merge(sketch);
    }
    Ok(all)
}
