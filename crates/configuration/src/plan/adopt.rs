//! Finds existing resources that no configuration owns by the names in a file.

use std::collections::HashSet;

use serde_json::Value as Json;

use super::{Current, Existing, text};
use crate::compare::compare;
use crate::desired::Desired;
use crate::kind::Kind;

/// The resources that no configuration owns and that no step took.
pub(super) struct Free<'a> {
    existing: Vec<&'a Existing>,
    taken: HashSet<&'a str>,
}

impl<'a> Free<'a> {
    pub(super) fn new(current: &'a Current) -> Self {
        let recorded: HashSet<&str> = current.recorded.iter().map(|it| it.id.as_str()).collect();
        let is_free = |it: &&Existing| {
            let id = text(&it.json, "id");
            !recorded.contains(id) && !current.foreign.contains(id)
        };
        let existing = current.existing.iter().filter(is_free).collect();
        Self { existing, taken: HashSet::new() }
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
            .iter()
            .copied()
            .filter(|it| it.kind == desired.kind() && !self.taken.contains(text(&it.json, "id")))
            .filter(|it| is_twin(desired.kind(), wire, &it.json))
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

/// Returns whether a resource of the same kind has the name that identifies it for people.
fn is_twin(kind: Kind, wire: &Json, existing: &Json) -> bool {
    let same = |name: &str| text(wire, name) == text(existing, name);
    let given = |name: &str| !text(wire, name).is_empty();
    match kind {
        Kind::Monitor(_) | Kind::Channel => same("name"),
        Kind::Page => same("slug"),
        Kind::Group => same("pageId") && same("name"),
        // A monitor occurs once on a page.
        Kind::Component if given("monitorId") => same("pageId") && same("monitorId"),
        Kind::Component => same("pageId") && same("name") && text(existing, "monitorId").is_empty(),
    }
}

fn ambiguous(twins: &[&Existing]) -> String {
    let ids: Vec<&str> = twins.iter().map(|it| text(&it.json, "id")).collect();
    format!(
        "has several twins that no configuration owns: {}; rename or delete all but one",
        ids.join(", ")
    )
}
