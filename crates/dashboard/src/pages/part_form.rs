//! Form of a part of a status page: a component or a group.

use askama::Template;
use axum::response::Response;
use http::{HeaderMap, StatusCode};

use super::summary::PageSummary;
use crate::form::{Form, Messages};
use crate::html::{self, Frame, Section};
use crate::session::Member;

/// Content of the form.
pub(super) struct PartForm {
    pub(super) title: &'static str,
    pub(super) form: Form,
    /// Path below the page that the form posts to.
    pub(super) action: String,
    pub(super) button: &'static str,
    /// Noun of a stored part, and the consequences of its deletion.
    pub(super) deletion: Option<(&'static str, &'static str)>,
}

#[derive(Template)]
#[template(path = "page_part.html")]
struct PartPage {
    frame: Frame,
    page: PageSummary,
    part: PartForm,
    back: String,
    action: String,
}

/// Returns the form, with the status for its messages.
pub(super) fn render(
    member: &Member,
    page: PageSummary,
    (part, messages): (PartForm, &Messages),
    request: &HeaderMap,
) -> Response {
    let status =
        if messages.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let page = PartPage {
        frame: Frame::of_member(member, Section::Pages, part.title, request),
        back: page.path(member, ""),
        action: page.path(member, &part.action),
        page,
        part,
    };
    html::page_with_status(status, &page, request)
}
