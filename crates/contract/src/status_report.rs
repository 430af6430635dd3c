//! Converts `status_report.v1` between the wire and `rules`: requests to drafts, stored reports to
//! responses. Validation belongs to `rules`.

use rules::Timestamp;
use rules::report::{
    ComponentImpact, ImpactDraft, Report, ReportDraft, ReportTemplate, ReportUpdate, TemplateDraft,
    UpdateDraft,
};

use crate::monitor::{decode_instant, encode_instant, revision};

/// Messages, service and client generated from `proto/status_report/v1/status_report.proto`. A
/// message becomes a field by `into()`.
pub mod wire {
    pub use crate::generated::status_report::v1::*;
    pub use crate::monitor::wire::{FieldMask, MessageField, Timestamp};
}

/// Placeholder for a time out of range. Validation rejects it by its field.
const UNCOUNTED: Timestamp = Timestamp::from_millis(i64::MAX);

impl From<wire::ComponentImpact> for ImpactDraft {
    fn from(given: wire::ComponentImpact) -> Self {
        Self { component_id: given.component_id, impact: given.impact }
    }
}

impl From<wire::StatusReport> for ReportDraft {
    fn from(given: wire::StatusReport) -> Self {
        Self { page_id: given.page_id, title: given.title, components: drafts(given.components) }
    }
}

impl From<wire::StatusReportUpdate> for UpdateDraft {
    fn from(given: wire::StatusReportUpdate) -> Self {
        let at = given.at.as_option();
        Self {
            status: given.status,
            text: given.text,
            at: at.map(|at| decode_instant(at).unwrap_or(UNCOUNTED)),
            components: drafts(given.components),
        }
    }
}

impl From<wire::ReportTemplate> for TemplateDraft {
    fn from(given: wire::ReportTemplate) -> Self {
        Self {
            name: given.name,
            title: given.title,
            status: given.status,
            text: given.text,
            components: drafts(given.components),
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
    given.into_iter().map(ImpactDraft::from).collect()
}

fn impacts(said: &[ComponentImpact]) -> Vec<wire::ComponentImpact> {
    let shown = |it: &ComponentImpact| wire::ComponentImpact {
        component_id: Some(it.component.to_string()),
        impact: Some(it.impact.to_string()),
    };
    said.iter().map(shown).collect()
}

#[cfg(test)]
mod tests;
