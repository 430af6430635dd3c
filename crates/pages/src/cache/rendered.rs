//! Rendered bodies of one page. Each body is rendered and compressed once, on a blocking thread,
//! however many visitors request it at the same time. While one request renders a representation
//! again, the others get the previous body if there is one. Representations are few and all cached.
//! Detail pages and badges are bounded, and the least recently used are evicted first.

use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::task::spawn_blocking;

use super::super::representation::{Locale, Representation, RepresentationKey};
use super::memory::Weight;
use super::{BYTES_MAX, READ_TIMEOUT, too_slow};
use web::http_body::{EncodedBody, Encoding};

/// Maximum number of cached detail pages and badges per page, in all languages.
const DETAILS_MAX: usize = 256;
/// Maximum size of these in bytes.
const DETAIL_BYTES_MAX: usize = 4 << 20;

/// Function that renders a body on a blocking thread.
pub(crate) type RenderJob = Box<dyn FnOnce() -> EncodedBody + Send>;

/// Rendered bodies of a page.
#[derive(Debug)]
pub(super) struct RenderedBodies {
    cells: Mutex<Cells>,
    /// Bodies of the previous version of the page, until they are rendered again.
    previous: Mutex<HashMap<RepresentationKey, Arc<EncodedBody>>>,
    pub(super) weight: Weight,
}

#[derive(Debug, Default)]
struct Cells {
    all: HashMap<RepresentationKey, Arc<Cell>>,
    /// Number of cached detail pages and badges.
    details: usize,
    detail_bytes: usize,
    /// Grows with each request.
    clock: u64,
}

/// A rendered body, or one being rendered.
#[derive(Debug, Default)]
struct Cell {
    body: OnceLock<Arc<EncodedBody>>,
    /// Held by the task that renders the body. It blocks no thread.
    render_lock: tokio::sync::Mutex<()>,
    /// Encodings that visitors requested, one bit each.
    requested: AtomicU8,
    /// Value of `Cells::clock` at the last request.
    used: AtomicU64,
    /// Size that was counted. Changed only with all cells locked.
    bytes: AtomicU64,
}

impl RenderedBodies {
    pub(super) fn new(weight: Weight) -> Self {
        Self { cells: Mutex::default(), previous: Mutex::default(), weight }
    }

    /// Creates an empty set that falls back to the representations of `before` until its own are
    /// rendered.
    pub(super) fn after(weight: Weight, before: &Self) -> Self {
        let cells = before.cells();
        let bodies = cells.all.iter().filter(|(key, _)| key.content.representation().is_some());
        let last: HashMap<_, _> = bodies
            .filter_map(|(key, cell)| Some((key.clone(), Arc::clone(cell.body.get()?))))
            .collect();
        drop(cells);
        weight.add(last.values().map(|body| body.byte_size()).sum());
        Self { cells: Mutex::default(), previous: Mutex::new(last), weight }
    }

    /// Returns a body in the given encoding. If it is not cached, `make` reads its data and returns
    /// the work that renders it. Returns `None` if the thing does not exist, which is not cached
    /// here.
    pub(super) async fn get_or_render<F>(
        &self,
        key: &RepresentationKey,
        encoding: Encoding,
        make: impl FnOnce() -> F + Send,
    ) -> Result<Option<Arc<EncodedBody>>, String>
    where
        F: Future<Output = Result<Option<RenderJob>, String>> + Send,
    {
        let cell = self.cell(key);
        if let Some(body) = cell.ready(encoding) {
            return Ok(Some(body));
        }
        let _lock = match (cell.render_lock.try_lock(), self.previous(key, encoding)) {
            (Ok(lock), _) => lock,
            (Err(_), Some(last)) => return Ok(Some(last)),
            (Err(_), None) => {
                let lock = tokio::time::timeout(READ_TIMEOUT, cell.render_lock.lock()).await;
                lock.map_err(|_| too_slow())?
            }
        };
        if let Some(body) = cell.ready(encoding) {
            return Ok(Some(body));
        }
        let work: Box<dyn FnOnce() -> Arc<EncodedBody> + Send> = match cell.body.get().cloned() {
            Some(body) => Box::new(move || body),
            None => match make().await {
                Ok(Some(work)) => Box::new(move || Arc::new(work())),
                nothing => {
                    self.remove_if_current(key, &cell);
                    return nothing.map(|_| None);
                }
            },
        };
        let made = self.run_blocking(move || {
            let body = work();
            body.bytes(encoding);
            body
        });
        // The server is shutting down and renders nothing more.
        let Some(body) = made.await else { return Ok(None) };
        let body = Arc::clone(cell.body.get_or_init(|| body));
        self.count(key, &cell, body.byte_size());
        Ok(Some(body))
    }

    /// Records that a visitor requested this. It is then rendered in advance when the page changes.
    pub(super) fn record_request(&self, key: &RepresentationKey, encoding: Encoding) {
        let cells = self.cells();
        if let Some(cell) = cells.all.get(key) {
            cell.requested.fetch_or(bit(encoding), Ordering::Relaxed);
        }
    }

    /// Returns the representations that visitors requested, each with the encodings.
    pub(super) fn requested(&self) -> Vec<(Representation, Locale, Vec<Encoding>)> {
        let cells = self.cells();
        let representation = |(key, cell): (&RepresentationKey, &Arc<Cell>)| {
            let bits = cell.requested.load(Ordering::Relaxed);
            let encodings = Encoding::ALL.into_iter().filter(|it| bits & bit(*it) != 0).collect();
            (bits != 0).then_some((key.content.representation()?, key.locale, encodings))
        };
        cells.all.iter().filter_map(representation).collect()
    }

    /// Returns the representation of the previous version, if it is already in this encoding.
    fn previous(&self, key: &RepresentationKey, encoding: Encoding) -> Option<Arc<EncodedBody>> {
        let last = self.previous.lock().unwrap_or_else(PoisonError::into_inner);
        last.get(key).filter(|body| body.is_ready(encoding)).cloned()
    }

    fn cell(&self, key: &RepresentationKey) -> Arc<Cell> {
        let mut cells = self.cells();
        cells.clock += 1;
        let now = cells.clock;
        if let Some(known) = cells.all.get(key) {
            known.used.store(now, Ordering::Relaxed);
            return Arc::clone(known);
        }
        let cell = Arc::new(Cell { used: AtomicU64::new(now), ..Cell::default() });
        if key.content.representation().is_none() {
            // If pages exceed their memory limit, the body is rendered for this request only.
            if self.weight.shared.bytes() > BYTES_MAX {
                return cell;
            }
            cells.details += 1;
            self.make_room(&mut cells);
        }
        cells.all.insert(key.clone(), Arc::clone(&cell));
        cell
    }

    /// Counts the size of a cell, unless it was evicted.
    fn count(&self, key: &RepresentationKey, cell: &Arc<Cell>, bytes: usize) {
        let mut cells = self.cells();
        if !cells.all.get(key).is_some_and(|cached| Arc::ptr_eq(cached, cell)) {
            return;
        }
        let before = cell.bytes.swap(bytes as u64, Ordering::Relaxed) as usize;
        let more = bytes.saturating_sub(before);
        self.weight.add(more);
        if key.content.representation().is_some() {
            drop(cells);
            let replaced = self.previous.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
            self.weight.subtract(replaced.map_or(0, |body| body.byte_size()));
        } else {
            cells.detail_bytes += more;
            self.make_room(&mut cells);
        }
    }

    /// Evicts the least recently used detail pages and badges until the rest fits.
    fn make_room(&self, cells: &mut Cells) {
        while cells.details > DETAILS_MAX || cells.detail_bytes > DETAIL_BYTES_MAX {
            let details =
                cells.all.iter().filter(|(key, _)| key.content.representation().is_none());
            let oldest = details.min_by_key(|(_, cell)| cell.used.load(Ordering::Relaxed));
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else { return };
            self.remove(cells, &oldest);
        }
    }

    fn remove_if_current(&self, key: &RepresentationKey, cell: &Arc<Cell>) {
        let mut cells = self.cells();
        if cells.all.get(key).is_some_and(|cached| Arc::ptr_eq(cached, cell)) {
            self.remove(&mut cells, key);
        }
    }

    fn remove(&self, cells: &mut Cells, key: &RepresentationKey) {
        let Some(cell) = cells.all.remove(key) else { return };
        let bytes = cell.bytes.load(Ordering::Relaxed) as usize;
        self.weight.subtract(bytes);
        if key.content.representation().is_none() {
            cells.details -= 1;
            cells.detail_bytes -= bytes;
        }
    }

    /// Runs expensive work on a blocking thread. Returns `None` only if the server is shutting
    /// down. The work occupies a slot until it finishes, even if nobody waits for it any more.
    async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let makers = Arc::clone(&self.weight.shared.render_permits);
        let permit = makers.acquire_owned().await.ok()?;
        let work = spawn_blocking(move || {
            let _permit = permit;
            work()
        });
        match work.await {
            Ok(done) => Some(done),
            Err(why) if why.is_panic() => resume_unwind(why.into_panic()),
            Err(_) => None,
        }
    }

    fn cells(&self) -> MutexGuard<'_, Cells> {
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

    use prometheus_client::metrics::gauge::Gauge;
    use prometheus_client::metrics::histogram::Histogram;
    use rules::IncidentId;
    use tokio::sync::oneshot;

    use super::super::memory::SharedState;
    use super::*;
    use crate::PageMetrics;
    use crate::html::DetailKey;
    use crate::i18n::choose;
    use crate::representation::RequestedContent;

    fn key(content: RequestedContent) -> RepresentationKey {
        RepresentationKey { content, locale: Locale { words: choose(None), is_domain: false } }
    }

    fn representation(it: Representation) -> RepresentationKey {
        key(RequestedContent::Representation(it))
    }

    fn incident(number: u64) -> RepresentationKey {
        key(RequestedContent::Details(DetailKey::Incident(IncidentId::from_bits(number))))
    }

    fn shared() -> Arc<SharedState> {
        let metrics = PageMetrics {
            build_seconds: Histogram::new([1.0]),
            render_seconds: Histogram::new([1.0]),
            streams: Gauge::default(),
        };
        Arc::new(SharedState::new(None, String::new(), metrics))
    }

    fn bodies(shared: &Arc<SharedState>) -> RenderedBodies {
        RenderedBodies::new(Weight::new(shared))
    }

    async fn render(all: &RenderedBodies, key: &RepresentationKey, text: &str) -> Arc<EncodedBody> {
        let text = text.to_owned();
        let make = || async {
            Ok(Some(Box::new(move || EncodedBody::new("text/plain", text)) as RenderJob))
        };
        all.get_or_render(key, Encoding::Gzip, make).await.unwrap().unwrap()
    }

    fn text(body: &Arc<EncodedBody>) -> String {
        String::from_utf8(body.bytes(Encoding::Identity).to_vec()).unwrap()
    }

    // issue 7: "rendered once per change, kept as compressed bytes"
    #[tokio::test]
    async fn concurrent_requests_render_and_compress_once() {
        let (bodies, made) = (bodies(&shared()), AtomicUsize::new(0));
        let ask = || async {
            let make = || async {
                made.fetch_add(1, Ordering::Relaxed);
                Ok(Some(Box::new(|| EncodedBody::new("text/plain", "x".repeat(900))) as RenderJob))
            };
            bodies.get_or_render(&incident(1), Encoding::Brotli, make).await.unwrap().unwrap()
        };
        let (first, second) = tokio::join!(ask(), ask());
        assert!(Arc::ptr_eq(&first, &second) && first.is_ready(Encoding::Brotli));
        assert_eq!(made.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn only_requested_representations_are_prerendered() {
        let bodies = bodies(&shared());
        let [home, json] = [Representation::Home, Representation::Json].map(representation);
        render(&bodies, &home, "for a visitor").await;
        render(&bodies, &json, "ahead").await;
        render(&bodies, &incident(1), "a detail page").await;
        bodies.record_request(&home, Encoding::Gzip);
        let ahead = bodies.requested();
        let [(Representation::Home, _, encodings)] = &ahead[..] else { panic!("{ahead:?}") };
        assert_eq!(encodings, &[Encoding::Gzip]);
    }

    // issue 7: "stale-while-revalidate"
    #[tokio::test]
    async fn concurrent_requests_get_the_previous_body() {
        let shared = shared();
        let home = representation(Representation::Home);
        let before = bodies(&shared);
        render(&before, &home, "before").await;
        let bodies = RenderedBodies::after(Weight::new(&shared), &before);
        let (begun, wait) = oneshot::channel::<()>();
        let (go_on, may_go_on) = oneshot::channel::<()>();
        let make = || async {
            begun.send(()).unwrap();
            may_go_on.await.unwrap();
            Ok(Some(Box::new(|| EncodedBody::new("text/plain", "now")) as RenderJob))
        };
        let others = async {
            wait.await.unwrap();
            let given = render(&bodies, &home, "twice").await;
            go_on.send(()).unwrap();
            given
        };
        let (made, given) = tokio::join!(bodies.get_or_render(&home, Encoding::Gzip, make), others);
        assert_eq!((text(&given), text(&made.unwrap().unwrap())), ("before".into(), "now".into()));
        assert_eq!(text(&render(&bodies, &home, "twice").await), "now", "it is made");
    }

    #[tokio::test]
    async fn many_addresses_stay_within_limits_and_keep_representations() {
        let shared = shared();
        let bodies = bodies(&shared);
        let home = representation(Representation::Home);
        render(&bodies, &home, "home").await;
        for number in 0..2 * DETAILS_MAX as u64 {
            render(&bodies, &incident(number), "small").await;
        }
        assert_eq!(bodies.cells().details, DETAILS_MAX);
        for number in 0..20 {
            render(&bodies, &incident(number), &number.to_string().repeat(DETAIL_BYTES_MAX / 10))
                .await;
        }
        let cells = bodies.cells();
        assert!(cells.details < 20 && cells.detail_bytes <= DETAIL_BYTES_MAX);
        assert!(cells.all.contains_key(&home) && cells.all.contains_key(&incident(19)));
        drop(cells);
        assert!(shared.bytes() > 0);
        drop(bodies);
        assert_eq!(shared.bytes(), 0, "a dropped page does not count");
    }

    #[tokio::test]
    async fn absent_or_failed_body_is_requested_again() {
        let bodies = bodies(&shared());
        let nothing =
            bodies.get_or_render(&incident(1), Encoding::Gzip, || async { Ok(None) }).await;
        assert!(nothing.unwrap().is_none());
        let failed = bodies
            .get_or_render(&incident(1), Encoding::Gzip, || async { Err("away".into()) })
            .await;
        assert_eq!(failed.unwrap_err(), "away");
        assert_eq!(bodies.cells().details, 0);
        assert_eq!(text(&render(&bodies, &incident(1), "there").await), "there");
    }
}
