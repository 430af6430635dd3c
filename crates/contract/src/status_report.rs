//! Converts `status_report.v1` between the wire and `rules`: requests to drafts, stored reports to
//! responses. Validation belongs to `rules`.

use rules::Timestamp;
use rules::report::{
    ComponentImpact, ImpactDraft, Report, ReportDraft, ReportTemplate, ReportUpdate, TemplateDraft,
    UpdateDraft,
};

use crate::IntoDraft;
use crate::monitor::{decode_instant, encode_instant, revision};

/// Messages and service generated from `proto/status_report/v1/status_report.proto`. A
/// message becomes a field by `into()`.
pub mod wire {
    pub use crate::monitor::wire::{FieldMask, MessageField, Timestamp};
    pub use proto::status_report::v1::*;
}

/// Placeholder for a time out of range. Validation rejects it by its field.
const UNCOUNTED: Timestamp = Timestamp::from_millis(i64::MAX);

impl IntoDraft for wire::ComponentImpact {
    type Draft = ImpactDraft;

    fn into_draft(self) -> ImpactDraft {
        ImpactDraft { component_id: self.component_id, impact: self.impact }
    }
}

impl IntoDraft for wire::StatusReport {
    type Draft = ReportDraft;

    fn into_draft(self) -> ReportDraft {
        ReportDraft {
            page_id: self.page_id,
            title: self.title,
            components: drafts(self.components),
        }
    }
}

impl IntoDraft for wire::StatusReportUpdate {
    type Draft = UpdateDraft;

    fn into_draft(self) -> UpdateDraft {
        let at = self.at.as_option();
        UpdateDraft {
            status: self.status,
            text: self.text,
            at: at.map(|at| decode_instant(at).unwrap_or(UNCOUNTED)),
            components: drafts(self.components),
        }
    }
}

impl IntoDraft for wire::ReportTemplate {
    type Draft = TemplateDraft;

    fn into_draft(self) -> TemplateDraft {
        TemplateDraft {
            name: self.name,
            title: self.title,
            status: self.status,
            text: self.text,
            components: drafts(self.components),
        }
    }
}

/// Encodes a report with its loaded updates.
pub fn encode(report: &Report) -> wire::StatusReport {
    let settings = report.settings();
    wire::StatusReport {
        id: Some(report.id.to_string()),
        page_id: Some(settings.page_id.to_string()),
        title: Some(settings.title),
        components: impacts(&settings.components),
        status: Some(report.status().to_string()),
        updates: report.updates.iter().map(encode_update).collect(),
        started_at: encode_instant(report.started_at),
        resolved_at: report.resolved_at().map(encode_instant).unwrap_or_default(),
        created_at: encode_instant(report.created_at),
        updated_at: encode_instant(report.updated_at),
        revision: Some(revision(report.updated_at)),
    }
}

fn encode_update(update: &ReportUpdate) -> wire::StatusReportUpdate {
    wire::StatusReportUpdate {
        id: Some(update.id.to_string()),
        status: Some(update.status.to_string()),
        text: Some(update.text.clone()),
        at: encode_instant(update.at),
        components: impacts(&update.components),
        notified: Some(update.notified),
        created_at: encode_instant(update.created_at),
        updated_at: encode_instant(update.updated_at),
    }
}

/// Encodes a template.
pub fn encode_template(template: &ReportTemplate) -> wire::ReportTemplate {
    let settings = &template.settings;
    wire::ReportTemplate {
        id: Some(template.id.to_string()),
        name: Some(settings.name.clone()),
        title: settings.title.clone(),
        status: settings.status.map(|status| status.to_string()),
        text: settings.text.clone(),
        components: impacts(&settings.components),
        created_at: encode_instant(template.created_at),
        updated_at: encode_instant(template.updated_at),
        revision: Some(revision(template.updated_at)),
    }
}

fn drafts(given: Vec<wire::ComponentImpact>) -> Vec<ImpactDraft> {
    given.into_iter().map(IntoDraft::into_draft).collect()
}

fn impacts(impacts: &[ComponentImpact]) -> Vec<wire::ComponentImpact> {
    let shown = |it: &ComponentImpact| wire::ComponentImpact {
        component_id: Some(it.component.to_string()),
        impact: Some(it.impact.to_string()),
    };
    impacts.iter().map(shown).collect()
}

#[cfg(test)]
mod tests;
