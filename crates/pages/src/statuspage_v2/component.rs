//! Components and groups in Statuspage's JSON format. A group is a component that precedes its
//! members. Events repeat components exactly as the list has them.

use std::collections::HashMap;

use domain::page::{ComponentView, GroupView, Section, State};
use rules::{ComponentId, Timestamp};
use serde_json::{Value, json};

use super::super::snapshot::PageSnapshot;
use super::{status_name, time};

/// All components of a page as JSON.
pub(super) struct Components {
    /// In the order of the page.
    all: Vec<Value>,
    by_id: HashMap<ComponentId, AffectableComponent>,
}

/// A component that an event may affect.
struct AffectableComponent {
    /// Index in the list.
    index: usize,
    /// Name outside its group.
    name: String,
}

/// Returns the time of the last change of a component, by its owner or of its state.
pub(super) fn updated_at(it: &ComponentView) -> Timestamp {
    it.since.map_or(it.updated_at, |since| since.max(it.updated_at))
}

impl Components {
    pub(super) fn from_page(snapshot: &PageSnapshot) -> Self {
        let mut components = Self { all: Vec::new(), by_id: HashMap::new() };
        for (section, position) in snapshot.view.sections.iter().zip(1..) {
            match section {
                Section::Single(it) => components.add(snapshot, it, None, position),
                Section::Group(group) => {
                    components.all.push(encode_group(snapshot, group, position));
                    // Positions restart in each group.
                    for (it, position) in group.components.iter().zip(1..) {
                        components.add(snapshot, it, Some(group), position);
                    }
                }
            }
        }
        components
    }

    pub(super) fn all(&self) -> &[Value] {
        &self.all
    }

    /// Returns the affected components, in the order of the page.
    pub(super) fn select(&self, ids: impl IntoIterator<Item = ComponentId>) -> Vec<&Value> {
        let known = ids.into_iter().filter_map(|id| self.by_id.get(&id));
        known.map(|known| &self.all[known.index]).collect()
    }

    /// Returns the states of components before and after an update, or `None` if it affects none.
    pub(super) fn affected(
        &self,
        changes: impl IntoIterator<Item = (ComponentId, State, State)>,
    ) -> Option<Vec<Value>> {
        let changes = changes.into_iter().filter_map(|(id, old, new)| {
            let name = &self.by_id.get(&id)?.name;
            Some(json!({
                "code": id.to_string(), "name": name,
                "old_status": status_name(old), "new_status": status_name(new),
            }))
        });
        Some(changes.collect()).filter(|changes: &Vec<Value>| !changes.is_empty())
    }

    fn add(
        &mut self,
        snapshot: &PageSnapshot,
        it: &ComponentView,
        group: Option<&GroupView>,
        position: i32,
    ) {
        let name = match group {
            Some(group) => format!("{} - {}", group.name, it.name),
            None => it.name.clone(),
        };
        self.by_id.insert(it.id, AffectableComponent { index: self.all.len(), name });
        self.all.push(json!({
            "id": it.id.to_string(), "name": it.name, "status": status_name(it.state),
            "created_at": time(it.created_at), "updated_at": time(updated_at(it)),
            "position": position, "description": it.description, "showcase": true,
            "start_date": null, "group_id": group.map(|group| group.id.to_string()),
            "page_id": snapshot.page.id.to_string(), "group": false, "only_show_if_degraded": false,
        }));
    }
}

fn encode_group(snapshot: &PageSnapshot, group: &GroupView, position: i32) -> Value {
    let within: Vec<_> = group.components.iter().map(|it| it.id.to_string()).collect();
    json!({
        "id": group.id.to_string(), "name": group.name, "status": status_name(group.state),
        "created_at": time(group.created_at), "updated_at": time(group.updated_at),
        "position": position, "description": null, "showcase": false, "start_date": null,
        "group_id": null, "page_id": snapshot.page.id.to_string(), "group": true,
        "only_show_if_degraded": false, "components": within,
    })
}
