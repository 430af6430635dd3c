//! Status reports: what a user wrote (the drafts of a report, an update and a template), and the same
//! once every rule held. Whether what they name is there is asked by `store`; what visitors see of them
//! is decided by `domain`.

mod template;
mod update;

use std::collections::BTreeSet;

pub use template::{ReportTemplate, TemplateDraft, TemplateSettings};
pub use update::{UpdateDraft, UpdateSettings};

use crate::mask::{self, replace};
use crate::status_page::{A_PAGE, fixed, reference};
use crate::tables::STATUS_REPORT;
use crate::{ComponentId, PageId, Reader, ReportId, Timestamp, UpdateId, Violations, WorkspaceId};

/// The field that names components.
pub const COMPONENTS: &str = "components";
/// What that field of a report may hold; whether a component is there is asked of the store.
pub const COMPONENTS_ALLOWED: &str = "may only name components of the report's status page";
/// What that field of a template may hold.
pub const TEMPLATE_COMPONENTS_ALLOWED: &str = "may only name components of this workspace";
/// The field that names a template.
pub const TEMPLATE: &str = "template_id";
/// What that field may hold; whether a template is there is asked of the store.
pub const A_TEMPLATE: &str = "must be a template of this workspace";

words! {
    /// How far people have come with what a report is about.
    ReportStatus ("status") {
        /// They look for the cause.
        Investigating = "investigating",
        /// They know it.
        Identified = "identified",
        /// They have done something, and watch.
        Monitoring = "monitoring",
        /// It is over.
        Resolved = "resolved",
    }

    /// What a report says of a component while it is open, from bad to worse.
    Impact ("impact") {
        /// It is slow or partly failing.
        Degraded = "degraded",
        /// It is down.
        Down = "down",
    }

    /// Which reports are asked for.
    ReportState ("state") {
        /// Those that are not resolved.
        Open = "open",
        /// Those that are.
        Resolved = "resolved",
    }
}

/// A report as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Its identifier.
    pub id: ReportId,
    /// Who owns it.
    pub workspace: WorkspaceId,
    /// The page it stands on; fixed.
    pub page: PageId,
    /// Its title.
    pub title: String,
    /// Its updates, newest first; never empty. In a list the latest alone.
    pub updates: Vec<ReportUpdate>,
    /// The time of its first update.
    pub started_at: Timestamp,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// An update as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportUpdate {
    /// Its identifier.
    pub id: UpdateId,
    /// How far people had come.
    pub status: ReportStatus,
    /// What is said, as Markdown.
    pub text: String,
    /// From when on it holds.
    pub at: Timestamp,
    /// What it says of components until the next one; those of one that resolves say what it was about.
    pub components: Vec<ComponentImpact>,
    /// Whether subscribers were to be told of it.
    pub notified: bool,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was last edited.
    pub updated_at: Timestamp,
}

/// What is said of one component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComponentImpact {
    /// Which.
    pub component: ComponentId,
    /// How it is.
    pub impact: Impact,
}

/// The arguments of a report, valid. Only [`ReportDraft`] and the store make them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportSettings {
    /// The page it stands on; fixed.
    pub page_id: PageId,
    /// Title, 1 to 256 characters.
    pub title: String,
    /// What its latest update says of components; sorted, each once.
    pub components: Vec<ComponentImpact>,
}

/// What a caller wrote of one component.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImpactDraft {
    /// Which.
    pub component_id: Option<String>,
    /// A word of [`Impact`].
    pub impact: Option<String>,
}

/// A report as a caller wrote it: nothing checked, everything optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportDraft {
    /// The page it stands on.
    pub page_id: Option<String>,
    /// Title.
    pub title: Option<String>,
    /// What is said of components.
    pub components: Vec<ImpactDraft>,
}

impl Report {
    /// How far it has come: as its latest update says.
    pub fn status(&self) -> ReportStatus {
        self.updates.first().map_or(ReportStatus::Investigating, |latest| latest.status)
    }

    /// Its arguments as they are now.
    pub fn settings(&self) -> ReportSettings {
        ReportSettings {
            page_id: self.page,
            title: self.title.clone(),
            components: self.updates.first().map(|it| it.components.clone()).unwrap_or_default(),
        }
    }

    /// When it was resolved, where it is.
    pub fn resolved_at(&self) -> Option<Timestamp> {
        self.updates.first().filter(|it| it.status == ReportStatus::Resolved).map(|it| it.at)
    }
}

impl ReportDraft {
    /// The settings of a new report, or all that is wrong with the draft. Whether what it names is
    /// there is not looked at.
    pub fn parse(self) -> Result<ReportSettings, Violations> {
        self.read(None)
    }

    /// The settings of a report that had `seen`, or all that is wrong with the draft. The page must be
    /// the same, or left out.
    pub fn parse_change(self, seen: &ReportSettings) -> Result<ReportSettings, Violations> {
        self.read(Some(seen))
    }

    /// Takes from `other` the fields that `mask` names, also where `other` leaves them out: that
    /// clears them. A name that no report has is refused, and nothing is taken then.
    pub fn take(&mut self, other: Self, mask: &[String]) -> Result<(), Violations> {
        mask::check(&STATUS_REPORT, mask)?;
        let named = |name: &str| mask.iter().any(|named| named == name);
        // Taken apart by name, so that a new field cannot be forgotten here.
        let Self { page_id, title, components } = other;
        replace(&mut self.page_id, page_id, named("page_id"));
        replace(&mut self.title, title, named("title"));
        replace(&mut self.components, components, named(COMPONENTS));
        Ok(())
    }

    fn read(self, seen: Option<&ReportSettings>) -> Result<ReportSettings, Violations> {
        let mut reader = Reader::new(&STATUS_REPORT);
        let seen_page = seen.map(|seen| seen.page_id);
        let page_id = self.page_id.or_else(|| seen_page.map(|page| page.to_string()));
        let page_id: Option<PageId> = reference(&mut reader, "page_id", page_id, A_PAGE);
        if let Some(seen) = seen_page {
            fixed(&mut reader, "page_id", page_id, seen, "stays on its page");
        }
        let title = reader.text("title", self.title);
        let components = impacts(&mut reader, self.components, COMPONENTS_ALLOWED);
        let settings = page_id.zip(title);
        let settings =
            settings.map(|(page_id, title)| ReportSettings { page_id, title, components });
        reader.finish(settings)
    }
}

impl From<&ReportSettings> for ReportDraft {
    /// The draft that parses to these settings: where an update with a mask begins.
    fn from(settings: &ReportSettings) -> Self {
        Self {
            page_id: Some(settings.page_id.to_string()),
            title: Some(settings.title.clone()),
            components: settings.components.iter().map(ImpactDraft::from).collect(),
        }
    }
}

impl From<&ComponentImpact> for ImpactDraft {
    fn from(said: &ComponentImpact) -> Self {
        Self {
            component_id: Some(said.component.to_string()),
            impact: Some(said.impact.to_string()),
        }
    }
}

/// What is said of components: sorted, each once.
fn impacts(
    reader: &mut Reader,
    given: Vec<ImpactDraft>,
    allowed: &'static str,
) -> Vec<ComponentImpact> {
    let mut said = reader.blocks(COMPONENTS, given, |reader, draft| {
        let component = reference(reader, "component_id", draft.component_id, allowed);
        let impact = reader.word("impact", draft.impact);
        Some(ComponentImpact { component: component?, impact: impact? })
    });
    let mut seen = BTreeSet::new();
    if let Some(twice) = said.iter().find(|it| !seen.insert(it.component)) {
        let twice = twice.component;
        let _: Option<()> = reader.refuse(COMPONENTS, twice, "must name each component once");
    }
    said.sort_unstable();
    said
}
