//! Finds the table of `rules` for the fields of a message, and describes its limits in words.

use std::collections::BTreeSet;

use rules::field::{Block, Field, Presence, Resource, Shape, Value};
use rules::{Reason, Region, limits, tables};

use super::comment::Given;
use super::prose::codes;

/// A table's entry for a name.
#[derive(Clone, Copy, Debug)]
pub(super) enum TableEntry {
    Field(&'static Field),
    Block(&'static Block),
}

/// Number of records on a page of a list.
static LIST_LIMIT: Field = Field::default(
    "limit",
    Shape::Integer { min: limits::LIST_LIMIT_MIN as i32, max: limits::LIST_LIMIT_MAX as i32 },
    Value::Integer(limits::LIST_LIMIT_DEFAULT as i32),
    "Most records of one page of a list.",
);
/// Number of records to skip.
static LIST_OFFSET: Field = Field::default(
    "offset",
    Shape::Integer { min: 0, max: i32::MAX },
    Value::Integer(0),
    "Records that are left out at the beginning.",
);

/// Returns the entry of a message's field. `None` if no table contains it.
pub(super) fn entry(message: &str, name: &str) -> Option<TableEntry> {
    if message.ends_with("Request") {
        match name {
            "limit" => return Some(TableEntry::Field(&LIST_LIMIT)),
            "offset" => return Some(TableEntry::Field(&LIST_OFFSET)),
            _ => {}
        }
    }
    if let Some(block) = block_of(message) {
        let field = block.fields.iter().find(|field| field.name == name).map(TableEntry::Field);
        return field.or_else(|| nested(block.blocks, name));
    }
    resources_of(message).into_iter().find_map(|resource| {
        let mut fields = resource.fields.iter().chain(resource.beyond);
        let field = fields.find(|field| field.name == name).map(TableEntry::Field);
        field.or_else(|| nested(resource.blocks, name))
    })
}

fn nested(blocks: &'static [Block], name: &str) -> Option<TableEntry> {
    blocks.iter().find(|block| block.name == name).map(TableEntry::Block)
}

/// Returns the tables of a message.
fn resources_of(message: &str) -> Vec<&'static Resource> {
    match message {
        "monitor.v1.HttpMonitor" => vec![&tables::HTTP_MONITOR],
        "monitor.v1.TcpMonitor" => vec![&tables::TCP_MONITOR],
        "monitor.v1.DnsMonitor" => vec![&tables::DNS_MONITOR],
        "monitor.v1.HeartbeatMonitor" => vec![&tables::HEARTBEAT_MONITOR],
        "monitor.v1.ListMonitorsRequest" => vec![&tables::MONITORS_DATA],
        "notification.v1.Notification" => {
            vec![&tables::NOTIFICATION, &tables::NOTIFICATION_PREFERENCES]
        }
        "notification.v1.RotateSigningSecretRequest" => vec![&tables::SIGNING_SECRET],
        "status_page.v1.StatusPage" => vec![&tables::STATUS_PAGE],
        "status_page.v1.Component" => vec![&tables::STATUS_PAGE_COMPONENT],
        "status_page.v1.ComponentGroup" => vec![&tables::STATUS_PAGE_COMPONENT_GROUP],
        "status_page.v1.Subscriber" => vec![&tables::SUBSCRIBER],
        "status_report.v1.StatusReport" => vec![&tables::STATUS_REPORT],
        "status_report.v1.StatusReportUpdate" => vec![&tables::REPORT_UPDATE],
        "status_report.v1.ReportTemplate" => vec![&tables::REPORT_TEMPLATE],
        "maintenance.v1.Maintenance" => vec![&tables::MAINTENANCE],
        "configuration.v1.Configuration"
        | "configuration.v1.ListConfiguredResourcesRequest"
        | "configuration.v1.RecordConfiguredResourcesRequest"
        | "configuration.v1.DeleteConfigurationRequest" => vec![&tables::CONFIGURATION],
        "configuration.v1.ConfiguredResource" => vec![&tables::CONFIGURED_RESOURCE],
        "incident.v1.CommentIncidentRequest" => vec![&tables::INCIDENT_COMMENT],
        _ => vec![],
    }
}

/// Returns the block for a message.
fn block_of(message: &str) -> Option<&'static Block> {
    match message {
        "monitor.v1.Header" => Some(tables::HTTP_MONITOR.block("headers")),
        "monitor.v1.StatusCodeAssertion" => {
            Some(tables::HTTP_MONITOR.block("status_code_assertions"))
        }
        "monitor.v1.BodyAssertion" => Some(tables::HTTP_MONITOR.block("body_assertions")),
        "monitor.v1.JsonAssertion" => Some(tables::HTTP_MONITOR.block("json_assertions")),
        "monitor.v1.HeaderAssertion" => Some(tables::HTTP_MONITOR.block("header_assertions")),
        "monitor.v1.RecordAssertion" => Some(tables::DNS_MONITOR.block("record_assertions")),
        "notification.v1.Header" => tables::NOTIFICATION.block("webhook").blocks.first(),
        "notification.v1.QuietHours" => Some(tables::NOTIFICATION_PREFERENCES.block("quiet_hours")),
        "status_report.v1.ComponentImpact" => Some(tables::STATUS_REPORT.block("components")),
        _ => {
            let name = message.strip_prefix("notification.v1.")?;
            let flat = |block: &&Block| block.name.replace('_', "") == name.to_lowercase();
            tables::NOTIFICATION.blocks.iter().find(flat)
        }
    }
}

/// Returns the source of a field's value by its table.
pub(super) fn given(field: &Field) -> Given {
    match field.presence {
        Presence::Required => Given::Required,
        Presence::Default(value) => Given::Default(constant(value)),
        Presence::Output => Given::Output,
        Presence::Optional | Presence::Computed => Given::Unspecified,
    }
}

/// Formats a constant as JSON.
pub(super) fn constant(value: Value) -> String {
    match value {
        Value::Text(text) => format!("\"{text}\""),
        Value::Integer(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
    }
}

/// Returns sentences with the limits of the table that a text does not mention. Each begins with a
/// space.
pub(super) fn missing_limits(entry: TableEntry, text: &str) -> String {
    let plain = text.replace(',', "");
    let has = |part: &String| plain.contains(part.as_str());
    let (parts, bounds) = match entry {
        TableEntry::Block(Block { max: Some(max), .. }) if *max > 1 => {
            (vec![max.to_string()], Some(format!("Up to {max}")))
        }
        TableEntry::Block(_) => return String::new(),
        TableEntry::Field(field) => (measures(field.shape), rest(field.shape)),
    };
    if parts.iter().all(has) {
        return String::new();
    }
    bounds.map_or_else(String::new, |bounds| format!(" {bounds}."))
}

/// Returns the form of a value for a text that does not mention it.
fn rest(shape: Shape) -> Option<String> {
    if shape.names() == Some(Region::WORDS) {
        return Some("[Regions](regions.md) lists them".to_owned());
    }
    let most = shape.characters().map(|(_, max)| format!("Up to {max} characters"));
    most.or_else(|| bounds(shape))
}

/// Describes the allowed values. `None` if the type says everything.
pub(super) fn bounds(shape: Shape) -> Option<String> {
    let characters = |min: u32, max: u32| match min {
        0 => format!("Up to {max} characters"),
        min => format!("{min} to {max} characters"),
    };
    Some(match shape {
        Shape::Text { min, max } => characters(min, max),
        Shape::Line { min, max } => format!("{}, one line", characters(min, max)),
        Shape::Slug { min, max } => {
            format!("{}: words of a–z and 0–9 joined by hyphens", characters(min, max))
        }
        Shape::HttpUrl { max } => format!("An http or https URL, up to {max} characters"),
        Shape::ContactUrl { max } => {
            format!("An http, https or mailto URL, up to {max} characters")
        }
        Shape::HostPort { max } => format!("`host:port`, up to {max} characters"),
        Shape::DomainName { max } => format!("A domain name, up to {max} characters"),
        Shape::HeaderName { max } | Shape::AnswerHeaderName { max } => {
            format!("A name of a header, up to {max} characters")
        }
        Shape::JsonPath { max } => format!("A JSONPath, up to {max} characters"),
        Shape::HeaderValue { max } => format!("Up to {max} characters"),
        Shape::Certificates { max } => format!("Certificates in PEM, up to {max} bytes"),
        Shape::PrivateKey { max } => format!("A private key in PEM, up to {max} bytes"),
        Shape::EmailAddress { max } => format!("An email address, up to {max} characters"),
        Shape::PhoneNumber => "A number such as `+4915112345678`".to_owned(),
        Shape::TimeOfDay => "A time of the day such as `22:00`".to_owned(),
        Shape::TimeZone => "A name of the IANA time zones".to_owned(),
        Shape::Interval { min, max } => format!("`{}` to `{}`", interval(min), interval(max)),
        Shape::Integer { min: i32::MIN, .. } => return None,
        Shape::Integer { min, max: i32::MAX } => format!("{min} or more"),
        Shape::Integer { min, max } => format!("{min} to {max}"),
        Shape::SetOf(words) if words == Region::WORDS => {
            "[Regions](regions.md), each once".to_owned()
        }
        Shape::OneOf(words) => format!("One of {}", codes(words.iter().copied())),
        Shape::SetOf(words) => format!("Any of {}", codes(words.iter().copied())),
        Shape::SetOfTags { max, chars_max } => {
            format!("Up to {max} tags, each of 1 to {chars_max} characters")
        }
        Shape::ListOfDomains { max } => format!("Up to {max} domain names"),
        Shape::Bool | Shape::Id(_) | Shape::SetOfIds(_) | Shape::Instant | Shape::ListOf(_) => {
            return None;
        }
    })
}

/// Returns the numbers that a complete description contains.
fn measures(shape: Shape) -> Vec<String> {
    match shape {
        Shape::Text { max, .. }
        | Shape::Line { max, .. }
        | Shape::Slug { max, .. }
        | Shape::HttpUrl { max }
        | Shape::ContactUrl { max }
        | Shape::HostPort { max }
        | Shape::HeaderName { max }
        | Shape::AnswerHeaderName { max }
        | Shape::JsonPath { max }
        | Shape::Certificates { max }
        | Shape::PrivateKey { max }
        | Shape::HeaderValue { max }
        | Shape::EmailAddress { max }
        | Shape::ListOfDomains { max } => vec![max.to_string()],
        Shape::SetOfTags { max, chars_max } => vec![max.to_string(), chars_max.to_string()],
        // Shapes without a number. A domain name has 253 characters, whatever the table has for its
        // text.
        Shape::Integer { min: i32::MIN, .. }
        | Shape::PhoneNumber
        | Shape::TimeOfDay
        | Shape::TimeZone
        | Shape::Bool
        | Shape::Id(_)
        | Shape::SetOfIds(_)
        | Shape::Instant
        | Shape::ListOf(_)
        | Shape::DomainName { .. } => Vec::new(),
        Shape::Integer { min, max: i32::MAX } => vec![min.to_string()],
        Shape::Integer { min, max } => vec![min.to_string(), max.to_string()],
        Shape::Interval { min, max } => vec![interval(min), interval(max)],
        Shape::SetOf(words) if words == Region::WORDS => vec!["regions.md".to_owned()],
        Shape::OneOf(words) | Shape::SetOf(words) => {
            words.iter().map(|word| format!("`{word}`")).collect()
        }
    }
}

/// Formats minutes as an interval.
fn interval(minutes: u32) -> String {
    if minutes.is_multiple_of(60) { format!("{}h", minutes / 60) } else { format!("{minutes}m") }
}

/// Reasons for which a delivery is held that are also names of fields.
const HOLD_REASONS: [&str; 1] = ["quiet_hours"];

/// Returns every enum value, which no sentence may spell differently.
pub(super) fn vocabulary() -> BTreeSet<&'static str> {
    let mut words: BTreeSet<_> = super::values::ENUMERATIONS
        .iter()
        .flat_map(|enumeration| enumeration.words.iter().map(|(word, _)| *word))
        .collect();
    words.extend(HOLD_REASONS);
    words.extend(Reason::WORDS);
    words.extend(Reason::ALL.iter().map(|reason| reason.code()));
    words
}
