//! Monitors of OpenStatus. Fields and limits are those of Aloft, with other words in enumerations.

use rules::monitor::{
    CheckDraft, DnsDraft, HeaderAssertionDraft, HttpDraft, MonitorDraft, RecordAssertionDraft,
    StatusCodeAssertionDraft, TcpDraft, TextAssertionDraft,
};
use rules::{Periodicity, Region};

use super::word;
use crate::assembly::Assembly;
use crate::convert::{self, StatusRange};
use crate::preview::{Entry, ObjectKind};
use crate::record::Record;

/// Retries and timeout if they are absent or 0 (`apps/workflows/src/checker/`).
const RETRY_DEFAULT: i64 = 3;
/// Timeout if it is absent or 0, in milliseconds.
const TIMEOUT_DEFAULT: f64 = 45_000.0;

/// Kind of a monitor.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Http,
    Tcp,
    Dns,
}

/// Imports a monitor.
pub(super) fn import(kind: Kind, mut record: Record, assembly: &mut Assembly) {
    let id = record.id("id").unwrap_or_default();
    if assembly.has_monitor(&id) {
        return;
    }
    let name = record.text("name").unwrap_or_default();
    let mut entry = Entry::new(ObjectKind::Monitor, &name);
    let check = match kind {
        Kind::Http => CheckDraft::Http(http(&mut record, &mut entry)),
        Kind::Tcp => CheckDraft::Tcp(TcpDraft { uri: record.text("uri"), ..TcpDraft::default() }),
        Kind::Dns => CheckDraft::Dns(DnsDraft {
            uri: record.text("uri"),
            record_assertions: records(&mut record, &mut entry),
        }),
    };
    let mut draft = MonitorDraft::new(check);
    draft.name = Some(name);
    let period = record.text("periodicity").unwrap_or_default();
    draft.periodicity = Some(word(&period, "PERIODICITY_"));
    if !Periodicity::WORDS.contains(&word(&period, "PERIODICITY_").as_str()) {
        convert::period(&mut draft, "periodicity", 600.0, &mut entry);
        entry.change("periodicity", period, "10m", "the period is unknown");
    }
    let timeout = record.number("timeout").filter(|timeout| *timeout > 0.0);
    convert::timeout(&mut draft, "timeout", timeout.unwrap_or(TIMEOUT_DEFAULT), &mut entry);
    let retries = record.integer("retry").filter(|retries| *retries > 0).unwrap_or(RETRY_DEFAULT);
    convert::retry(&mut draft, "retry", retries, &mut entry);
    draft.degraded_at = Some(record.integer("degradedAt").unwrap_or(0) as i32);
    draft.active = Some(record.flag("active").unwrap_or(false));
    draft.public = record.flag("public").filter(|public| *public);
    draft.description = record.text("description");
    regions(&mut record, &mut draft, &mut entry);
    if record.take("openTelemetry").is_some() {
        entry.lose("the export to OpenTelemetry", "read the metrics of the server instead");
    }
    let locations = record.list("privateLocationIds").len();
    if locations > 0 {
        let remedy = "create a probe for a private region, and add the region";
        entry.lose(format!("{locations} private locations"), remedy);
    }
    record.ignore(&["status"]);
    entry.close(record);
    assembly.monitor(&id, draft, entry);
}

fn http(record: &mut Record, entry: &mut Entry) -> HttpDraft {
    let mut http = HttpDraft { url: record.text("url"), ..HttpDraft::default() };
    let method = record.text("method").unwrap_or_default();
    let method = word(&method, "HTTP_METHOD_");
    convert::method(&mut http, "method", if method.is_empty() { "get" } else { &method }, entry);
    http.body = record.text("body");
    http.follow_redirects = record.flag("followRedirects").filter(|follows| !follows);
    for mut header in record.records("headers") {
        let (key, value) = (header.text("key"), header.text("value"));
        convert::header(&mut http, key.unwrap_or_default(), value.unwrap_or_default());
        entry.close(header);
    }
    for mut assertion in record.records("statusCodeAssertions") {
        http.status_code_assertions.push(StatusCodeAssertionDraft {
            target: assertion.integer("target").map(|target| target as i32),
            comparator: comparator(&mut assertion),
        });
        entry.close(assertion);
    }
    for mut assertion in record.records("bodyAssertions") {
        http.body_assertions.push(TextAssertionDraft {
            target: Some(assertion.text("target").unwrap_or_default()),
            comparator: comparator(&mut assertion),
        });
        entry.close(assertion);
    }
    for mut assertion in record.records("headerAssertions") {
        http.header_assertions.push(HeaderAssertionDraft {
            key: assertion.text("key"),
            target: Some(assertion.text("target").unwrap_or_default()),
            comparator: comparator(&mut assertion),
        });
        entry.close(assertion);
    }
    let asserts_others = !http.body_assertions.is_empty() || !http.header_assertions.is_empty();
    if http.status_code_assertions.is_empty() && asserts_others {
        // Another assertion alone accepts every status code there.
        let any = StatusRange { from: 100, to: 599 };
        convert::statuses(&mut http, "statusCodeAssertions", &[any], entry);
    }
    http
}

fn records(record: &mut Record, entry: &mut Entry) -> Vec<RecordAssertionDraft> {
    let mut assertions = Vec::new();
    for mut assertion in record.records("recordAssertions") {
        assertions.push(RecordAssertionDraft {
            record: assertion.text("record"),
            target: Some(assertion.text("target").unwrap_or_default()),
            comparator: comparator(&mut assertion),
        });
        entry.close(assertion);
    }
    assertions
}

/// Returns our word for a comparator. Unknown ones are kept, so that the validation names them.
fn comparator(assertion: &mut Record) -> Option<String> {
    let given = assertion.text("comparator")?;
    let stem =
        ["NUMBER_", "STRING_", "RECORD_"].iter().find_map(|prefix| given.strip_prefix(prefix));
    let known = match stem.and_then(|stem| stem.strip_prefix("COMPARATOR_")) {
        Some("EQUAL") => "eq",
        Some("NOT_EQUAL") => "neq",
        Some("GREATER_THAN") => "gt",
        Some("GREATER_THAN_OR_EQUAL") => "gte",
        Some("LESS_THAN") => "lt",
        Some("LESS_THAN_OR_EQUAL") => "lte",
        Some("CONTAINS") => "contains",
        Some("NOT_CONTAINS") => "not_contains",
        Some("EMPTY") => "empty",
        Some("NOT_EMPTY") => "not_empty",
        Some(_) | None => return Some(given),
    };
    Some(known.to_owned())
}

fn regions(record: &mut Record, draft: &mut MonitorDraft, entry: &mut Entry) {
    for given in record.texts("regions") {
        let region = word(&given, "REGION_").replace('_', "-");
        if Region::WORDS.contains(&region.as_str()) {
            draft.regions.push(region);
        } else {
            entry.lose(
                format!("the region `{given}`"),
                "docs/reference/regions.md lists all regions",
            );
        }
    }
    if draft.regions.is_empty() {
        let why = "without regions, a monitor did not run there";
        entry.change("regions", "none", "the default regions of the server", why);
    }
}
