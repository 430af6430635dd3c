//! Reports as HTML, with updates newest first: as cards on the home page and on days, and as a page
//! of their own.

use std::sync::Arc;

use askama::Template;
use domain::markdown;
use domain::page::{IncidentView, ReportView, State, UpdateView};

use super::super::i18n::Strings;
use super::super::report::{affected, status};
use super::super::snapshot::PageSnapshot;
use super::time::incident_time_html;
use super::{PageLayout, render};

/// Maximum number of updates on the card of an open report. Its own page shows all.
const UPDATES_WHILE_OPEN: usize = 3;

/// A report in a list.
#[derive(Template)]
#[template(path = "report.html")]
struct ReportCard<'a> {
    state: State,
    title: &'a str,
    link: String,
    affected: Option<String>,
    updates: Vec<ReportUpdate>,
    /// Open incidents of its components: path, and time as HTML.
    incidents: Vec<(String, String)>,
    /// Label of the link to further updates.
    more: Option<String>,
}

/// The page of a report.
#[derive(Template)]
#[template(path = "report_page.html")]
struct ReportPage<'a> {
    frame: PageLayout<'a>,
    state: State,
    title: &'a str,
    status: &'static str,
    affected: Option<String>,
    updates: Vec<ReportUpdate>,
}

struct ReportUpdate {
    id: String,
    status: &'static str,
    iso: String,
    at: String,
    /// HTML produced by `domain::markdown` only, which is safe to embed.
    text: String,
}

/// Renders reports as cards.
pub(super) fn cards<'a>(
    reports: impl IntoIterator<Item = &'a Arc<ReportView>>,
    words: &'static Strings,
    base: &str,
) -> Vec<String> {
    reports.into_iter().map(|report| card(report, &[], words, base)).collect()
}

/// Renders a report with the open incidents of its components.
pub(super) fn card(
    report: &ReportView,
    incidents: &[&IncidentView],
    words: &'static Strings,
    base: &str,
) -> String {
    let incident =
        |it: &&IncidentView| (format!("{base}/incident/{}", it.id), incident_time_html(it, words));
    let shown_updates = if report.is_open() { UPDATES_WHILE_OPEN } else { 1 };
    let all = report.updates.len();
    render(&ReportCard {
        state: report.state,
        title: &report.title,
        link: format!("{base}/report/{}", report.id),
        affected: affected(report, words),
        updates: report.updates.iter().take(shown_updates).map(|it| update(it, words)).collect(),
        incidents: incidents.iter().map(incident).collect(),
        more: (all > shown_updates).then(|| words.all_updates.replace("{}", &all.to_string())),
    })
}

/// Renders the page of a report.
pub(crate) fn report_page(
    snapshot: &PageSnapshot,
    words: &'static Strings,
    base: &str,
    report: &ReportView,
) -> String {
    let mut frame = PageLayout::for_page(&snapshot.page, words, base);
    frame.heading = format!("{} · {}", report.title, snapshot.page.settings.title);
    render(&ReportPage {
        frame,
        state: report.state,
        title: &report.title,
        status: status(report.status, words),
        affected: affected(report, words),
        updates: report.updates.iter().map(|it| update(it, words)).collect(),
    })
}

fn update(it: &UpdateView, words: &Strings) -> ReportUpdate {
    ReportUpdate {
        id: it.id.to_string(),
        status: status(it.status, words),
        iso: it.at.to_string(),
        at: words.time(it.at),
        text: markdown::html(&it.text),
    }
}
