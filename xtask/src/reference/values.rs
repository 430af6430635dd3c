//! Generates the page of enum values with their meanings, from `rules`.

use std::sync::LazyLock;

use rules::incident::IncidentState;
use rules::notification::{AlertEvent, QuietHoursScope};
use rules::report::{Impact, ReportState, ReportStatus};
use rules::status_page::{Language, SubscriberKind, SubscriberState, Topic};
use rules::{
    AccessType, ComponentType, Method, MonitorKind, MonitorStatus, NumberComparator,
    OpsgenieRegion, Periodicity, ProviderType, RecordComparator, RecordKind, Scope, TextComparator,
    Theme,
};

use super::prose::table;

/// An enum.
#[derive(Debug)]
pub(super) struct Enumeration {
    /// Title of the section.
    title: &'static str,
    /// Fields that contain it.
    field: &'static str,
    /// Values with their meanings.
    pub(super) words: Vec<(&'static str, &'static str)>,
}

macro_rules! enumerations {
    ($($title:literal, $field:literal, $words:ident;)+) => {
        vec![$(Enumeration {
            title: $title,
            field: $field,
            words: $words::ALL.iter().map(|word| (word.as_str(), word.meaning())).collect(),
        },)+]
    };
}

/// All enums in the order of the services. Regions have their own page.
pub(super) static ENUMERATIONS: LazyLock<Vec<Enumeration>> = LazyLock::new(|| {
    enumerations! {
        "Periodicity", "`periodicity` of a monitor", Periodicity;
        "Method", "`method` of an HTTP monitor", Method;
        "Kind of monitor", "`type` in Terraform; the name in `monitor` over RPC", MonitorKind;
        "Status of a monitor", "`status` of a monitor and of a region", MonitorStatus;
        "Comparator of numbers", "`comparator` of an assertion on the status code", NumberComparator;
        "Comparator of texts", "`comparator` of an assertion on the body, on JSON or on a header", TextComparator;
        "Comparator of records", "`comparator` of an assertion on DNS records", RecordComparator;
        "Type of a DNS record", "`record` of an assertion on DNS records", RecordKind;
        "Kind of channel", "`providerType` of a channel", ProviderType;
        "Account of Opsgenie", "`region` of the block `opsgenie`", OpsgenieRegion;
        "Event of a channel", "`events` of a channel", AlertEvent;
        "Scope of quiet hours", "`appliesTo` of `quietHours`", QuietHoursScope;
        "Access to a status page", "`accessType` of a status page", AccessType;
        "Theme of a status page", "`theme` of a status page", Theme;
        "Type of a component", "`type` of a component", ComponentType;
        "Kind of subscriber", "`kind` of a subscriber", SubscriberKind;
        "State of a subscriber", "`state` of a subscriber", SubscriberState;
        "Topic", "`topics` of a subscriber", Topic;
        "Language", "`language` of a subscriber", Language;
        "Status of a report", "`status` of a status report and of its updates", ReportStatus;
        "Impact", "`impact` of a report on a component", Impact;
        "State of a report", "`state` in ListStatusReports", ReportState;
        "State of an incident", "`state` of an incident", IncidentState;
        "Scope", "`scopes` of a key", Scope;
    }
});

/// Generates a section for each enum.
pub(super) fn sections() -> String {
    let section = |enumeration: &Enumeration| {
        let Enumeration { title, field, words } = enumeration;
        let rows: Vec<_> = words
            .iter()
            .map(|(word, meaning)| vec![format!("`{word}`"), (*meaning).to_owned()])
            .collect();
        format!("## {title}\n\n{field}.\n\n{}", table(&["Value", "Meaning"], &rows))
    };
    ENUMERATIONS.iter().map(section).collect::<Vec<_>>().join("\n")
}

/// Generates the links to the sections.
pub(super) fn contents() -> String {
    let line =
        |it: &Enumeration| format!("- [{}](#{})\n", it.title, super::prose::anchor(it.title));
    ENUMERATIONS.iter().map(line).collect()
}
