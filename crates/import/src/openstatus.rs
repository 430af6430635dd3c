//! Imports from OpenStatus: saved answers of its Connect interface.
//! The meaning of fields: openstatusHQ/openstatus, August 2026 (`packages/proto/api/openstatus/*/v1/`).

mod channel;
mod monitor;
mod page;

use std::collections::HashSet;

use crate::ImportError;
use crate::assembly::Assembly;
use crate::history::History;
use crate::peer::Reading;
use crate::preview::{Entry, ObjectKind};
use crate::record::Record;
use crate::saved::{self, Document};

/// The answers of all documents, by their kind.
#[derive(Default)]
struct Answers {
    monitors: Vec<(monitor::Kind, Record)>,
    notifications: Vec<Record>,
    /// Notifications of a list, which have no settings.
    summaries: Vec<Record>,
    pages: Vec<page::PageContent>,
    page_summaries: Vec<Record>,
    maintenances: Vec<Record>,
}

/// Reads saved answers.
pub(crate) fn read(documents: Vec<Document>) -> Result<Reading, ImportError> {
    let mut answers = Answers::default();
    for document in documents {
        let Some(record) = Record::of(document.value.clone()) else {
            return Err(saved::unknown(&document, "answer of OpenStatus"));
        };
        if !answers.add(record) {
            return Err(saved::unknown(&document, "monitors, notifications or status pages"));
        }
    }
    let mut assembly = Assembly::default();
    for (kind, record) in answers.monitors {
        monitor::import(kind, record, &mut assembly);
    }
    let known: Vec<String> = answers.notifications.iter().filter_map(id_of).collect();
    for record in saved::unique(answers.notifications) {
        channel::import(record, &mut assembly);
    }
    for record in saved::unique(answers.summaries) {
        incomplete(
            record,
            &known,
            ObjectKind::Channel,
            "NotificationService/GetNotification",
            &mut assembly,
        );
    }
    let known: Vec<String> = answers.pages.iter().filter_map(page::PageContent::id).collect();
    let mut incidents = Vec::new();
    let mut seen = HashSet::new();
    for content in answers.pages {
        if content.id().is_some_and(|id| !seen.insert(id)) {
            continue;
        }
        incidents.extend(page::import(content, &mut assembly));
    }
    for record in saved::unique(answers.page_summaries) {
        incomplete(
            record,
            &known,
            ObjectKind::StatusPage,
            "StatusPageService/GetStatusPageContent",
            &mut assembly,
        );
    }
    for record in saved::unique(answers.maintenances) {
        page::note_maintenance(record, &mut assembly);
    }
    Ok(Reading { assembly, history: History::Incidents(incidents) })
}

impl Answers {
    /// Adds an answer. Returns whether something in it is known. An empty answer is a list without
    /// objects.
    fn add(&mut self, mut record: Record) -> bool {
        if record.has("statusPage") {
            self.pages.push(page::PageContent::of(record));
            return true;
        }
        let is_empty = record.names().is_empty() || record.names() == ["totalSize"];
        let mut is_known = is_empty;
        for (field, kind) in [
            ("httpMonitors", monitor::Kind::Http),
            ("tcpMonitors", monitor::Kind::Tcp),
            ("dnsMonitors", monitor::Kind::Dns),
        ] {
            is_known |= record.has(field);
            self.monitors.extend(record.records(field).into_iter().map(|monitor| (kind, monitor)));
        }
        if let Some(mut monitor) = record.record("monitor") {
            let kinds = [
                ("http", monitor::Kind::Http),
                ("tcp", monitor::Kind::Tcp),
                ("dns", monitor::Kind::Dns),
            ];
            for (field, kind) in kinds {
                self.monitors.extend(monitor.record(field).map(|monitor| (kind, monitor)));
            }
            is_known = true;
        }
        is_known |=
            ["notification", "notifications", "statusPages", "maintenances", "statusReports"]
                .iter()
                .any(|field| record.has(field));
        self.notifications.extend(record.record("notification"));
        self.summaries.extend(record.records("notifications"));
        self.page_summaries.extend(record.records("statusPages"));
        self.maintenances.extend(record.records("maintenances"));
        is_known
    }
}

fn id_of(record: &Record) -> Option<String> {
    record.clone().id("id")
}

/// Notes an object of a list whose details no answer has.
fn incomplete(
    mut record: Record,
    known: &[String],
    kind: ObjectKind,
    method: &str,
    assembly: &mut Assembly,
) {
    let id = record.id("id").unwrap_or_default();
    if known.contains(&id) {
        return;
    }
    let name = record.text("name").or_else(|| record.text("title")).unwrap_or_default();
    let mut entry = Entry::new(kind, &name);
    entry.lose(
        "its settings, which a list lacks",
        format!("save the answer of {method} for the ID {id}"),
    );
    assembly.note(entry);
}

/// Returns the part of an enumeration's value after its prefix, in lower case.
fn word(value: &str, prefix: &str) -> String {
    value.strip_prefix(prefix).unwrap_or(value).to_ascii_lowercase()
}
