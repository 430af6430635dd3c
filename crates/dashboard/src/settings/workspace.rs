//! A workspace itself: name, target for uptime, plan with limits and usage, and its deletion, which takes effect after a
//! week.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use contract::workspace::wire::{
    CancelDeletionRequest, DeleteWorkspaceRequest, GetWorkspaceRequest, UpdateWorkspaceRequest,
    Workspace,
};
use http::{HeaderMap, StatusCode};
use rules::{Role, Validator, tables};
use serde::Deserialize;
use store::{FREE_PLAN, StoreError};

use super::Tab;
use crate::error::{ScreenError, is_about_input};
use crate::extract::Posted;
use crate::form::{Messages, message};
use crate::html::{self, Frame, Section, redirect_with_notice};
use crate::session::{Member, SignedIn};
use crate::setup::slug;
use crate::state::Dashboard;
use crate::time;

#[derive(Template)]
#[template(path = "settings/workspace.html")]
struct WorkspacePage {
    frame: Frame,
    tab: Tab,
    name: Entered,
    slug: Entered,
    uptime_target: Entered,
    /// The typed confirmation of the deletion.
    confirm: Entered,
    plan: String,
    limits: Vec<LimitRow>,
    /// Time of the planned deletion, as HTML.
    deletes_at: Option<String>,
    may_edit: bool,
    may_delete: bool,
}

#[derive(Template)]
#[template(path = "settings/new_workspace.html")]
struct NewWorkspacePage {
    frame: Frame,
    name: Entered,
}

/// A value of a form with its message.
#[derive(Clone, Debug, Default)]
pub(super) struct Entered {
    pub(super) value: String,
    pub(super) error: Option<String>,
}

/// A limit of the plan beside what the workspace uses.
struct LimitRow {
    label: &'static str,
    used: String,
    limit: String,
}

/// The form.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WorkspaceForm {
    name: String,
    slug: String,
    /// Absent if the target stays.
    uptime_target: Option<String>,
}

/// The form of a new workspace.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct NewWorkspace {
    name: String,
}

/// Confirmation of a deletion: the slug, typed by the person.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Confirmation {
    confirm: String,
}

/// Shows the settings.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let workspace = get(&state, &member).await?;
    let stored = WorkspaceForm::stored(&workspace);
    Ok(html::page(&page(&member, &workspace, stored, &Messages::default(), &request), &request))
}

/// Changes the names and the target for uptime. A new slug changes the addresses of the dashboard, not of status pages.
pub(crate) async fn update(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    request: HeaderMap,
    Posted(given): Posted<WorkspaceForm>,
) -> Result<Response, ScreenError> {
    let update = UpdateWorkspaceRequest {
        name: Some(given.name.trim().to_owned()),
        slug: Some(given.slug.trim().to_owned()),
        uptime_target: given.uptime_target.as_deref().map(|it| it.trim().to_owned()),
    };
    match state.send(member.caller(), update).await {
        Ok(_) => {
            let path = format!("/w/{}/settings", given.slug.trim());
            Ok(redirect_with_notice(&path, "The workspace was saved."))
        }
        Err(error) if is_about_input(error.code) => {
            let messages = Messages::from_error(&error, "workspace");
            let workspace = get(&state, &member).await?;
            let page = page(&member, &workspace, given, &messages, &request);
            Ok(html::page_with_status(StatusCode::UNPROCESSABLE_ENTITY, &page, &request))
        }
        Err(error) => Err(error.into()),
    }
}

/// Plans the deletion of the workspace.
pub(crate) async fn delete(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    request: HeaderMap,
    Posted(given): Posted<Confirmation>,
) -> Result<Response, ScreenError> {
    let (path, slug) = (member.path("/settings"), &member.membership.workspace.slug);
    if given.confirm.trim() != slug {
        let why = format!("Nothing was deleted. Type {slug} to confirm.");
        let workspace = get(&state, &member).await?;
        let stored = WorkspaceForm::stored(&workspace);
        let mut page = page(&member, &workspace, stored, &Messages::default(), &request);
        page.confirm = Entered { value: given.confirm, error: Some(why) };
        return Ok(html::page_with_status(StatusCode::UNPROCESSABLE_ENTITY, &page, &request));
    }
    state.send(member.caller(), DeleteWorkspaceRequest::default()).await?;
    Ok(redirect_with_notice(&path, "The workspace will be deleted. Until then you can restore it."))
}

/// Cancels the deletion of the workspace.
pub(crate) async fn restore(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
) -> Result<Response, ScreenError> {
    state.send(member.caller(), CancelDeletionRequest::default()).await?;
    let path = member.path("/settings");
    Ok(redirect_with_notice(&path, "The workspace was restored, and its monitors run again."))
}

/// Shows the form of a new workspace.
pub(crate) async fn new(
    Extension(signed_in): Extension<Arc<SignedIn>>,
    request: HeaderMap,
) -> Response {
    html::page(&new_page(&signed_in, Entered::default(), &request), &request)
}

/// Creates a workspace, which the person owns.
pub(crate) async fn create(
    State(state): State<Dashboard>,
    Extension(signed_in): Extension<Arc<SignedIn>>,
    request: HeaderMap,
    Posted(given): Posted<NewWorkspace>,
) -> Result<Response, ScreenError> {
    let mut validator = Validator::new(&tables::WORKSPACE);
    let name = validator.text("name", Some(given.name.trim().to_owned()));
    let name = match validator.finish(name) {
        Ok(name) => name,
        Err(violations) => {
            let why = message(&violations, "name").unwrap_or_default();
            return Ok(refuse_name(&signed_in, given.name, why, &request));
        }
    };
    let user = signed_in.user.id;
    let change = state.change_by(user, signed_in.address);
    let slug = slug(&name);
    for attempt in 1_u32..=9 {
        let slug = if attempt == 1 { slug.clone() } else { format!("{slug}-{attempt}") };
        let workspace = store::Workspace {
            id: state.ctx.new_id(),
            slug: slug.clone(),
            name: name.clone(),
            plan: FREE_PLAN.to_owned(),
            created_at: change.at,
            deletes_at: None,
        };
        match state.store.workspaces().create_owned(workspace, user, change).await {
            Ok(()) => {
                return Ok(redirect_with_notice(
                    &format!("/w/{slug}"),
                    "The workspace was created.",
                ));
            }
            Err(StoreError::AlreadyExists { .. }) => {}
            Err(StoreError::Refused(violation)) => {
                let why = format!("This {}.", violation.allowed);
                return Ok(refuse_name(&signed_in, given.name, why, &request));
            }
            Err(error) => return Err(error.into()),
        }
    }
    let why = "Many workspaces have this name. Choose another one.".to_owned();
    Ok(refuse_name(&signed_in, given.name, why, &request))
}

/// Returns the form of a new workspace with a message beside the name.
fn refuse_name(signed_in: &SignedIn, value: String, why: String, request: &HeaderMap) -> Response {
    let page = new_page(signed_in, Entered { value, error: Some(why) }, request);
    html::page_with_status(StatusCode::UNPROCESSABLE_ENTITY, &page, request)
}

impl WorkspaceForm {
    /// Returns the stored values.
    fn stored(workspace: &Workspace) -> Self {
        Self {
            name: workspace.name.clone(),
            slug: workspace.slug.clone(),
            uptime_target: Some(workspace.uptime_target.clone()),
        }
    }
}

async fn get(state: &Dashboard, member: &Member) -> Result<Workspace, ScreenError> {
    let found = state.send(member.caller(), GetWorkspaceRequest::default()).await?;
    found.workspace.into_option().ok_or(ScreenError::NotFound)
}

fn page(
    member: &Member,
    workspace: &Workspace,
    values: WorkspaceForm,
    messages: &Messages,
    request: &HeaderMap,
) -> WorkspacePage {
    let role = member.membership.role;
    let [slug, uptime_target] = ["slug", "uptime_target"].map(|field| messages.get(field));
    // A message about another field is not one about the name.
    let is_elsewhere = slug.is_some() || uptime_target.is_some();
    let whole = || messages.whole().filter(|_| !is_elsewhere).map(str::to_owned);
    WorkspacePage {
        frame: Frame::of_member(member, Section::Settings, "Settings", request),
        tab: Tab::Workspace,
        name: Entered { value: values.name, error: messages.get("name").or_else(whole) },
        slug: Entered { value: values.slug, error: slug },
        uptime_target: Entered {
            value: values.uptime_target.unwrap_or_else(|| workspace.uptime_target.clone()),
            error: uptime_target,
        },
        confirm: Entered::default(),
        plan: workspace.plan.clone(),
        limits: limits(workspace),
        deletes_at: time::wire_time(workspace.deletes_at.as_option()),
        may_edit: role.includes(Role::Admin),
        may_delete: role.includes(Role::Owner),
    }
}

fn new_page(signed_in: &SignedIn, name: Entered, request: &HeaderMap) -> NewWorkspacePage {
    let frame = Frame::of_user(signed_in, Section::Other, "New workspace", request);
    NewWorkspacePage { frame, name }
}

fn limits(workspace: &Workspace) -> Vec<LimitRow> {
    let (limits, usage) =
        (workspace.limits.clone().into_option().unwrap_or_default(), workspace.usage.clone());
    let usage = usage.into_option().unwrap_or_default();
    let count = |label, used: i32, limit: Option<i32>| LimitRow {
        label,
        used: used.to_string(),
        limit: limit.map_or_else(|| "no limit".to_owned(), |limit| limit.to_string()),
    };
    let mut rows = vec![
        count("Monitors", usage.monitors, limits.monitors),
        count("Channels", usage.notifications, limits.notifications),
        count("Status pages", usage.status_pages, limits.status_pages),
        count("Days of results", usage.retention_days, limits.retention_days),
    ];
    rows.push(LimitRow {
        label: "Shortest interval",
        used: usage.shortest_period.unwrap_or_else(|| "–".to_owned()),
        limit: limits.shortest_period.unwrap_or_else(|| "no limit".to_owned()),
    });
    rows
}
