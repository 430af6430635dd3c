//! What was said already: the view of each page, and each form of it as bytes, compressed once. A form
//! holds until something changes that callers of the workspace read (see `store::Generation`) or a
//! few seconds have passed, because how old the knowledge is stands on the page. When the database is
//! away the last view is said again, with how old it is. However many ask, one of them makes it anew.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use domain::page::PageView;
use flate2::Compression;
use flate2::write::GzEncoder;
use rules::Timestamp;
use rules::status_page::StatusPage;
use sha2::{Digest as _, Sha256};
use store::Generation;

use super::words::Words;
use super::{badge, feed, html, json, statuspage_v2};
use crate::app::App;
use crate::pipeline::page::{Projection, project_page};

/// For how long a view is shown before it is made anew, where nothing changed: checks come in.
pub(super) const FRESH: Duration = Duration::from_secs(5);
/// The longest that a visitor waits for what is stored, where there is something to show instead.
const READ_WITHIN: Duration = Duration::from_secs(2);
/// Pages whose forms are kept at most; the one that was read longest ago goes first.
const PAGES_MAX: usize = 2_000;
/// Pages that are made anew at a time, at most.
const TURNS: usize = 64;

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
    /// Atom.
    Atom,
    /// RSS.
    Rss,
    /// A picture of the state.
    Badge,
}

/// A form as it goes over the wire.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) content_type: &'static str,
    pub(super) plain: Bytes,
    pub(super) gzip: Bytes,
    /// Of the plain bytes, in quotes.
    pub(super) etag: String,
}

/// A page with what is shown of it.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) page: StatusPage,
    pub(super) view: PageView,
    /// Whether what is stored could not be read; what is shown is older.
    pub(super) cut_off: bool,
    /// When it was read, or should have been.
    tried_at: Timestamp,
    /// Counted before anything was read.
    generation: Option<Generation>,
    said: Mutex<HashMap<(Form, &'static str), Arc<Said>>>,
}

/// All pages that were asked for.
#[derive(Debug)]
pub(crate) struct Shelf {
    pages: Mutex<HashMap<String, Arc<Shown>>>,
    /// Who makes a page anew, of all with the same place; others wait, or take what there is.
    turns: [tokio::sync::Mutex<()>; TURNS],
}

impl Default for Shelf {
    fn default() -> Self {
        Self {
            pages: Mutex::default(),
            turns: std::array::from_fn(|_| tokio::sync::Mutex::default()),
        }
    }
}

impl Shelf {
    /// What is shown of the page with this slug, `None` where there is none that is published. An
    /// error only where the page was never read before.
    pub(super) async fn shown(&self, app: &App, slug: &str) -> Result<Option<Arc<Shown>>, String> {
        let known = self.lock().get(slug).cloned();
        let now = app.ctx.now();
        if let Some(shown) = &known
            && shown.holds(app, now)
        {
            return Ok(known);
        }
        let turn = &self.turns[place(slug)];
        let _turn = match (turn.try_lock(), &known) {
            (Ok(turn), _) => turn,
            // Somebody makes it anew, and nothing has changed but the time.
            (Err(_), Some(shown)) if shown.cut_off || shown.is_same(app) => return Ok(known),
            (Err(_), _) => turn.lock().await,
        };
        let known = self.lock().get(slug).cloned();
        if let Some(shown) = &known
            && shown.holds(app, now)
        {
            return Ok(known);
        }
        let read = project_page(&app.store, &app.pipeline, slug, now);
        let why = match tokio::time::timeout(READ_WITHIN, read).await {
            Ok(Ok(Some(projection))) => {
                let shown = Arc::new(Shown::from(projection));
                self.keep(slug, Arc::clone(&shown));
                return Ok(Some(shown));
            }
            Ok(Ok(None)) => {
                self.lock().remove(slug);
                return Ok(None);
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("the database did not answer within {READ_WITHIN:?}"),
        };
        let Some(last) = known else { return Err(why) };
        tracing::warn!(page = slug, "a status page is shown as it was: {why}");
        let shown = Arc::new(last.cut_off(now));
        self.keep(slug, Arc::clone(&shown));
        Ok(Some(shown))
    }

    fn keep(&self, slug: &str, shown: Arc<Shown>) {
        let mut pages = self.lock();
        if pages.len() >= PAGES_MAX && !pages.contains_key(slug) {
            let oldest = pages.iter().min_by_key(|(_, shown)| shown.view.at);
            let oldest = oldest.map(|(slug, _)| slug.clone());
            oldest.and_then(|slug| pages.remove(&slug));
        }
        pages.insert(slug.to_owned(), shown);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Shown>>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shown {
    /// A form of it in a language.
    pub(super) fn say(&self, form: Form, words: &'static Words, base: &str) -> Arc<Said> {
        let key = (form, words.lang);
        let known = self.said.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        known.unwrap_or_else(|| {
            let said = Arc::new(self.say_anew(form, words, base));
            let mut all = self.said.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(key).or_insert(said))
        })
    }

    fn say_anew(&self, form: Form, words: &'static Words, base: &str) -> Said {
        let (content_type, text) = match form {
            Form::Home => ("text/html; charset=utf-8", html::home(self, words, base)),
            Form::Json => ("application/json", json::status(self, base)),
            Form::V2Summary => ("application/json", statuspage_v2::summary(self, base)),
            Form::V2Status => ("application/json", statuspage_v2::status(self, base)),
            Form::V2Components => ("application/json", statuspage_v2::components(self, base)),
            Form::V2Incidents => ("application/json", statuspage_v2::incidents(self, base)),
            Form::V2Maintenances => ("application/json", statuspage_v2::maintenances(self, base)),
            Form::Atom => ("application/atom+xml; charset=utf-8", feed::atom(self, words, base)),
            Form::Rss => ("application/rss+xml; charset=utf-8", feed::rss(self, words, base)),
            Form::Badge => ("image/svg+xml", badge::state(self, words)),
        };
        Said::of(content_type, text)
    }

    /// Whether nothing has changed but the time.
    fn is_same(&self, app: &App) -> bool {
        self.generation.is_some() && self.generation == app.store.generation(self.page.workspace)
    }

    fn holds(&self, app: &App, now: Timestamp) -> bool {
        let is_young = self.tried_at <= now && now.since(self.tried_at) < FRESH;
        is_young && (self.cut_off || self.is_same(app))
    }

    /// The same, said to be as old as it is.
    fn cut_off(&self, tried_at: Timestamp) -> Self {
        Self {
            page: self.page.clone(),
            view: self.view.clone(),
            cut_off: true,
            tried_at,
            generation: None,
            said: Mutex::default(),
        }
    }
}

/// The place of a page among [`TURNS`].
fn place(slug: &str) -> usize {
    let mut hasher = DefaultHasher::new();
    slug.hash(&mut hasher);
    hasher.finish() as usize % TURNS
}

impl From<Projection> for Shown {
    fn from(Projection { page, view, generation }: Projection) -> Self {
        let tried_at = view.at;
        Self { page, view, cut_off: false, tried_at, generation, said: Mutex::default() }
    }
}

impl Said {
    pub(super) fn of(content_type: &'static str, text: String) -> Self {
        let etag = format!("\"{}\"", URL_SAFE_NO_PAD.encode(&Sha256::digest(&text)[..12]));
        let mut gzip = GzEncoder::new(Vec::with_capacity(text.len() / 4), Compression::new(6));
        let gzip = gzip.write_all(text.as_bytes()).and_then(|()| gzip.finish());
        let gzip = Bytes::from(gzip.expect("memory takes everything that is written to it"));
        Self { content_type, plain: Bytes::from(text), gzip, etag }
    }
}
