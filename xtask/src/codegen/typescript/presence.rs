//! Decides which fields exist: those that a caller must set, and those that a response always has.
//! The contract marks most fields `optional`, so that they can be cleared. The tables of `rules`
//! and the comments explain what that means.

use anyhow::{Result, bail};
use protox::prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};
use rules::field::Presence;

use super::model::{ContractModel, Direction, TABLES};

/// Fields with presence that no table has, but every response.
const ALWAYS: [&str; 32] = [
    "incident.v1.Incident.opened_at",
    "incident.v1.RegionEvidence.slot",
    "incident.v1.TimelineEntry.at",
    "maintenance.v1.Maintenance.status",
    "maintenance.v1.Window.ends_at",
    "maintenance.v1.Window.starts_at",
    "monitor.v1.AttemptLog.started_at",
    "monitor.v1.CertificateLog.chain_not_after",
    "monitor.v1.CertificateLog.not_after",
    "monitor.v1.CertificateLog.not_before",
    "monitor.v1.CheckResult.finished_at",
    "monitor.v1.CheckResult.phases",
    "monitor.v1.GetMonitorStatusResponse.since",
    "monitor.v1.GetMonitorSummaryResponse.from",
    "monitor.v1.GetMonitorSummaryResponse.to",
    "monitor.v1.GetMonitorSummaryResponse.total",
    "monitor.v1.HopLog.phases",
    "monitor.v1.RegionSummary.summary",
    "monitor.v1.ResponseLog.finished_at",
    "monitor.v1.ResponseLog.phases",
    "monitor.v1.ResponseLog.slot",
    "notification.v1.Delivery.created_at",
    "notification.v1.DeliveryAttempt.at",
    "notification.v1.SigningSecret.created_at",
    "status_page.v1.GetComponentSummaryResponse.at",
    "status_page.v1.IncidentOverview.opened_at",
    "status_page.v1.MaintenanceOverview.from",
    "status_page.v1.MaintenanceOverview.until",
    "status_page.v1.ReportOverview.started_at",
    "status_page.v1.ReportOverview.last_update_at",
    "status_page.v1.StatusPageOverview.at",
    "status_report.v1.StatusReportUpdate.at",
];

/// Outputs of the tables that a response may lack.
const SOMETIMES: [&str; 1] = ["status_page.v1.Subscriber.confirmed_at"];

/// Texts in comments that mark fields: may be missing, must be set, is set only by the server,
/// cannot change later, or is hidden from some callers.
const MISSING: &str = "bsent";
const REQUIRED: [&str; 3] = ["Required.", "Required, and fixed", "Required; "];
const OUTPUT: &str = "Output";
const FIXED: &str = "and fixed";
const SECRET: &str = "A secret";
const BY_TEMPLATE: &str = "unless a template provides it";

/// Returns whether the field exists in a message that travels in this direction.
pub(in crate::codegen) fn is_there(
    contract: &ContractModel,
    field: &FieldDescriptor,
    way: Direction,
) -> bool {
    match way {
        Direction::Request => is_required(contract, field),
        Direction::Response => is_answered(contract, field),
    }
}

/// Returns whether only the server sets the field.
pub(super) fn is_output(contract: &ContractModel, field: &FieldDescriptor) -> bool {
    contract.field_comment(field).trim_start().starts_with(OUTPUT)
}

/// Returns whether the field cannot change after the creation of the resource. Updates may omit it.
pub(super) fn is_fixed(contract: &ContractModel, field: &FieldDescriptor) -> bool {
    comment(contract, field).contains(FIXED)
}

/// Checks that the lists above name existing fields, and that tables and comments agree on outputs.
pub(super) fn check(contract: &ContractModel) -> Result<()> {
    for name in ALWAYS.iter().chain(&SOMETIMES) {
        let (message, field) = name.rsplit_once('.').expect("a message and a field");
        let found = contract.message(message).and_then(|it| it.get_field_by_name(field));
        if found.is_none() {
            bail!(
                "{name}, named in xtask/src/codegen/typescript/presence.rs, not found in the contract"
            );
        }
    }
    for message in TABLES.iter().filter_map(|(name, _)| contract.message(name)) {
        check_message(contract, &message)?;
    }
    Ok(())
}

fn check_message(contract: &ContractModel, message: &MessageDescriptor) -> Result<()> {
    for field in message.fields() {
        let Some(rule) = contract.rule(&field) else { continue };
        if (rule.presence == Presence::Output) != is_output(contract, &field) {
            bail!("comment and table disagree on who sets {}", field.full_name());
        }
    }
    Ok(())
}

/// Returns the comment of a field on one line, so that no phrase is split by a line break.
fn comment(contract: &ContractModel, field: &FieldDescriptor) -> String {
    contract.field_comment(field).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_required(contract: &ContractModel, field: &FieldDescriptor) -> bool {
    let comment = comment(contract, field);
    if comment.contains(BY_TEMPLATE) || field.is_list() {
        return false;
    }
    let by_table = contract.rule(field).is_some_and(|rule| rule.presence == Presence::Required);
    by_table || REQUIRED.iter().any(|word| comment.contains(word))
}

fn is_answered(contract: &ContractModel, field: &FieldDescriptor) -> bool {
    if !field.supports_presence() {
        return true;
    }
    let name = field.full_name();
    let comment = comment(contract, field);
    let may_miss = comment.contains(MISSING);
    if SOMETIMES.contains(&name) || comment.contains(SECRET) {
        return false;
    }
    if ALWAYS.contains(&name) {
        return true;
    }
    match contract.rule(field) {
        Some(rule) if rule.sensitive => false,
        Some(rule) => match rule.presence {
            Presence::Required | Presence::Default(_) => true,
            Presence::Output => !may_miss,
            Presence::Optional | Presence::Computed => false,
        },
        None => is_subject(field) && !may_miss,
    }
}

/// Returns whether the field is the subject of a response: a resource in the response message.
fn is_subject(field: &FieldDescriptor) -> bool {
    field.parent_message().name().ends_with("Response") && matches!(field.kind(), Kind::Message(_))
}
