//! What lies behind a home page and is read when somebody asks for it: one incident, a month of the
//! history, the course of a component. Each is kept for a moment: however many ask for the same, one
//! of them reads it, and while the database is away the last one is shown again.

mod kept;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::RawPathParams;
use axum::response::Response;
use domain::page::{CoursePoint, IncidentFacts, Month, MonthView, Range, course};
use http::{HeaderMap, StatusCode};
use rules::report::Report;
use rules::{ComponentId, IncidentId, MonitorId, PageId, ReportId, Timestamp, WorkspaceId};
use store::{StoreError, Stretch};

use self::kept::{Holds, Kept};
use super::address::PageAddress;
use super::badge::latency::Latencies;
use super::html::{self, Wanted};
use super::respond::{access, answer, find, finish, say, tongue, unavailable};
use super::shelf::{Asked, Encoding, Said, Shown, What, Work};
use super::words::Words;
use crate::app::App;

/// How long an incident or a month is shown where nothing changed but the time.
const FRESH: Duration = Duration::from_secs(5);
/// How long the course of a component is shown: it is of hours and days.
const COURSE_FRESH: Duration = Duration::from_mins(1);
/// Days that the address of a component means which names none.
const RANGE: Range = Range::Week;

/// An incident, and in how many regions its checks failed.
type Incident = (IncidentFacts, u32);
/// The course of a component over some days.
type Course = Arc<[CoursePoint]>;

/// What was read for visitors.
#[derive(Debug)]
pub(crate) struct Behind {
    reports: Kept<(PageId, ReportId), Arc<Report>>,
    incidents: Kept<(PageId, IncidentId), Incident>,
    months: Kept<(PageId, Month), Arc<MonthView>>,
    /// When the oldest thing began that is kept of a page.
    firsts: Kept<PageId, Option<Timestamp>>,
    courses: Kept<(MonitorId, Range), Course>,
    /// The latencies of all public monitors of a page, for badges: by which these are.
    pub(super) latencies: Kept<(PageId, u64), Latencies>,
}

impl Default for Behind {
    fn default() -> Self {
        Self {
            reports: Kept::new(Holds::Unchanged(FRESH)),
            incidents: Kept::new(Holds::Unchanged(FRESH)),
            months: Kept::new(Holds::Unchanged(FRESH)),
            firsts: Kept::new(Holds::Unchanged(FRESH)),
            latencies: Kept::new(Holds::For(COURSE_FRESH)),
            courses: Kept::new(Holds::For(COURSE_FRESH)),
        }
    }
}

/// What an address behind a home page names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// One report, however old it is.
    Report,
    /// One incident.
    Incident,
    /// The month of now.
    History,
    /// A month.
    Month,
    /// A component, with the course of some days where its monitor is public.
    Component,
    /// One day.
    Day,
}

/// The page at such an address, to those who may see it.
pub(super) async fn page(
    app: App,
    address: PageAddress,
    (place, named): (Place, RawPathParams),
    headers: HeaderMap,
) -> Response {
    let tongue = tongue(&address, &headers);
    let words = tongue.words;
    let (shown, base) = match find(&app, &address, words, &headers).await {
        Ok(found) => found,
        Err(refusal) => return *refusal,
    };
    let not_found = || say(words.not_found, StatusCode::NOT_FOUND, words, &headers);
    let name = |wanted: &str| named.iter().find(|(name, _)| *name == wanted).map(|(_, it)| it);
    let Some(wanted) = wanted(place, &shown, name) else { return not_found() };
    let asked = Asked { what: What::Behind(wanted.clone()), tongue };
    let visit = Visit { app: &app, shown: &shown, words, base };
    let said = shown.say_of(&asked, Encoding::wanted(&headers), || visit.make(wanted)).await;
    match said {
        Ok(Some(said)) => {
            finish(&app, &shown, answer(&said, StatusCode::OK, access(&shown), &headers))
        }
        Ok(None) => not_found(),
        Err(why) => {
            tracing::error!(page.id = %shown.page.id, "what lies behind a page could not be read: {why}");
            unavailable(words, &headers)
        }
    }
}

/// What an address names; `None` where nothing can be there.
fn wanted<'a>(
    place: Place,
    shown: &Shown,
    name: impl Fn(&str) -> Option<&'a str>,
) -> Option<Wanted> {
    let id = name("id").unwrap_or_default();
    Some(match place {
        Place::Report => Wanted::Report(ReportId::parse(id).ok()?),
        Place::Incident => Wanted::Incident(IncidentId::parse(id).ok()?),
        Place::History => Wanted::Month(Month::of(shown.view.at)),
        Place::Month => Wanted::Month(Month::parse(name("month")?)?),
        Place::Component => {
            let range = name("range").map_or(Some(RANGE), Range::parse)?;
            let id = ComponentId::parse(id).ok()?;
            shown.view.components().find(|it| it.id == id)?;
            Wanted::Component(id, range)
        }
        Place::Day => Wanted::Day(html::place_of_day(shown, name("date")?)?),
    })
}

/// A visitor who may see a page.
struct Visit<'a> {
    app: &'a App,
    shown: &'a Arc<Shown>,
    words: &'static Words,
    base: String,
}

impl Visit<'_> {
    /// Reads what is wanted, where that is not known already; how it is said then. `None` where there is
    /// no such thing.
    async fn make(self, wanted: Wanted) -> Result<Option<Work>, String> {
        match wanted {
            Wanted::Report(id) => self.report(id).await,
            Wanted::Incident(id) => self.incident(id).await,
            Wanted::Month(month) => self.month(month).await,
            Wanted::Component(id, range) => self.component(id, range).await,
            Wanted::Day(place) => Ok(Some(
                self.work(move |shown, words, base| html::day_page(shown, words, base, place)),
            )),
        }
    }

    /// How a page is said of what was read for it.
    fn work(
        self,
        tell: impl FnOnce(&Shown, &'static Words, &str) -> String + Send + 'static,
    ) -> Work {
        let (shown, words, base) = (Arc::clone(self.shown), self.words, self.base);
        Box::new(move || Said::of("text/html; charset=utf-8", tell(&shown, words, &base)))
    }

    async fn report(self, id: ReportId) -> Result<Option<Work>, String> {
        let (view, page) = (&self.shown.view, &self.shown.page);
        let known = view.reports.iter().find(|report| report.id == id);
        let report = if let Some(known) = known {
            Some(Arc::clone(known))
        } else {
            let kept = &self.app.behind.reports;
            let read = self.read_report(id);
            let found = kept.get(self.app, page.workspace, (page.id, id), read).await?;
            found.map(|report| Arc::new(view.report(&report)))
        };
        Ok(report.map(|it| {
            self.work(move |shown, words, base| html::report_page(shown, words, base, &it))
        }))
    }

    async fn read_report(&self, id: ReportId) -> Result<Option<Arc<Report>>, StoreError> {
        let found = self.app.store.shown().report(self.shown.page.id, id).await?;
        Ok(found.map(Arc::new))
    }

    async fn incident(self, id: IncidentId) -> Result<Option<Work>, String> {
        let page = &self.shown.page;
        let read = self.app.store.shown();
        let kept = &self.app.behind.incidents;
        let found = kept.get(self.app, page.workspace, (page.id, id), read.incident(page.id, id));
        // Its components may be others since: it is told where one still shows its monitor.
        let told = found
            .await?
            .and_then(|(facts, regions)| Some((self.shown.view.incident(&facts)?, regions)));
        // Several regions of one probe are one place: their number would claim more.
        let is_one = self.app.pipeline.probes().is_one();
        Ok(told.map(|(it, regions)| {
            let regions = if is_one { 0 } else { regions };
            self.work(move |shown, words, base| {
                html::incident_page(shown, words, base, &it, regions)
            })
        }))
    }

    async fn month(self, month: Month) -> Result<Option<Work>, String> {
        let page = &self.shown.page;
        // Nothing is kept of what is to come, nor of what was before all that is kept.
        let last = Month::of(self.shown.view.at);
        if month > last || month < last && month < self.first().await?.map_or(last, Month::of) {
            return Ok(None);
        }
        let kept = &self.app.behind.months;
        let found = kept.get(self.app, page.workspace, (page.id, month), self.read_month(month));
        let told = found.await?;
        Ok(told.map(|it| {
            self.work(move |shown, words, base| html::history_page(shown, words, base, &it))
        }))
    }

    /// When the oldest thing began that is kept of the page.
    async fn first(&self) -> Result<Option<Timestamp>, String> {
        let page = &self.shown.page;
        let read = async { Ok(Some(self.app.store.shown().first(page.id).await?)) };
        let first = self.app.behind.firsts.get(self.app, page.workspace, page.id, read);
        Ok(first.await?.flatten())
    }

    async fn read_month(&self, month: Month) -> Result<Option<Arc<MonthView>>, StoreError> {
        let view = &self.shown.view;
        let components = view.components().enumerate();
        let places: HashMap<ComponentId, usize> =
            components.map(|(place, component)| (component.id, place)).collect();
        let page = self.shown.page.id;
        let facts = self.app.store.shown().past(page, &places, month.span()).await?;
        Ok(view.month(month, &facts).map(Arc::new))
    }

    async fn component(self, id: ComponentId, range: Range) -> Result<Option<Work>, String> {
        let component = self.shown.view.components().find(|it| it.id == id);
        let Some(component) = component else { return Ok(None) };
        let course = match component.monitor.filter(|_| component.is_public) {
            Some(monitor) => Some((range, self.course(monitor, range).await?)),
            None => None,
        };
        Ok(Some(self.work(move |shown, words, base| {
            let course = course.as_ref().map(|(range, points)| (*range, &points[..]));
            let it = shown.view.components().find(|it| it.id == id);
            let it = it.expect("it was found in the same view before");
            html::component_page(shown, words, base, it, course)
        })))
    }

    async fn course(&self, monitor: MonitorId, range: Range) -> Result<Course, String> {
        let (workspace, now) = (self.shown.page.workspace, self.app.ctx.now());
        let read =
            async { Ok(Some(read_course(self.app, (workspace, monitor), range, now).await?)) };
        let kept = &self.app.behind.courses;
        Ok(kept.get(self.app, workspace, (monitor, range), read).await?.unwrap_or_default())
    }
}

/// Reads some 350 rows at most, whichever the range.
async fn read_course(
    app: &App,
    (workspace, monitor): (WorkspaceId, MonitorId),
    range: Range,
    now: Timestamp,
) -> Result<Course, StoreError> {
    let history = app.store.history();
    let stretch = if range.is_by_day() { Stretch::Day } else { Stretch::Hour };
    let sums = history.stretches(workspace, monitor, stretch, range.span(now)).await?;
    let phases = history.phases(workspace, monitor, &range.moments(now)).await?;
    Ok(course(range, now, &sums, &phases).into())
}
