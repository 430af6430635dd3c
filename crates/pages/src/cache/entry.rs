//! Cached page: its settings, its content and the bodies rendered so far. This module decides when
//! an entry is stale. Module `cache` renews it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use domain::page::{Day, PageView};
use rules::status_page::StatusPage;
use rules::{AccessType, DomainName, Timestamp};
use store::{AccessVersion, Generation};
use tokio::time::Instant;

use super::super::address::PageAddress;
use super::super::i18n::Strings;
use super::super::{
    feed, html, ical, json, login, markdown, og_image, robots, statuspage_v2, widget,
};
use super::key::{Locale, RepresentationKey, RequestedContent};
use super::memory::{SharedState, Weight};
use super::rendered::{Forms, Work};
use super::{FRESH, Representation, SERVE_STALE_MAX};
use crate::Pages;
use crate::projection::Projection;
use web::http_body::{EncodedBody, Encoding, PNG};

/// A page with its content.
#[derive(Debug)]
pub(crate) struct CachedPage {
    pub(crate) page: StatusPage,
    pub(crate) view: Arc<PageView>,
    /// Whether the database was unavailable, so that the content is older than it should be.
    pub(crate) served_from_cache: bool,
    /// Custom domain in the normalized form of lookups.
    domain: Option<DomainName>,
    /// Time of the last attempt to read the page.
    tried_at: Timestamp,
    /// Taken before anything was read, like `generation`.
    since: Since,
    generation: Option<Generation>,
    /// Whether a background task already renews the page.
    pub(super) is_renewal_taken: AtomicBool,
    forms: Forms,
}

/// State of the cache and of the page's access before the page was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Since {
    /// Number of the reading. A later reading has a higher number.
    pub(super) reading: u64,
    /// Access to the page.
    pub(super) access: AccessVersion,
}

/// Freshness of a cached page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freshness {
    /// Fresh.
    Fresh,
    /// Unchanged but expired: served while it is renewed in the background.
    Stale,
    /// Changed: the first request renews it, and concurrent requests get this version.
    Changed,
    /// Too old to be served: it must be renewed first.
    Expired,
    /// Access to the page has changed: this version must never be served again.
    Revoked,
}

impl CachedPage {
    /// Creates an entry from a page that was read. Representations of `before` are served until it
    /// has its own.
    pub(super) fn new(
        Projection { page, view, generation, took: _ }: Projection,
        since: Since,
        before: Option<&Self>,
        shared: &Arc<SharedState>,
    ) -> Self {
        let weight = Weight::new(shared);
        let days = view.components().filter_map(|component| component.days.as_ref());
        weight.add(days.map(|days| days.len() * size_of::<Day>()).sum());
        // Pages marked as old, or rendered under other access rules, must not be served again.
        let before = before.filter(|it| !it.served_from_cache && it.since.access == since.access);
        let forms = match before {
            Some(before) => Forms::after(weight, &before.forms),
            None => Forms::new(weight),
        };
        Self {
            domain: page.settings.custom_domain_name(),
            page,
            served_from_cache: false,
            tried_at: view.at,
            view: Arc::new(view),
            since,
            generation,
            is_renewal_taken: AtomicBool::new(false),
            forms,
        }
    }

    /// Returns a copy that is marked as old, because the database is unavailable.
    pub(super) fn as_served_from_cache(&self, tried_at: Timestamp, reading: u64) -> Self {
        Self {
            page: self.page.clone(),
            view: Arc::clone(&self.view),
            served_from_cache: true,
            domain: self.domain.clone(),
            tried_at,
            since: Since { reading, ..self.since },
            generation: None,
            is_renewal_taken: AtomicBool::new(false),
            forms: Forms::new(Weight::new(&self.forms.weight.shared)),
        }
    }

    /// Returns whether this is an address of the page.
    pub(super) fn has_address(&self, address: &PageAddress) -> bool {
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
    pub(super) fn freshness(&self, pages: &Pages, now: Timestamp) -> Freshness {
        if self.since.access != pages.store.access_version(self.page.id) {
            return Freshness::Revoked;
        }
        if now < self.tried_at {
            return Freshness::Expired;
        }
        let is_same = || {
            let generation = pages.store.generation(self.page.workspace);
            self.generation.is_some() && self.generation == generation
        };
        match now.since(self.tried_at) {
            age if age >= SERVE_STALE_MAX => Freshness::Expired,
            _ if !(self.served_from_cache || is_same()) => Freshness::Changed,
            age if age < FRESH => Freshness::Fresh,
            _ => Freshness::Stale,
        }
    }

    /// Returns a representation in an encoding. Returns `None` if the server is shutting down.
    pub(crate) async fn representation(
        self: &Arc<Self>,
        form: Representation,
        locale: Locale,
        encoding: Encoding,
    ) -> Option<Arc<EncodedBody>> {
        let body = self.rendered_body(form, locale, encoding).await;
        self.forms.record_request(
            &RepresentationKey { content: RequestedContent::Form(form), locale },
            encoding,
        );
        body
    }

    async fn rendered_body(
        self: &Arc<Self>,
        form: Representation,
        locale: Locale,
        encoding: Encoding,
    ) -> Option<Arc<EncodedBody>> {
        let key = RepresentationKey { content: RequestedContent::Form(form), locale };
        let body = self.get_or_render(&key, encoding, || async {
            // An image takes a lot of memory, so draw one at a time.
            let turn =
                if form.is_picture() { Some(og_image::DRAW_LOCK.lock().await) } else { None };
            let shown = Arc::clone(self);
            let work = move || {
                let _turn = turn;
                shown.render(form, locale)
            };
            Ok(Some(Box::new(work) as Work))
        });
        // Rendering reads nothing from the database and therefore cannot fail.
        body.await.ok().flatten()
    }

    /// Returns the body that `make` produces, rendered once for all requests while the page is
    /// unchanged.
    pub(crate) async fn get_or_render<F>(
        &self,
        key: &RepresentationKey,
        encoding: Encoding,
        make: impl FnOnce() -> F + Send,
    ) -> Result<Option<Arc<EncodedBody>>, String>
    where
        F: Future<Output = Result<Option<Work>, String>> + Send,
    {
        self.forms.get_or_render(key, encoding, make).await
    }

    /// Renders the representations that visitors requested of the previous version. Detail pages
    /// are rendered on demand.
    pub(super) async fn prerender(self: &Arc<Self>, before: &Self) {
        for (form, locale, encodings) in before.forms.requested() {
            for encoding in encodings {
                self.rendered_body(form, locale, encoding).await;
            }
        }
    }

    /// Renders a representation in the language and with the links of the request.
    fn render(&self, form: Representation, locale: Locale) -> EncodedBody {
        let began = Instant::now();
        let address = match &self.domain {
            Some(domain) if locale.is_domain => PageAddress::Domain(domain.to_string()),
            _ => PageAddress::Slug(self.page.settings.slug.clone()),
        };
        // Consumers outside the browser need absolute URLs, and feeds are invalid without a host.
        let SharedState { origin, listener_url: own, metrics, .. } = &*self.forms.weight.shared;
        let (base, url) = (address.base(), address.url(Some(origin.as_deref().unwrap_or(own))));
        let body = self.render_form(form, locale.words, &base, &url);
        metrics.render_seconds.observe(began.elapsed().as_secs_f64());
        body
    }

    /// Renders a representation. Links begin with `base`, or with `url` if they are read outside
    /// the page.
    #[expect(clippy::too_many_lines, reason = "one arm for each representation")]
    fn render_form(
        &self,
        form: Representation,
        words: &'static Strings,
        base: &str,
        url: &str,
    ) -> EncodedBody {
        let text = match form {
            Representation::Home => {
                ("text/html; charset=utf-8", html::home(self, words, base, url))
            }
            Representation::Json => ("application/json", json::status(self, url)),
            Representation::V2Summary => ("application/json", statuspage_v2::summary(self, url)),
            Representation::V2Status => ("application/json", statuspage_v2::status(self, url)),
            Representation::V2Components => {
                ("application/json", statuspage_v2::components(self, url))
            }
            Representation::V2Incidents => {
                ("application/json", statuspage_v2::incidents(self, url))
            }
            Representation::V2Unresolved => {
                ("application/json", statuspage_v2::unresolved(self, url))
            }
            Representation::V2Maintenances => {
                ("application/json", statuspage_v2::maintenances(self, url))
            }
            Representation::V2MaintenancesActive => {
                ("application/json", statuspage_v2::maintenances_active(self, url))
            }
            Representation::V2MaintenancesUpcoming => {
                ("application/json", statuspage_v2::maintenances_upcoming(self, url))
            }
            Representation::JsonFeed => {
                ("application/feed+json; charset=utf-8", feed::json(self, words, url))
            }
            Representation::Atom => {
                ("application/atom+xml; charset=utf-8", feed::atom(self, words, url))
            }
            Representation::Rss => {
                ("application/rss+xml; charset=utf-8", feed::rss(self, words, url))
            }
            Representation::Markdown => {
                ("text/markdown; charset=utf-8", markdown::status(self, words, url))
            }
            Representation::Calendar => {
                ("text/calendar; charset=utf-8", ical::calendar(self, words, url))
            }
            Representation::Widget => {
                ("text/html; charset=utf-8", widget::frame(self, words, base))
            }
            Representation::WidgetScript => {
                ("text/javascript; charset=utf-8", widget::script(self, words))
            }
            Representation::Robots => ("text/plain; charset=utf-8", robots::text(&self.page)),
            Representation::Login => ("text/html; charset=utf-8", self.render_login(words, base)),
            Representation::Picture => {
                let title = &self.page.settings.title;
                return EncodedBody::new(PNG, og_image::draw(title, &self.view, words));
            }
        };
        let body = EncodedBody::new(text.0, text.1);
        match form {
            Representation::Atom
            | Representation::Rss
            | Representation::JsonFeed
            | Representation::Calendar => body.changed_at(feed::last_change(self)),
            Representation::Home
            | Representation::Json
            | Representation::V2Summary
            | Representation::V2Status
            | Representation::V2Components
            | Representation::V2Incidents
            | Representation::V2Unresolved
            | Representation::V2Maintenances
            | Representation::V2MaintenancesActive
            | Representation::V2MaintenancesUpcoming
            | Representation::Markdown
            | Representation::Picture
            | Representation::Widget
            | Representation::WidgetScript
            | Representation::Robots
            | Representation::Login => body,
        }
    }

    /// Renders the login page.
    fn render_login(&self, words: &'static Strings, base: &str) -> String {
        match self.page.settings.effective_access() {
            AccessType::EmailDomain => login::email_form::email_form(&self.page, words, base, None),
            // A public page has no login page that a visitor could reach.
            AccessType::Password | AccessType::Public => {
                login::password(&self.page, words, base, None)
            }
        }
    }
}
