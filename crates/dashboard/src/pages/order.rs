//! Orders components and groups: one step by a button, or a whole layout after a drag.

use std::collections::{HashMap, HashSet};

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::rpc::{Error, MethodRequest as _};
use contract::status_page::wire::{GetStatusPageOverviewRequest, UpdateComponentRequest};
use futures_util::future::try_join_all;
use rules::status_page::Component;
use serde_json::json;
use store::Page;

use super::arrangement::{Arrangement, ComponentPlace, Direction};
use super::summary;
use crate::error::ScreenError;
use crate::extract::Posted;
use crate::html::{redirect, redirect_with_refusal};
use crate::session::Member;
use crate::state::Dashboard;

/// Components that are updated at once.
const AT_ONCE: usize = 32;
/// Shown if the layout names other components than the page has.
const CHANGED: &str = "The components changed meanwhile, so nothing was moved. Try again.";

/// Stores the new order. Only components whose place changes are updated.
pub(crate) async fn submit(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    Posted(posted): Posted<Vec<(String, String)>>,
) -> Result<Response, ScreenError> {
    let page = summary::find(&state, &member, &id).await?;
    let path = format!("{}{}", page.summary.path(&member, ""), focused(&posted));
    let workspace = member.workspace();
    let components = state.store.components().list(workspace, Some(page.id), Page::all()).await?;
    let Some(wanted) = wanted(&state, &member, &id, (&components.rows, &posted)).await? else {
        return Ok(redirect_with_refusal(&path, CHANGED));
    };
    let known: HashMap<String, &Component> =
        components.rows.iter().map(|it| (it.id.to_string(), it)).collect();
    let is_changed = |it: &ComponentPlace| known.get(&it.id).is_none_or(|known| it.differs(known));
    let changed: Vec<ComponentPlace> = wanted.places().into_iter().filter(is_changed).collect();
    for part in changed.chunks(AT_ONCE) {
        try_join_all(part.iter().map(|place| store(&state, &member, place))).await?;
    }
    Ok(redirect(&path))
}

/// Returns the fragment of the button that was pressed. Browsers focus it, so that the next press moves
/// the component again.
fn focused(posted: &[(String, String)]) -> String {
    let step = posted.iter().find(|(name, _)| name == "move");
    match step.and_then(|(_, step)| step.rsplit_once(':')) {
        Some((id, direction @ ("up" | "down"))) if is_id(id) => format!("#{direction}-{id}"),
        Some(_) | None => String::new(),
    }
}

/// Returns whether a text may be an ID, so that a URL can have it.
fn is_id(text: &str) -> bool {
    text.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
}

/// Returns the wanted arrangement. A move beyond the ends changes nothing. `None` if the posted layout
/// does not fit the page.
async fn wanted(
    state: &Dashboard,
    member: &Member,
    id: &str,
    (components, posted): (&[Component], &[(String, String)]),
) -> Result<Option<Arrangement>, ScreenError> {
    let workspace = member.workspace();
    let step = posted.iter().find(|(name, _)| name == "move").map(|(_, value)| value);
    if let Some((entry, direction)) = step.and_then(|step| step.rsplit_once(':')) {
        let current = current(state, member, id).await?;
        let direction = if direction == "up" { Direction::Up } else { Direction::Down };
        return Ok(Some(current.moved(entry, direction).unwrap_or(current)));
    }
    let page = rules::PageId::parse(id).map_err(|_| ScreenError::NotFound)?;
    let groups = state.store.groups().list(workspace, Some(page), Page::all()).await?;
    let groups: HashSet<String> = groups.rows.iter().map(|it| it.id.to_string()).collect();
    let known: HashSet<String> = components.iter().map(|it| it.id.to_string()).collect();
    let layout = posted.iter().filter(|(name, _)| name == "entry");
    let layout: Vec<String> = layout.map(|(_, value)| value.clone()).collect();
    Ok(Arrangement::from_layout(&layout, &known, &groups))
}

/// Returns the arrangement that visitors see.
async fn current(state: &Dashboard, member: &Member, id: &str) -> Result<Arrangement, ScreenError> {
    let asked = GetStatusPageOverviewRequest { id: id.to_owned() };
    let overview = state.send(member.caller(), asked).await?.overview;
    let overview = overview.into_option().ok_or(ScreenError::NotFound)?;
    let components = overview.components.into_iter();
    let group = |id: String| Some(id).filter(|id| !id.is_empty());
    Ok(Arrangement::new(components.map(|it| (it.id, group(it.group_id)))))
}

impl ComponentPlace {
    fn differs(&self, component: &Component) -> bool {
        let settings = &component.settings;
        settings.order != Some(self.order)
            || settings.group_order != self.group_order
            || settings.group_id.map(|id| id.to_string()) != self.group
    }
}

async fn store(state: &Dashboard, member: &Member, place: &ComponentPlace) -> Result<(), Error> {
    let mut component = json!({ "id": place.id, "order": place.order });
    if let (Some(group), Some(order)) = (&place.group, place.group_order) {
        component["groupId"] = json!(group);
        component["groupOrder"] = json!(order);
    }
    let update = json!({ "component": component, "updateMask": "order,groupId,groupOrder" });
    state.send_json(member.caller(), UpdateComponentRequest::PATH, &update).await.map(drop)
}
