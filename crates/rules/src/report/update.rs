//! An update of a report: what it says from a moment on.

use super::{COMPONENTS, COMPONENTS_ALLOWED, ComponentImpact, ImpactDraft, ReportStatus, impacts};
use crate::mask::{self, replace};
use crate::tables::REPORT_UPDATE;
use crate::{Reader, Timestamp, Violations, limits};

/// The arguments of an update, valid. Only [`UpdateDraft`] and the store make them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateSettings {
    /// How far people have come.
    pub status: ReportStatus,
    /// What is said, as Markdown, 1 to 8,192 characters.
    pub text: String,
    /// From when on it holds.
    pub at: Timestamp,
    /// What it says of components; sorted, each once.
    pub components: Vec<ComponentImpact>,
}

/// An update as a caller wrote it: nothing checked, everything optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpdateDraft {
    /// A word of [`ReportStatus`].
    pub status: Option<String>,
    /// What is said.
    pub text: Option<String>,
    /// From when on it holds.
    pub at: Option<Timestamp>,
    /// What it says of components.
    pub components: Vec<ImpactDraft>,
}

impl UpdateDraft {
    /// The settings of an update that is written at `now`, or all that is wrong with the draft. Whether
    /// the components are there is not looked at.
    pub fn parse(self, now: Timestamp) -> Result<UpdateSettings, Violations> {
        self.read(now, now)
    }

    /// The settings of an update that had `seen` and is edited at `now`, or all that is wrong with the
    /// draft. Without a time it keeps its own.
    pub fn parse_change(
        self,
        seen: &UpdateSettings,
        now: Timestamp,
    ) -> Result<UpdateSettings, Violations> {
        self.read(seen.at, now)
    }

    /// Takes from `other` the fields that `mask` names, also where `other` leaves them out: that
    /// clears them. A name that no update has is refused, and nothing is taken then.
    pub fn take(&mut self, other: Self, mask: &[String]) -> Result<(), Violations> {
        mask::check(&REPORT_UPDATE, mask)?;
        let named = |name: &str| mask.iter().any(|named| named == name);
        // Taken apart by name, so that a new field cannot be forgotten here.
        let Self { status, text, at, components } = other;
        replace(&mut self.status, status, named("status"));
        replace(&mut self.text, text, named("text"));
        replace(&mut self.at, at, named("at"));
        replace(&mut self.components, components, named(COMPONENTS));
        Ok(())
    }

    fn read(self, otherwise: Timestamp, now: Timestamp) -> Result<UpdateSettings, Violations> {
        let mut reader = Reader::new(&REPORT_UPDATE);
        let status = reader.word("status", self.status);
        let text = reader.text("text", self.text);
        let at = at(&mut reader, self.at.unwrap_or(otherwise), now);
        let components = impacts(&mut reader, self.components, COMPONENTS_ALLOWED);
        let settings = status.zip(text).zip(at);
        let settings =
            settings.map(|((status, text), at)| UpdateSettings { status, text, at, components });
        reader.finish(settings)
    }
}

impl From<&UpdateSettings> for UpdateDraft {
    /// The draft that parses to these settings: where an edit with a mask begins.
    fn from(settings: &UpdateSettings) -> Self {
        Self {
            status: Some(settings.status.to_string()),
            text: Some(settings.text.clone()),
            at: Some(settings.at),
            components: settings.components.iter().map(ImpactDraft::from).collect(),
        }
    }
}

fn at(reader: &mut Reader, given: Timestamp, now: Timestamp) -> Option<Timestamp> {
    let earliest = limits::REPORT_AT_MIN;
    let at = reader.instant("at", Some(given))?;
    if (earliest..=now).contains(&at) {
        return Some(at);
    }
    reader.refuse("at", at, format!("must be from {earliest} to now, {now}"))
}
