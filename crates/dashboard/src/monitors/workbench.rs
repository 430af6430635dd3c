//! The page of a new or edited monitor: its form, and beside it the outcome of a test, warnings and
//! what happened to a concurrent edit.

use askama::Template;
use axum::response::Response;
use contract::rpc::Error;
use http::{HeaderMap, StatusCode};
use rules::field::Resource;
use rules::{MonitorKind, Region, tables};
use serde_json::Value as Json;

use super::check_view::CheckView;
use super::conflict::EditConflict;
use super::fields::{self, MonitorForm};
use super::regions;
use crate::backend::{CheckedDraft, DraftCall};
use crate::error::{ScreenError, sentence};
use crate::form::{Messages, Values};
use crate::html::{self, Frame, Section};
use crate::session::Member;
use crate::state::Dashboard;

/// Monitor of a form.
#[derive(Clone, Debug)]
pub(super) enum Subject {
    New,
    Stored { id: String, name: String },
}

/// A form of a person.
pub(super) struct Workbench<'a> {
    pub(super) state: &'a Dashboard,
    pub(super) member: &'a Member,
    pub(super) request: &'a HeaderMap,
    pub(super) kind: MonitorKind,
    pub(super) subject: Subject,
}

/// Parts of the page beside the form's values.
#[derive(Default)]
pub(super) struct FormReply {
    pub(super) status: StatusCode,
    pub(super) messages: Messages,
    /// Warnings that the person has to confirm before the monitor is stored.
    pub(super) warnings: Vec<String>,
    pub(super) tested: Option<Vec<CheckView>>,
    pub(super) conflict: Option<EditConflict>,
}

#[derive(Template)]
#[template(path = "monitor_form.html")]
struct FormPage {
    frame: Frame,
    kind: MonitorKind,
    form: MonitorForm,
    is_new: bool,
    revision: String,
    action: String,
    test_action: String,
    back: String,
    /// Target that the person confirms in spite of the warnings.
    target: String,
    warnings: Vec<String>,
    tested: Option<Vec<CheckView>>,
    conflict: Option<EditConflict>,
}

impl Workbench<'_> {
    pub(super) fn table(&self) -> &'static Resource {
        tables::monitor(self.kind)
    }

    /// Returns the page with these values.
    pub(super) async fn page(
        &self,
        values: &Values,
        reply: FormReply,
    ) -> Result<Response, ScreenError> {
        let known = regions::list(self.state, self.member).await?;
        let FormReply { status, messages, warnings, tested, conflict } = reply;
        let (kind, member) = (self.kind, self.member);
        let (title, action, query, back) = match &self.subject {
            Subject::New => (
                "New monitor".to_owned(),
                format!("/monitors/new?kind={kind}"),
                String::new(),
                "/monitors".to_owned(),
            ),
            Subject::Stored { id, name } => (
                format!("Edit {name}"),
                format!("/monitors/{id}/edit"),
                format!("&monitor={id}"),
                format!("/monitors/{id}"),
            ),
        };
        let text = |name: &str| values.first(name).unwrap_or_default().to_owned();
        let page = FormPage {
            frame: Frame::of_member(member, Section::Monitors, title, self.request),
            kind,
            form: fields::form(kind, &known, (values, &messages)),
            is_new: matches!(self.subject, Subject::New),
            revision: text("revision"),
            action: member.path(&action),
            test_action: member.path(&format!("/monitors/test?kind={kind}{query}")),
            back: member.path(&back),
            target: fields::target(self.table()).map(text).unwrap_or_default(),
            warnings,
            tested,
            conflict,
        };
        Ok(html::page_with_status(status, &page, self.request))
    }

    /// Returns the page with the messages of a failed call.
    pub(super) async fn failure(
        &self,
        values: &Values,
        error: &Error,
    ) -> Result<Response, ScreenError> {
        let messages = Messages::from_error(error, "monitor");
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        self.page(values, FormReply { status, messages, ..FormReply::default() }).await
    }

    /// Validates the monitor in a request, and checks it from these regions.
    pub(super) async fn check(
        &self,
        request: &Json,
        regions: Vec<Region>,
    ) -> Result<CheckedDraft, Error> {
        let request = request.to_string().into();
        let (member, kind) = (self.member.caller(), self.kind);
        self.state.backend.check_draft(DraftCall { member, kind, request, regions }).await
    }

    /// Returns the page to show instead of saving, if there is one: with the errors of an invalid
    /// monitor, or with warnings that the person has not confirmed. `known_target` is a target that
    /// needs no confirmation, because it is stored.
    pub(super) async fn page_before_saving(
        &self,
        values: &Values,
        (request, known_target): (&Json, &str),
    ) -> Result<Option<Response>, ScreenError> {
        let Some(target) = fields::target(self.table()) else { return Ok(None) };
        let target = values.first(target).unwrap_or_default();
        if target == known_target || values.first("confirmed") == Some(target) {
            return Ok(None);
        }
        match self.check(request, Vec::new()).await {
            Ok(checked) if checked.warnings.is_empty() => Ok(None),
            Ok(checked) => {
                let reply = FormReply { warnings: warnings(&checked), ..FormReply::default() };
                self.page(values, reply).await.map(Some)
            }
            Err(error) => self.failure(values, &error).await.map(Some),
        }
    }
}

/// Returns the warnings as sentences.
pub(super) fn warnings(checked: &CheckedDraft) -> Vec<String> {
    checked.warnings.iter().map(|it| sentence(&it.message)).collect()
}
