//! Search over the whole workspace: screens, monitors, status pages and incidents by name. The command
//! palette shows its results; without scripts it is a page.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use http::HeaderMap;
use rules::Role;
use serde::Deserialize;
use store::PageName;

use crate::error::ScreenError;
use crate::extract::Asked;
use crate::fleet::filter::FleetFilter;
use crate::fleet::snapshot::FleetSnapshot;
use crate::html::{self, Frame, NAVIGATION, Section};
use crate::route::{Route, VIEWER};
use crate::session::Member;
use crate::state::Dashboard;
use crate::time;

/// Maximum number of results of each kind.
const RESULTS_MAX: usize = 8;

pub(crate) const ROUTES: &[Route] = &[Route::get("/w/{workspace}/search", VIEWER, || get(show))];

/// A search.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Search {
    #[serde(default)]
    q: String,
    /// Set if only the results are wanted.
    part: Option<String>,
}

#[derive(Template)]
#[template(path = "search.html")]
struct SearchPage<'s> {
    frame: Frame,
    search: &'s str,
    groups: Vec<ResultGroup>,
}

#[derive(Template)]
#[template(path = "search_results.html")]
struct SearchResults {
    groups: Vec<ResultGroup>,
}

/// Results of one kind.
struct ResultGroup {
    label: &'static str,
    hits: Vec<Hit>,
}

/// A result.
struct Hit {
    path: String,
    title: String,
    detail: String,
    /// Name of the symbol in `icons.html`, and of its colour.
    icon: &'static str,
}

/// Shows what the search finds.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Asked(asked): Asked<Search>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let search = asked.q.trim();
    let fleet = state.fleet.get(&state.store, member.workspace(), state.ctx.now()).await?;
    let mut groups = vec![
        ResultGroup { label: "Monitors", hits: monitors(&member, &fleet, search) },
        ResultGroup { label: "Go to", hits: screens(&member, search) },
    ];
    if !search.is_empty() {
        groups.push(ResultGroup {
            label: "Incidents",
            hits: incidents(&state, &member, search).await?,
        });
        groups.push(ResultGroup {
            label: "Status pages",
            hits: pages(&state, &member, search).await?,
        });
    }
    groups.retain(|group| !group.hits.is_empty());
    if asked.part.is_some() {
        return Ok(html::page(&SearchResults { groups }, &request));
    }
    let frame = Frame::of_member(&member, Section::Other, "Search", &request);
    Ok(html::page(&SearchPage { frame, search, groups }, &request))
}

fn monitors(member: &Member, fleet: &Arc<FleetSnapshot>, search: &str) -> Vec<Hit> {
    if search.is_empty() {
        return Vec::new();
    }
    let filter = FleetFilter { search: search.to_owned(), ..FleetFilter::default() };
    let found = filter.select(fleet);
    let hit = |row: &crate::fleet::snapshot::FleetRow<'_>| {
        let definition = &row.monitor.definition;
        Hit {
            path: member.path(&format!("/monitors/{}", definition.id)),
            title: definition.name.clone(),
            detail: format!("{} · {}", row.state.health.label(), definition.target),
            icon: row.state.health.as_str(),
        }
    };
    let mut hits: Vec<Hit> = found.iter().take(RESULTS_MAX).map(hit).collect();
    if found.len() > RESULTS_MAX {
        hits.push(Hit {
            path: member.path(&format!("/monitors{}", filter.query())),
            title: format!("All {} monitors that match", found.len()),
            detail: String::new(),
            icon: "pulse",
        });
    }
    hits
}

/// Returns the screens whose name has a word that begins like the search.
fn screens(member: &Member, search: &str) -> Vec<Hit> {
    let screen = |path: &str, title: &str, icon| Hit {
        path: member.path(path),
        title: title.to_owned(),
        detail: String::new(),
        icon,
    };
    let mut all: Vec<Hit> = Vec::new();
    if member.membership.role.includes(Role::Editor) {
        all.push(screen("/monitors/new", "New monitor", "plus"));
    }
    all.extend(NAVIGATION.iter().map(|it| screen(it.path, it.label, it.icon)));
    all.push(Hit { path: "/account".to_owned(), ..screen("", "Your account", "gear") });
    all.push(Hit { path: "/docs".to_owned(), ..screen("", "Documentation", "page") });
    let search = search.to_lowercase();
    all.retain(|hit| has_word(&hit.title, &search));
    all
}

async fn incidents(
    state: &Dashboard,
    member: &Member,
    search: &str,
) -> Result<Vec<Hit>, ScreenError> {
    let found =
        state.store.incidents().search(member.workspace(), search, RESULTS_MAX as u32).await?;
    let hit = |it: &store::Incident| Hit {
        path: member.path(&format!("/incidents/{}", it.id)),
        title: it.monitor_name.clone(),
        detail: match it.closed {
            None => {
                format!("open since {}", time::text(it.opened_at))
            }
            Some(_) => time::text(it.opened_at),
        },
        icon: "bolt",
    };
    Ok(found.iter().map(hit).collect())
}

async fn pages(state: &Dashboard, member: &Member, search: &str) -> Result<Vec<Hit>, ScreenError> {
    let found = state.store.pages().search(member.workspace(), search, RESULTS_MAX as u32).await?;
    let hit = |page: PageName| Hit {
        path: member.path(&format!("/pages/{}", page.id)),
        title: page.title,
        detail: format!("/status/{}", page.slug),
        icon: "page",
    };
    Ok(found.into_iter().map(hit).collect())
}

fn has_word(text: &str, beginning: &str) -> bool {
    text.to_lowercase().split_whitespace().any(|word| word.starts_with(beginning))
        || text.to_lowercase().starts_with(beginning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn screen_is_found_by_beginnings_of_words() {
        for (search, expected) in [("", true), ("pag", true), ("status p", true), ("age", false)] {
            assert_eq!(has_word("Status pages", search), expected, "{search}");
        }
    }
}
