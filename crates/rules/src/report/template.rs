//! A template: what the reports of a workspace may begin with. What a caller writes beside it counts
//! more.

use super::{
    COMPONENTS, ComponentImpact, ImpactDraft, ReportDraft, ReportStatus,
    TEMPLATE_COMPONENTS_ALLOWED, UpdateDraft, impacts,
};
use crate::mask::{self, replace};
use crate::tables::REPORT_TEMPLATE;
use crate::{ComponentId, Reader, TemplateId, Timestamp, Violations, WorkspaceId};

/// A template as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportTemplate {
    /// Its identifier.
    pub id: TemplateId,
    /// Who owns it.
    pub workspace: WorkspaceId,
    /// What the user wrote.
    pub settings: TemplateSettings,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// The arguments of a template, valid. Only [`TemplateDraft`] and the store make them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateSettings {
    /// What people choose it by, 1 to 256 characters.
    pub name: String,
    /// Title of the report.
    pub title: Option<String>,
    /// Status of the first update.
    pub status: Option<ReportStatus>,
    /// Text of the first update.
    pub text: Option<String>,
    /// What it says of components, of whichever pages; sorted, each once.
    pub components: Vec<ComponentImpact>,
}

/// A template as a caller wrote it: nothing checked, everything optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TemplateDraft {
    /// What people choose it by.
    pub name: Option<String>,
    /// Title of the report.
    pub title: Option<String>,
    /// A word of [`ReportStatus`].
    pub status: Option<String>,
    /// Text of the first update.
    pub text: Option<String>,
    /// What it says of components.
    pub components: Vec<ImpactDraft>,
}

impl TemplateDraft {
    /// The settings of a template, or all that is wrong with the draft. Whether the components are there
    /// is not looked at.
    pub fn parse(self) -> Result<TemplateSettings, Violations> {
        let mut reader = Reader::new(&REPORT_TEMPLATE);
        let name = reader.text("name", self.name);
        let title = reader.text("title", self.title);
        let status = reader.word("status", self.status);
        let text = reader.text("text", self.text);
        let components = impacts(&mut reader, self.components, TEMPLATE_COMPONENTS_ALLOWED);
        reader.finish(name.map(|name| TemplateSettings { name, title, status, text, components }))
    }

    /// Takes from `other` the fields that `mask` names, also where `other` leaves them out: that
    /// clears them. A name that no template has is refused, and nothing is taken then.
    pub fn take(&mut self, other: Self, mask: &[String]) -> Result<(), Violations> {
        mask::check(&REPORT_TEMPLATE, mask)?;
        let named = |name: &str| mask.iter().any(|named| named == name);
        // Taken apart by name, so that a new field cannot be forgotten here.
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
    /// Fills in what a caller left out. Of its components those count that `is_there` knows: the ones of
    /// the report's page.
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
    /// The draft that parses to these settings: where an update with a mask begins.
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
