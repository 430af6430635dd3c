//! Rendered representations of one page. They are few, and all are cached. Each is rendered and
//! compressed once, however many visitors request it at the same time. While one request renders a
//! representation again, the others get the previous body if there is one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use web::http_body::{EncodedBody, Encoding};

use super::super::representation::RepresentationKey;
use super::memory::Weight;
use super::renderer::RenderJob;

/// Maximum time that a visitor waits for another request that renders the body.
const RENDER_WAIT: Duration = Duration::from_secs(5);

/// Rendered representations of a page.
#[derive(Debug)]
pub(super) struct RenderedBodies {
    cells: Mutex<HashMap<RepresentationKey, Arc<Cell>>>,
    /// Bodies of the previous version of the page, until they are rendered again.
    previous: Mutex<HashMap<RepresentationKey, Arc<EncodedBody>>>,
    pub(super) weight: Weight,
}

/// A rendered body, or one being rendered.
#[derive(Debug, Default)]
struct Cell {
    body: OnceLock<Arc<EncodedBody>>,
    /// Held by the task that renders the body. It blocks no thread.
    render_lock: tokio::sync::Mutex<()>,
    /// Encodings that visitors requested, one bit each.
    requested: AtomicU8,
    /// Size that was counted. Changed only by the task that renders.
    bytes: AtomicUsize,
}

impl RenderedBodies {
    pub(super) fn new(weight: Weight) -> Self {
        Self { cells: Mutex::default(), previous: Mutex::default(), weight }
    }

    /// Creates an empty set that falls back to the representations of `before` until its own are
    /// rendered.
    pub(super) fn after(weight: Weight, before: &Self) -> Self {
        let cells = before.cells();
        let bodies =
            cells.iter().filter_map(|(key, cell)| Some((*key, Arc::clone(cell.body.get()?))));
        let last: HashMap<_, _> = bodies.collect();
        drop(cells);
        weight.add(last.values().map(|body| body.byte_size()).sum());
        Self { cells: Mutex::default(), previous: Mutex::new(last), weight }
    }

    /// Returns a body in the given encoding. If it is not cached, `make` returns the work that
    /// renders it. Returns `None` if another request renders it for too long, or if the server is
    /// shutting down.
    pub(super) async fn get_or_render<F>(
        &self,
        key: RepresentationKey,
        encoding: Encoding,
        make: impl FnOnce() -> F + Send,
    ) -> Option<Arc<EncodedBody>>
    where
        F: Future<Output = RenderJob> + Send,
    {
        let cell = self.cell(key);
        if let Some(body) = cell.ready(encoding) {
            return Some(body);
        }
        let _lock = match (cell.render_lock.try_lock(), self.previous(key, encoding)) {
            (Ok(lock), _) => lock,
            (Err(_), Some(last)) => return Some(last),
            (Err(_), None) => {
                tokio::time::timeout(RENDER_WAIT, cell.render_lock.lock()).await.ok()?
            }
        };
        if let Some(body) = cell.ready(encoding) {
            return Some(body);
        }
        let renderer = &self.weight.shared.renderer;
        let body = match cell.body.get().cloned() {
            Some(body) => renderer.compress(body, encoding).await?,
            None => renderer.render(make().await, encoding).await?,
        };
        let body = Arc::clone(cell.body.get_or_init(|| body));
        self.count(key, &cell, body.byte_size());
        Some(body)
    }

    /// Records that a visitor requested this. It is then rendered in advance when the page changes.
    pub(super) fn record_request(&self, key: RepresentationKey, encoding: Encoding) {
        if let Some(cell) = self.cells().get(&key) {
            cell.requested.fetch_or(bit(encoding), Ordering::Relaxed);
        }
    }

    /// Returns the representations that visitors requested, each with the encodings.
    pub(super) fn requested(&self) -> Vec<(RepresentationKey, Vec<Encoding>)> {
        let representation = |(key, cell): (&RepresentationKey, &Arc<Cell>)| {
            let bits = cell.requested.load(Ordering::Relaxed);
            let encodings = Encoding::ALL.into_iter().filter(|it| bits & bit(*it) != 0).collect();
            (bits != 0).then_some((*key, encodings))
        };
        self.cells().iter().filter_map(representation).collect()
    }

    /// Returns the representation of the previous version, if it is already in this encoding.
    fn previous(&self, key: RepresentationKey, encoding: Encoding) -> Option<Arc<EncodedBody>> {
        let last = self.previous.lock().unwrap_or_else(PoisonError::into_inner);
        last.get(&key).filter(|body| body.is_ready(encoding)).cloned()
    }

    fn cell(&self, key: RepresentationKey) -> Arc<Cell> {
        Arc::clone(self.cells().entry(key).or_default())
    }

    /// Counts the size of a cell, which replaces the previous body.
    fn count(&self, key: RepresentationKey, cell: &Cell, bytes: usize) {
        let before = cell.bytes.swap(bytes, Ordering::Relaxed);
        self.weight.add(bytes.saturating_sub(before));
        let replaced = self.previous.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
        self.weight.subtract(replaced.map_or(0, |body| body.byte_size()));
    }

    fn cells(&self) -> MutexGuard<'_, HashMap<RepresentationKey, Arc<Cell>>> {
        self.cells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cell {
    fn ready(&self, encoding: Encoding) -> Option<Arc<EncodedBody>> {
        self.body.get().filter(|body| body.is_ready(encoding)).cloned()
    }
}

const fn bit(encoding: Encoding) -> u8 {
    1 << encoding as u8
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use tokio::sync::oneshot;

    use super::super::shared::SharedState;
    use super::*;
    use crate::i18n::choose;
    use crate::representation::{LinkStyle, Representation, Variant};

    fn key(representation: Representation) -> RepresentationKey {
        RepresentationKey {
            representation,
            variant: Variant { words: choose(None), link_style: LinkStyle::Slug },
        }
    }

    fn bodies(shared: &Arc<SharedState>) -> RenderedBodies {
        RenderedBodies::new(Weight::new(shared))
    }

    fn job(text: &str) -> RenderJob {
        let text = text.to_owned();
        Box::new(move || EncodedBody::new("text/plain", text))
    }

    async fn render(all: &RenderedBodies, key: RepresentationKey, text: &str) -> Arc<EncodedBody> {
        all.get_or_render(key, Encoding::Gzip, || async { job(text) }).await.unwrap()
    }

    fn text(body: &Arc<EncodedBody>) -> String {
        String::from_utf8(body.bytes(Encoding::Identity).to_vec()).unwrap()
    }

    // issue 7: "rendered once per change, kept as compressed bytes"
    #[tokio::test]
    async fn concurrent_requests_render_and_compress_once() {
        let (bodies, made) = (bodies(&SharedState::for_test()), AtomicUsize::new(0));
        let ask = || async {
            let make = || async {
                made.fetch_add(1, Ordering::Relaxed);
                job(&"x".repeat(900))
            };
            bodies.get_or_render(key(Representation::Home), Encoding::Brotli, make).await.unwrap()
        };
        let (first, second) = tokio::join!(ask(), ask());
        assert!(Arc::ptr_eq(&first, &second) && first.is_ready(Encoding::Brotli));
        assert_eq!(made.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn another_encoding_compresses_the_same_body() {
        let bodies = bodies(&SharedState::for_test());
        let home = key(Representation::Home);
        let gzip = render(&bodies, home, "once").await;
        let brotli = bodies.get_or_render(home, Encoding::Brotli, || async { job("twice") }).await;
        assert!(Arc::ptr_eq(&gzip, &brotli.unwrap()) && gzip.is_ready(Encoding::Brotli));
    }

    #[tokio::test]
    async fn only_requested_representations_are_prerendered() {
        let bodies = bodies(&SharedState::for_test());
        let [home, json] = [Representation::Home, Representation::Json].map(key);
        render(&bodies, home, "for a visitor").await;
        render(&bodies, json, "ahead").await;
        bodies.record_request(home, Encoding::Gzip);
        assert_eq!(bodies.requested(), [(home, vec![Encoding::Gzip])]);
    }

    // issue 7: "stale-while-revalidate"
    #[tokio::test]
    async fn concurrent_requests_get_the_previous_body() {
        let shared = SharedState::for_test();
        let home = key(Representation::Home);
        let before = bodies(&shared);
        render(&before, home, "before").await;
        let bodies = RenderedBodies::after(Weight::new(&shared), &before);
        let (begun, wait) = oneshot::channel::<()>();
        let (go_on, may_go_on) = oneshot::channel::<()>();
        let make = || async {
            begun.send(()).unwrap();
            may_go_on.await.unwrap();
            job("now")
        };
        let others = async {
            wait.await.unwrap();
            let given = render(&bodies, home, "twice").await;
            go_on.send(()).unwrap();
            given
        };
        let (made, given) = tokio::join!(bodies.get_or_render(home, Encoding::Gzip, make), others);
        assert_eq!((text(&given), text(&made.unwrap())), ("before".into(), "now".into()));
        assert_eq!(text(&render(&bodies, home, "twice").await), "now", "it is made");
    }

    #[tokio::test]
    async fn dropped_page_does_not_count() {
        let shared = SharedState::for_test();
        let before = bodies(&shared);
        render(&before, key(Representation::Home), "before").await;
        let bodies = RenderedBodies::after(Weight::new(&shared), &before);
        drop(before);
        let previous = shared.bytes();
        assert!(previous > 0);
        let now = render(&bodies, key(Representation::Home), "now").await;
        assert_eq!(shared.bytes(), now.byte_size(), "the previous body does not count any more");
        drop(bodies);
        assert_eq!(shared.bytes(), 0);
    }
}
