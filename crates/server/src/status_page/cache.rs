//! Cache of status pages, by ID, shared by all addresses of a page. An entry is fresh until an API
//! caller could see a change in the workspace (see `store::Generation`). It also expires after a
//! few seconds, because the page shows the age of its data. One request renews an expired entry
//! while the others get the previous one. If only time has passed, no request waits. If the
//! database is unavailable, the last entry is served again with its age. No entry survives a change
//! of access to the page (see `store::Access`): the page is then read again or not shown.

mod entry;
mod key;
mod memory;
mod negative;
mod rendered;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rules::status_page::StatusPage;
use rules::{PageId, Timestamp, WorkspaceId};

use tokio::sync::Semaphore;

pub(super) use self::entry::CachedPage;
use self::entry::{Freshness, Since};
pub(super) use self::key::{Locale, RepresentationKey, RequestedContent};
use self::memory::SharedState;
pub(super) use self::negative::Absent;
pub(super) use self::rendered::Work;
use super::address::PageAddress;
use super::live::LiveUpdates;
use crate::app::App;
pub(super) use crate::http_body::{EncodedBody, Encoding};
use crate::observe::Metrics;
use crate::pipeline::page::project_page;

/// Time that an unchanged page is fresh. Check results still arrive.
const FRESH: Duration = Duration::from_secs(5);
/// Further time that an expired page is served while it is renewed.
const MEANWHILE: Duration = Duration::from_secs(10);
/// Maximum time that a visitor waits for the database if an older page is cached.
pub(super) const READ_WITHIN: Duration = Duration::from_secs(5);
/// Maximum numbers of cached pages and addresses. The oldest page is evicted first.
const PAGES_MAX: usize = 2_000;
const ADDRESSES_MAX: usize = 2 * PAGES_MAX;
/// Approximate maximum size of all pages in bytes.
const BYTES_MAX: usize = 256 << 20;
/// Number of locks that serialize the renewals of pages.
const TURNS: usize = 512;
/// Maximum number of concurrent lookups of addresses that are not cached.
const LOOKUPS: usize = 8;

/// Representation of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Representation {
    Home,
    /// The JSON format of Aloft.
    Json,
    /// Statuspage's summary.
    V2Summary,
    /// Statuspage's overall status.
    V2Status,
    /// Statuspage's components.
    V2Components,
    /// Statuspage's incidents.
    V2Incidents,
    /// Statuspage's maintenance.
    V2Maintenances,
    /// Statuspage's unresolved incidents.
    V2Unresolved,
    /// Statuspage's active maintenance.
    V2MaintenancesActive,
    /// Statuspage's upcoming maintenance.
    V2MaintenancesUpcoming,
    JsonFeed,
    Atom,
    Rss,
    Markdown,
    /// Maintenance as iCalendar.
    Calendar,
    /// The Open Graph image.
    Picture,
    /// The overall status for a frame.
    Widget,
    /// The overall status as a script.
    WidgetScript,
    /// The `robots.txt` file.
    Robots,
    /// The login page of a page with restricted access.
    Door,
}

/// Cache of all requested pages.
#[derive(Debug)]
pub(crate) struct PageCache {
    shared: Arc<SharedState>,
    kept: Mutex<Kept>,
    /// Addresses without a page.
    absent: Absent<PageAddress, u64>,
    /// Limit of concurrent lookups.
    lookups: Semaphore,
    /// Number of reads so far.
    readings: AtomicU64,
    /// Serializes renewals. Each page uses the lock at its hash, which others may share.
    turns: [tokio::sync::Mutex<()>; TURNS],
    /// Browsers that wait for live updates.
    pub(super) news: LiveUpdates,
}

#[derive(Debug, Default)]
struct Kept {
    addresses: HashMap<PageAddress, PageId>,
    pages: HashMap<PageId, Arc<CachedPage>>,
}

/// ID of a page and of its owner.
#[derive(Clone, Copy, Debug)]
struct Whose {
    page: PageId,
    workspace: WorkspaceId,
}

impl PageCache {
    /// Creates an empty cache. `origin` is the public URL of the server, `own` the URL of its
    /// listener.
    pub(crate) fn new(origin: Option<String>, own: String, metrics: Metrics) -> Self {
        Self {
            shared: Arc::new(SharedState::new(origin, own, metrics)),
            kept: Mutex::default(),
            absent: Absent::default(),
            lookups: Semaphore::new(LOOKUPS),
            readings: AtomicU64::new(0),
            turns: std::array::from_fn(|_| tokio::sync::Mutex::default()),
            news: LiveUpdates::default(),
        }
    }

    /// Returns the public URL of the server, without a trailing slash.
    pub(crate) fn origin(&self) -> Option<&str> {
        self.shared.origin.as_deref()
    }

    /// Returns the page at this address, or `None` if no page is published there. Fails only if the
    /// page was never read.
    pub(super) async fn shown(
        &self,
        app: &App,
        address: &PageAddress,
    ) -> Result<Option<Arc<CachedPage>>, String> {
        let now = app.ctx.now();
        if let Some(known) = self.known(address) {
            let shown = self.current(app, Whose::of(&known.page), now).await?;
            if let Some(shown) = shown.filter(|shown| shown.is_at(address)) {
                return Ok(Some(shown));
            }
        }
        let Some(whose) = self.whose(app, address, now).await? else { return Ok(None) };
        let shown = self.current(app, whose, now).await?.filter(|shown| shown.is_at(address));
        if shown.is_some() {
            self.lock().remember(address.clone(), whose.page);
        }
        Ok(shown)
    }

    /// Returns the page, renewed if it is stale.
    async fn current(
        &self,
        app: &App,
        whose: Whose,
        now: Timestamp,
    ) -> Result<Option<Arc<CachedPage>>, String> {
        let known = self.page(whose.page);
        let holds = known.as_ref().map(|shown| (shown, shown.holds(app, now)));
        match holds {
            Some((_, Freshness::Yes)) => return Ok(known),
            Some((shown, Freshness::Meanwhile)) => {
                renew_behind(app, shown, now);
                return Ok(known);
            }
            Some((_, Freshness::Changed | Freshness::No | Freshness::Never)) | None => {}
        }
        let turn = &self.turns[whose.page.bits() as usize % TURNS];
        let _turn = match (turn.try_lock(), holds) {
            (Ok(turn), _) => turn,
            // Another request renews the page or waits for an unavailable database.
            (Err(_), Some((_, Freshness::Changed))) => return Ok(known),
            (Err(_), Some((shown, Freshness::No))) if shown.cut_off => return Ok(known),
            (Err(_), holds) => match tokio::time::timeout(READ_WITHIN, turn.lock()).await {
                Ok(turn) => turn,
                Err(_) if holds.is_some_and(|(_, holds)| holds != Freshness::Never) => {
                    return Ok(known);
                }
                Err(_) => return Err(too_slow()),
            },
        };
        let known = self.page(whose.page);
        if known.as_ref().is_some_and(|shown| shown.holds(app, now) == Freshness::Yes) {
            return Ok(known);
        }
        let shown = self.read(app, whose, known.as_deref(), now).await?;
        Ok(shown.inspect(|shown| self.keep(shown)))
    }

    /// Reads a page again and renders the requested representations before visitors ask for them.
    /// Returns whether that succeeded. Requests that read the page meanwhile do not wait for the
    /// rendering.
    async fn renew(&self, app: &App, before: &CachedPage, now: Timestamp) -> bool {
        let whose = Whose::of(&before.page);
        let read = {
            let turn = self.turns[whose.page.bits() as usize % TURNS].try_lock();
            let Ok(_turn) = turn else { return false };
            self.read(app, whose, Some(before), now).await
        };
        // A failure is harmless, because the previous page remains in the cache.
        let Ok(Some(shown)) = read else { return false };
        shown.say_as(before).await;
        self.keep(&shown);
        true
    }

    /// Reads a page. If that fails, returns the last one with its age to visitors who still have
    /// access.
    async fn read(
        &self,
        app: &App,
        whose: Whose,
        last: Option<&CachedPage>,
        now: Timestamp,
    ) -> Result<Option<Arc<CachedPage>>, String> {
        let Whose { page, workspace } = whose;
        let reading = self.readings.fetch_add(1, Ordering::Relaxed);
        let since = Since { reading, access: app.store.access(page) };
        let read = project_page(&app.store, &app.pipeline, (workspace, page), now);
        let why = match tokio::time::timeout(READ_WITHIN, read).await {
            Ok(Ok(Some(projection))) => {
                self.shared.metrics.page_project_seconds.observe(projection.took.as_secs_f64());
                return Ok(Some(Arc::new(CachedPage::new(projection, since, last, &self.shared))));
            }
            Ok(Ok(None)) => {
                self.lock().pages.remove(&whose.page);
                return Ok(None);
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => too_slow(),
        };
        let Some(last) = last.filter(|last| last.holds(app, now) != Freshness::Never) else {
            return Err(why);
        };
        tracing::warn!(page.id = %whose.page, "a status page is shown from the cache: {why}");
        Ok(Some(Arc::new(last.cut_off(now, reading))))
    }

    /// Looks up the published page at an address in the database.
    async fn whose(
        &self,
        app: &App,
        address: &PageAddress,
        now: Timestamp,
    ) -> Result<Option<Whose>, String> {
        let changed = app.store.pages_changed_so_far();
        if self.absent.has(address, &changed, now) {
            return Ok(None);
        }
        let read = async {
            let _lookup = self.lookups.acquire().await;
            match address {
                PageAddress::Slug(slug) => app.store.shown().by_slug(slug).await,
                PageAddress::Domain(domain) => app.store.shown().by_domain(domain).await,
            }
        };
        let page = match tokio::time::timeout(READ_WITHIN, read).await {
            Ok(page) => page.map_err(|error| error.to_string())?,
            Err(_) => return Err(too_slow()),
        };
        let page = page.filter(|page| page.published);
        if page.is_none() {
            self.absent.note(address.clone(), changed, now);
        }
        Ok(page.map(|page| Whose::of(&page)))
    }

    /// Returns the page that was last shown at this address.
    fn known(&self, address: &PageAddress) -> Option<Arc<CachedPage>> {
        let kept = self.lock();
        let shown = kept.pages.get(kept.addresses.get(address)?)?;
        shown.is_at(address).then(|| Arc::clone(shown))
    }

    fn page(&self, id: PageId) -> Option<Arc<CachedPage>> {
        self.lock().pages.get(&id).cloned()
    }

    /// Caches a page, unless a later reading of it is cached.
    fn keep(&self, shown: &Arc<CachedPage>) {
        let mut kept = self.lock();
        if kept.pages.get(&shown.page.id).is_some_and(|kept| shown.is_older(kept)) {
            return;
        }
        kept.pages.insert(shown.page.id, Arc::clone(shown));
        while kept.pages.len() > PAGES_MAX
            || self.shared.bytes() > BYTES_MAX && kept.pages.len() > 1
        {
            let oldest = kept.pages.values().min_by_key(|shown| shown.view.at);
            let oldest = oldest.map(|shown| shown.page.id).expect("there are pages");
            kept.pages.remove(&oldest);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Representation {
    /// Returns whether the representation is an image, which is sent uncompressed.
    pub(super) const fn is_picture(self) -> bool {
        matches!(self, Self::Picture)
    }
}

impl Kept {
    fn remember(&mut self, address: PageAddress, page: PageId) {
        if self.addresses.len() >= ADDRESSES_MAX {
            let Self { addresses, pages } = self;
            addresses
                .retain(|address, page| pages.get(page).is_some_and(|shown| shown.is_at(address)));
        }
        self.addresses.insert(address, page);
    }
}

impl Whose {
    const fn of(page: &StatusPage) -> Self {
        Self { page: page.id, workspace: page.workspace }
    }
}

/// Returns the error for a visitor who waited for too long.
pub(super) fn too_slow() -> String {
    format!("the database did not respond within {READ_WITHIN:?}")
}

/// Renews a page in the background, once per entry.
fn renew_behind(app: &App, shown: &Arc<CachedPage>, now: Timestamp) {
    if !shown.is_renewed.swap(true, Ordering::Relaxed) {
        let (app, shown) = (app.clone(), Arc::clone(shown));
        tokio::spawn(async move {
            let is_done = app.page_shelf.renew(&app, &shown, now).await;
            shown.is_renewed.store(is_done, Ordering::Relaxed);
        });
    }
}
