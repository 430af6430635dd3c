//! Updates of status reports.

use super::{COMPONENTS, COMPONENTS_ALLOWED, ComponentImpact, ImpactDraft, ReportStatus, impacts};
use crate::mask::{self, replace};
use crate::tables::REPORT_UPDATE;
use crate::{Timestamp, Validator, Violations, limits};

/// The valid arguments of an update. Only [`UpdateDraft`] and the store create them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateSettings {
    /// Status of the report after the update.
    pub status: ReportStatus,
    /// In Markdown, 1 to 8,192 characters.
    pub text: String,
    /// Time from which it applies.
    pub at: Timestamp,
    /// Impact on components; sorted, without duplicates.
    pub components: Vec<ComponentImpact>,
}

/// An update as sent by a caller: not validated, every field optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpdateDraft {
    /// A name of [`ReportStatus`].
    pub status: Option<String>,
    pub text: Option<String>,
    /// Time from which it applies.
    pub at: Option<Timestamp>,
    pub components: Vec<ImpactDraft>,
}

impl UpdateDraft {
    /// Validates a new update created at `now`; returns all violations. Does not check whether the
    /// components exist.
    pub fn parse(self, now: Timestamp) -> Result<UpdateSettings, Violations> {
        self.read(now, now)
    }

    /// Validates an edit at `now` of an update that had `seen`; returns all violations. Keeps the
    /// time if it is omitted.
    pub fn parse_change(
        self,
        seen: &UpdateSettings,
        now: Timestamp,
    ) -> Result<UpdateSettings, Violations> {
        self.read(seen.at, now)
    }

    /// Copies the fields in `mask` from `other`, clearing those that `other` omits. Rejects unknown
    /// names without copying anything.
    pub fn apply_mask(&mut self, other: Self, mask: &[String]) -> Result<(), Violations> {
        mask::check(&REPORT_UPDATE, mask)?;
        let named = |name: &str| mask.iter().any(|named| named == name);
        // Destructured, so that a new field cannot be forgotten here.
        let Self { status, text, at, components } = other;
        replace(&mut self.status, status, named("status"));
        replace(&mut self.text, text, named("text"));
        replace(&mut self.at, at, named("at"));
        replace(&mut self.components, components, named(COMPONENTS));
        Ok(())
    }

    fn read(self, otherwise: Timestamp, now: Timestamp) -> Result<UpdateSettings, Violations> {
        let mut validator = Validator::new(&REPORT_UPDATE);
        let status = validator.word("status", self.status);
        let text = validator.text("text", self.text);
        let at = at(&mut validator, self.at.unwrap_or(otherwise), now);
        let components = impacts(&mut validator, self.components, COMPONENTS_ALLOWED);
        let settings = status.zip(text).zip(at);
        let settings =
            settings.map(|((status, text), at)| UpdateSettings { status, text, at, components });
        validator.finish(settings)
    }
}

impl From<&UpdateSettings> for UpdateDraft {
    /// Creates the draft that parses to these settings, the base of a masked edit.
    fn from(settings: &UpdateSettings) -> Self {
        Self {
            status: Some(settings.status.to_string()),
            text: Some(settings.text.clone()),
            at: Some(settings.at),
            components: settings.components.iter().map(ImpactDraft::from).collect(),
        }
    }
}

fn at(validator: &mut Validator, given: Timestamp, now: Timestamp) -> Option<Timestamp> {
    let earliest = limits::REPORT_AT_MIN;
    let at = validator.instant("at", Some(given))?;
    if (earliest..=now).contains(&at) {
        return Some(at);
    }
    validator.refuse("at", at, format!("must be from {earliest} to now, {now}"))
}
