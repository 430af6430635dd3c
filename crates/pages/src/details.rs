//! Detail pages, read on demand: a report, an incident, a month of the history, a component or a
//! day. `detail_cache` stores the data for a moment, and `latencies` reads what badges need.
//! Concurrent requests for the same page share one read. If the database is unavailable, the last
//! version is served again.

pub(super) mod latencies;

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::RawPathParams;
use axum::response::Response;
use domain::page::{Month, MonthView, Range, latency_series};
use http::{HeaderMap, StatusCode};
use rules::report::Report;
use rules::{ComponentId, IncidentId, MonitorId, Region, ReportId, Timestamp, WorkspaceId};
use store::{Bucket, StoreError};
use web::http_body::{EncodedBody, Encoding};

use super::address::PageAddress;
use super::cache::RenderJob;
use super::detail_cache::{LatencySeries, get_latencies, get_unchanged};
use super::html::{self, DetailKey};
use super::i18n::Strings;
use super::representation::{DetailBodyKey, DetailContent};
use super::responses::{build_response, cache_rule, find, finish, not_found, unavailable, variant};
use super::snapshot::PageSnapshot;
use crate::Pages;
use crate::source::Source;

/// Range of a component's page if its URL names none.
const RANGE: Range = Range::Week;

/// Kind of detail page that a URL names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DetailRoute {
    /// A report of any age.
    Report,
    Incident,
    /// The current month.
    History,
    Month,
    /// A component. A public monitor adds a latency series.
    Component,
    Day,
}

/// Responds with a detail page, subject to the page's access check.
pub(super) async fn page(
    pages: Pages,
    address: PageAddress,
    (route, named): (DetailRoute, RawPathParams),
    headers: HeaderMap,
) -> Response {
    let variant = variant(&address, &headers);
    let words = variant.words;
    let (cached, base) = match find(&pages, &address, words, &headers).await {
        Ok(found) => found,
        Err(refusal) => return *refusal,
    };
    let snapshot = &cached.snapshot;
    let not_found = || not_found(words, &headers);
    let name = |wanted: &str| named.iter().find(|(name, _)| *name == wanted).map(|(_, it)| it);
    let Some(detail) = detail_key(route, snapshot, name) else { return not_found() };
    let key = DetailBodyKey { content: DetailContent::Page(detail.clone()), variant };
    let request = DetailRequest { pages: &pages, snapshot, words, base };
    let body =
        cached.detail_body(key, Encoding::negotiate(&headers), || request.prepare(detail)).await;
    match body {
        Ok(Some(body)) => finish(
            &pages,
            snapshot,
            build_response(&body, StatusCode::OK, cache_rule(&snapshot.page), &headers),
        ),
        Ok(None) => not_found(),
        Err(why) => {
            tracing::error!(page.id = %snapshot.page.id, "failed to read a detail page: {why}");
            unavailable(words, &headers)
        }
    }
}

/// Returns the detail page that a URL names, or `None` if it cannot exist.
fn detail_key<'a>(
    route: DetailRoute,
    snapshot: &PageSnapshot,
    name: impl Fn(&str) -> Option<&'a str>,
) -> Option<DetailKey> {
    let id = name("id").unwrap_or_default();
    Some(match route {
        DetailRoute::Report => DetailKey::Report(ReportId::parse(id).ok()?),
        DetailRoute::Incident => DetailKey::Incident(IncidentId::parse(id).ok()?),
        DetailRoute::History => DetailKey::Month(Month::containing(snapshot.view.at)),
        DetailRoute::Month => DetailKey::Month(Month::parse(name("month")?)?),
        DetailRoute::Component => {
            let range = name("range").map_or(Some(RANGE), Range::parse)?;
            let id = ComponentId::parse(id).ok()?;
            snapshot.view.components().find(|it| it.id == id)?;
            DetailKey::Component(id, range)
        }
        DetailRoute::Day => DetailKey::Day(html::day_position(snapshot, name("date")?)?),
    })
}

/// Request of a visitor who may see the page.
struct DetailRequest<'a> {
    pages: &'a Pages,
    snapshot: &'a Arc<PageSnapshot>,
    words: &'static Strings,
    base: String,
}

impl DetailRequest<'_> {
    /// Reads what the detail page needs, unless cached, and returns the job that renders it.
    /// Returns `None` if there is no such detail page.
    async fn prepare(self, detail: DetailKey) -> Result<Option<RenderJob>, String> {
        match detail {
            DetailKey::Report(id) => self.report(id).await,
            DetailKey::Incident(id) => self.incident(id).await,
            DetailKey::Month(month) => self.month(month).await,
            DetailKey::Component(id, range) => self.component(id, range).await,
            DetailKey::Day(place) => Ok(Some(self.render_job(move |snapshot, words, base| {
                html::day_page(snapshot, words, base, place)
            }))),
        }
    }

    /// Returns the job that renders a detail page.
    fn render_job(
        self,
        render: impl FnOnce(&PageSnapshot, &'static Strings, &str) -> String + Send + 'static,
    ) -> RenderJob {
        let (snapshot, words, base) = (Arc::clone(self.snapshot), self.words, self.base);
        Box::new(move || {
            EncodedBody::new("text/html; charset=utf-8", render(&snapshot, words, &base))
        })
    }

    async fn report(self, id: ReportId) -> Result<Option<RenderJob>, String> {
        let (view, page) = (&self.snapshot.view, &self.snapshot.page);
        let known = view.reports.iter().find(|report| report.id == id);
        let report = if let Some(known) = known {
            Some(Arc::clone(known))
        } else {
            let cache = &self.pages.details.reports;
            let source = (&self.pages.source, page.workspace);
            let read = || self.read_report(id);
            let found = get_unchanged(cache, source, (page.id, id), read).await?;
            found.map(|report| Arc::new(view.report(&report)))
        };
        Ok(report.map(|it| {
            self.render_job(move |snapshot, words, base| {
                html::report_page(snapshot, words, base, &it)
            })
        }))
    }

    async fn read_report(&self, id: ReportId) -> Result<Option<Arc<Report>>, StoreError> {
        let found =
            self.pages.source.store.public_pages().report(self.snapshot.page.id, id).await?;
        Ok(found.map(Arc::new))
    }

    async fn incident(self, id: IncidentId) -> Result<Option<RenderJob>, String> {
        let page = &self.snapshot.page;
        let read = self.pages.source.store.public_pages();
        let (cache, source) = (&self.pages.details.incidents, (&self.pages.source, page.workspace));
        let found = get_unchanged(cache, source, (page.id, id), || read.incident(page.id, id));
        // The components may have changed since. The page shows the incident only if a component
        // still shows its monitor.
        let detail = found
            .await?
            .and_then(|(facts, regions)| Some((self.snapshot.view.incident(&facts)?, regions)));
        // A single place is not worth a count, and may not be where its regions are.
        let backend = &self.pages.source.backend;
        let places = |regions: &[Region]| match backend.places(page.workspace, regions) {
            1 => 0,
            places => u32::try_from(places).unwrap_or(u32::MAX),
        };
        Ok(detail.map(|(it, regions)| {
            let places = places(&regions);
            self.render_job(move |snapshot, words, base| {
                html::incident_page(snapshot, words, base, &it, places)
            })
        }))
    }

    async fn month(self, month: Month) -> Result<Option<RenderJob>, String> {
        let page = &self.snapshot.page;
        // Nothing is stored for the future or for months before the first event.
        let last = Month::containing(self.snapshot.view.at);
        if month > last
            || month < last && month < self.first_event().await?.map_or(last, Month::containing)
        {
            return Ok(None);
        }
        let (cache, source) = (&self.pages.details.months, (&self.pages.source, page.workspace));
        let found = get_unchanged(cache, source, (page.id, month), || self.read_month(month));
        let detail = found.await?;
        Ok(detail.map(|it| {
            self.render_job(move |snapshot, words, base| {
                html::history_page(snapshot, words, base, &it)
            })
        }))
    }

    /// Returns the start of the oldest event stored for the page.
    async fn first_event(&self) -> Result<Option<Timestamp>, String> {
        let page = &self.snapshot.page;
        let read =
            || async { Ok(Some(self.pages.source.store.public_pages().first(page.id).await?)) };
        let (cache, source) =
            (&self.pages.details.first_events, (&self.pages.source, page.workspace));
        Ok(get_unchanged(cache, source, page.id, read).await?.flatten())
    }

    async fn read_month(&self, month: Month) -> Result<Option<Arc<MonthView>>, StoreError> {
        let view = &self.snapshot.view;
        let components = view.components().enumerate();
        let positions: HashMap<ComponentId, usize> =
            components.map(|(place, component)| (component.id, place)).collect();
        let page = self.snapshot.page.id;
        let facts =
            self.pages.source.store.public_pages().past(page, &positions, month.span()).await?;
        Ok(view.month(month, &facts).map(Arc::new))
    }

    async fn component(self, id: ComponentId, range: Range) -> Result<Option<RenderJob>, String> {
        let component = self.snapshot.view.components().find(|it| it.id == id);
        let Some(component) = component else { return Ok(None) };
        let series = match component.monitor.filter(|_| component.is_public) {
            Some(monitor) => Some((range, self.latency_series(monitor, range).await?)),
            None => None,
        };
        Ok(Some(self.render_job(move |snapshot, words, base| {
            let series = series.as_ref().map(|(range, points)| (*range, &points[..]));
            let it = snapshot.view.components().find(|it| it.id == id);
            let it = it.expect("it was found in the same view before");
            html::component_page(snapshot, words, base, it, series)
        })))
    }

    async fn latency_series(
        &self,
        monitor: MonitorId,
        range: Range,
    ) -> Result<LatencySeries, String> {
        let (workspace, now) = (self.snapshot.page.workspace, self.pages.source.ctx.now());
        let read = || read_latency_series(&self.pages.source, (workspace, monitor), range, now);
        let cache = &self.pages.details.latency_series;
        get_latencies(cache, &self.pages.source, (monitor, range), read).await
    }
}

/// Reads about 350 rows at most, for any range.
async fn read_latency_series(
    source: &Source,
    (workspace, monitor): (WorkspaceId, MonitorId),
    range: Range,
    now: Timestamp,
) -> Result<LatencySeries, StoreError> {
    let history = source.store.history();
    let bucket = if range.is_by_day() { Bucket::Day } else { Bucket::Hour };
    let rollups = history.buckets(workspace, monitor, bucket, range.span(now)).await?;
    let phases = history.phases(workspace, monitor, &range.sample_times(now)).await?;
    Ok(latency_series(range, now, &rollups, &phases).into())
}
