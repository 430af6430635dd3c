//! Caches the rendered pages and files, compressed, once for each requested encoding.
//!
//! Pages are rendered on the first request. The whole cache is freed after a time without requests, so
//! that a server that only checks needs no memory for documentation.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use tokio::sync::{Notify, Semaphore};
use web::http_body::{EncodedBody, Encoding};

use super::assets::SCRIPT;
use super::catalog::{self, File};
use super::document::Document;
use super::search::Index;
use super::{openapi, pages};

/// Time without requests after which the cache is freed.
const IDLE_TIMEOUT: Duration = Duration::from_mins(10);

/// Number of pages and searches that are computed concurrently.
const CONCURRENT_RENDERS_MAX: usize = 1;

/// Maximum number of requests that wait for a permit. Further requests receive 503. The largest page
/// takes 9 ms and the costliest search 5 ms (decision 0060), so a full queue is less than a second of
/// work.
const WAITING_MAX: usize = 64;

/// A resource that is the same for every client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum StaticResource {
    /// First page of the documentation.
    Home,
    /// Document as a page, by path.
    Document(&'static str),
    /// Document as Markdown, by path.
    Markdown(&'static str),
    /// File that is not a document, by path.
    File(&'static str),
    /// List of all documents, for programs.
    List,
    Script,
    Icon,
    OpenApi,
}

/// The body of a resource, a search or an error page, in one encoding.
#[derive(Clone, Debug)]
pub(super) struct EncodedResource {
    pub(super) content_type: &'static str,
    pub(super) etag: HeaderValue,
    pub(super) encoding: Encoding,
    pub(super) bytes: Bytes,
}

/// The documentation of this server.
#[derive(Debug)]
pub(super) struct Docs {
    /// Public URL of the server, without a slash at the end.
    origin: Option<String>,
    /// Time without requests after which the cache is freed.
    idle_timeout: Duration,
    cache: Mutex<Weak<DocsCache>>,
    /// Permits to render or search.
    render_permits: Arc<Semaphore>,
    /// Permits to render, search or wait.
    queue_permits: Arc<Semaphore>,
}

/// Error: the queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overloaded;

/// Cached resources and the search index. Each request holds a reference, and a task holds one while
/// requests arrive. It needs no bounds and no expiry like `web::cache`: the resources are few and never
/// change, and all of them are freed at once.
#[derive(Debug, Default)]
struct DocsCache {
    resources: Mutex<HashMap<(StaticResource, Encoding), EncodedResource>>,
    index: OnceLock<Index>,
    requested: Notify,
}

impl Docs {
    /// Creates the documentation; `origin` is the public URL of the server.
    pub(super) fn new(origin: Option<String>) -> Self {
        Self {
            origin,
            idle_timeout: IDLE_TIMEOUT,
            cache: Mutex::default(),
            render_permits: Arc::new(Semaphore::new(CONCURRENT_RENDERS_MAX)),
            queue_permits: Arc::new(Semaphore::new(CONCURRENT_RENDERS_MAX + WAITING_MAX)),
        }
    }

    /// Returns a resource in this encoding, from the cache if possible. Fails if the queue is full.
    pub(super) async fn get(
        &self,
        resource: StaticResource,
        encoding: Encoding,
    ) -> Result<EncodedResource, Overloaded> {
        let cache = self.cache();
        if let Some(encoded) = cache.get(resource, encoding) {
            return Ok(encoded);
        }
        let origin = self.origin.clone();
        self.run_limited(move || {
            // Another request may have rendered it meanwhile.
            cache.get(resource, encoding).unwrap_or_else(|| {
                let encoded = EncodedResource::new(&resource.render(origin.as_deref()), encoding);
                cache.store(resource, &encoded);
                encoded
            })
        })
        .await
    }

    /// Runs a function on the search index. The first search builds the index under the same permit.
    pub(super) async fn with_index<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Index) -> T + Send + 'static,
    ) -> Result<T, Overloaded> {
        let cache = self.cache();
        self.run_limited(move || work(cache.index.get_or_init(Index::for_documentation))).await
    }

    /// Runs work that takes milliseconds on a blocking thread, one task at a time. The limit leaves the
    /// rest of the machine to checks. Waiting requests hold no thread.
    pub(super) async fn run_limited<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Overloaded> {
        let queue_permit =
            Arc::clone(&self.queue_permits).try_acquire_owned().map_err(|_| Overloaded)?;
        let render_permit = Arc::clone(&self.render_permits).acquire_owned().await;
        let render_permit = render_permit.expect("the semaphore is never closed");
        let work = tokio::task::spawn_blocking(move || {
            // Held by the work, because it continues after the client disconnects.
            let _permits = (queue_permit, render_permit);
            work()
        });
        Ok(work.await.expect("the work does not panic, and nobody aborts its task"))
    }

    fn cache(&self) -> Arc<DocsCache> {
        let mut current = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cache) = current.upgrade() {
            cache.requested.notify_one();
            return cache;
        }
        let cache = Arc::new(DocsCache::default());
        *current = Arc::downgrade(&cache);
        tokio::spawn(hold_until_idle(Arc::clone(&cache), self.idle_timeout));
        cache
    }
}

/// Holds the cache while requests arrive.
async fn hold_until_idle(cache: Arc<DocsCache>, idle_timeout: Duration) {
    while tokio::time::timeout(idle_timeout, cache.requested.notified()).await.is_ok() {}
}

impl DocsCache {
    fn get(&self, resource: StaticResource, encoding: Encoding) -> Option<EncodedResource> {
        let resources = self.resources.lock().unwrap_or_else(PoisonError::into_inner);
        resources.get(&(resource, encoding)).cloned()
    }

    fn store(&self, resource: StaticResource, encoded: &EncodedResource) {
        let mut resources = self.resources.lock().unwrap_or_else(PoisonError::into_inner);
        resources.insert((resource, encoded.encoding), encoded.clone());
    }
}

impl EncodedResource {
    /// Returns the body in this encoding.
    pub(super) fn new(body: &EncodedBody, encoding: Encoding) -> Self {
        Self {
            content_type: body.content_type,
            etag: body.etag.clone(),
            encoding,
            bytes: body.bytes(encoding),
        }
    }
}

pub(super) const HTML: &str = "text/html; charset=utf-8";
const MARKDOWN: &str = "text/markdown; charset=utf-8";

impl StaticResource {
    fn render(self, origin: Option<&str>) -> EncodedBody {
        match self {
            Self::Home => EncodedBody::new(HTML, pages::home()),
            Self::Document(path) => EncodedBody::new(HTML, pages::document(document(path), origin)),
            Self::Markdown(path) => EncodedBody::new(MARKDOWN, document(path).text()),
            Self::File(path) => {
                let File { content_type, bytes, .. } = file(path);
                EncodedBody::new(content_type, *bytes)
            }
            Self::List => {
                EncodedBody::new(MARKDOWN, pages::markdown_list(origin.unwrap_or_default()))
            }
            Self::Script => EncodedBody::new("text/javascript; charset=utf-8", SCRIPT),
            Self::Icon => EncodedBody::new("image/svg+xml", web::ICON),
            Self::OpenApi => EncodedBody::new(super::JSON_TYPE, openapi::description()),
        }
    }
}

fn document(path: &str) -> &'static Document {
    catalog::documents().find(|it| it.path == path).expect("the path comes from the catalog")
}

fn file(path: &str) -> &'static File {
    catalog::FILES.iter().find(|it| it.path == path).expect("the path comes from the catalog")
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    /// Longer than any step here takes on a busy machine.
    const PATIENCE: Duration = Duration::from_mins(1);

    #[tokio::test]
    async fn resource_is_rendered_and_compressed_once() {
        let docs = Docs::new(None);
        assert!(docs.cache.lock().unwrap().upgrade().is_none(), "nothing is cached at the start");
        for encoding in Encoding::ALL {
            let document = docs.get(StaticResource::Home, encoding).await.unwrap();
            let again = docs.get(StaticResource::Home, encoding).await.unwrap();
            assert_eq!(document.bytes.as_ptr(), again.bytes.as_ptr(), "{encoding:?}");
        }
    }

    #[tokio::test]
    async fn idle_cache_is_freed() {
        let docs = Docs { idle_timeout: Duration::ZERO, ..Docs::new(None) };
        let document = docs.get(StaticResource::Home, Encoding::Brotli).await.unwrap();
        let cache = docs.cache.lock().unwrap().clone();
        let freed = async {
            while cache.upgrade().is_some() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, freed).await.expect("the cache is freed");
        assert_eq!(
            docs.get(StaticResource::Home, Encoding::Brotli).await.unwrap().etag,
            document.etag
        );
    }

    #[tokio::test]
    async fn full_queue_rejects_all_but_cached_resources() {
        let docs = Docs::new(None);
        let cached = docs.get(StaticResource::Home, Encoding::Brotli).await.unwrap();
        let render_permit = docs.render_permits.acquire().await.unwrap();
        let permits = docs.queue_permits.available_permits();
        let wait = |_| {
            let mut one = Box::pin(docs.run_limited(|| ()));
            let mut nobody = std::task::Context::from_waker(Waker::noop());
            assert!(one.as_mut().poll(&mut nobody).is_pending());
            one
        };
        let mut waiting: Vec<_> = (0..permits).map(wait).collect();
        assert_eq!(docs.run_limited(|| ()).await, Err(Overloaded));
        let other = docs.get(StaticResource::List, Encoding::Brotli).await;
        assert_eq!(other.map(|document| document.etag), Err(Overloaded));
        let again = docs.get(StaticResource::Home, Encoding::Brotli).await.unwrap();
        assert_eq!(again.etag, cached.etag, "a cached resource needs no permit");
        // A cancelled request returns its permit.
        drop(waiting.pop());
        waiting.push(wait(0));
        drop(render_permit);
        for one in waiting {
            one.await.unwrap();
        }
    }
}
