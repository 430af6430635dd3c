//! What was shown already: each page by its identifier, whichever address it was asked for by. A page
//! holds until something changes that callers of the workspace read (see `store::Generation`) or a
//! few seconds have passed, because how old the knowledge is stands on it. However many ask, one of them
//! makes it anew, and the others are shown the last one meanwhile; where only time has passed nobody
//! waits. When the database is away the last one is shown again, with how old it is. All of that ends when
//! others may see a page than before (see `store::Access`): then it is read anew, or not shown.

mod absent;
mod asked;
mod forms;
mod shown;
mod weight;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rules::status_page::StatusPage;
use rules::{PageId, Timestamp, WorkspaceId};

use tokio::sync::Semaphore;

pub(super) use self::absent::Absent;
pub(super) use self::asked::{Asked, Tongue, What};
pub(super) use self::forms::Work;
pub(super) use self::shown::Shown;
use self::shown::{Holds, Since};
use self::weight::Shared;
use super::address::PageAddress;
use super::news::News;
use crate::app::App;
use crate::observe::Metrics;
use crate::pipeline::page::project_page;
pub(super) use crate::said::{Encoding, Said};

/// For how long a page is as it is, where nothing changed: checks come in.
const FRESH: Duration = Duration::from_secs(5);
/// For how long it is still shown after that, while it is made anew.
const MEANWHILE: Duration = Duration::from_secs(10);
/// The longest that a visitor waits for what is stored, where there is something to show instead.
pub(super) const READ_WITHIN: Duration = Duration::from_secs(5);
/// Pages and addresses that are kept at most; the page that was read longest ago goes first.
const PAGES_MAX: usize = 2_000;
const ADDRESSES_MAX: usize = 2 * PAGES_MAX;
/// Bytes that they take at most, about.
const BYTES_MAX: usize = 256 << 20;
/// Pages that are made anew at a time, at most.
const TURNS: usize = 512;
/// Addresses that are looked up at a time, of those that nobody was shown yet.
const LOOKUPS: usize = 8;

/// A representation of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    /// The home page.
    Home,
    /// Our own JSON.
    Json,
    /// Statuspage's: everything.
    V2Summary,
    /// Statuspage's: the sentence on top.
    V2Status,
    /// Statuspage's: the components.
    V2Components,
    /// Statuspage's: incidents.
    V2Incidents,
    /// Statuspage's: maintenance.
    V2Maintenances,
    /// Statuspage's incidents that are not resolved.
    V2Unresolved,
    /// Statuspage's maintenance that is on.
    V2MaintenancesActive,
    /// Statuspage's maintenance that is to come.
    V2MaintenancesUpcoming,
    /// JSON Feed.
    JsonFeed,
    /// Atom.
    Atom,
    /// RSS.
    Rss,
    /// Markdown.
    Markdown,
    /// Maintenance as a calendar.
    Calendar,
    /// The picture of a shared address.
    Picture,
    /// The verdict for a frame.
    Widget,
    /// The verdict as a script.
    WidgetScript,
    /// What search engines may read.
    Robots,
    /// What stands before a page that is not for everybody.
    Door,
}

/// All pages that were asked for.
#[derive(Debug)]
pub(crate) struct Shelf {
    shared: Arc<Shared>,
    kept: Mutex<Kept>,
    /// Addresses of no page.
    absent: Absent<PageAddress, u64>,
    /// Who looks an address up holds one.
    lookups: Semaphore,
    /// How often pages were read.
    readings: AtomicU64,
    /// Who makes a page anew, of all with the same place; others wait, or take what there is.
    turns: [tokio::sync::Mutex<()>; TURNS],
    /// Those who wait for changes.
    pub(super) news: News,
}

#[derive(Debug, Default)]
struct Kept {
    addresses: HashMap<PageAddress, PageId>,
    pages: HashMap<PageId, Arc<Shown>>,
}

/// A page and its owner.
#[derive(Clone, Copy, Debug)]
struct Whose {
    page: PageId,
    workspace: WorkspaceId,
}

impl Shelf {
    /// An empty shelf; `origin` is where the server is reached from outside, `own` where it listens.
    pub(crate) fn new(origin: Option<String>, own: String, metrics: Metrics) -> Self {
        Self {
            shared: Arc::new(Shared::new(origin, own, metrics)),
            kept: Mutex::default(),
            absent: Absent::default(),
            lookups: Semaphore::new(LOOKUPS),
            readings: AtomicU64::new(0),
            turns: std::array::from_fn(|_| tokio::sync::Mutex::default()),
            news: News::default(),
        }
    }

    /// Where the server is reached from outside, without a slash at the end.
    pub(crate) fn origin(&self) -> Option<&str> {
        self.shared.origin.as_deref()
    }

    /// What is shown of the page at this address, `None` where there is none that is published. An
    /// error only where the page was never read before.
    pub(super) async fn shown(
        &self,
        app: &App,
        address: &PageAddress,
    ) -> Result<Option<Arc<Shown>>, String> {
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

    /// The page, no older than it may be.
    async fn current(
        &self,
        app: &App,
        whose: Whose,
        now: Timestamp,
    ) -> Result<Option<Arc<Shown>>, String> {
        let known = self.page(whose.page);
        let holds = known.as_ref().map(|shown| (shown, shown.holds(app, now)));
        match holds {
            Some((_, Holds::Yes)) => return Ok(known),
            Some((shown, Holds::Meanwhile)) => {
                renew_behind(app, shown, now);
                return Ok(known);
            }
            Some((_, Holds::Changed | Holds::No | Holds::Never)) | None => {}
        }
        let turn = &self.turns[whose.page.bits() as usize % TURNS];
        let _turn = match (turn.try_lock(), holds) {
            (Ok(turn), _) => turn,
            // Somebody makes it anew, or asks the database, which was away.
            (Err(_), Some((_, Holds::Changed))) => return Ok(known),
            (Err(_), Some((shown, Holds::No))) if shown.cut_off => return Ok(known),
            (Err(_), holds) => match tokio::time::timeout(READ_WITHIN, turn.lock()).await {
                Ok(turn) => turn,
                Err(_) if holds.is_some_and(|(_, holds)| holds != Holds::Never) => {
                    return Ok(known);
                }
                Err(_) => return Err(too_slow()),
            },
        };
        let known = self.page(whose.page);
        if known.as_ref().is_some_and(|shown| shown.holds(app, now) == Holds::Yes) {
            return Ok(known);
        }
        let shown = self.read(app, whose, known.as_deref(), now).await?;
        Ok(shown.inspect(|shown| self.keep(shown)))
    }

    /// Makes a page anew, and says of it what was asked for, before anybody has to wait for it; whether
    /// that could be done. Who reads it meanwhile waits for none of that.
    async fn renew(&self, app: &App, before: &Shown, now: Timestamp) -> bool {
        let whose = Whose::of(&before.page);
        let read = {
            let turn = self.turns[whose.page.bits() as usize % TURNS].try_lock();
            let Ok(_turn) = turn else { return false };
            self.read(app, whose, Some(before), now).await
        };
        // Where there is something to show, nothing goes wrong.
        let Ok(Some(shown)) = read else { return false };
        shown.say_as(before).await;
        self.keep(&shown);
        true
    }

    /// Reads a page; where that fails, the last one with its age, to those who may see it.
    async fn read(
        &self,
        app: &App,
        whose: Whose,
        last: Option<&Shown>,
        now: Timestamp,
    ) -> Result<Option<Arc<Shown>>, String> {
        let Whose { page, workspace } = whose;
        let reading = self.readings.fetch_add(1, Ordering::Relaxed);
        let since = Since { reading, access: app.store.access(page) };
        let read = project_page(&app.store, &app.pipeline, (workspace, page), now);
        let why = match tokio::time::timeout(READ_WITHIN, read).await {
            Ok(Ok(Some(projection))) => {
                self.shared.metrics.page_project_seconds.observe(projection.took.as_secs_f64());
                return Ok(Some(Arc::new(Shown::new(projection, since, last, &self.shared))));
            }
            Ok(Ok(None)) => {
                self.lock().pages.remove(&whose.page);
                return Ok(None);
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => too_slow(),
        };
        let Some(last) = last.filter(|last| last.holds(app, now) != Holds::Never) else {
            return Err(why);
        };
        tracing::warn!(page.id = %whose.page, "a status page is shown from the cache: {why}");
        Ok(Some(Arc::new(last.cut_off(now, reading))))
    }

    /// The published page at an address, as it is stored.
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

    /// The page that was last shown at this address.
    fn known(&self, address: &PageAddress) -> Option<Arc<Shown>> {
        let kept = self.lock();
        let shown = kept.pages.get(kept.addresses.get(address)?)?;
        shown.is_at(address).then(|| Arc::clone(shown))
    }

    fn page(&self, id: PageId) -> Option<Arc<Shown>> {
        self.lock().pages.get(&id).cloned()
    }

    /// Keeps a page, unless one is kept that was read later.
    fn keep(&self, shown: &Arc<Shown>) {
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

impl Form {
    /// Whether it is a picture, which goes over the wire as it is.
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

/// Why a visitor was given nothing who waited for long enough.
pub(super) fn too_slow() -> String {
    format!("the database did not respond within {READ_WITHIN:?}")
}

/// Makes a page anew while visitors see the last one; once for each.
fn renew_behind(app: &App, shown: &Arc<Shown>, now: Timestamp) {
    if !shown.is_renewed.swap(true, Ordering::Relaxed) {
        let (app, shown) = (app.clone(), Arc::clone(shown));
        tokio::spawn(async move {
            let is_done = app.page_shelf.renew(&app, &shown, now).await;
            shown.is_renewed.store(is_done, Ordering::Relaxed);
        });
    }
}
