//! Pages as HTML: complete without a script, one request each. Templates are in
//! `templates/status_page`; what they are filled with is made in the files below this one.

mod component;
mod details;
mod event;
mod frame;
mod history;
mod home;
mod incident;
mod report;

use std::sync::LazyLock;

use askama::Template;
use domain::page::{Month, Range};
use http::HeaderValue;
use rules::{ComponentId, IncidentId, ReportId};

pub(super) use self::component::component_page;
pub(super) use self::details::{day_page, place_of_day};
pub(super) use self::event::{between, incident_time, incident_title};
pub(super) use self::frame::Frame;
pub(super) use self::history::history_page;
pub(super) use self::home::home;
pub(super) use self::incident::incident_page;
pub(super) use self::report::report_page;
use super::shelf::Said;

/// All of the pages' style, in each of them: one request shows a page.
pub(super) const STYLE: &str = include_str!("../../templates/status_page/style.css");

/// What makes an open page live; see the file.
const SCRIPT: &str = include_str!("../../templates/status_page/live.js");

/// The script as it is sent.
pub(super) static SCRIPT_SAID: LazyLock<Said> =
    LazyLock::new(|| Said::of("text/javascript; charset=utf-8", SCRIPT));

/// What a browser may load for a page: itself.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| crate::said::policy(STYLE));

/// The policy that every page is sent with.
pub(super) fn policy() -> HeaderValue {
    POLICY.clone()
}

/// A page behind the home page, as its address names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Wanted {
    /// A report.
    Report(ReportId),
    /// An incident.
    Incident(IncidentId),
    /// A month.
    Month(Month),
    /// A component, with the course of some days.
    Component(ComponentId, Range),
    /// The day at this place of the bars.
    Day(usize),
}

/// A template with its values; writing to memory does not fail.
pub(super) fn rendered(template: &impl Template) -> String {
    template.render().expect("texts are written to memory")
}
