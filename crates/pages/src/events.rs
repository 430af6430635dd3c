//! Selection of events for the representations of a page: an ongoing event appears once, and is not
//! part of the history.

use domain::page::{HistoryDay, IncidentView, PageView, ReportView};

/// The ongoing events of a page.
pub(super) struct Ongoing<'a> {
    /// Open reports with the open incidents that they explain.
    pub(super) reports: Vec<(&'a ReportView, Vec<&'a IncidentView>)>,
    /// Open incidents without a report.
    pub(super) incidents: Vec<&'a IncidentView>,
}

/// Selects the ongoing events. An incident belongs to the first report that names all its
/// components.
pub(super) fn ongoing(view: &PageView) -> Ongoing<'_> {
    let explains = |report: &ReportView, it: &IncidentView| {
        let reported = |id| report.components.iter().any(|component| component.id == id);
        !it.components.is_empty() && it.components.iter().all(|component| reported(component.id))
    };
    let mut incidents: Vec<&IncidentView> = view.open_incidents.iter().collect();
    let mut reports = Vec::new();
    for report in view.open_reports() {
        let (explained, rest): (Vec<_>, _) =
            incidents.into_iter().partition(|it| explains(report, it));
        reports.push((&**report, explained));
        incidents = rest;
    }
    Ongoing { reports, incidents }
}

/// Returns the finished events of a day, and whether others are ongoing.
pub(super) fn past(day: &HistoryDay) -> (HistoryDay, bool) {
    let mut past = day.clone();
    past.reports.retain(|report| !report.is_open());
    past.incidents.retain(|incident| incident.closed.is_some());
    let has_ongoing =
        past.reports.len() + past.incidents.len() < day.reports.len() + day.incidents.len();
    (past, has_ongoing)
}
