//! Generates the limits of `rules` as one constant: by resource, block and field.

use rules::field::{Block, Field, Presence, Resource, Shape, Value};
use rules::{limits, tables};

use super::camel;

/// Resources by their names in the client.
const RESOURCES: [(&str, &[&Resource]); 14] = [
    ("httpMonitor", &[&tables::HTTP_MONITOR]),
    ("tcpMonitor", &[&tables::TCP_MONITOR]),
    ("dnsMonitor", &[&tables::DNS_MONITOR]),
    ("notification", &[&tables::NOTIFICATION, &tables::NOTIFICATION_PREFERENCES]),
    ("statusPage", &[&tables::STATUS_PAGE]),
    ("component", &[&tables::STATUS_PAGE_COMPONENT]),
    ("componentGroup", &[&tables::STATUS_PAGE_COMPONENT_GROUP]),
    ("subscriber", &[&tables::SUBSCRIBER]),
    ("maintenance", &[&tables::MAINTENANCE]),
    ("statusReport", &[&tables::STATUS_REPORT]),
    ("statusReportUpdate", &[&tables::REPORT_UPDATE]),
    ("reportTemplate", &[&tables::REPORT_TEMPLATE]),
    ("incidentComment", &[&tables::INCIDENT_COMMENT]),
    ("signingSecret", &[&tables::SIGNING_SECRET]),
];
/// Name of the limits that all kinds of monitors share.
const MONITOR: &str = "monitor";
const MONITORS: [&Resource; 3] =
    [&tables::HTTP_MONITOR, &tables::TCP_MONITOR, &tables::DNS_MONITOR];

/// A name and its value as code.
type LimitEntry = (String, String);

/// Generates the module.
pub(super) fn module() -> String {
    let mut all = vec![(MONITOR.to_owned(), object(&shared(), 1))];
    for (name, tables) in RESOURCES {
        let entries: Vec<_> = tables.iter().flat_map(|table| of_resource(table)).collect();
        all.push((name.to_owned(), object(&entries, 1)));
    }
    all.extend(of_service());
    let waiting = limits::TRIGGER_ANSWERED_WITHIN.as_millis();
    format!(
        "/** Time for a call that waits for checks, in milliseconds. */\nexport const WAITING_CALL_MS = {waiting};\n\n/**\n * Limits of fields, by resource and field: Unicode characters of texts, values of numbers, elements of\n * lists (`max` next to the fields of an element, or `each` for the characters of one), minutes of\n * intervals, and defaults (`default`). Both bounds are allowed.\n */\nexport const LIMITS = {} as const;\n",
        object(&all, 0)
    )
}

fn of_resource(table: &Resource) -> Vec<LimitEntry> {
    of_fields(table.fields, table.blocks, 2)
}

/// Returns the entries that are equal in the tables of all monitors.
fn shared() -> Vec<LimitEntry> {
    let [first, others @ ..] = MONITORS.map(of_resource);
    first.into_iter().filter(|entry| others.iter().all(|it| it.contains(entry))).collect()
}

fn of_fields(fields: &[Field], blocks: &[Block], depth: usize) -> Vec<LimitEntry> {
    let fields = fields.iter().filter(|field| field.presence != Presence::Output);
    let fields = fields.filter_map(|field| Some((camel(field.name), of_field(field)?)));
    let blocks = blocks.iter().map(|block| {
        let inner = of_fields(block.fields, block.blocks, depth + 1);
        let most = block.max.filter(|max| *max > 1).map(|max| ("max".to_owned(), max.to_string()));
        let entries: Vec<_> = most.into_iter().chain(inner).collect();
        (camel(block.name), object(&entries, depth))
    });
    fields.chain(blocks.filter(|(_, inner)| inner != "{}")).collect()
}

/// Returns the bounds of a field and its default. `None` if it has neither.
fn of_field(field: &Field) -> Option<String> {
    let has_none = matches!(field.shape, Shape::Id(_) | Shape::TimeOfDay | Shape::TimeZone);
    let bounds = if let Shape::Integer { min, max } = field.shape {
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
        Presence::Default(Value::Text(text)) => Some(format!("default: \"{text}\"")),
        Presence::Default(Value::Integer(number)) => Some(format!("default: {number}")),
        Presence::Default(Value::Bool(is)) => Some(format!("default: {is}")),
        Presence::Required | Presence::Optional | Presence::Computed | Presence::Output => None,
    };
    let bounds = bounds.map(|(min, max)| format!("min: {min}, max: {max}"));
    let each = if let Shape::SetOfTags { chars_max, .. } = field.shape {
        Some(format!("each: {{ min: 1, max: {chars_max} }}"))
    } else {
        None
    };
    let parts: Vec<_> = bounds.into_iter().chain(each).chain(default).collect();
    (!parts.is_empty()).then(|| format!("{{ {} }}", parts.join(", ")))
}

/// Returns the limits of calls, which apply to all resources.
fn of_service() -> [LimitEntry; 3] {
    let (min, max) = (limits::LIST_LIMIT_MIN, limits::LIST_LIMIT_MAX);
    let default = limits::LIST_LIMIT_DEFAULT;
    let list = format!("{{ limit: {{ min: {min}, max: {max}, default: {default} }} }}");
    let key = format!("{{ min: 1, max: {} }}", limits::IDEMPOTENCY_KEY_CHARS_MAX);
    let message = format!("{{ maxBytes: {} }}", limits::MESSAGE_BYTES_MAX);
    [("list", list), ("idempotencyKey", key), ("message", message)]
        .map(|(name, text)| (name.to_owned(), text))
}

fn object(entries: &[LimitEntry], depth: usize) -> String {
    if entries.is_empty() {
        return "{}".to_owned();
    }
    let indent = "  ".repeat(depth);
    let line = |(name, text): &LimitEntry| format!("{indent}  {name}: {text},\n");
    let lines: Vec<_> = entries.iter().map(line).collect();
    format!("{{\n{}{indent}}}", lines.concat())
}
