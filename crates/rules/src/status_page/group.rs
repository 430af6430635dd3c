//! A component group of a status page (§2.7): draft, settings, and the rules between them.

use super::A_PAGE;
use super::component::{fixed, reference};
use crate::mask::{self, replace};
use crate::tables::STATUS_PAGE_COMPONENT_GROUP;
use crate::{GroupId, PageId, Reader, Timestamp, Violations, WorkspaceId};

/// A component group as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentGroup {
    /// Its identifier.
    pub id: GroupId,
    /// Who owns it.
    pub workspace: WorkspaceId,
    /// What the user wrote.
    pub settings: GroupSettings,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// The arguments of §2.7, valid. Only [`GroupDraft`] and the store make them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupSettings {
    /// The page it stands on; fixed.
    pub page_id: PageId,
    /// Name, 1 to 256 characters.
    pub name: String,
}

/// §2.7 as a caller wrote it: nothing checked, everything optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupDraft {
    /// The page it stands on.
    pub page_id: Option<String>,
    /// Name.
    pub name: Option<String>,
}

impl GroupDraft {
    /// The settings of a new group, or all that is wrong with the draft.
    pub fn parse(self) -> Result<GroupSettings, Violations> {
        self.read(None)
    }

    /// The settings of a group that had `seen`, or all that is wrong with the draft. The page must
    /// be the same.
    pub fn parse_change(self, seen: &GroupSettings) -> Result<GroupSettings, Violations> {
        self.read(Some(seen))
    }

    /// The draft of an update that replaces every argument: what is fixed may be left out.
    #[must_use]
    pub fn with_fixed(self, seen: &GroupSettings) -> Self {
        Self { page_id: self.page_id.or_else(|| Some(seen.page_id.to_string())), ..self }
    }

    /// Takes from `other` the fields that `mask` names, also where `other` leaves them out: that
    /// clears them. A name that no group has is refused, and nothing is taken then.
    pub fn take(&mut self, other: Self, mask: &[String]) -> Result<(), Violations> {
        mask::check(&STATUS_PAGE_COMPONENT_GROUP, mask)?;
        let named = |name: &str| mask.iter().any(|named| named == name);
        // Taken apart by name, so that a new field cannot be forgotten here.
        let Self { page_id, name } = other;
        replace(&mut self.page_id, page_id, named("page_id"));
        replace(&mut self.name, name, named("name"));
        Ok(())
    }

    fn read(self, seen: Option<&GroupSettings>) -> Result<GroupSettings, Violations> {
        let mut reader = Reader::new(&STATUS_PAGE_COMPONENT_GROUP);
        let page_id = reference(&mut reader, "page_id", self.page_id, A_PAGE);
        let name = reader.text("name", self.name);
        if let Some(seen) = seen {
            fixed(&mut reader, "page_id", page_id, seen.page_id, "stays on its page");
        }
        let read = page_id.zip(name);
        reader.finish(read.map(|(page_id, name)| GroupSettings { page_id, name }))
    }
}

impl From<&GroupSettings> for GroupDraft {
    /// The draft that parses to these settings: where an update with a mask begins.
    fn from(settings: &GroupSettings) -> Self {
        Self { page_id: Some(settings.page_id.to_string()), name: Some(settings.name.clone()) }
    }
}
