//! Templates of status reports: default values for new reports. Values from the caller take
//! precedence.

use super::{
    COMPONENTS, ComponentImpact, ImpactDraft, ReportDraft, ReportStatus,
    TEMPLATE_COMPONENTS_ALLOWED, UpdateDraft, impacts,
};
use crate::mask::{self, replace};
use crate::tables::REPORT_TEMPLATE;
use crate::{ComponentId, TemplateId, Timestamp, Validator, Violations, WorkspaceId};

/// A stored template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportTemplate {
    pub id: TemplateId,
    pub workspace: WorkspaceId,
    /// The user's settings.
    pub settings: TemplateSettings,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// The valid arguments of a template. Only [`TemplateDraft`] and the store create them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateSettings {
    /// Name shown when choosing a template, 1 to 256 characters.
    pub name: String,
    /// Title of the report.
    pub title: Option<String>,
    /// Status of the first update.
    pub status: Option<ReportStatus>,
    /// Text of the first update.
    pub text: Option<String>,
    /// Impact on components of any page; sorted, without duplicates.
    pub components: Vec<ComponentImpact>,
}

/// A template as sent by a caller: not validated, every field optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TemplateDraft {
    pub name: Option<String>,
    /// Title of the report.
    pub title: Option<String>,
    /// A name of [`ReportStatus`].
    pub status: Option<String>,
    /// Text of the first update.
    pub text: Option<String>,
    pub components: Vec<ImpactDraft>,
}

impl TemplateDraft {
    /// Validates the draft; returns all violations. Does not check whether the components exist.
    pub fn parse(self) -> Result<TemplateSettings, Violations> {
        let mut validator = Validator::new(&REPORT_TEMPLATE);
        let name = validator.text("name", self.name);
        let title = validator.text("title", self.title);
        let status = validator.word("status", self.status);
        let text = validator.text("text", self.text);
        let components = impacts(&mut validator, self.components, TEMPLATE_COMPONENTS_ALLOWED);
        validator.finish(name.map(|name| TemplateSettings {
            name,
            title,
            status,
            text,
            components,
        }))
    }

    /// Copies the fields in `mask` from `other`, clearing those that `other` omits. Rejects unknown
    /// names without copying anything.
    pub fn apply_mask(&mut self, other: Self, mask: &[String]) -> Result<(), Violations> {
        mask::check(&REPORT_TEMPLATE, mask)?;
        let named = |name: &str| mask.iter().any(|named| named == name);
        // Destructured, so that a new field cannot be forgotten here.
        let Self { name, title, status, text, components } = other;
        replace(&mut self.name, name, named("name"));
        replace(&mut self.title, title, named("title"));
        replace(&mut self.status, status, named("status"));
        replace(&mut self.text, text, named("text"));
        replace(&mut self.components, components, named(COMPONENTS));
        Ok(())
    }
}

impl TemplateSettings {
    /// Fills in values that the caller omitted. Uses only components for which `is_there` returns
    /// true: those of the report's page.
    pub fn fill(
        &self,
        report: &mut ReportDraft,
        update: &mut UpdateDraft,
        is_there: impl Fn(ComponentId) -> bool,
    ) {
        let Self { name: _, title, status, text, components } = self;
        report.title = report.title.take().or_else(|| title.clone());
        update.status = update.status.take().or_else(|| status.map(|status| status.to_string()));
        update.text = update.text.take().or_else(|| text.clone());
        if report.components.is_empty() && update.components.is_empty() {
            let known = components.iter().filter(|it| is_there(it.component));
            report.components = known.map(ImpactDraft::from).collect();
        }
    }
}

impl From<&TemplateSettings> for TemplateDraft {
    /// Creates the draft that parses to these settings, the base of a masked update.
    fn from(settings: &TemplateSettings) -> Self {
        Self {
            name: Some(settings.name.clone()),
            title: settings.title.clone(),
            status: settings.status.map(|status| status.to_string()),
            text: settings.text.clone(),
            components: settings.components.iter().map(ImpactDraft::from).collect(),
        }
    }
}
