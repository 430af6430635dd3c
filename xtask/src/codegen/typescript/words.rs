//! The lists of words: as arrays and as types, and which fields hold them. Those that `rules` has come from
//! there; the others are the server's own, and stand in the comments of the contract.

use anyhow::{Result, bail};
use protox::prost_reflect::FieldDescriptor;
use rules::incident::IncidentState;
use rules::notification::{Held, WishedEvent};
use rules::report::{Impact, ReportState, ReportStatus};
use rules::status_page::{Language, NotTold, SubscriberKind, SubscriberState, Topic};
use rules::{
    AccessType, ComponentType, Method, MonitorKind, MonitorStatus, NumberComparator,
    OpsgenieRegion, Periodicity, ProviderType, Reason, RecordComparator, RecordKind, Region,
    RegionGroup, Scope, TextComparator, Theme,
};

use super::model::Contract;

/// A list of words.
struct List {
    /// Name of the type.
    name: &'static str,
    /// Name of the array.
    constant: &'static str,
    words: &'static [&'static str],
    about: &'static str,
    /// The field whose comment has them, where `rules` does not.
    home: Option<&'static str>,
}

const fn of_rules(
    name: &'static str,
    constant: &'static str,
    words: &'static [&'static str],
    about: &'static str,
) -> List {
    List { name, constant, words, about, home: None }
}

const fn ours(
    name: &'static str,
    constant: &'static str,
    words: &'static [&'static str],
    about: &'static str,
    home: &'static str,
) -> List {
    List { name, constant, words, about, home: Some(home) }
}

const LISTS: &[List] = &[
    of_rules("Periodicity", "PERIODICITIES", Periodicity::WORDS, "How often a monitor is checked"),
    of_rules("Region", "REGIONS", Region::WORDS, "Where checks run from"),
    of_rules("RegionGroup", "REGION_GROUPS", RegionGroup::WORDS, "Groups of regions"),
    of_rules("MonitorKind", "MONITOR_KINDS", MonitorKind::WORDS, "What a monitor checks"),
    of_rules("MonitorStatus", "MONITOR_STATUSES", MonitorStatus::WORDS, "States of a monitor"),
    of_rules("HttpMethod", "HTTP_METHODS", Method::WORDS, "Methods of an HTTP check"),
    of_rules(
        "NumberComparator",
        "NUMBER_COMPARATORS",
        NumberComparator::WORDS,
        "How a number is compared",
    ),
    of_rules("TextComparator", "TEXT_COMPARATORS", TextComparator::WORDS, "How a text is compared"),
    of_rules(
        "RecordComparator",
        "RECORD_COMPARATORS",
        RecordComparator::WORDS,
        "How a DNS record is compared",
    ),
    of_rules("RecordType", "RECORD_TYPES", RecordKind::WORDS, "Types of DNS records"),
    of_rules("ProviderType", "PROVIDER_TYPES", ProviderType::WORDS, "Kinds of channels"),
    of_rules(
        "OpsgenieRegion",
        "OPSGENIE_REGIONS",
        OpsgenieRegion::WORDS,
        "Where an Opsgenie account lives",
    ),
    of_rules("WishedEvent", "WISHED_EVENTS", WishedEvent::WORDS, "What a channel may hear of"),
    of_rules("Held", "HELD", Held::WORDS, "What waits for the end of quiet hours"),
    of_rules("AccessType", "ACCESS_TYPES", AccessType::WORDS, "Who may read a status page"),
    of_rules("Theme", "THEMES", Theme::WORDS, "Colours of a status page"),
    of_rules("ComponentType", "COMPONENT_TYPES", ComponentType::WORDS, "What a component shows"),
    of_rules("ReportStatus", "REPORT_STATUSES", ReportStatus::WORDS, "How far a report has come"),
    of_rules("ReportState", "REPORT_STATES", ReportState::WORDS, "Whether a report is open"),
    of_rules("Impact", "IMPACTS", Impact::WORDS, "What a report says of a component"),
    of_rules(
        "IncidentState",
        "INCIDENT_STATES",
        IncidentState::WORDS,
        "Whether an incident is open",
    ),
    of_rules(
        "SubscriberKind",
        "SUBSCRIBER_KINDS",
        SubscriberKind::WORDS,
        "How a subscriber is told",
    ),
    of_rules(
        "SubscriberState",
        "SUBSCRIBER_STATES",
        SubscriberState::WORDS,
        "Whether a subscriber said yes",
    ),
    of_rules("NotTold", "NOT_TOLD", NotTold::WORDS, "Why a subscriber is told nothing"),
    of_rules("Topic", "TOPICS", Topic::WORDS, "What a subscriber may hear of"),
    of_rules("Language", "LANGUAGES", Language::WORDS, "Languages of emails to subscribers"),
    of_rules("Scope", "SCOPES", Scope::WORDS, "What a key may do"),
    of_rules("KnownReason", "ERROR_REASONS", Reason::WORDS, "Why the service refuses a call"),
    ours(
        "MaintenanceStatus",
        "MAINTENANCE_STATUSES",
        &["scheduled", "active", "over"],
        "How a maintenance stands",
        "maintenance.v1.Maintenance.status",
    ),
    ours(
        "SummaryWindow",
        "SUMMARY_WINDOWS",
        &["1d", "7d", "14d", "30d", "90d"],
        "Times over which a monitor is summed up",
        "monitor.v1.GetMonitorSummaryRequest.window",
    ),
    ours(
        "Outcome",
        "OUTCOMES",
        &["success", "degraded", "failure"],
        "What a check came to",
        "monitor.v1.CheckResult.outcome",
    ),
    ours(
        "LogOutcome",
        "LOG_OUTCOMES",
        &["success", "degraded", "failure", "skipped"],
        "What a slot came to",
        "monitor.v1.ResponseLog.outcome",
    ),
    ours(
        "Trigger",
        "TRIGGERS",
        &["scheduled", "opinion", "manual"],
        "Why a check ran",
        "monitor.v1.ResponseLog.trigger",
    ),
    ours(
        "DeliveryEvent",
        "DELIVERY_EVENTS",
        &["error", "degraded", "still_degraded", "recovered", "test"],
        "What a delivery tells",
        "notification.v1.Delivery.event",
    ),
    ours(
        "DeliveryState",
        "DELIVERY_STATES",
        &["waiting", "accepted", "dead", "cancelled"],
        "What became of a delivery",
        "notification.v1.Delivery.state",
    ),
    ours(
        "DeliveryHold",
        "DELIVERY_HOLDS",
        &["lasting", "maintenance", "quiet_hours", "storm"],
        "Why a delivery waits",
        "notification.v1.Delivery.held",
    ),
    ours(
        "IncidentEnd",
        "INCIDENT_ENDS",
        &["recovered", "degraded", "paused", "deleted", "resolved"],
        "How an incident ended",
        "incident.v1.Incident.closed_how",
    ),
    ours(
        "TimelineKind",
        "TIMELINE_KINDS",
        &["opened", "acknowledged", "commented", "joined", "told", "resolved", "closed"],
        "What happened in an incident",
        "incident.v1.TimelineEntry.kind",
    ),
    ours(
        "RegionHealth",
        "REGION_HEALTHS",
        &["healthy", "doubting", "stalled", "unserved"],
        "How a region is",
        "region.v1.Region.health",
    ),
    ours(
        "PageState",
        "PAGE_STATES",
        &["up", "degraded", "down", "maintenance", "unknown"],
        "How a status page or a component is",
        "status_page.v1.StatusPageOverview.state",
    ),
    ours(
        "CustomDomainState",
        "CUSTOM_DOMAIN_STATES",
        &["pending", "active", "failed", "unmanaged"],
        "How a custom domain is",
        "status_page.v1.CustomDomainStatus.state",
    ),
];

/// Fields whose words no table says, with the list and whether they may be empty.
const USES: &[(&str, &str, bool)] = &[
    ("incident.v1.Incident.closed_how", "IncidentEnd", true),
    ("incident.v1.Incident.state", "IncidentState", false),
    ("incident.v1.ListIncidentsRequest.state", "IncidentState", false),
    ("incident.v1.RegionEvidence.region", "Region", false),
    ("incident.v1.RegionEvidence.trigger", "Trigger", false),
    ("incident.v1.TimelineEntry.closed_how", "IncidentEnd", true),
    ("incident.v1.TimelineEntry.kind", "TimelineKind", false),
    ("incident.v1.TimelineEntry.region", "Region", true),
    ("incident.v1.Told.event", "DeliveryEvent", false),
    ("incident.v1.Told.provider_type", "ProviderType", false),
    ("incident.v1.Told.state", "DeliveryState", false),
    ("maintenance.v1.ListMaintenancesRequest.status", "MaintenanceStatus", false),
    ("monitor.v1.CheckResult.outcome", "Outcome", false),
    ("monitor.v1.CheckResult.region", "Region", false),
    ("monitor.v1.DnsAnswerLog.record", "RecordType", false),
    ("monitor.v1.GetMonitorStatusResponse.status", "MonitorStatus", false),
    ("monitor.v1.GetMonitorSummaryRequest.regions", "Region", false),
    ("monitor.v1.GetMonitorSummaryRequest.window", "SummaryWindow", false),
    ("monitor.v1.GetMonitorSummaryResponse.window", "SummaryWindow", false),
    ("monitor.v1.ListResponseLogsRequest.outcomes", "LogOutcome", false),
    ("monitor.v1.ListResponseLogsRequest.regions", "Region", false),
    ("monitor.v1.ListResponseLogsRequest.triggers", "Trigger", false),
    ("monitor.v1.RegionStatus.region", "Region", false),
    ("monitor.v1.RegionStatus.status", "MonitorStatus", false),
    ("monitor.v1.RegionSummary.region", "Region", false),
    ("monitor.v1.ResponseLog.outcome", "LogOutcome", false),
    ("monitor.v1.ResponseLog.region", "Region", false),
    ("monitor.v1.ResponseLog.trigger", "Trigger", false),
    ("notification.v1.Delivery.event", "DeliveryEvent", false),
    ("notification.v1.Delivery.held", "DeliveryHold", false),
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

/// The words that a field may hold.
pub(super) fn of_field(
    contract: &Contract,
    field: &FieldDescriptor,
) -> Option<&'static [&'static str]> {
    let used = USES.iter().find(|(name, ..)| *name == field.full_name());
    match used.and_then(|(_, name, _)| LISTS.iter().find(|list| list.name == *name)) {
        Some(list) => Some(list.words),
        None => contract.rule(field)?.shape.words(),
    }
}

/// The type of a field that holds words: the name of their list, or one by one where they have none.
pub(super) fn type_of(contract: &Contract, field: &FieldDescriptor) -> Option<String> {
    let words = of_field(contract, field)?;
    let quoted = || words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" | ");
    let named = LISTS.iter().find(|list| list.words == words);
    let name = named.map_or_else(quoted, |list| list.name.to_owned());
    let may_be_empty = USES.iter().any(|(it, _, may)| *may && *it == field.full_name());
    Some(if may_be_empty { name + " | \"\"" } else { name })
}

/// All lists as arrays and types.
pub(super) fn module() -> String {
    let declared = LISTS.iter().map(|List { name, constant, words, about, .. }| {
        let words: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
        format!(
            "/** {about}. */\nexport const {constant} = [{}] as const;\n\n/** {about}. */\nexport type {name} = (typeof {constant})[number];\n",
            words.join(", ")
        )
    });
    declared.collect::<Vec<_>>().join("\n")
}

/// Every use has its field and its list, and every list its words in a comment or in `rules`.
pub(super) fn check(contract: &Contract) -> Result<()> {
    let comment = |name: &str| {
        let (message, field) = name.rsplit_once('.')?;
        let field = contract.message(message)?.get_field_by_name(field)?;
        Some(contract.of_field(&field).to_owned())
    };
    for (field, list, _) in USES {
        if comment(field).is_none() || !LISTS.iter().any(|it| it.name == *list) {
            bail!("there is no {field}, or no list {list}");
        }
    }
    for list in LISTS {
        let Some(home) = list.home else { continue };
        let comment = comment(home).unwrap_or_default();
        if let Some(word) = list.words.iter().find(|word| !comment.contains(&format!("`{word}`"))) {
            bail!("the comment of {home} does not have `{word}`");
        }
    }
    Ok(())
}

/// Names of the types.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    LISTS.iter().map(|list| list.name)
}
