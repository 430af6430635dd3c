//! Components of a status page: those without a monitor are created here, and all are edited.

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::rpc::MethodRequest as _;
use contract::status_page::wire::{
    CreateComponentRequest, DeleteComponentRequest, GetComponentRequest, UpdateComponentRequest,
};
use http::HeaderMap;
use rules::ComponentType;
use rules::tables::STATUS_PAGE_COMPONENT;
use serde_json::{Value as Json, json};
use store::Page;

use super::part_form::{self, PartForm};
use super::summary::{self, StoredPage};
use crate::error::ScreenError;
use crate::extract::Posted;
use crate::form::{Choice, Form, FormSpec, Messages, Values, resource};
use crate::html::redirect_with_notice;
use crate::session::Member;
use crate::state::Dashboard;

/// Shows the form of a component without a monitor.
pub(crate) async fn new(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let page = summary::find(&state, &member, &id).await?;
    let groups = groups(&state, &member, &page).await?;
    let (values, messages) = (Values::default(), Messages::default());
    let part = new_form(&groups, &values, &messages);
    Ok(part_form::render(&member, page.summary, (part, &messages), &request))
}

/// Creates a component without a monitor.
pub(crate) async fn create(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
    Posted(posted): Posted<Vec<(String, String)>>,
) -> Result<Response, ScreenError> {
    let page = summary::find(&state, &member, &id).await?;
    let values = Values::posted(posted, &STATUS_PAGE_COMPONENT);
    let mut component = resource(&STATUS_PAGE_COMPONENT, &values);
    component.insert("pageId".to_owned(), json!(id));
    component.insert("type".to_owned(), json!(ComponentType::Static.as_str()));
    let asked = json!({ "component": component });
    match state.send_json(member.caller(), CreateComponentRequest::PATH, &asked).await {
        Ok(_) => {
            Ok(redirect_with_notice(&page.summary.path(&member, ""), "The component was added."))
        }
        Err(error) => {
            let messages = Messages::from_error(&error, "component");
            let groups = groups(&state, &member, &page).await?;
            let part = new_form(&groups, &values, &messages);
            Ok(part_form::render(&member, page.summary, (part, &messages), &request))
        }
    }
}

/// Shows the form of a stored component.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id, component)): Path<(String, String, String)>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let page = summary::find(&state, &member, &id).await?;
    let stored = find(&state, &member, &id, &component).await?;
    let values = Values::stored(&stored, &STATUS_PAGE_COMPONENT);
    let groups = groups(&state, &member, &page).await?;
    let messages = Messages::default();
    let part = edit_form(&component, &groups, &values, &messages);
    Ok(part_form::render(&member, page.summary, (part, &messages), &request))
}

/// Stores an edit.
pub(crate) async fn update(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id, component)): Path<(String, String, String)>,
    request: HeaderMap,
    Posted(posted): Posted<Vec<(String, String)>>,
) -> Result<Response, ScreenError> {
    let page = summary::find(&state, &member, &id).await?;
    find(&state, &member, &id, &component).await?;
    let values = Values::posted(posted, &STATUS_PAGE_COMPONENT);
    let mut changed = resource(&STATUS_PAGE_COMPONENT, &values);
    changed.insert("id".to_owned(), json!(component));
    let asked = json!({ "component": changed, "updateMask": "name,description,groupId" });
    match state.send_json(member.caller(), UpdateComponentRequest::PATH, &asked).await {
        Ok(_) => {
            Ok(redirect_with_notice(&page.summary.path(&member, ""), "The component was saved."))
        }
        Err(error) => {
            let messages = Messages::from_error(&error, "component");
            let groups = groups(&state, &member, &page).await?;
            let part = edit_form(&component, &groups, &values, &messages);
            Ok(part_form::render(&member, page.summary, (part, &messages), &request))
        }
    }
}

/// Deletes a component.
pub(crate) async fn delete(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id, component)): Path<(String, String, String)>,
) -> Result<Response, ScreenError> {
    find(&state, &member, &id, &component).await?;
    state.send(member.caller(), DeleteComponentRequest { id: component }).await?;
    let path = member.path(&format!("/pages/{id}"));
    Ok(redirect_with_notice(&path, "The component was removed from the page."))
}

/// Returns the groups of a page as choices.
pub(super) async fn groups(
    state: &Dashboard,
    member: &Member,
    page: &StoredPage,
) -> Result<Vec<Choice>, ScreenError> {
    let found = state.store.groups().list(member.workspace(), Some(page.id), Page::all()).await?;
    let groups = found.rows.into_iter().rev();
    Ok(groups.map(|it| Choice { value: it.id.to_string(), label: it.settings.name }).collect())
}

/// Returns a component of this page in the JSON of the contract.
async fn find(
    state: &Dashboard,
    member: &Member,
    page: &str,
    id: &str,
) -> Result<Json, ScreenError> {
    let asked = json!({ "id": id, "pageId": page });
    let found = state.send_json(member.caller(), GetComponentRequest::PATH, &asked).await?;
    Ok(found["component"].clone())
}

fn new_form(groups: &[Choice], values: &Values, messages: &Messages) -> PartForm {
    PartForm {
        title: "New component",
        form: form(groups, values, messages),
        action: "/components/new".to_owned(),
        button: "Add component",
        deletion: None,
    }
}

fn edit_form(component: &str, groups: &[Choice], values: &Values, messages: &Messages) -> PartForm {
    PartForm {
        title: "Edit component",
        form: form(groups, values, messages),
        action: format!("/components/{component}"),
        button: "Save",
        deletion: Some((
            "the component",
            "Visitors no longer see the component, and reports no longer name it. Its monitor stays.",
        )),
    }
}

fn form(groups: &[Choice], values: &Values, messages: &Messages) -> Form {
    let choices = |field: &str| (field == "group_id").then(|| groups.to_vec());
    let main: &[&str] = if groups.is_empty() {
        &["name", "description"]
    } else {
        &["name", "description", "group_id"]
    };
    let spec = FormSpec { resource: &STATUS_PAGE_COMPONENT, main, more: &[], choices: &choices };
    Form::new(spec, values, messages)
}
