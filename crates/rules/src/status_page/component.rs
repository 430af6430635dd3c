//! Components of a status page (§2.6): draft, settings, and the rules between fields.

use std::fmt::Display;
use std::str::FromStr;

use super::{A_GROUP, A_MONITOR, A_PAGE};
use crate::mask::{self, replace};
use crate::tables::STATUS_PAGE_COMPONENT;
use crate::{
    ComponentId, ComponentType, GroupId, MonitorId, PageId, Timestamp, Validator, Violations,
    WorkspaceId,
};

/// A stored component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    pub id: ComponentId,
    pub workspace: WorkspaceId,
    /// The user's settings.
    pub settings: ComponentSettings,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// The valid arguments of §2.6. Only [`ComponentDraft`] and the store create them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentSettings {
    /// Fixed.
    pub page_id: PageId,
    /// Fixed.
    pub kind: ComponentType,
    /// Only absent for a static component, or if the monitor was deleted.
    pub monitor_id: Option<MonitorId>,
    /// At most 256 characters. Required for a static component; otherwise the monitor's name is the
    /// default.
    pub name: Option<String>,
    /// At most 1,024 characters.
    pub description: Option<String>,
    /// Position on the page.
    pub order: Option<i32>,
    pub group_id: Option<GroupId>,
    /// Position within its group; kept while there is no group.
    pub group_order: Option<i32>,
}

/// §2.6 as sent by a caller: not validated, every field optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComponentDraft {
    pub page_id: Option<String>,
    /// A name of [`ComponentType`].
    pub kind: Option<String>,
    pub monitor_id: Option<String>,
    pub name: Option<String>,
    pub description: Option<String>,
    /// Position on the page.
    pub order: Option<i32>,
    pub group_id: Option<String>,
    /// Position within its group.
    pub group_order: Option<i32>,
}

impl ComponentDraft {
    /// Validates the settings of a new component; returns all violations.
    pub fn parse(self) -> Result<ComponentSettings, Violations> {
        self.read(None)
    }

    /// Validates the settings of a component that had `seen`; returns all violations. Page and type
    /// must be the same. If its monitor was deleted, no other one is required.
    pub fn parse_change(self, seen: &ComponentSettings) -> Result<ComponentSettings, Violations> {
        self.read(Some(seen))
    }

    /// Returns the draft for an update of every argument; fixed ones may be omitted.
    #[must_use]
    pub fn with_fixed(self, seen: &ComponentSettings) -> Self {
        Self {
            page_id: self.page_id.or_else(|| Some(seen.page_id.to_string())),
            kind: self.kind.or_else(|| Some(seen.kind.to_string())),
            ..self
        }
    }

    /// Copies the fields in `mask` from `other`, clearing those that `other` omits. Rejects unknown
    /// names without copying anything.
    pub fn apply_mask(&mut self, other: Self, mask: &[String]) -> Result<(), Violations> {
        mask::check(&STATUS_PAGE_COMPONENT, mask)?;
        let named = |name: &str| mask.iter().any(|named| named == name);
        // Destructured, so that a new field cannot be forgotten here.
        let Self { page_id, kind, monitor_id, name, description, order, group_id, group_order } =
            other;
        replace(&mut self.page_id, page_id, named("page_id"));
        replace(&mut self.kind, kind, named("type"));
        replace(&mut self.monitor_id, monitor_id, named("monitor_id"));
        replace(&mut self.name, name, named("name"));
        replace(&mut self.description, description, named("description"));
        replace(&mut self.order, order, named("order"));
        replace(&mut self.group_id, group_id, named("group_id"));
        replace(&mut self.group_order, group_order, named("group_order"));
        Ok(())
    }

    fn read(self, seen: Option<&ComponentSettings>) -> Result<ComponentSettings, Violations> {
        let mut validator = Validator::new(&STATUS_PAGE_COMPONENT);
        let settings = settings(&mut validator, self, seen);
        validator.finish(settings)
    }
}

impl From<&ComponentSettings> for ComponentDraft {
    /// Creates the draft that parses to these settings, the base of a masked update.
    fn from(settings: &ComponentSettings) -> Self {
        Self {
            page_id: Some(settings.page_id.to_string()),
            kind: Some(settings.kind.to_string()),
            monitor_id: settings.monitor_id.map(|id| id.to_string()),
            name: settings.name.clone(),
            description: settings.description.clone(),
            order: settings.order,
            group_id: settings.group_id.map(|id| id.to_string()),
            group_order: settings.group_order,
        }
    }
}

fn settings(
    validator: &mut Validator,
    draft: ComponentDraft,
    seen: Option<&ComponentSettings>,
) -> Option<ComponentSettings> {
    let has_monitor = draft.monitor_id.is_some();
    let has_name = draft.name.as_ref().is_some_and(|name| !name.trim().is_empty());
    let page_id = reference(validator, "page_id", draft.page_id, A_PAGE);
    let kind: Option<ComponentType> = validator.word("type", draft.kind);
    let monitor_id = reference(validator, "monitor_id", draft.monitor_id, A_MONITOR);
    let name = validator.text("name", draft.name);
    let description = validator.text("description", draft.description);
    let order = validator.integer("order", draft.order);
    let group_id = reference(validator, "group_id", draft.group_id, A_GROUP);
    let group_order = validator.integer("group_order", draft.group_order);
    if let Some(seen) = seen {
        fixed(validator, "page_id", page_id, seen.page_id, "stays on its page");
        fixed(validator, "type", kind, seen.kind, "keeps its type");
    }
    // If the monitor was deleted, other changes need no new one.
    let is_orphan =
        seen.is_some_and(|seen| seen.kind == ComponentType::Monitor && seen.monitor_id.is_none());
    match kind {
        Some(ComponentType::Monitor) if is_orphan => {}
        Some(ComponentType::Static) if has_monitor => {
            let allowed = "must not be given when `type` is `static`";
            let _: Option<()> = validator.reject_without_value("monitor_id", allowed);
        }
        Some(kind @ (ComponentType::Monitor | ComponentType::Static)) => validator.check_rules(
            |field| (field == "type").then_some(kind.as_str()),
            |field| match field {
                "monitor_id" => has_monitor,
                "name" => has_name,
                _ => false,
            },
        ),
        None => {}
    }
    Some(ComponentSettings {
        page_id: page_id?,
        kind: kind?,
        monitor_id,
        name,
        description,
        order,
        group_id,
        group_order,
    })
}

/// Parses the ID of another resource. An ID that does not parse is rejected like an unknown one.
pub(crate) fn reference<Id: FromStr>(
    validator: &mut Validator,
    field: &str,
    given: Option<String>,
    allowed: &str,
) -> Option<Id> {
    let text = validator.text(field, given)?;
    match text.parse() {
        Ok(id) => Some(id),
        Err(_) => validator.refuse(field, text, allowed),
    }
}

/// Rejects a change of a fixed value.
pub(crate) fn fixed<T: Copy + PartialEq + Display>(
    validator: &mut Validator,
    field: &str,
    given: Option<T>,
    seen: T,
    why: &str,
) {
    if let Some(given) = given.filter(|given| *given != seen) {
        let allowed = format!("must stay {seen}: it {why}");
        let _: Option<()> = validator.refuse(field, given, allowed);
    }
}
