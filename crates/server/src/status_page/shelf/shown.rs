//! A page with what is shown of it, and each form of it that somebody asked for: made once, compressed
//! once, whoever asks at the same time. When it holds no longer is said here too; making it anew is the
//! shelf's.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use domain::page::{Day, PageView};
use rules::status_page::StatusPage;
use rules::{DomainName, Timestamp};
use store::Generation;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::super::address::PageAddress;
use super::super::badge::latency::Latencies;
use super::super::html::{self, Wanted};
use super::super::words::Words;
use super::super::{feed, ical, json, markdown, picture, robots, statuspage_v2, widget};
use super::said::{Encoding, PNG, Said};
use super::{FRESH, Form, MEANWHILE};
use crate::app::App;
use crate::observe::Metrics;
use crate::pipeline::page::Projection;

/// Forms of a page that are kept at most, in all languages: past them each is made for one visitor.
const SAID_MAX: usize = 512;

/// A page with what is shown of it.
#[derive(Debug)]
pub(in crate::status_page) struct Shown {
    pub(in crate::status_page) page: StatusPage,
    pub(in crate::status_page) view: Arc<PageView>,
    /// Whether what is stored could not be read; what is shown is older.
    pub(in crate::status_page) cut_off: bool,
    /// Its own domain, as it is looked up.
    domain: Option<DomainName>,
    /// When it was read, or should have been.
    tried_at: Timestamp,
    /// Counted before anything was read.
    generation: Option<Generation>,
    /// Whether somebody makes it anew already, for those who come next.
    pub(super) is_renewed: AtomicBool,
    said: Mutex<HashMap<Asked, Arc<Cell>>>,
    /// What badges tell.
    pub(in crate::status_page) latencies: Latencies,
    weight: Weight,
}

/// What is asked of a page: a form or a page of details, in a language, with the links of an address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::status_page) struct Asked {
    pub(in crate::status_page) what: What,
    pub(in crate::status_page) words: &'static Words,
    pub(in crate::status_page) is_domain: bool,
}

/// A form or a page of details.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::status_page) enum What {
    Form(Form),
    Details(Wanted),
}

/// How long what is shown holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// It is as it is.
    Yes,
    /// Nothing has changed but the time: it is shown while it is made anew.
    Meanwhile,
    /// It must be made anew first.
    No,
}

/// One thing that was said, or is about to be. The inner cells are where those wait who ask for the
/// same at a time; they hold no thread.
#[derive(Debug, Default)]
struct Cell {
    said: OnceCell<Option<Arc<Said>>>,
    gzip: OnceCell<()>,
    brotli: OnceCell<()>,
    /// In which encodings visitors asked for it: one bit each.
    asked: AtomicU8,
}

/// Bytes that pages take in memory: those of one, counted among those of all.
#[derive(Debug)]
struct Weight {
    own: AtomicUsize,
    shared: Arc<Shared>,
}

/// What all pages of a shelf have in common.
#[derive(Debug)]
pub(super) struct Shared {
    /// Where the server is reached from outside.
    pub(super) origin: Option<String>,
    pub(super) metrics: Metrics,
    /// Bytes of all pages together.
    pub(super) weight: AtomicUsize,
}

impl Weight {
    fn new(shared: &Arc<Shared>) -> Self {
        Self { own: AtomicUsize::new(0), shared: Arc::clone(shared) }
    }

    fn add(&self, bytes: usize) {
        self.own.fetch_add(bytes, Ordering::Relaxed);
        self.shared.weight.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl Drop for Weight {
    fn drop(&mut self) {
        self.shared.weight.fetch_sub(*self.own.get_mut(), Ordering::Relaxed);
    }
}

impl Shown {
    pub(super) fn new(
        Projection { page, view, generation, took: _ }: Projection,
        shared: &Arc<Shared>,
    ) -> Self {
        let weight = Weight::new(shared);
        let days = view.components().filter_map(|component| component.days.as_ref());
        weight.add(days.map(|days| days.len() * size_of::<Day>()).sum());
        Self {
            domain: page.settings.custom_domain_name(),
            page,
            cut_off: false,
            tried_at: view.at,
            view: Arc::new(view),
            generation,
            is_renewed: AtomicBool::new(false),
            said: Mutex::default(),
            latencies: Latencies::default(),
            weight,
        }
    }

    /// The same, said to be as old as it is.
    pub(super) fn cut_off(&self, tried_at: Timestamp) -> Self {
        Self {
            page: self.page.clone(),
            view: Arc::clone(&self.view),
            cut_off: true,
            domain: self.domain.clone(),
            tried_at,
            generation: None,
            is_renewed: AtomicBool::new(false),
            said: Mutex::default(),
            latencies: Latencies::default(),
            weight: Weight::new(&self.weight.shared),
        }
    }

    /// Whether this is an address of the page.
    pub(super) fn is_at(&self, address: &PageAddress) -> bool {
        match address {
            PageAddress::Slug(slug) => *slug == self.page.settings.slug,
            PageAddress::Domain(name) => {
                self.domain.as_ref().is_some_and(|own| own.as_str() == name)
            }
        }
    }

    /// Whether it can be shown at `now`.
    pub(super) fn holds(&self, app: &App, now: Timestamp) -> Holds {
        let is_same = || {
            let generation = app.store.generation(self.page.workspace);
            self.generation.is_some() && self.generation == generation
        };
        if now < self.tried_at || !(self.cut_off || is_same()) {
            return Holds::No;
        }
        match now.since(self.tried_at) {
            age if age < FRESH => Holds::Yes,
            age if age < MEANWHILE => Holds::Meanwhile,
            _ => Holds::No,
        }
    }

    /// What is asked of it, in an encoding that is ready to be sent; `None` where there is no such
    /// thing.
    pub(in crate::status_page) async fn say(
        self: &Arc<Self>,
        asked: &Asked,
        encoding: Encoding,
    ) -> Option<Arc<Said>> {
        let cell = self.cell(asked);
        cell.asked.fetch_or(bit(encoding), Ordering::Relaxed);
        self.ready(&cell, asked, encoding).await
    }

    /// Says what visitors asked of the one before, for those who will ask next.
    pub(super) async fn say_as(self: &Arc<Self>, before: &Self) {
        let asked: Vec<(Asked, u8)> = before
            .lock()
            .iter()
            .map(|(asked, cell)| (asked.clone(), cell.asked.load(Ordering::Relaxed)))
            .collect();
        for (asked, bits) in asked {
            for encoding in ENCODINGS.into_iter().filter(|it| bits & bit(*it) != 0) {
                self.ready(&self.cell(&asked), &asked, encoding).await;
            }
        }
    }

    fn cell(&self, asked: &Asked) -> Arc<Cell> {
        let mut said = self.lock();
        if let Some(known) = said.get(asked) {
            return Arc::clone(known);
        }
        let cell = Arc::<Cell>::default();
        if said.len() < SAID_MAX {
            said.insert(asked.clone(), Arc::clone(&cell));
        }
        cell
    }

    async fn ready(
        self: &Arc<Self>,
        cell: &Cell,
        asked: &Asked,
        encoding: Encoding,
    ) -> Option<Arc<Said>> {
        let said = cell.said.get_or_init(|| self.made(asked)).await.clone()?;
        let compressed = match encoding {
            Encoding::Identity => return Some(said),
            Encoding::Gzip => &cell.gzip,
            Encoding::Brotli => &cell.brotli,
        };
        let compress = || async {
            let all = Arc::clone(&said);
            let bytes = aside(move || all.bytes(encoding)).await;
            self.weight.add(bytes.map_or(0, |bytes| bytes.len()));
        };
        compressed.get_or_init(compress).await;
        Some(said)
    }

    /// Makes a form for the first who asks, and forgets at once what there is not.
    async fn made(self: &Arc<Self>, asked: &Asked) -> Option<Arc<Said>> {
        let _turn = match asked.what {
            What::Form(Form::Picture) => Some(picture::TURN.lock().await),
            What::Form(_) | What::Details(_) => None,
        };
        let (shown, wanted) = (Arc::clone(self), asked.clone());
        let say = move || {
            let began = Instant::now();
            let said = shown.say_anew(&wanted);
            shown.weight.shared.metrics.page_say_seconds.observe(began.elapsed().as_secs_f64());
            said
        };
        let said = aside(say).await.flatten();
        match &said {
            Some(said) => self.weight.add(said.weight()),
            None => drop(self.lock().remove(asked)),
        }
        said.map(Arc::new)
    }

    fn say_anew(&self, asked: &Asked) -> Option<Said> {
        let address = match &self.domain {
            Some(domain) if asked.is_domain => PageAddress::Domain(domain.to_string()),
            _ => PageAddress::Slug(self.page.settings.slug.clone()),
        };
        let (base, url) = (address.base(), address.url(self.weight.shared.origin.as_deref()));
        match &asked.what {
            What::Form(form) => Some(self.say_form(*form, asked.words, &base, &url)),
            What::Details(wanted) => {
                let text = html::details(self, asked.words, &base, wanted)?;
                Some(Said::of("text/html; charset=utf-8", text))
            }
        }
    }

    /// A form with links that begin with `base`, and with `url` where they are read elsewhere.
    fn say_form(&self, form: Form, words: &'static Words, base: &str, url: &str) -> Said {
        let text = match form {
            Form::Home => ("text/html; charset=utf-8", html::home(self, words, base, url)),
            Form::Json => ("application/json", json::status(self, url)),
            Form::V2Summary => ("application/json", statuspage_v2::summary(self, url)),
            Form::V2Status => ("application/json", statuspage_v2::status(self, url)),
            Form::V2Components => ("application/json", statuspage_v2::components(self, url)),
            Form::V2Incidents => ("application/json", statuspage_v2::incidents(self, url)),
            Form::V2Maintenances => ("application/json", statuspage_v2::maintenances(self, url)),
            Form::Atom => ("application/atom+xml; charset=utf-8", feed::atom(self, words, url)),
            Form::Rss => ("application/rss+xml; charset=utf-8", feed::rss(self, words, url)),
            Form::Markdown => ("text/markdown; charset=utf-8", markdown::status(self, words, url)),
            Form::Calendar => ("text/calendar; charset=utf-8", ical::calendar(self, words, url)),
            Form::Widget => ("text/html; charset=utf-8", widget::frame(self, words, base)),
            Form::WidgetScript => ("text/javascript; charset=utf-8", widget::script(self, words)),
            Form::Robots => ("text/plain; charset=utf-8", robots::text(&self.page)),
            Form::Picture => {
                let title = &self.page.settings.title;
                return Said::of(PNG, picture::draw(title, &self.view, words));
            }
        };
        let said = Said::of(text.0, text.1);
        match form {
            Form::Atom | Form::Rss | Form::Calendar => said.changed_at(feed::changed(self)),
            Form::Home
            | Form::Json
            | Form::V2Summary
            | Form::V2Status
            | Form::V2Components
            | Form::V2Incidents
            | Form::V2Maintenances
            | Form::Markdown
            | Form::Picture
            | Form::Widget
            | Form::WidgetScript
            | Form::Robots => said,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Asked, Arc<Cell>>> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// A language has one set of words.
impl PartialEq for Words {
    fn eq(&self, other: &Self) -> bool {
        self.lang == other.lang
    }
}

impl Eq for Words {}

impl Hash for Words {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.lang.hash(state);
    }
}

const ENCODINGS: [Encoding; 3] = [Encoding::Identity, Encoding::Gzip, Encoding::Brotli];

const fn bit(encoding: Encoding) -> u8 {
    1 << encoding as u8
}

/// Work that takes its time, on a thread where nobody waits for anything else; `None` only where the
/// server is stopping.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    match spawn_blocking(work).await {
        Ok(done) => Some(done),
        Err(why) if why.is_panic() => resume_unwind(why.into_panic()),
        Err(_) => None,
    }
}
