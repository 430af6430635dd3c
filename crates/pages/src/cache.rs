//! Cache of status pages, by ID, shared by all addresses of a page. An entry is fresh for a few
//! seconds, because the page shows the age of its data, and until an API caller could see a change
//! in the workspace (see `store::Generation`). A stale entry is unchanged: it is served, and
//! renewed in the background. A changed entry is renewed by one request while the others get it. An
//! expired entry is renewed before it is served. If the database is unavailable, the last entry is
//! served again with its age. No entry survives a change of access to the page (see
//! `store::AccessVersion`): the page is then read again or not served.

mod detail_bodies;
mod entry;
mod memory;
mod rendered;
mod renderer;
mod shared;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rules::status_page::StatusPage;
use rules::{PageId, Timestamp, WorkspaceId};
use store::StoreError;
use web::cache::{Cache, CacheCounters, CacheMetrics, CachePolicy};

pub(super) use self::entry::CachedPage;
use self::entry::{Freshness, ReadStart};
pub(super) use self::renderer::RenderJob;
use self::shared::SharedState;
use super::address::PageAddress;
use crate::metrics::PageMetrics;
use crate::projection::project_page;
use crate::source::Source;

/// Time that an unchanged page is fresh. Check results still arrive.
const FRESH: Duration = Duration::from_secs(5);
/// Maximum age of a page that is served while it is renewed.
const STALE_AGE_MAX: Duration = Duration::from_secs(10);
/// Maximum time of a read, and of the wait for another request that reads the page.
const READ_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of cached pages. The oldest page is evicted first.
const PAGES_MAX: usize = 2_000;
/// Approximate maximum size of all pages in bytes, without detail pages and badges.
const BYTES_MAX: usize = 192 << 20;
/// Number of locks that serialize the renewals of pages.
const RENEWAL_LOCKS: usize = 512;
/// Limits of cached addresses. Their size is that of some 6,000.
const ADDRESSES: CachePolicy = CachePolicy::new(FRESH, 4 << 20);

/// Cache of all requested pages.
#[derive(Debug)]
pub(crate) struct PageCache {
    shared: Arc<SharedState>,
    /// Pages by address. Looked up again after a change of any page.
    addresses: Cache<PageAddress, PageIds, u64>,
    pages: Mutex<HashMap<PageId, Arc<CachedPage>>>,
    /// Lookups of `pages`, and the size of all pages with their representations.
    counters: CacheCounters,
    /// Number of reads so far.
    readings: AtomicU64,
    /// Serializes renewals. Each page uses the lock at its hash, which others may share.
    renewal_locks: [tokio::sync::Mutex<()>; RENEWAL_LOCKS],
}

/// IDs of a page and of its workspace.
#[derive(Clone, Copy, Debug)]
struct PageIds {
    page: PageId,
    workspace: WorkspaceId,
}

impl PageCache {
    /// Creates an empty cache. `origin` is the public URL of the server, `own` the URL of its
    /// listener.
    pub(crate) fn new(
        origin: Option<String>,
        own: String,
        metrics: PageMetrics,
        caches: &CacheMetrics,
    ) -> Self {
        let detail_counters = caches.counters("page_details");
        Self {
            shared: Arc::new(SharedState::new(origin, own, metrics, detail_counters)),
            addresses: Cache::new(ADDRESSES, address_bytes, caches.counters("page_addresses")),
            pages: Mutex::default(),
            counters: caches.counters("pages"),
            readings: AtomicU64::new(0),
            renewal_locks: std::array::from_fn(|_| tokio::sync::Mutex::default()),
        }
    }

    /// Returns the public URL of the server, without a trailing slash.
    pub(crate) fn origin(&self) -> Option<&str> {
        self.shared.origin.as_deref()
    }

    /// Returns the public URL of the server, or that of its listener without one.
    pub(crate) fn url(&self) -> &str {
        self.shared.url()
    }

    /// Removes detail pages and badges that are too old to be served.
    pub(crate) fn evict_expired(&self, now: Timestamp) {
        self.shared.detail_bodies.evict_expired(now);
    }

    /// Returns the page at this address, or `None` if no page is published there. Fails if the page
    /// cannot be read and no version that may be served is cached.
    pub(super) async fn get(
        self: &Arc<Self>,
        source: &Source,
        address: &PageAddress,
    ) -> Result<Option<Arc<CachedPage>>, String> {
        let now = source.ctx.now();
        // However old the lookup is, the page knows its own addresses.
        if let Some(ids) = self.addresses.get_last(address) {
            let cached = self.current(source, ids, now).await?;
            if let Some(cached) = cached.filter(|cached| cached.has_address(address)) {
                return Ok(Some(cached));
            }
        }
        let Some(ids) = self.look_up(source, address, now).await? else { return Ok(None) };
        Ok(self.current(source, ids, now).await?.filter(|cached| cached.has_address(address)))
    }

    /// Returns a page of this workspace, or `None` if it is not published. Fails like [`Self::get`].
    pub(super) async fn by_id(
        self: &Arc<Self>,
        source: &Source,
        workspace: WorkspaceId,
        page: PageId,
    ) -> Result<Option<Arc<CachedPage>>, String> {
        let cached = self.current(source, PageIds { page, workspace }, source.ctx.now()).await?;
        Ok(cached.filter(|cached| cached.snapshot.page.workspace == workspace))
    }

    /// Returns the page. Renews it first, unless this version may be served meanwhile.
    async fn current(
        self: &Arc<Self>,
        source: &Source,
        ids: PageIds,
        now: Timestamp,
    ) -> Result<Option<Arc<CachedPage>>, String> {
        let known = self.page(ids.page);
        let freshness = known.as_ref().map(|cached| (cached, cached.freshness(source, now)));
        let is_hit = matches!(freshness, Some((_, Freshness::Fresh | Freshness::Stale)));
        self.counters.count(is_hit);
        match freshness {
            Some((_, Freshness::Fresh)) => return Ok(known),
            Some((cached, Freshness::Stale)) => {
                self.renew_in_background(source, cached, now);
                return Ok(known);
            }
            Some((_, Freshness::Changed | Freshness::Expired | Freshness::Revoked)) | None => {}
        }
        let lock = self.renewal_lock(ids.page);
        let _guard = match (lock.try_lock(), freshness) {
            (Ok(guard), _) => guard,
            // Another request renews the page or waits for an unavailable database.
            (Err(_), Some((_, Freshness::Changed))) => return Ok(known),
            (Err(_), Some((cached, Freshness::Expired))) if cached.snapshot.is_outdated => {
                return Ok(known);
            }
            (Err(_), freshness) => match tokio::time::timeout(READ_TIMEOUT, lock.lock()).await {
                Ok(guard) => guard,
                Err(_) => return last_entry(freshness, now).map(Some).ok_or_else(too_slow),
            },
        };
        let known = self.page(ids.page);
        if known.as_ref().is_some_and(|cached| cached.freshness(source, now) == Freshness::Fresh) {
            return Ok(known);
        }
        let cached = self.read(source, ids, known.as_deref(), now).await?;
        Ok(cached.inspect(|cached| self.store(cached)))
    }

    /// Renews a page in the background, once per entry.
    fn renew_in_background(
        self: &Arc<Self>,
        source: &Source,
        cached: &Arc<CachedPage>,
        now: Timestamp,
    ) {
        if !cached.is_renewal_taken.swap(true, Ordering::Relaxed) {
            let (cache, source, cached) = (Arc::clone(self), source.clone(), Arc::clone(cached));
            tokio::spawn(async move {
                let is_done = cache.renew(&source, &cached, now).await;
                cached.is_renewal_taken.store(is_done, Ordering::Relaxed);
            });
        }
    }

    /// Reads a page again and renders the requested representations before visitors ask for them.
    /// Returns whether that succeeded. Requests that read the page meanwhile do not wait for the
    /// rendering.
    async fn renew(&self, source: &Source, before: &CachedPage, now: Timestamp) -> bool {
        let ids = PageIds::from_page(&before.snapshot.page);
        let read = {
            let Ok(_guard) = self.renewal_lock(ids.page).try_lock() else { return false };
            self.read(source, ids, Some(before), now).await
        };
        // A failure is harmless, because the previous page remains in the cache.
        let Ok(Some(cached)) = read else { return false };
        cached.prerender(before).await;
        self.store(&cached);
        true
    }

    /// Reads a page. If that fails, returns the last one with its age to visitors who still have
    /// access.
    async fn read(
        &self,
        source: &Source,
        ids: PageIds,
        last: Option<&CachedPage>,
        now: Timestamp,
    ) -> Result<Option<Arc<CachedPage>>, String> {
        let PageIds { page, workspace } = ids;
        let reading = self.readings.fetch_add(1, Ordering::Relaxed);
        let start = ReadStart { reading, access: source.store.access_version(page) };
        let read = project_page(source, (workspace, page), now);
        let why = match tokio::time::timeout(READ_TIMEOUT, read).await {
            Ok(Ok(Some(projection))) => {
                self.shared.metrics.build_seconds.observe(projection.took.as_secs_f64());
                return Ok(Some(Arc::new(CachedPage::new(projection, start, last, &self.shared))));
            }
            Ok(Ok(None)) => {
                self.lock().remove(&ids.page);
                return Ok(None);
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => too_slow(),
        };
        let Some(last) = last.filter(|last| last.freshness(source, now) != Freshness::Revoked)
        else {
            return Err(why);
        };
        tracing::warn!(page.id = %ids.page, "serving a status page from the cache: {why}");
        Ok(Some(Arc::new(last.as_outdated(now, reading))))
    }

    /// Looks up the published page at an address.
    async fn look_up(
        &self,
        source: &Source,
        address: &PageAddress,
        now: Timestamp,
    ) -> Result<Option<PageIds>, String> {
        let changes = || Some(source.store.page_change_count());
        let read = || async {
            let page = match address {
                PageAddress::Slug(slug) => source.store.public_pages().by_slug(slug).await,
                PageAddress::Domain(domain) => source.store.public_pages().by_domain(domain).await,
            };
            let published = page?.filter(|page| page.published);
            Ok::<_, StoreError>(published.map(|page| PageIds::from_page(&page)))
        };
        let found = self.addresses.get_or_read(address.clone(), changes, now, read).await;
        found.map_err(|error| error.why)
    }

    fn page(&self, id: PageId) -> Option<Arc<CachedPage>> {
        self.lock().get(&id).cloned()
    }

    /// Caches a page, unless a later reading of it is cached.
    fn store(&self, cached: &Arc<CachedPage>) {
        let mut pages = self.lock();
        if pages.get(&cached.snapshot.page.id).is_some_and(|last| cached.is_older(last)) {
            return;
        }
        pages.insert(cached.snapshot.page.id, Arc::clone(cached));
        while pages.len() > PAGES_MAX || self.shared.bytes() > BYTES_MAX && pages.len() > 1 {
            let oldest = pages.values().min_by_key(|cached| cached.snapshot.view.at);
            let oldest = oldest.map(|cached| cached.snapshot.page.id).expect("there are pages");
            pages.remove(&oldest);
        }
        self.counters.set_bytes(self.shared.bytes() as u64);
    }

    /// Returns the lock of the renewals of a page.
    fn renewal_lock(&self, page: PageId) -> &tokio::sync::Mutex<()> {
        &self.renewal_locks[page.bits() as usize % RENEWAL_LOCKS]
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PageId, Arc<CachedPage>>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PageIds {
    const fn from_page(page: &StatusPage) -> Self {
        Self { page: page.id, workspace: page.workspace }
    }
}

/// Returns the last entry after the wait for another request that reads the page. Visitors may see its
/// age. `None` if it must not be served.
fn last_entry(
    last: Option<(&Arc<CachedPage>, Freshness)>,
    now: Timestamp,
) -> Option<Arc<CachedPage>> {
    match last? {
        (_, Freshness::Revoked) => None,
        (cached, Freshness::Expired) => {
            Some(Arc::new(cached.as_outdated(now, cached.start.reading)))
        }
        (cached, Freshness::Fresh | Freshness::Stale | Freshness::Changed) => {
            Some(Arc::clone(cached))
        }
    }
}

/// Returns the size of a cached address, in bytes.
fn address_bytes(address: &PageAddress, _: &PageIds) -> usize {
    let (PageAddress::Slug(text) | PageAddress::Domain(text)) = address;
    size_of::<(PageAddress, PageIds)>() + text.len()
}

/// Returns the error for a visitor who waited for too long.
fn too_slow() -> String {
    format!("the database did not respond within {READ_TIMEOUT:?}")
}
