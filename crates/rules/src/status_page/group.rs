//! Component groups of a status page (§2.7): draft, settings, and the rules between fields.

use super::A_PAGE;
use super::component::{fixed, reference};
use crate::mask::{self, replace};
use crate::tables::STATUS_PAGE_COMPONENT_GROUP;
use crate::{GroupId, PageId, Timestamp, Validator, Violations, WorkspaceId};

/// A stored component group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentGroup {
    pub id: GroupId,
    pub workspace: WorkspaceId,
    /// The user's settings.
    pub settings: GroupSettings,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// The valid arguments of §2.7. Only [`GroupDraft`] and the store create them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupSettings {
    /// Fixed.
    pub page_id: PageId,
    /// 1 to 256 characters.
    pub name: String,
}

/// §2.7 as sent by a caller: not validated, every field optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupDraft {
    pub page_id: Option<String>,
    pub name: Option<String>,
}

impl GroupDraft {
    /// Validates the settings of a new group; returns all violations.
    pub fn parse(self) -> Result<GroupSettings, Violations> {
        self.read(None)
    }

    /// Validates the settings of a group that had `seen`; returns all violations. The page must be
    /// the same.
    pub fn parse_change(self, seen: &GroupSettings) -> Result<GroupSettings, Violations> {
        self.read(Some(seen))
    }

    /// Returns the draft for an update of every argument; fixed ones may be omitted.
    #[must_use]
    pub fn with_fixed(self, seen: &GroupSettings) -> Self {
        Self { page_id: self.page_id.or_else(|| Some(seen.page_id.to_string())), ..self }
    }

    /// Copies the fields in `mask` from `other`, clearing those that `other` omits. Rejects unknown
    /// names without copying anything.
    pub fn apply_mask(&mut self, other: Self, mask: &[String]) -> Result<(), Violations> {
        mask::check(&STATUS_PAGE_COMPONENT_GROUP, mask)?;
        let named = |name: &str| mask.iter().any(|named| named == name);
        // Destructured, so that a new field cannot be forgotten here.
        let Self { page_id, name } = other;
        replace(&mut self.page_id, page_id, named("page_id"));
        replace(&mut self.name, name, named("name"));
        Ok(())
    }

    fn read(self, seen: Option<&GroupSettings>) -> Result<GroupSettings, Violations> {
        let mut validator = Validator::new(&STATUS_PAGE_COMPONENT_GROUP);
        let page_id = reference(&mut validator, "page_id", self.page_id, A_PAGE);
        let name = validator.text("name", self.name);
        if let Some(seen) = seen {
            fixed(&mut validator, "page_id", page_id, seen.page_id, "stays on its page");
        }
        let read = page_id.zip(name);
        validator.finish(read.map(|(page_id, name)| GroupSettings { page_id, name }))
    }
}

impl From<&GroupSettings> for GroupDraft {
    /// Creates the draft that parses to these settings, the base of a masked update.
    fn from(settings: &GroupSettings) -> Self {
        Self { page_id: Some(settings.page_id.to_string()), name: Some(settings.name.clone()) }
    }
}
