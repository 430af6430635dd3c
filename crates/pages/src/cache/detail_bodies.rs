//! Rendered detail pages and badges of all pages. There are many addresses, so the cache is
//! limited, and separate from representations, which these bodies can never evict. A body is valid
//! for one reading of its page, so none survives a change of the page or of access to it.

use std::sync::Arc;
use std::time::Duration;

use rules::{PageId, Timestamp};
use tokio::sync::Semaphore;
use web::cache::{Cache, CacheCounters, CachePolicy};
use web::http_body::{EncodedBody, Encoding};

use super::super::representation::DetailBodyKey;
use super::renderer::{RenderJob, Renderer};

/// Limits of the cache. Only the reading of the page limits the age of a body. Absent things are not
/// remembered here, because the data caches do that. The data caches and the renderer limit
/// concurrency, and each data cache may take ten seconds to serve the last value.
const POLICY: CachePolicy = CachePolicy {
    absent_for: Duration::ZERO,
    reads_max: Semaphore::MAX_PERMITS,
    read_within: Duration::from_secs(30),
    ..CachePolicy::new(super::STALE_AGE_MAX, 64 << 20)
};

/// Cache of rendered detail pages and badges. The generation is the number of the page's reading.
#[derive(Debug)]
pub(super) struct DetailBodies(Cache<PageBodyKey, Arc<EncodedBody>, u64>);

/// Page, and body of it in an encoding. Each encoding is rendered separately, so that the size of
/// a body never changes.
type PageBodyKey = (PageId, DetailBodyKey, Encoding);

/// Reading of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageReading {
    pub(super) page: PageId,
    pub(super) number: u64,
    pub(super) at: Timestamp,
}

impl DetailBodies {
    pub(super) fn new(counters: CacheCounters) -> Self {
        Self(Cache::new(POLICY, |_, body| body.byte_size(), counters))
    }

    /// Removes the bodies of readings that are too old to be served.
    pub(super) fn evict_expired(&self, now: Timestamp) {
        self.0.evict_older_than(super::STALE_AGE_MAX, now);
    }

    /// Returns a body in the given encoding. If it is not cached, `make` reads its data and returns
    /// the work that renders it. Returns `None` if the thing does not exist, or if the server is
    /// shutting down.
    pub(super) async fn get_or_render<F>(
        &self,
        renderer: &Renderer,
        reading: PageReading,
        (key, encoding): (DetailBodyKey, Encoding),
        make: impl FnOnce() -> F + Send,
    ) -> Result<Option<Arc<EncodedBody>>, String>
    where
        F: Future<Output = Result<Option<RenderJob>, String>> + Send,
    {
        let render = || async {
            let Some(job) = make().await? else { return Ok::<_, String>(None) };
            Ok(renderer.render(job, encoding).await)
        };
        let (key, generation) = ((reading.page, key, encoding), || Some(reading.number));
        let found = self.0.get_or_read(key, generation, reading.at, render).await;
        found.map_err(|error| error.why)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use rules::IncidentId;

    use super::*;
    use crate::html::DetailKey;
    use crate::i18n::choose;
    use crate::representation::{DetailContent, LinkStyle, Variant};

    fn reading(number: u64) -> PageReading {
        PageReading { page: PageId::from_bits(1), number, at: Timestamp::from_millis(0) }
    }

    fn key(number: u64) -> (DetailBodyKey, Encoding) {
        let content = DetailContent::Page(DetailKey::Incident(IncidentId::from_bits(number)));
        let variant = Variant { words: choose(None), link_style: LinkStyle::Slug };
        (DetailBodyKey { content, variant }, Encoding::Brotli)
    }

    fn bodies() -> (DetailBodies, Renderer) {
        (DetailBodies::new(CacheCounters::default()), Renderer::default())
    }

    fn job(text: String) -> RenderJob {
        Box::new(|| EncodedBody::new("text/plain", text))
    }

    // issue 7: "rendered once per change, kept as compressed bytes"
    #[tokio::test]
    async fn concurrent_requests_render_and_compress_once() {
        let ((bodies, renderer), made) = (bodies(), AtomicUsize::new(0));
        let ask = |number| {
            let make = || async {
                made.fetch_add(1, Ordering::Relaxed);
                Ok(Some(job("x".repeat(900))))
            };
            bodies.get_or_render(&renderer, reading(number), key(1), make)
        };
        let (first, second) = tokio::join!(ask(1), ask(1));
        let [first, second] = [first, second].map(|body| body.unwrap().unwrap());
        assert!(Arc::ptr_eq(&first, &second) && first.is_ready(Encoding::Brotli));
        assert_eq!(made.load(Ordering::Relaxed), 1);
        ask(2).await.unwrap();
        assert_eq!(made.load(Ordering::Relaxed), 2, "a later reading has its own bodies");
    }

    #[tokio::test]
    async fn absent_or_failed_body_is_requested_again() {
        let (bodies, renderer) = bodies();
        let absent = || async { Ok(None) };
        let found = bodies.get_or_render(&renderer, reading(1), key(1), absent).await;
        assert!(found.unwrap().is_none());
        let fails = || async { Err("away".to_owned()) };
        let failed = bodies.get_or_render(&renderer, reading(1), key(1), fails).await;
        assert_eq!(failed.unwrap_err(), "away");
        let make = || async { Ok(Some(job("there".to_owned()))) };
        let found = bodies.get_or_render(&renderer, reading(1), key(1), make).await;
        assert_eq!(found.unwrap().unwrap().bytes(Encoding::Identity), "there");
    }
}
