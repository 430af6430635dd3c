//! Component groups of a status page.

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::rpc::MethodRequest as _;
use contract::status_page::wire::{
    CreateComponentGroupRequest, DeleteComponentGroupRequest, GetComponentGroupRequest,
    UpdateComponentGroupRequest,
};
use http::HeaderMap;
use rules::tables::STATUS_PAGE_COMPONENT_GROUP;
use serde_json::{Value as Json, json};

use super::part_form::{self, PartForm};
use super::summary;
use crate::error::ScreenError;
use crate::extract::Posted;
use crate::form::{Form, FormSpec, Messages, Values, resource};
use crate::html::redirect_with_notice;
use crate::session::Member;
use crate::state::Dashboard;

/// Shows the form of a new group.
pub(crate) async fn new(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let page = summary::find(&state, &member, &id).await?.summary;
    let messages = Messages::default();
    let part = new_form(&Values::default(), &messages);
    Ok(part_form::render(&member, page, (part, &messages), &request))
}

/// Creates a group.
pub(crate) async fn create(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
    Posted(posted): Posted<Vec<(String, String)>>,
) -> Result<Response, ScreenError> {
    let page = summary::find(&state, &member, &id).await?.summary;
    let values = Values::posted(posted, &STATUS_PAGE_COMPONENT_GROUP);
    let mut group = resource(&STATUS_PAGE_COMPONENT_GROUP, &values);
    group.insert("pageId".to_owned(), json!(id));
    let asked = json!({ "componentGroup": group });
    match state.send_json(member.caller(), CreateComponentGroupRequest::PATH, &asked).await {
        Ok(_) => {
            let text = "The group was added. Visitors see it once it has components.";
            Ok(redirect_with_notice(&page.path(&member, ""), text))
        }
        Err(error) => {
            let messages = Messages::from_error(&error, "component_group");
            let part = new_form(&values, &messages);
            Ok(part_form::render(&member, page, (part, &messages), &request))
        }
    }
}

/// Shows the form of a stored group.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id, group)): Path<(String, String, String)>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let page = summary::find(&state, &member, &id).await?.summary;
    let stored = find(&state, &member, &id, &group).await?;
    let values = Values::stored(&stored, &STATUS_PAGE_COMPONENT_GROUP);
    let messages = Messages::default();
    let part = edit_form(&group, &values, &messages);
    Ok(part_form::render(&member, page, (part, &messages), &request))
}

/// Renames a group.
pub(crate) async fn update(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id, group)): Path<(String, String, String)>,
    request: HeaderMap,
    Posted(posted): Posted<Vec<(String, String)>>,
) -> Result<Response, ScreenError> {
    let page = summary::find(&state, &member, &id).await?.summary;
    find(&state, &member, &id, &group).await?;
    let values = Values::posted(posted, &STATUS_PAGE_COMPONENT_GROUP);
    let mut changed = resource(&STATUS_PAGE_COMPONENT_GROUP, &values);
    changed.insert("id".to_owned(), json!(group));
    let asked = json!({ "componentGroup": changed, "updateMask": "name" });
    match state.send_json(member.caller(), UpdateComponentGroupRequest::PATH, &asked).await {
        Ok(_) => Ok(redirect_with_notice(&page.path(&member, ""), "The group was saved.")),
        Err(error) => {
            let messages = Messages::from_error(&error, "component_group");
            let part = edit_form(&group, &values, &messages);
            Ok(part_form::render(&member, page, (part, &messages), &request))
        }
    }
}

/// Deletes a group, but not its components.
pub(crate) async fn delete(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id, group)): Path<(String, String, String)>,
) -> Result<Response, ScreenError> {
    find(&state, &member, &id, &group).await?;
    state.send(member.caller(), DeleteComponentGroupRequest { id: group }).await?;
    let path = member.path(&format!("/pages/{id}"));
    Ok(redirect_with_notice(&path, "The group was deleted. Its components stay on the page."))
}

/// Returns a group of this page in the JSON of the contract.
async fn find(
    state: &Dashboard,
    member: &Member,
    page: &str,
    id: &str,
) -> Result<Json, ScreenError> {
    let asked = json!({ "id": id, "pageId": page });
    let found = state.send_json(member.caller(), GetComponentGroupRequest::PATH, &asked).await?;
    Ok(found["componentGroup"].clone())
}

fn new_form(values: &Values, messages: &Messages) -> PartForm {
    PartForm {
        title: "New group",
        form: form(values, messages),
        action: "/groups/new".to_owned(),
        button: "Add group",
        deletion: None,
    }
}

fn edit_form(group: &str, values: &Values, messages: &Messages) -> PartForm {
    PartForm {
        title: "Edit group",
        form: form(values, messages),
        action: format!("/groups/{group}"),
        button: "Save",
        deletion: Some(("the group", "Its components stay on the page, without a group.")),
    }
}

fn form(values: &Values, messages: &Messages) -> Form {
    let spec = FormSpec {
        resource: &STATUS_PAGE_COMPONENT_GROUP,
        main: &["name"],
        more: &[],
        choices: &|_| None,
    };
    Form::new(spec, values, messages)
}
