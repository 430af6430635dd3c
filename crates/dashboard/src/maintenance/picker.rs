//! Choice of monitors and components in long lists: what is chosen, and the results of a search, of
//! which the browser gets few at a time.

use std::collections::BTreeSet;

use rules::MonitorId;

use crate::error::ScreenError;
use crate::form::Values;
use crate::session::Member;
use crate::state::Dashboard;

/// Maximum number of results.
const RESULTS_MAX: u32 = 50;
/// Maximum number of chosen entries that are shown by name; others are only counted.
const CHOSEN_SHOWN_MAX: usize = 200;

/// Kind of entries to choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Picked {
    Monitors,
    Components,
}

/// A list to choose from.
#[derive(Clone, Debug)]
pub(super) struct Picker {
    /// Name of the field, such as `monitor_ids`.
    pub(super) field: &'static str,
    pub(super) label: &'static str,
    pub(super) help: &'static str,
    /// Last part of the path that searches.
    pub(super) part: &'static str,
    /// Name of the input for the search.
    pub(super) search_field: &'static str,
    pub(super) search: String,
    pub(super) chosen: Vec<Entry>,
    /// IDs of chosen entries that are not shown by name.
    pub(super) silent: Vec<String>,
    pub(super) results: Vec<Entry>,
    /// Whether more entries match.
    pub(super) has_more: bool,
    pub(super) error: Option<String>,
}

/// An entry to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) id: String,
    pub(super) name: String,
    /// Title of the page of a component.
    pub(super) detail: String,
}

impl Picked {
    /// Returns the name of the field.
    pub(super) const fn field(self) -> &'static str {
        match self {
            Self::Monitors => "monitor_ids",
            Self::Components => "component_ids",
        }
    }

    const fn search_field(self) -> &'static str {
        match self {
            Self::Monitors => "monitor_search",
            Self::Components => "component_search",
        }
    }
}

/// Reads the list with the chosen entries and the results of the search in these values.
pub(super) async fn read(
    state: &Dashboard,
    member: &Member,
    picked: Picked,
    values: &Values,
) -> Result<Picker, ScreenError> {
    let search = values.first(picked.search_field()).unwrap_or_default().trim().to_owned();
    let ids: BTreeSet<&String> = values.all(picked.field()).iter().collect();
    let ids: Vec<String> = ids.into_iter().filter(|id| !id.is_empty()).cloned().collect();
    let shown = ids.len().min(CHOSEN_SHOWN_MAX);
    let (named, silent) = ids.split_at(shown);
    let (chosen, mut results) = match picked {
        Picked::Monitors => monitors(state, member, (named, &search)).await?,
        Picked::Components => components(state, member, (named, &search)).await?,
    };
    let has_more = results.len() > RESULTS_MAX as usize;
    results.truncate(RESULTS_MAX as usize);
    results.retain(|entry| !ids.contains(&entry.id));
    let (label, part, help) = match picked {
        Picked::Monitors => (
            "Monitors",
            "monitors",
            "Their alerts are held during a window, and the time does not count in uptime.",
        ),
        Picked::Components => (
            "Components",
            "components",
            "They are shown as under maintenance, and their monitors are covered too.",
        ),
    };
    Ok(Picker {
        field: picked.field(),
        label,
        help,
        part,
        search_field: picked.search_field(),
        search,
        chosen,
        silent: silent.to_vec(),
        results,
        has_more,
        error: None,
    })
}

async fn monitors(
    state: &Dashboard,
    member: &Member,
    (chosen, search): (&[String], &str),
) -> Result<(Vec<Entry>, Vec<Entry>), ScreenError> {
    let (workspace, monitors) = (member.workspace(), state.store.monitors());
    let ids: Vec<MonitorId> = chosen.iter().filter_map(|id| MonitorId::parse(id).ok()).collect();
    let entry =
        |(id, name): (MonitorId, String)| Entry { id: id.to_string(), name, detail: String::new() };
    let chosen = monitors.names(workspace, &ids).await?.into_iter().map(entry).collect();
    let results = monitors.search(workspace, search, RESULTS_MAX + 1).await?;
    Ok((chosen, results.into_iter().map(entry).collect()))
}

async fn components(
    state: &Dashboard,
    member: &Member,
    (chosen, search): (&[String], &str),
) -> Result<(Vec<Entry>, Vec<Entry>), ScreenError> {
    let all = state.store.components().names(member.workspace()).await?;
    let entries: Vec<Entry> = all
        .into_iter()
        .map(|it| Entry { id: it.id.to_string(), name: it.name, detail: it.page_title })
        .collect();
    let wanted = search.to_lowercase();
    let matches = |entry: &&Entry| {
        entry.name.to_lowercase().contains(&wanted) || entry.detail.to_lowercase().contains(&wanted)
    };
    let results = entries.iter().filter(matches).take(RESULTS_MAX as usize + 1).cloned().collect();
    let chosen = entries.iter().filter(|entry| chosen.contains(&entry.id)).cloned().collect();
    Ok((chosen, results))
}
