//! Pages as HTML. They work without scripts and need one request each. Templates are in
//! `crates/pages/templates`. The submodules prepare their values.

mod component;
mod day;
mod event;
mod history;
mod home;
mod incident;
mod layout;
pub(super) mod login;
mod report;
mod time;

use std::sync::LazyLock;

use askama::Template;
use domain::page::{Month, Range};
use http::HeaderValue;
use rules::{ComponentId, IncidentId, ReportId};
use web::http_body::EncodedBody;

pub(super) use self::component::component_page;
pub(super) use self::day::{day_page, day_position};
pub(super) use self::history::history_page;
pub(super) use self::home::{home, home_preview};
pub(super) use self::incident::incident_page;
pub(super) use self::layout::PageLayout;
pub(super) use self::report::report_page;

/// Style sheet, embedded in every page to avoid a second request.
pub(super) const STYLE: &str = include_str!(concat!(env!("OUT_DIR"), "/style.css"));

/// Script that keeps an open page up to date. See the file.
const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/live.js"));

/// The script as a response body.
pub(super) static SCRIPT_BODY: LazyLock<EncodedBody> =
    LazyLock::new(|| EncodedBody::new("text/javascript; charset=utf-8", SCRIPT));

/// Content security policy: a page loads only its own resources.
static POLICY: LazyLock<HeaderValue> =
    LazyLock::new(|| web::http_body::content_security_policy(STYLE));

/// Returns the content security policy of all pages.
pub(super) fn policy() -> HeaderValue {
    POLICY.clone()
}

/// A detail page named by a URL.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum DetailKey {
    Report(ReportId),
    Incident(IncidentId),
    Month(Month),
    /// A component, with a latency series over this range.
    Component(ComponentId, Range),
    /// The day at this index of the bars.
    Day(usize),
}

/// Renders a template. Writing to memory cannot fail.
pub(super) fn render(template: &impl Template) -> String {
    template.render().expect("texts are written to memory")
}
