//! A status page: its components in order, its theme, and a preview.

use std::collections::{HashMap, HashSet};

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::status_page::wire::{ComponentOverview, GetStatusPageOverviewRequest};
use http::HeaderMap;
use rules::status_page::Component;
use rules::{ComponentType, PageId, Role, Theme};
use store::Page;

use super::arrangement::{ArrangedEntry, Arrangement};
use super::summary::{self, PageSummary};
use crate::error::ScreenError;
use crate::html::{self, Frame, Section};
use crate::session::Member;
use crate::state::Dashboard;

#[derive(Template)]
#[template(path = "page.html")]
struct PagePage {
    frame: Frame,
    page: PageSummary,
    warnings: Vec<String>,
    state: String,
    entries: Vec<EntryRow>,
    /// Groups without components, which visitors do not see.
    empty_groups: Vec<(String, String)>,
    themes: &'static [Theme],
    tab: &'static str,
    can_edit: bool,
}

/// A component or a group in the list.
enum EntryRow {
    Component(ComponentRow),
    Group { id: String, name: String, rows: Vec<ComponentRow> },
}

/// A component in the list.
struct ComponentRow {
    id: String,
    name: String,
    description: Option<String>,
    state: String,
    is_static: bool,
}

/// Shows a page.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let stored = summary::find(&state, &member, &id).await?;
    let asked = GetStatusPageOverviewRequest { id };
    let overview = state.send(member.caller(), asked).await?.overview;
    let overview = overview.into_option().ok_or(ScreenError::NotFound)?;
    let groups =
        state.store.groups().list(member.workspace(), Some(stored.id), Page::all()).await?;
    let names: Vec<(String, String)> =
        groups.rows.iter().rev().map(|it| (it.id.to_string(), it.settings.name.clone())).collect();
    let statics = static_components(&state, &member, stored.id).await?;
    let entries = entries(&overview.components, &names, &statics);
    let page = PagePage {
        frame: Frame::of_member(&member, Section::Pages, &stored.summary.title, &request),
        empty_groups: without_components(&names, &overview.components),
        page: stored.summary,
        warnings: stored.warnings,
        state: overview.state,
        entries,
        themes: Theme::ALL,
        tab: "",
        can_edit: member.membership.role.includes(Role::Editor),
    };
    Ok(html::page(&page, &request))
}

/// Returns the IDs of the components that show no monitor.
async fn static_components(
    state: &Dashboard,
    member: &Member,
    page: PageId,
) -> Result<HashSet<String>, ScreenError> {
    let all = state.store.components().list(member.workspace(), Some(page), Page::all()).await?;
    let is_static = |it: &&Component| it.settings.kind == ComponentType::Static;
    Ok(all.rows.iter().filter(is_static).map(|it| it.id.to_string()).collect())
}

/// Returns components and groups in the order of the page.
fn entries(
    components: &[ComponentOverview],
    names: &[(String, String)],
    statics: &HashSet<String>,
) -> Vec<EntryRow> {
    let mut rows: HashMap<String, ComponentRow> =
        components.iter().map(|it| (it.id.clone(), ComponentRow::new(it, statics))).collect();
    let group = |it: &ComponentOverview| Some(it.group_id.clone()).filter(|id| !id.is_empty());
    let arrangement = Arrangement::new(components.iter().map(|it| (it.id.clone(), group(it))));
    let mut take = |id: &String| rows.remove(id);
    let entry = |entry: &ArrangedEntry| match entry {
        ArrangedEntry::Component(id) => take(id).map(EntryRow::Component),
        ArrangedEntry::Group { id, members } => {
            let name = names.iter().find(|(known, _)| known == id);
            let name = name.map(|(_, name)| name.clone()).unwrap_or_default();
            let rows = members.iter().filter_map(&mut take).collect();
            Some(EntryRow::Group { id: id.clone(), name, rows })
        }
    };
    arrangement.entries().iter().filter_map(entry).collect()
}

fn without_components(
    names: &[(String, String)],
    components: &[ComponentOverview],
) -> Vec<(String, String)> {
    let is_empty = |id: &str| components.iter().all(|it| it.group_id != id);
    names.iter().filter(|(id, _)| is_empty(id)).cloned().collect()
}

impl ComponentRow {
    fn new(component: &ComponentOverview, statics: &HashSet<String>) -> Self {
        Self {
            is_static: statics.contains(&component.id),
            id: component.id.clone(),
            name: component.name.clone(),
            description: component.description.clone(),
            state: component.state.clone(),
        }
    }
}
