//! The question before something is deleted. It is a page of its own, so that it works without
//! scripts.

use askama::Template;
use axum::response::Response;
use http::HeaderMap;

use crate::html::{self, Frame};

/// A question, and where its answers lead.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) frame: Frame,
    /// Consequences, as sentences.
    pub(crate) text: String,
    /// Path that a form posts to.
    pub(crate) action: String,
    pub(crate) button: &'static str,
    /// Path that cancels.
    pub(crate) back: String,
}

#[derive(Template)]
#[template(path = "confirm.html")]
struct ConfirmPage {
    frame: Frame,
    question: Question,
}

/// Asks before a change that cannot be undone.
pub(crate) fn ask(question: Question, request: &HeaderMap) -> Response {
    html::page(&ConfirmPage { frame: question.frame.clone(), question }, request)
}
