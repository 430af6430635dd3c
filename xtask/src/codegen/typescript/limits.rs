//! Generates the limits of `rules` as one constant: by resource, block and field.

use std::fmt::Display;

use rules::field::{Block, Field, Presence, Resource, Shape, Value};
use rules::{limits, tables};

use super::camel;

/// Resources by their names in the client.
const RESOURCES: [(&str, &[&Resource]); 15] = [
    ("http_monitor", &[&tables::HTTP_MONITOR]),
    ("tcp_monitor", &[&tables::TCP_MONITOR]),
    ("dns_monitor", &[&tables::DNS_MONITOR]),
    ("heartbeat_monitor", &[&tables::HEARTBEAT_MONITOR]),
    ("notification", &[&tables::NOTIFICATION, &tables::NOTIFICATION_PREFERENCES]),
    ("status_page", &[&tables::STATUS_PAGE]),
    ("component", &[&tables::STATUS_PAGE_COMPONENT]),
    ("component_group", &[&tables::STATUS_PAGE_COMPONENT_GROUP]),
    ("subscriber", &[&tables::SUBSCRIBER]),
    ("maintenance", &[&tables::MAINTENANCE]),
    ("status_report", &[&tables::STATUS_REPORT]),
    ("status_report_update", &[&tables::REPORT_UPDATE]),
    ("report_template", &[&tables::REPORT_TEMPLATE]),
    ("incident_comment", &[&tables::INCIDENT_COMMENT]),
    ("signing_secret", &[&tables::SIGNING_SECRET]),
];
/// Name of the limits that all kinds of monitors share which probes check.
const MONITOR: &str = "monitor";
const MONITORS: [&Resource; 3] =
    [&tables::HTTP_MONITOR, &tables::TCP_MONITOR, &tables::DNS_MONITOR];

/// A name of the contract and its limit.
pub(in crate::codegen) type LimitEntry = (String, Limit);

/// A limit of one field, or those of several.
#[derive(Clone, PartialEq)]
pub(in crate::codegen) enum Limit {
    /// A value as JSON.
    Value(String),
    /// Bounds of a field.
    Bounds(Vec<LimitEntry>),
    /// Limits of a resource or a block, by field.
    Group(Vec<LimitEntry>),
}

/// Generates the module.
pub(super) fn module() -> String {
    let waiting = limits::TRIGGER_ANSWERED_WITHIN.as_millis();
    format!(
        "/** Time for a call that waits for checks, in milliseconds. */\nexport const WAITING_CALL_MS = {waiting};\n\n/**\n * Limits of fields, by resource and field: Unicode characters of texts, values of numbers, elements of\n * lists (`max` next to the fields of an element, or `each` for the characters of one), minutes of\n * intervals, and defaults (`default`). Both bounds are allowed.\n */\nexport const LIMITS = {} as const;\n",
        group(&all(), 0)
    )
}

/// Returns all limits by resource.
pub(in crate::codegen) fn all() -> Vec<LimitEntry> {
    let mut all = vec![(MONITOR.to_owned(), Limit::Group(shared()))];
    for (name, tables) in RESOURCES {
        let entries: Vec<_> = tables.iter().flat_map(|table| of_resource(table)).collect();
        all.push((name.to_owned(), Limit::Group(entries)));
    }
    all.extend(of_service());
    all
}

fn of_resource(table: &Resource) -> Vec<LimitEntry> {
    of_fields(table.fields, table.blocks)
}

/// Returns the entries that are equal in the tables of all monitors.
fn shared() -> Vec<LimitEntry> {
    let [first, others @ ..] = MONITORS.map(of_resource);
    first.into_iter().filter(|entry| others.iter().all(|it| it.contains(entry))).collect()
}

fn of_fields(fields: &[Field], blocks: &[Block]) -> Vec<LimitEntry> {
    let fields = fields.iter().filter(|field| field.presence != Presence::Output);
    let fields = fields.filter_map(|field| Some((field.name.to_owned(), of_field(field)?)));
    let blocks = blocks.iter().filter_map(|block| {
        let inner = of_fields(block.fields, block.blocks);
        let most = block.max.filter(|max| *max > 1).map(|max| entry("max", max));
        let entries: Vec<_> = most.into_iter().chain(inner).collect();
        (!entries.is_empty()).then(|| (block.name.to_owned(), Limit::Group(entries)))
    });
    fields.chain(blocks).collect()
}

/// Returns the bounds of a field and its default. `None` if it has neither.
fn of_field(field: &Field) -> Option<Limit> {
    let has_none = matches!(field.shape, Shape::Id(_) | Shape::TimeOfDay | Shape::TimeZone);
    let range = if let Shape::Integer { min, max } = field.shape {
        Some((i64::from(min), i64::from(max)))
    } else if let Shape::Interval { min, max } = field.shape {
        Some((i64::from(min), i64::from(max)))
    } else if let Shape::ListOfDomains { max } | Shape::SetOfTags { max, .. } = field.shape {
        Some((0, i64::from(max)))
    } else {
        let characters = field.shape.characters().filter(|_| !has_none);
        characters.map(|(min, max)| (i64::from(min), i64::from(max)))
    };
    let default = match field.presence {
        Presence::Default(Value::Text(text)) => Some(entry("default", format!("\"{text}\""))),
        Presence::Default(Value::Integer(number)) => Some(entry("default", number)),
        Presence::Default(Value::Bool(is)) => Some(entry("default", is)),
        Presence::Required | Presence::Optional | Presence::Computed | Presence::Output => None,
    };
    let each = if let Shape::SetOfTags { chars_max, .. } = field.shape {
        Some(("each".to_owned(), Limit::Bounds(bounds(1, chars_max))))
    } else {
        None
    };
    let range = range.into_iter().flat_map(|(min, max)| bounds(min, max));
    let parts: Vec<_> = range.chain(each).chain(default).collect();
    (!parts.is_empty()).then_some(Limit::Bounds(parts))
}

/// Returns the limits of calls, which apply to all resources.
fn of_service() -> [LimitEntry; 3] {
    let mut limit = bounds(limits::LIST_LIMIT_MIN, limits::LIST_LIMIT_MAX);
    limit.push(entry("default", limits::LIST_LIMIT_DEFAULT));
    let list = vec![("limit".to_owned(), Limit::Bounds(limit))];
    let key = bounds(1, limits::IDEMPOTENCY_KEY_CHARS_MAX);
    let message = vec![entry("max_bytes", limits::MESSAGE_BYTES_MAX)];
    [("list", list), ("idempotency_key", key), ("message", message)]
        .map(|(name, entries)| (name.to_owned(), Limit::Bounds(entries)))
}

fn bounds(min: impl Display, max: impl Display) -> Vec<LimitEntry> {
    vec![entry("min", min), entry("max", max)]
}

fn entry(name: &str, value: impl Display) -> LimitEntry {
    (name.to_owned(), Limit::Value(value.to_string()))
}

fn group(entries: &[LimitEntry], depth: usize) -> String {
    if entries.is_empty() {
        return "{}".to_owned();
    }
    let indent = "  ".repeat(depth);
    let line = |(name, limit): &LimitEntry| {
        format!("{indent}  {}: {},\n", camel(name), written(limit, depth + 1))
    };
    let lines: Vec<_> = entries.iter().map(line).collect();
    format!("{{\n{}{indent}}}", lines.concat())
}

fn written(limit: &Limit, depth: usize) -> String {
    match limit {
        Limit::Value(json) => json.clone(),
        Limit::Bounds(entries) => {
            let parts = entries.iter();
            let parts = parts.map(|(name, it)| format!("{}: {}", camel(name), written(it, depth)));
            format!("{{ {} }}", parts.collect::<Vec<_>>().join(", "))
        }
        Limit::Group(entries) => group(entries, depth),
    }
}
