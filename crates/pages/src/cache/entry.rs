//! Entry of the cache: the snapshot of a page and the bodies rendered so far. This module decides
//! whether an entry is fresh. Module `cache` renews it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use domain::page::Day;
use rules::{DomainName, Timestamp};
use store::{AccessVersion, Generation};
use tokio::time::Instant;
use web::http_body::{EncodedBody, Encoding};

use super::super::address::PageAddress;
use super::super::og_image;
use super::super::representation::{
    DetailBodyKey, LinkPrefixes, LinkStyle, Representation, RepresentationKey, Variant,
};
use super::super::snapshot::PageSnapshot;
use super::detail_bodies::PageReading;
use super::memory::Weight;
use super::rendered::RenderedBodies;
use super::renderer::RenderJob;
use super::shared::SharedState;
use super::{FRESH, STALE_AGE_MAX};
use crate::projection::Projection;
use crate::source::Source;

/// A cached page.
#[derive(Debug)]
pub(crate) struct CachedPage {
    pub(crate) snapshot: Arc<PageSnapshot>,
    /// Custom domain in the normalized form of lookups.
    domain: Option<DomainName>,
    /// Time of the last attempt to read the page.
    tried_at: Timestamp,
    /// Taken before anything was read, like `generation`.
    pub(super) start: ReadStart,
    generation: Option<Generation>,
    /// Whether a background task already renews the page.
    pub(super) is_renewal_taken: AtomicBool,
    bodies: RenderedBodies,
}

/// State of the cache and of the page's access before the page was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadStart {
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
    /// Unchanged but older than [`FRESH`]: served while it is renewed in the background.
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
        Projection { snapshot, generation, took: _ }: Projection,
        start: ReadStart,
        before: Option<&Self>,
        shared: &Arc<SharedState>,
    ) -> Self {
        let weight = Weight::new(shared);
        let days = snapshot.view.components().filter_map(|component| component.days.as_ref());
        weight.add(days.map(|days| days.len() * size_of::<Day>()).sum());
        // Pages marked as old, or rendered under other access rules, must not be served again.
        let before =
            before.filter(|it| !it.snapshot.is_outdated && it.start.access == start.access);
        let bodies = match before {
            Some(before) => RenderedBodies::after(weight, &before.bodies),
            None => RenderedBodies::new(weight),
        };
        Self {
            domain: snapshot.page.settings.custom_domain_name(),
            tried_at: snapshot.view.at,
            snapshot: Arc::new(snapshot),
            start,
            generation,
            is_renewal_taken: AtomicBool::new(false),
            bodies,
        }
    }

    /// Returns a copy that is marked as old, because the database is unavailable.
    pub(super) fn as_outdated(&self, tried_at: Timestamp, reading: u64) -> Self {
        let snapshot = PageSnapshot { is_outdated: true, ..(*self.snapshot).clone() };
        Self {
            snapshot: Arc::new(snapshot),
            domain: self.domain.clone(),
            tried_at,
            start: ReadStart { reading, ..self.start },
            generation: None,
            is_renewal_taken: AtomicBool::new(false),
            bodies: RenderedBodies::new(Weight::new(&self.bodies.weight.shared)),
        }
    }

    /// Returns whether this is an address of the page.
    pub(super) fn has_address(&self, address: &PageAddress) -> bool {
        address.is_address_of(&self.snapshot.page.settings.slug, self.domain.as_ref())
    }

    /// Returns whether this was read before `other`.
    pub(super) const fn is_older(&self, other: &Self) -> bool {
        self.start.reading < other.start.reading
    }

    /// Returns the freshness of the page at `now`.
    pub(super) fn freshness(&self, source: &Source, now: Timestamp) -> Freshness {
        if self.start.access != source.store.access_version(self.snapshot.page.id) {
            return Freshness::Revoked;
        }
        if now < self.tried_at {
            return Freshness::Expired;
        }
        let is_same = || {
            let generation = source.store.generation(self.snapshot.page.workspace);
            self.generation.is_some() && self.generation == generation
        };
        match now.since(self.tried_at) {
            age if age >= STALE_AGE_MAX => Freshness::Expired,
            _ if !(self.snapshot.is_outdated || is_same()) => Freshness::Changed,
            age if age < FRESH => Freshness::Fresh,
            _ => Freshness::Stale,
        }
    }

    /// Returns a representation in an encoding. Returns `None` if another request renders it for
    /// too long, or if the server is shutting down.
    pub(crate) async fn representation(
        &self,
        representation: Representation,
        variant: Variant,
        encoding: Encoding,
    ) -> Option<Arc<EncodedBody>> {
        let key = RepresentationKey { representation, variant };
        let body = self.rendered_body(key, encoding).await;
        self.bodies.record_request(key, encoding);
        body
    }

    async fn rendered_body(
        &self,
        key: RepresentationKey,
        encoding: Encoding,
    ) -> Option<Arc<EncodedBody>> {
        let make = || async {
            // An image takes a lot of memory, so draw one at a time.
            let is_image = key.representation.is_image();
            let lock = if is_image { Some(og_image::DRAW_LOCK.lock().await) } else { None };
            let render = self.render_job(key);
            let job: RenderJob = Box::new(move || {
                let _lock = lock;
                render()
            });
            job
        };
        self.bodies.get_or_render(key, encoding, make).await
    }

    /// Returns the body of a detail page or badge that `make` produces, rendered once for all
    /// requests while the page is unchanged. Returns `None` if it does not exist.
    pub(crate) async fn detail_body<F>(
        &self,
        key: DetailBodyKey,
        encoding: Encoding,
        make: impl FnOnce() -> F + Send,
    ) -> Result<Option<Arc<EncodedBody>>, String>
    where
        F: Future<Output = Result<Option<RenderJob>, String>> + Send,
    {
        let (shared, number) = (&self.bodies.weight.shared, self.start.reading);
        let reading =
            PageReading { page: self.snapshot.page.id, number, at: self.snapshot.view.at };
        shared.detail_bodies.get_or_render(&shared.renderer, reading, (key, encoding), make).await
    }

    /// Renders the representations that visitors requested of the previous version. Detail pages
    /// are rendered on demand.
    pub(super) async fn prerender(&self, before: &Self) {
        for (key, encodings) in before.bodies.requested() {
            for encoding in encodings {
                self.rendered_body(key, encoding).await;
            }
        }
    }

    /// Returns the job that renders a representation in the language and with the links of the
    /// request.
    fn render_job(
        &self,
        RepresentationKey { representation, variant }: RepresentationKey,
    ) -> impl FnOnce() -> EncodedBody + Send + use<> {
        let (snapshot, shared) =
            (Arc::clone(&self.snapshot), Arc::clone(&self.bodies.weight.shared));
        let address = match &self.domain {
            Some(domain) if variant.link_style == LinkStyle::Domain => {
                PageAddress::Domain(domain.to_string())
            }
            _ => PageAddress::Slug(self.snapshot.page.settings.slug.clone()),
        };
        move || {
            let began = Instant::now();
            // Consumers outside the browser need absolute URLs, and feeds are invalid without a
            // host.
            let (base, url) = (address.base(), address.url(Some(shared.url())));
            let links = LinkPrefixes { base: &base, url: &url };
            let body = representation.render(&snapshot, variant.words, links);
            shared.metrics.render_seconds.observe(began.elapsed().as_secs_f64());
            body
        }
    }
}
