//! Generates enums as arrays and types, and maps fields to them. Most come from `rules`. The others
//! belong to the server and occur in comments of the contract.

use anyhow::{Result, bail};
use protox::prost_reflect::FieldDescriptor;
use rules::incident::IncidentState;
use rules::notification::{AlertEvent, QuietHoursScope};
use rules::report::{Impact, ReportState, ReportStatus};
use rules::status_page::{Language, SubscriberKind, SubscriberState, SuppressionReason, Topic};
use rules::{
    AccessType, ComponentType, Method, MonitorKind, MonitorStatus, NumberComparator,
    OpsgenieRegion, Periodicity, ProviderType, Reason, RecordComparator, RecordKind, Region,
    RegionGroup, Scope, TextComparator, Theme,
};

use super::model::ContractModel;

/// An enum.
pub(in crate::codegen) struct List {
    /// Name of the type.
    pub(in crate::codegen) name: &'static str,
    /// Name of the array.
    pub(in crate::codegen) constant: &'static str,
    pub(in crate::codegen) values: &'static [&'static str],
    pub(in crate::codegen) about: &'static str,
    /// Field whose comment lists the values, if `rules` does not define them.
    home: Option<&'static str>,
}

const fn of_rules(
    name: &'static str,
    constant: &'static str,
    words: &'static [&'static str],
    about: &'static str,
) -> List {
    List { name, constant, values: words, about, home: None }
}

const fn ours(
    name: &'static str,
    constant: &'static str,
    words: &'static [&'static str],
    about: &'static str,
    home: &'static str,
) -> List {
    List { name, constant, values: words, about, home: Some(home) }
}

pub(in crate::codegen) const LISTS: &[List] = &[
    of_rules(
        "Periodicity",
        "PERIODICITIES",
        Periodicity::WORDS,
        "Time between two checks of a monitor",
    ),
    of_rules("Region", "REGIONS", Region::WORDS, "Regions that checks run from"),
    of_rules("RegionGroup", "REGION_GROUPS", RegionGroup::WORDS, "Groups of regions"),
    of_rules("MonitorKind", "MONITOR_KINDS", MonitorKind::WORDS, "Kinds of monitors"),
    of_rules("MonitorStatus", "MONITOR_STATUSES", MonitorStatus::WORDS, "States of a monitor"),
    of_rules("HttpMethod", "HTTP_METHODS", Method::WORDS, "Methods of an HTTP check"),
    of_rules(
        "NumberComparator",
        "NUMBER_COMPARATORS",
        NumberComparator::WORDS,
        "Comparators of numbers",
    ),
    of_rules("TextComparator", "TEXT_COMPARATORS", TextComparator::WORDS, "Comparators of texts"),
    of_rules(
        "RecordComparator",
        "RECORD_COMPARATORS",
        RecordComparator::WORDS,
        "Comparators of DNS records",
    ),
    of_rules("RecordType", "RECORD_TYPES", RecordKind::WORDS, "Types of DNS records"),
    of_rules("ProviderType", "PROVIDER_TYPES", ProviderType::WORDS, "Kinds of channels"),
    of_rules(
        "OpsgenieRegion",
        "OPSGENIE_REGIONS",
        OpsgenieRegion::WORDS,
        "Regions of Opsgenie accounts",
    ),
    of_rules(
        "AlertEvent",
        "ALERT_EVENTS",
        AlertEvent::WORDS,
        "Events of which a channel is notified",
    ),
    of_rules(
        "QuietHoursScope",
        "QUIET_HOURS_SCOPES",
        QuietHoursScope::WORDS,
        "Events that quiet hours hold back",
    ),
    of_rules("AccessType", "ACCESS_TYPES", AccessType::WORDS, "Kinds of access to a status page"),
    of_rules("Theme", "THEMES", Theme::WORDS, "Colours of a status page"),
    of_rules("ComponentType", "COMPONENT_TYPES", ComponentType::WORDS, "Types of components"),
    of_rules("ReportStatus", "REPORT_STATUSES", ReportStatus::WORDS, "Statuses of a report"),
    of_rules("ReportState", "REPORT_STATES", ReportState::WORDS, "States of a report"),
    of_rules("Impact", "IMPACTS", Impact::WORDS, "Impacts of a report on a component"),
    of_rules("IncidentState", "INCIDENT_STATES", IncidentState::WORDS, "States of an incident"),
    of_rules("SubscriberKind", "SUBSCRIBER_KINDS", SubscriberKind::WORDS, "Kinds of subscribers"),
    of_rules(
        "SubscriberState",
        "SUBSCRIBER_STATES",
        SubscriberState::WORDS,
        "States of a subscriber",
    ),
    of_rules(
        "SuppressionReason",
        "SUPPRESSION_REASONS",
        SuppressionReason::WORDS,
        "Reasons why a subscriber is not notified",
    ),
    of_rules("Topic", "TOPICS", Topic::WORDS, "Topics of a subscription"),
    of_rules("Language", "LANGUAGES", Language::WORDS, "Languages of emails to subscribers"),
    of_rules("Scope", "SCOPES", Scope::WORDS, "Scopes of a key"),
    of_rules(
        "KnownReason",
        "ERROR_REASONS",
        Reason::WORDS,
        "Reasons why the service rejects a call",
    ),
    ours(
        "MaintenanceStatus",
        "MAINTENANCE_STATUSES",
        &["scheduled", "active", "completed"],
        "Statuses of a maintenance",
        "maintenance.v1.Maintenance.status",
    ),
    ours(
        "SummaryWindow",
        "SUMMARY_WINDOWS",
        &["1d", "7d", "14d", "30d", "90d"],
        "Periods of a monitor's summary",
        "monitor.v1.GetMonitorSummaryRequest.window",
    ),
    ours(
        "Outcome",
        "OUTCOMES",
        &["success", "degraded", "failure"],
        "Outcomes of a check",
        "monitor.v1.CheckResult.outcome",
    ),
    ours(
        "LogOutcome",
        "LOG_OUTCOMES",
        &["success", "degraded", "failure", "skipped"],
        "Outcomes of a slot",
        "monitor.v1.ResponseLog.outcome",
    ),
    ours(
        "Trigger",
        "TRIGGERS",
        &["scheduled", "confirmation", "manual"],
        "Triggers of a check",
        "monitor.v1.ResponseLog.trigger",
    ),
    ours(
        "MissedReason",
        "MISSED_REASONS",
        &["down", "overloaded", "changed", "disconnected", "fault", "unknown"],
        "Why a slot was missed",
        "monitor.v1.MissedSlots.reason",
    ),
    ours(
        "DeliveryEvent",
        "DELIVERY_EVENTS",
        &["error", "degraded", "still_degraded", "recovered", "test"],
        "Events of a delivery",
        "notification.v1.Delivery.event",
    ),
    ours(
        "DeliveryState",
        "DELIVERY_STATES",
        &["waiting", "accepted", "dead", "cancelled"],
        "States of a delivery",
        "notification.v1.Delivery.state",
    ),
    ours(
        "HoldReason",
        "HOLD_REASONS",
        &["min_duration", "maintenance", "quiet_hours", "digest"],
        "Reasons why a delivery is held back",
        "notification.v1.Delivery.hold_reason",
    ),
    ours(
        "CloseReason",
        "CLOSE_REASONS",
        &["recovered", "degraded", "paused", "deleted", "resolved"],
        "Ways in which an incident ended",
        "incident.v1.Incident.close_reason",
    ),
    ours(
        "TimelineKind",
        "TIMELINE_KINDS",
        &["opened", "acknowledged", "commented", "region_failed", "notified", "resolved", "closed"],
        "Kinds of timeline entries",
        "incident.v1.TimelineEntry.kind",
    ),
    ours(
        "RegionHealth",
        "REGION_HEALTHS",
        &["healthy", "suspect", "stalled", "unserved"],
        "Health of a region",
        "region.v1.Region.health",
    ),
    ours(
        "PageState",
        "PAGE_STATES",
        &["up", "degraded", "down", "maintenance", "unknown"],
        "States of a status page or a component",
        "status_page.v1.StatusPageOverview.state",
    ),
    ours(
        "CustomDomainState",
        "CUSTOM_DOMAIN_STATES",
        &["pending", "active", "failed", "unmanaged"],
        "States of a custom domain",
        "status_page.v1.CustomDomainStatus.state",
    ),
];

/// Fields whose enum no table defines, the enum, and whether the field may be empty.
const USES: &[(&str, &str, bool)] = &[
    ("incident.v1.Incident.close_reason", "CloseReason", true),
    ("incident.v1.Incident.state", "IncidentState", false),
    ("incident.v1.ListIncidentsRequest.state", "IncidentState", false),
    ("incident.v1.RegionEvidence.region", "Region", false),
    ("incident.v1.RegionEvidence.trigger", "Trigger", false),
    ("incident.v1.TimelineEntry.close_reason", "CloseReason", true),
    ("incident.v1.TimelineEntry.kind", "TimelineKind", false),
    ("incident.v1.TimelineEntry.region", "Region", true),
    ("incident.v1.Notified.event", "DeliveryEvent", false),
    ("incident.v1.Notified.provider_type", "ProviderType", false),
    ("incident.v1.Notified.state", "DeliveryState", false),
    ("maintenance.v1.ListMaintenancesRequest.status", "MaintenanceStatus", false),
    ("monitor.v1.CheckResult.outcome", "Outcome", false),
    ("monitor.v1.CheckResult.region", "Region", false),
    ("monitor.v1.DnsAnswerLog.record", "RecordType", false),
    ("monitor.v1.GetMonitorStatusResponse.status", "MonitorStatus", false),
    ("monitor.v1.GetMonitorSummaryRequest.regions", "Region", false),
    ("monitor.v1.GetMonitorSummaryRequest.window", "SummaryWindow", false),
    ("monitor.v1.GetMonitorSummaryResponse.window", "SummaryWindow", false),
    ("monitor.v1.ListMissedSlotsRequest.reasons", "MissedReason", false),
    ("monitor.v1.ListMissedSlotsRequest.regions", "Region", false),
    ("monitor.v1.ListResponseLogsRequest.outcomes", "LogOutcome", false),
    ("monitor.v1.ListResponseLogsRequest.regions", "Region", false),
    ("monitor.v1.ListResponseLogsRequest.triggers", "Trigger", false),
    ("monitor.v1.MissedSlots.reason", "MissedReason", false),
    ("monitor.v1.MissedSlots.region", "Region", false),
    ("monitor.v1.RegionStatus.region", "Region", false),
    ("monitor.v1.RegionStatus.status", "MonitorStatus", false),
    ("monitor.v1.RegionSummary.region", "Region", false),
    ("monitor.v1.ResponseLog.outcome", "LogOutcome", false),
    ("monitor.v1.ResponseLog.region", "Region", false),
    ("monitor.v1.ResponseLog.trigger", "Trigger", false),
    ("notification.v1.Delivery.event", "DeliveryEvent", false),
    ("notification.v1.Delivery.hold_reason", "HoldReason", false),
    ("notification.v1.Delivery.provider_type", "ProviderType", false),
    ("notification.v1.Delivery.state", "DeliveryState", false),
    ("notification.v1.ListDeliveriesRequest.state", "DeliveryState", false),
    ("region.v1.Region.group", "RegionGroup", false),
    ("region.v1.Region.health", "RegionHealth", false),
    ("region.v1.Region.id", "Region", false),
    ("status_page.v1.ComponentOverview.state", "PageState", false),
    ("status_page.v1.CustomDomainStatus.state", "CustomDomainState", false),
    ("status_page.v1.ListSubscribersRequest.kind", "SubscriberKind", false),
    ("status_page.v1.ListSubscribersRequest.state", "SubscriberState", false),
    ("status_page.v1.ReportOverview.status", "ReportStatus", false),
    ("status_page.v1.SetStatusPageThemeRequest.theme", "Theme", false),
    ("status_page.v1.StatusPageOverview.state", "PageState", false),
    ("status_report.v1.ListStatusReportsRequest.state", "ReportState", false),
];

/// Returns the allowed values of a field.
pub(in crate::codegen) fn of_field(
    contract: &ContractModel,
    field: &FieldDescriptor,
) -> Option<&'static [&'static str]> {
    let used = USES.iter().find(|(name, ..)| *name == field.full_name());
    match used.and_then(|(_, name, _)| LISTS.iter().find(|list| list.name == *name)) {
        Some(list) => Some(list.values),
        None => contract.rule(field)?.shape.names(),
    }
}

/// Returns the type of a field with an enum: its name, or a union if it has none.
pub(super) fn type_of(contract: &ContractModel, field: &FieldDescriptor) -> Option<String> {
    let words = of_field(contract, field)?;
    let quoted = || words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" | ");
    let named = LISTS.iter().find(|list| list.values == words);
    let name = named.map_or_else(quoted, |list| list.name.to_owned());
    Some(if may_be_empty(field) { name + " | \"\"" } else { name })
}

/// Returns whether a field with an enum may be empty.
pub(in crate::codegen) fn may_be_empty(field: &FieldDescriptor) -> bool {
    USES.iter().any(|(it, _, may)| *may && *it == field.full_name())
}

/// Generates all enums as arrays and types.
pub(super) fn module() -> String {
    let declared = LISTS.iter().map(|List { name, constant, values: words, about, .. }| {
        let words: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
        format!(
            "/** {about}. */\nexport const {constant} = [{}] as const;\n\n/** {about}. */\nexport type {name} = (typeof {constant})[number];\n",
            words.join(", ")
        )
    });
    declared.collect::<Vec<_>>().join("\n")
}

/// Checks that every use names an existing field and enum, and that the values of every enum occur
/// in a comment or in `rules`.
pub(super) fn check(contract: &ContractModel) -> Result<()> {
    let comment = |name: &str| {
        let (message, field) = name.rsplit_once('.')?;
        let field = contract.message(message)?.get_field_by_name(field)?;
        Some(contract.field_comment(&field).to_owned())
    };
    for (field, list, _) in USES {
        if comment(field).is_none() || !LISTS.iter().any(|it| it.name == *list) {
            bail!("field {field} or enum {list} not found");
        }
    }
    for list in LISTS {
        let Some(home) = list.home else { continue };
        let comment = comment(home).unwrap_or_default();
        if let Some(word) = list.values.iter().find(|word| !comment.contains(&format!("`{word}`")))
        {
            bail!("the comment of {home} does not mention `{word}`");
        }
    }
    Ok(())
}

/// Returns the names of the types.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    LISTS.iter().map(|list| list.name)
}
