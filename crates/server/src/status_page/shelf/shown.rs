//! Cached page: its settings, its content and the bodies rendered so far. This module decides when
//! an entry is stale. The cache in `shelf` renews it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use domain::page::{Day, PageView};
use rules::status_page::StatusPage;
use rules::{AccessType, DomainName, Timestamp};
use store::{Access, Generation};
use tokio::time::Instant;

use super::super::address::PageAddress;
use super::super::words::Words;
use super::super::{
    door, feed, html, ical, json, markdown, picture, robots, statuspage_v2, widget,
};
use super::asked::{Asked, Tongue, What};
use super::forms::{Forms, Work};
use super::weight::{Shared, Weight};
use super::{FRESH, Form, MEANWHILE};
use crate::app::App;
use crate::pipeline::page::Projection;
use crate::said::{Encoding, PNG, Said};

/// A page with its content.
#[derive(Debug)]
pub(in crate::status_page) struct Shown {
    pub(in crate::status_page) page: StatusPage,
    pub(in crate::status_page) view: Arc<PageView>,
    /// Whether the database was unavailable, so that the content is older than it should be.
    pub(in crate::status_page) cut_off: bool,
    /// Custom domain in the normalized form of lookups.
    domain: Option<DomainName>,
    /// Time of the last attempt to read the page.
    tried_at: Timestamp,
    /// Taken before anything was read, like `generation`.
    since: Since,
    generation: Option<Generation>,
    /// Whether a background task already renews the page.
    pub(super) is_renewed: AtomicBool,
    forms: Forms,
}

/// State of the cache and of the page's access before the page was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Since {
    /// Number of the reading. A later reading has a higher number.
    pub(super) reading: u64,
    /// Access to the page.
    pub(super) access: Access,
}

/// Freshness of a cached page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// Fresh.
    Yes,
    /// Unchanged but expired: served while it is renewed in the background.
    Meanwhile,
    /// Changed: the first request renews it, and concurrent requests get this version.
    Changed,
    /// Too old to be served: it must be renewed first.
    No,
    /// Access to the page has changed: this version must never be served again.
    Never,
}

impl Shown {
    /// Creates an entry from a page that was read. Representations of `before` are served until it
    /// has its own.
    pub(super) fn new(
        Projection { page, view, generation, took: _ }: Projection,
        since: Since,
        before: Option<&Self>,
        shared: &Arc<Shared>,
    ) -> Self {
        let weight = Weight::new(shared);
        let days = view.components().filter_map(|component| component.days.as_ref());
        weight.add(days.map(|days| days.len() * size_of::<Day>()).sum());
        // Pages marked as old, or rendered under other access rules, must not be served again.
        let before = before.filter(|it| !it.cut_off && it.since.access == since.access);
        let forms = match before {
            Some(before) => Forms::after(weight, &before.forms),
            None => Forms::new(weight),
        };
        Self {
            domain: page.settings.custom_domain_name(),
            page,
            cut_off: false,
            tried_at: view.at,
            view: Arc::new(view),
            since,
            generation,
            is_renewed: AtomicBool::new(false),
            forms,
        }
    }

    /// Returns a copy that is marked as old, because the database is unavailable.
    pub(super) fn cut_off(&self, tried_at: Timestamp, reading: u64) -> Self {
        Self {
            page: self.page.clone(),
            view: Arc::clone(&self.view),
            cut_off: true,
            domain: self.domain.clone(),
            tried_at,
            since: Since { reading, ..self.since },
            generation: None,
            is_renewed: AtomicBool::new(false),
            forms: Forms::new(Weight::new(&self.forms.weight.shared)),
        }
    }

    /// Returns whether this is an address of the page.
    pub(super) fn is_at(&self, address: &PageAddress) -> bool {
        match address {
            PageAddress::Slug(slug) => *slug == self.page.settings.slug,
            PageAddress::Domain(name) => {
                self.domain.as_ref().is_some_and(|own| own.as_str() == name)
            }
        }
    }

    /// Returns whether this was read before `other`.
    pub(super) const fn is_older(&self, other: &Self) -> bool {
        self.since.reading < other.since.reading
    }

    /// Returns the freshness of the page at `now`.
    pub(super) fn holds(&self, app: &App, now: Timestamp) -> Holds {
        if self.since.access != app.store.access(self.page.id) {
            return Holds::Never;
        }
        if now < self.tried_at {
            return Holds::No;
        }
        let is_same = || {
            let generation = app.store.generation(self.page.workspace);
            self.generation.is_some() && self.generation == generation
        };
        match now.since(self.tried_at) {
            age if age >= MEANWHILE => Holds::No,
            _ if !(self.cut_off || is_same()) => Holds::Changed,
            age if age < FRESH => Holds::Yes,
            _ => Holds::Meanwhile,
        }
    }

    /// Returns a representation in an encoding. Returns `None` if the server is shutting down.
    pub(in crate::status_page) async fn say(
        self: &Arc<Self>,
        form: Form,
        tongue: Tongue,
        encoding: Encoding,
    ) -> Option<Arc<Said>> {
        let said = self.ready(form, tongue, encoding).await;
        self.forms.wanted(&Asked { what: What::Form(form), tongue }, encoding);
        said
    }

    async fn ready(
        self: &Arc<Self>,
        form: Form,
        tongue: Tongue,
        encoding: Encoding,
    ) -> Option<Arc<Said>> {
        let asked = Asked { what: What::Form(form), tongue };
        let said = self.say_of(&asked, encoding, || async {
            // An image takes a lot of memory, so draw one at a time.
            let turn = if form.is_picture() { Some(picture::TURN.lock().await) } else { None };
            let shown = Arc::clone(self);
            let work = move || {
                let _turn = turn;
                shown.say_anew(form, tongue)
            };
            Ok(Some(Box::new(work) as Work))
        });
        // Rendering reads nothing from the database and therefore cannot fail.
        said.await.ok().flatten()
    }

    /// Returns the body that `make` produces, rendered once for all requests while the page is
    /// unchanged.
    pub(in crate::status_page) async fn say_of<F>(
        &self,
        asked: &Asked,
        encoding: Encoding,
        make: impl FnOnce() -> F + Send,
    ) -> Result<Option<Arc<Said>>, String>
    where
        F: Future<Output = Result<Option<Work>, String>> + Send,
    {
        self.forms.say(asked, encoding, make).await
    }

    /// Renders the representations that visitors requested of the previous version. Detail pages
    /// are rendered on demand.
    pub(super) async fn say_as(self: &Arc<Self>, before: &Self) {
        for (form, tongue, encodings) in before.forms.asked() {
            for encoding in encodings {
                self.ready(form, tongue, encoding).await;
            }
        }
    }

    /// Renders a representation in the language and with the links of the request.
    fn say_anew(&self, form: Form, tongue: Tongue) -> Said {
        let began = Instant::now();
        let address = match &self.domain {
            Some(domain) if tongue.is_domain => PageAddress::Domain(domain.to_string()),
            _ => PageAddress::Slug(self.page.settings.slug.clone()),
        };
        // Consumers outside the browser need absolute URLs, and feeds are invalid without a host.
        let Shared { origin, own, metrics, .. } = &*self.forms.weight.shared;
        let (base, url) = (address.base(), address.url(Some(origin.as_deref().unwrap_or(own))));
        let said = self.say_form(form, tongue.words, &base, &url);
        metrics.page_say_seconds.observe(began.elapsed().as_secs_f64());
        said
    }

    /// Renders a representation. Links begin with `base`, or with `url` if they are read outside
    /// the page.
    fn say_form(&self, form: Form, words: &'static Words, base: &str, url: &str) -> Said {
        let text = match form {
            Form::Home => ("text/html; charset=utf-8", html::home(self, words, base, url)),
            Form::Json => ("application/json", json::status(self, url)),
            Form::V2Summary => ("application/json", statuspage_v2::summary(self, url)),
            Form::V2Status => ("application/json", statuspage_v2::status(self, url)),
            Form::V2Components => ("application/json", statuspage_v2::components(self, url)),
            Form::V2Incidents => ("application/json", statuspage_v2::incidents(self, url)),
            Form::V2Unresolved => ("application/json", statuspage_v2::unresolved(self, url)),
            Form::V2Maintenances => ("application/json", statuspage_v2::maintenances(self, url)),
            Form::V2MaintenancesActive => {
                ("application/json", statuspage_v2::maintenances_active(self, url))
            }
            Form::V2MaintenancesUpcoming => {
                ("application/json", statuspage_v2::maintenances_upcoming(self, url))
            }
            Form::JsonFeed => {
                ("application/feed+json; charset=utf-8", feed::json(self, words, url))
            }
            Form::Atom => ("application/atom+xml; charset=utf-8", feed::atom(self, words, url)),
            Form::Rss => ("application/rss+xml; charset=utf-8", feed::rss(self, words, url)),
            Form::Markdown => ("text/markdown; charset=utf-8", markdown::status(self, words, url)),
            Form::Calendar => ("text/calendar; charset=utf-8", ical::calendar(self, words, url)),
            Form::Widget => ("text/html; charset=utf-8", widget::frame(self, words, base)),
            Form::WidgetScript => ("text/javascript; charset=utf-8", widget::script(self, words)),
            Form::Robots => ("text/plain; charset=utf-8", robots::text(&self.page)),
            Form::Door => ("text/html; charset=utf-8", self.say_door(words, base)),
            Form::Picture => {
                let title = &self.page.settings.title;
                return Said::of(PNG, picture::draw(title, &self.view, words));
            }
        };
        let said = Said::of(text.0, text.1);
        match form {
            Form::Atom | Form::Rss | Form::JsonFeed | Form::Calendar => {
                said.changed_at(feed::changed(self))
            }
            Form::Home
            | Form::Json
            | Form::V2Summary
            | Form::V2Status
            | Form::V2Components
            | Form::V2Incidents
            | Form::V2Unresolved
            | Form::V2Maintenances
            | Form::V2MaintenancesActive
            | Form::V2MaintenancesUpcoming
            | Form::Markdown
            | Form::Picture
            | Form::Widget
            | Form::WidgetScript
            | Form::Robots
            | Form::Door => said,
        }
    }

    /// Renders the login page.
    fn say_door(&self, words: &'static Words, base: &str) -> String {
        match self.page.settings.effective_access() {
            AccessType::EmailDomain => door::members::question(&self.page, words, base, None),
            // A public page has no login page that a visitor could reach.
            AccessType::Password | AccessType::Public => {
                door::password(&self.page, words, base, None)
            }
        }
    }
}
