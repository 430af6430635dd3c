//! Finds existing resources that no configuration owns by the names in a file.

use std::collections::{HashMap, HashSet};

use serde_json::Value as Json;

use super::{Current, Existing, text};
use crate::compare::compare;
use crate::desired::Desired;
use crate::kind::Kind;

/// The resources that no configuration owns and that no step took.
pub(super) struct Free<'a> {
    /// By the names that identify them for people.
    existing: HashMap<(Kind, String), Vec<&'a Existing>>,
    taken: HashSet<&'a str>,
    /// IDs and configurations of resources that others own, by the same names.
    owned: HashMap<(Kind, String), (&'a str, &'a str)>,
}

impl<'a> Free<'a> {
    pub(super) fn new(current: &'a Current) -> Self {
        let recorded: HashSet<&str> = current.recorded.iter().map(|it| it.id.as_str()).collect();
        let is_free = |it: &&Existing| {
            let id = text(&it.json, "id");
            !recorded.contains(id) && !current.foreign.contains_key(id)
        };
        let mut existing: HashMap<(Kind, String), Vec<&Existing>> = HashMap::new();
        for it in current.existing.iter().filter(is_free) {
            existing.entry((it.kind, name_of(it.kind, &it.json))).or_default().push(it);
        }
        let owned = current.existing.iter().filter_map(|it| {
            let id = text(&it.json, "id");
            let owner = current.foreign.get(id)?;
            Some(((it.kind, name_of(it.kind, &it.json)), (id, owner.as_str())))
        });
        Self { existing, taken: HashSet::new(), owned: owned.collect() }
    }

    /// Returns the problem of a resource whose name one of another configuration has.
    pub(super) fn owned(&self, desired: &Desired, wire: &Json) -> Option<String> {
        let (id, owner) = self.owned.get(&(desired.kind(), name_of(desired.kind(), wire)))?;
        Some(format!(
            "has a twin that the configuration `{owner}` owns: {id}; give the file `name: {owner}`, \
             rename one of the two, or forget the other configuration with DeleteConfiguration"
        ))
    }

    /// Takes the resource with the name of `desired`. Prefers one without differences. Fails if several
    /// differ, because nobody knows which one is meant.
    pub(super) fn take(
        &mut self,
        desired: &Desired,
        wire: &Json,
        reads_only: bool,
    ) -> Result<Option<&'a Existing>, String> {
        let twins: Vec<&Existing> = self
            .existing
            .get(&(desired.kind(), name_of(desired.kind(), wire)))
            .into_iter()
            .flatten()
            .copied()
            .filter(|it| !self.taken.contains(text(&it.json, "id")))
            .collect();
        let equal =
            |twin: &&&Existing| compare(desired, wire, &twin.json, reads_only).changes.is_empty();
        let twin = match *twins {
            [] => return Ok(None),
            [one] => one,
            _ => match twins.iter().find(equal) {
                Some(twin) => twin,
                None => return Err(ambiguous(&twins)),
            },
        };
        self.taken.insert(text(&twin.json, "id"));
        Ok(Some(twin))
    }
}

/// Returns the name that identifies a resource for people.
fn name_of(kind: Kind, json: &Json) -> String {
    let text = |name: &str| text(json, name);
    match kind {
        Kind::Monitor(_) | Kind::Channel => text("name").to_owned(),
        Kind::Page => text("slug").to_owned(),
        Kind::Group => format!("{} {}", text("pageId"), text("name")),
        // A monitor occurs once on a page.
        Kind::Component if !text("monitorId").is_empty() => {
            format!("{} monitor {}", text("pageId"), text("monitorId"))
        }
        Kind::Component => format!("{} static {}", text("pageId"), text("name")),
    }
}

fn ambiguous(twins: &[&Existing]) -> String {
    let ids: Vec<&str> = twins.iter().map(|it| text(&it.json, "id")).collect();
    format!(
        "has several twins that no configuration owns: {}; rename or delete all but one",
        ids.join(", ")
    )
}
