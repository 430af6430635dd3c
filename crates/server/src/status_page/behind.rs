//! What lies behind a home page and is read when somebody asks for it: one incident, a month of the
//! history, the course of a component. Each is kept for a moment: however many ask for the same, one
//! of them reads it, and while the database is away the last one is shown again.

mod kept;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::RawPathParams;
use axum::response::Response;
use domain::page::{CoursePoint, IncidentFacts, Month, MonthView, Range, ReportView, course};
use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderValue, StatusCode};
use rules::report::Report;
use rules::{ComponentId, IncidentId, MonitorId, PageId, ReportId, Timestamp, WorkspaceId};
use store::{StoreError, Stretch};

use self::kept::{Holds, Kept};
use super::address::PageAddress;
use super::html;
use super::respond::{answer, find, language, mark, say};
use super::shelf::{Said, Shown};
use super::words::Words;
use crate::app::App;

/// How long an incident or a month is shown where nothing changed but the time.
const FRESH: Duration = Duration::from_secs(5);
/// How long the course of a component is shown: it is of hours and days.
const COURSE_FRESH: Duration = Duration::from_mins(1);
/// Days that the address of a component means which names none.
const RANGE: Range = Range::Week;

/// An incident, and in how many regions its checks failed.
type Incident = Option<(IncidentFacts, u32)>;
/// The course of a component over some days.
type Course = Arc<[CoursePoint]>;

/// What was read for visitors.
#[derive(Debug)]
pub(crate) struct Behind {
    reports: Kept<(PageId, ReportId), Option<Arc<Report>>>,
    incidents: Kept<(PageId, IncidentId), Incident>,
    months: Kept<(PageId, Month), Option<Arc<MonthView>>>,
    courses: Kept<(MonitorId, Range), Course>,
}

/// What stands at an address behind a home page.
enum Found {
    /// This page.
    Text(String),
    /// Nothing.
    Nothing,
}

impl Default for Behind {
    fn default() -> Self {
        Self {
            reports: Kept::new(Holds::Unchanged(FRESH)),
            incidents: Kept::new(Holds::Unchanged(FRESH)),
            months: Kept::new(Holds::Unchanged(FRESH)),
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
}

/// The page at such an address, to those who may see it.
pub(super) async fn page(
    app: App,
    address: PageAddress,
    (place, named): (Place, RawPathParams),
    headers: HeaderMap,
) -> Response {
    let words = language(&headers);
    let (shown, base) = match find(&app, &address, words, &headers).await {
        Ok(found) => found,
        Err(refusal) => return *refusal,
    };
    let name = |wanted: &str| named.iter().find(|(name, _)| *name == wanted).map(|(_, it)| it);
    let visit = Visit { app: &app, shown: &shown, words, base: &base };
    let found = match place {
        Place::Report => visit.report(name("id").unwrap_or_default()).await,
        Place::Incident => visit.incident(name("id").unwrap_or_default()).await,
        Place::History => visit.month(Month::of(shown.view.at)).await,
        Place::Month => match name("month").and_then(Month::parse) {
            Some(month) => visit.month(month).await,
            None => Ok(Found::Nothing),
        },
        Place::Component => match name("range").map_or(Some(RANGE), Range::parse) {
            Some(range) => visit.component(name("id").unwrap_or_default(), range).await,
            None => Ok(Found::Nothing),
        },
    };
    match found {
        Ok(Found::Text(text)) => {
            let said = Said::of("text/html; charset=utf-8", text);
            let access = shown.page.settings.effective_access();
            let mut answer = answer(&said, StatusCode::OK, access, &headers);
            mark(&mut answer, &shown, app.ctx.now());
            answer
        }
        Ok(Found::Nothing) => say(words.not_found, StatusCode::NOT_FOUND, words, &headers),
        Err(why) => {
            tracing::error!(page.id = %shown.page.id, "what lies behind a page could not be read: {why}");
            let status = StatusCode::SERVICE_UNAVAILABLE;
            let mut answer = say(words.unavailable, status, words, &headers);
            answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("10"));
            answer
        }
    }
}

/// A visitor who may see a page.
struct Visit<'a> {
    app: &'a App,
    shown: &'a Shown,
    words: &'static Words,
    base: &'a str,
}

impl Visit<'_> {
    async fn report(&self, named: &str) -> Result<Found, String> {
        let Ok(id) = ReportId::parse(named) else { return Ok(Found::Nothing) };
        let (view, page) = (&self.shown.view, &self.shown.page);
        let told = |it: &ReportView| html::report_page(self.shown, self.words, self.base, it);
        if let Some(known) = view.reports.iter().find(|report| report.id == id) {
            return Ok(Found::Text(told(known)));
        }
        let kept = &self.app.behind.reports;
        let read = self.read_report(id);
        let found = kept.get(self.app, page.workspace, (page.id, id), read).await?;
        Ok(found.map_or(Found::Nothing, |report| Found::Text(told(&view.report(&report)))))
    }

    async fn read_report(&self, id: ReportId) -> Result<Option<Arc<Report>>, StoreError> {
        let found = self.app.store.shown().report(self.shown.page.id, id).await?;
        Ok(found.map(Arc::new))
    }

    async fn incident(&self, named: &str) -> Result<Found, String> {
        let Ok(id) = IncidentId::parse(named) else { return Ok(Found::Nothing) };
        let page = &self.shown.page;
        let read = self.app.store.shown();
        let kept = &self.app.behind.incidents;
        let found = kept.get(self.app, page.workspace, (page.id, id), read.incident(page.id, id));
        // Its components may be others since: it is told where one still shows its monitor.
        let told = found.await?.and_then(|(facts, regions)| {
            let incident = self.shown.view.incident(&facts)?;
            Some(html::incident_page(self.shown, self.words, self.base, &incident, regions))
        });
        Ok(told.map_or(Found::Nothing, Found::Text))
    }

    async fn month(&self, month: Month) -> Result<Found, String> {
        let page = &self.shown.page;
        let kept = &self.app.behind.months;
        let found = kept.get(self.app, page.workspace, (page.id, month), self.read_month(month));
        let told = found.await?;
        let told = told.map(|it| html::history_page(self.shown, self.words, self.base, &it));
        Ok(told.map_or(Found::Nothing, Found::Text))
    }

    async fn read_month(&self, month: Month) -> Result<Option<Arc<MonthView>>, StoreError> {
        // Nothing is kept of what is to come, and so far back that nothing is, little is read.
        if month > Month::of(self.shown.view.at) {
            return Ok(None);
        }
        let view = &self.shown.view;
        let components = view.components().enumerate();
        let places: HashMap<ComponentId, usize> =
            components.map(|(place, component)| (component.id, place)).collect();
        let page = self.shown.page.id;
        let facts = self.app.store.shown().past(page, &places, month.span()).await?;
        Ok(view.month(month, &facts).map(Arc::new))
    }

    async fn component(&self, named: &str, range: Range) -> Result<Found, String> {
        let view = &self.shown.view;
        let component = ComponentId::parse(named).ok();
        let component = view.components().find(|it| Some(it.id) == component);
        let Some(component) = component else { return Ok(Found::Nothing) };
        let course = match component.monitor.filter(|_| component.is_public) {
            Some(monitor) => Some((range, self.course(monitor, range).await?)),
            None => None,
        };
        let course = course.as_ref().map(|(range, points)| (*range, &points[..]));
        let text = html::component_page(self.shown, self.words, self.base, component, course);
        Ok(Found::Text(text))
    }

    async fn course(&self, monitor: MonitorId, range: Range) -> Result<Course, String> {
        let (workspace, now) = (self.shown.page.workspace, self.app.ctx.now());
        let read = read_course(self.app, (workspace, monitor), range, now);
        self.app.behind.courses.get(self.app, workspace, (monitor, range), read).await
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
