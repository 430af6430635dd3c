//! Status reports: the drafts of a report, an update and a template, and the validated settings.
//! `store` checks that the referenced objects exist; `domain` builds the view for visitors.

mod template;
mod update;

use std::collections::BTreeSet;

pub use template::{ReportTemplate, TemplateDraft, TemplateSettings};
pub use update::{UpdateDraft, UpdateSettings};

pub use crate::enums::{Impact, ReportState, ReportStatus};
use crate::mask::{self, replace};
use crate::status_page::{A_PAGE, fixed, reference};
use crate::tables::STATUS_REPORT;
use crate::{
    ComponentId, PageId, ReportId, Timestamp, UpdateId, Validator, Violations, WorkspaceId,
};

/// The field with components.
pub const COMPONENTS: &str = "components";
/// Allowed values of that field of a report; the store checks whether a component exists.
pub const COMPONENTS_ALLOWED: &str = "may only name components of the report's status page";
/// Allowed values of that field of a template.
pub const TEMPLATE_COMPONENTS_ALLOWED: &str = "may only name components of this workspace";
/// The field with a template.
pub const TEMPLATE: &str = "template_id";
/// Allowed values of that field; the store checks whether a template exists.
pub const A_TEMPLATE: &str = "must be a template of this workspace";

/// A stored report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub id: ReportId,
    pub workspace: WorkspaceId,
    /// Fixed.
    pub page: PageId,
    pub title: String,
    /// Updates, newest first; never empty. In a list only the latest.
    pub updates: Vec<ReportUpdate>,
    /// The time of its first update.
    pub started_at: Timestamp,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// A stored update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportUpdate {
    pub id: UpdateId,
    /// Status of the report after the update.
    pub status: ReportStatus,
    /// In Markdown.
    pub text: String,
    /// Time from which it applies.
    pub at: Timestamp,
    /// Impact on components until the next update; a resolving update lists those affected before.
    pub components: Vec<ComponentImpact>,
    /// Whether subscribers were to be notified.
    pub notified: bool,
    pub created_at: Timestamp,
    /// Time of the last edit.
    pub updated_at: Timestamp,
}

/// Impact on one component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComponentImpact {
    pub component: ComponentId,
    pub impact: Impact,
}

/// The valid arguments of a report. Only [`ReportDraft`] and the store create them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportSettings {
    /// Fixed.
    pub page_id: PageId,
    /// 1 to 256 characters.
    pub title: String,
    /// Impact of its latest update on components; sorted, without duplicates.
    pub components: Vec<ComponentImpact>,
}

/// Impact on one component, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImpactDraft {
    pub component_id: Option<String>,
    /// A name of [`Impact`].
    pub impact: Option<String>,
}

/// A report as sent by a caller: not validated, every field optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportDraft {
    pub page_id: Option<String>,
    pub title: Option<String>,
    pub components: Vec<ImpactDraft>,
}

impl Report {
    /// Returns the status of its latest update.
    pub fn status(&self) -> ReportStatus {
        self.updates.first().map_or(ReportStatus::Investigating, |latest| latest.status)
    }

    /// Returns its current arguments.
    pub fn settings(&self) -> ReportSettings {
        ReportSettings {
            page_id: self.page,
            title: self.title.clone(),
            components: self.updates.first().map(|it| it.components.clone()).unwrap_or_default(),
        }
    }

    /// Returns the time of its resolution, if resolved.
    pub fn resolved_at(&self) -> Option<Timestamp> {
        self.updates.first().filter(|it| it.status == ReportStatus::Resolved).map(|it| it.at)
    }
}

impl ReportDraft {
    /// Validates the settings of a new report; returns all violations. Does not check whether
    /// referenced objects exist.
    pub fn parse(self) -> Result<ReportSettings, Violations> {
        self.read(None)
    }

    /// Validates the settings of a report that had `seen`; returns all violations. The page must be
    /// the same or omitted.
    pub fn parse_change(self, seen: &ReportSettings) -> Result<ReportSettings, Violations> {
        self.read(Some(seen))
    }

    /// Copies the fields in `mask` from `other`, clearing those that `other` omits. Rejects unknown
    /// names without copying anything.
    pub fn apply_mask(&mut self, other: Self, mask: &[String]) -> Result<(), Violations> {
        mask::check(&STATUS_REPORT, mask)?;
        let named = |name: &str| mask.iter().any(|named| named == name);
        // Destructured, so that a new field cannot be forgotten here.
        let Self { page_id, title, components } = other;
        replace(&mut self.page_id, page_id, named("page_id"));
        replace(&mut self.title, title, named("title"));
        replace(&mut self.components, components, named(COMPONENTS));
        Ok(())
    }

    fn read(self, seen: Option<&ReportSettings>) -> Result<ReportSettings, Violations> {
        let mut validator = Validator::new(&STATUS_REPORT);
        let seen_page = seen.map(|seen| seen.page_id);
        let page_id = self.page_id.or_else(|| seen_page.map(|page| page.to_string()));
        let page_id: Option<PageId> = reference(&mut validator, "page_id", page_id, A_PAGE);
        if let Some(seen) = seen_page {
            fixed(&mut validator, "page_id", page_id, seen, "stays on its page");
        }
        let title = validator.text("title", self.title);
        let components = impacts(&mut validator, self.components, COMPONENTS_ALLOWED);
        let settings = page_id.zip(title);
        let settings =
            settings.map(|(page_id, title)| ReportSettings { page_id, title, components });
        validator.finish(settings)
    }
}

impl From<&ReportSettings> for ReportDraft {
    /// Creates the draft that parses to these settings, the base of a masked update.
    fn from(settings: &ReportSettings) -> Self {
        Self {
            page_id: Some(settings.page_id.to_string()),
            title: Some(settings.title.clone()),
            components: settings.components.iter().map(ImpactDraft::from).collect(),
        }
    }
}

impl From<&ComponentImpact> for ImpactDraft {
    fn from(impact: &ComponentImpact) -> Self {
        Self {
            component_id: Some(impact.component.to_string()),
            impact: Some(impact.impact.to_string()),
        }
    }
}

/// Reads the impact on components: sorted, without duplicates.
fn impacts(
    validator: &mut Validator,
    given: Vec<ImpactDraft>,
    allowed: &'static str,
) -> Vec<ComponentImpact> {
    let mut impacts = validator.blocks(COMPONENTS, given, |validator, draft| {
        let component = reference(validator, "component_id", draft.component_id, allowed);
        let impact = validator.word("impact", draft.impact);
        Some(ComponentImpact { component: component?, impact: impact? })
    });
    let mut seen = BTreeSet::new();
    if let Some(twice) = impacts.iter().find(|it| !seen.insert(it.component)) {
        let twice = twice.component;
        let _: Option<()> = validator.refuse(COMPONENTS, twice, "must name each component once");
    }
    impacts.sort_unstable();
    impacts
}
