//! Generates the page of limits: limits of the service from `crates/rules/src/limits.rs` with their
//! comments, and limits of fields from the tables.

use anyhow::{Context, Result};
use rules::field::{Block, Field, Presence, Resource};
use rules::tables;

use super::comment::{Given, paragraphs};
use super::prose::{anchor, camel, table};
use super::tables::{bounds, given};

/// Source with the limits of the service.
const SOURCE: &str = include_str!("../../../crates/rules/src/limits.rs");
/// Beginning of a limit's declaration.
const CONSTANT: &str = "pub const ";
const SECONDS_A_DAY: i64 = 24 * 60 * 60;

/// A section of the page, and the prefixes of its limits.
type Part = (&'static str, &'static [&'static str]);
const PARTS: [Part; 8] = [
    ("Calls", &["LIST_", "PAGE_TOKEN", "IDEMPOTENCY", "KEY_", "MESSAGE_", "VIOLATIONS", "CALLS_"]),
    ("Connections", &["REQUEST_", "RESPONSE_", "WITHOUT_KEY_", "WITH_KEY_", "WITH_SESSION_"]),
    (
        "Checks",
        &[
            "CHECKS_",
            "FILES_",
            "TRIGGER_",
            "REDIRECTS",
            "BODY_",
            "EXPRESSION_",
            "JSON_",
            "CLIENT_",
            "EVIDENCE_",
            "FIRST_RETRY",
            "SETTLE",
            "COMMIT_",
            "CHANGE_",
            "SUSPICION_",
            "CONNECTIVITY_",
            "PROBE_",
            "CONFIRMATIONS_",
            "PLAN_",
            "DETAILED_",
        ],
    ),
    ("Incidents, channels and webhooks", &["INCIDENT_", "SIGNING_", "DELIVERY_"]),
    ("Status pages", &["MAINTENANCE", "REPORT_", "SUBSCRIBE"]),
    // Retention limits have no common prefix. Limits without a section appear under the last one.
    (
        "Retention",
        &[
            "HOUR_",
            "DAY_",
            "RETENTION_",
            "EVIDENCE_KEPT",
            "IDEMPOTENCY_KEYS_",
            "STATUS_CHANGES",
            "INCIDENTS_",
            "DELIVERIES_",
            "AUDIT_",
            "ENDED_KEYS",
        ],
    ),
    (
        "Workspaces and members",
        &["OWNED_WORKSPACES", "OPEN_INVITATIONS", "INVITATION", "WORKSPACE_", "CONFIGUR"],
    ),
    ("Others", &[""]),
];

/// Tables of writable fields and their titles.
static FIELDS: [(&str, &Resource); 18] = [
    ("HTTP monitor", &tables::HTTP_MONITOR),
    ("TCP monitor", &tables::TCP_MONITOR),
    ("DNS monitor", &tables::DNS_MONITOR),
    ("Heartbeat monitor", &tables::HEARTBEAT_MONITOR),
    ("Channel", &tables::NOTIFICATION),
    ("Notification preferences", &tables::NOTIFICATION_PREFERENCES),
    ("Status page", &tables::STATUS_PAGE),
    ("Component", &tables::STATUS_PAGE_COMPONENT),
    ("Component group", &tables::STATUS_PAGE_COMPONENT_GROUP),
    ("Subscriber", &tables::SUBSCRIBER),
    ("Status report", &tables::STATUS_REPORT),
    ("Update of a report", &tables::REPORT_UPDATE),
    ("Template of reports", &tables::REPORT_TEMPLATE),
    ("Maintenance", &tables::MAINTENANCE),
    ("Comment of an incident", &tables::INCIDENT_COMMENT),
    ("Configuration", &tables::CONFIGURATION),
    ("Entry of a configuration", &tables::CONFIGURED_RESOURCE),
    ("Probe", &tables::PROBE),
];

/// A limit of the service.
struct Limit {
    name: String,
    about: String,
    value: String,
}

/// Generates a section for each part and each table.
pub(super) fn sections() -> Result<String> {
    let mut text = String::new();
    let limits = read(SOURCE)?;
    for (at, (title, _)) in PARTS.iter().enumerate() {
        let own = limits.iter().filter(|limit| part_of(&limit.name) == at);
        let rows: Vec<_> =
            own.map(|limit| vec![limit.about.clone(), limit.value.clone()]).collect();
        if !rows.is_empty() {
            text += &format!("## {title}\n\n{}\n", table(&["Limit", "Value"], &rows));
        }
    }
    for (title, resource) in FIELDS {
        let mut rows = Vec::new();
        fields("", resource.fields, &mut rows);
        blocks("", resource.blocks, &mut rows);
        text += &format!("## {title}\n\n{}\n", table(&["Field", "Allowed values", "Given"], &rows));
    }
    Ok(text.trim_end().to_owned())
}

/// Generates the links to the sections.
pub(super) fn contents() -> Result<String> {
    let text = sections()?;
    let titles = text.lines().filter_map(|line| line.strip_prefix("## "));
    let lines: Vec<_> = titles.map(|title| format!("- [{title}](#{})\n", anchor(title))).collect();
    Ok(lines.concat())
}

fn part_of(name: &str) -> usize {
    let begins = |(_, starts): &Part| starts.iter().any(|start| name.starts_with(start));
    // The longest matching prefix is the most specific.
    let longest = |(_, starts): &Part| {
        starts.iter().filter(|start| name.starts_with(**start)).map(|start| start.len()).max()
    };
    let parts = PARTS.iter().enumerate().filter(|(_, part)| begins(part));
    parts.max_by_key(|(at, part)| (longest(part), std::cmp::Reverse(*at))).map_or(0, |(at, _)| at)
}

fn fields(before: &str, fields: &[Field], rows: &mut Vec<Vec<String>>) {
    for field in fields.iter().filter(|field| field.presence != Presence::Output) {
        let what = bounds(field.shape).unwrap_or_else(|| "see its service".to_owned());
        let given = match given(field) {
            Given::Required => "required".to_owned(),
            Given::Default(value) => format!("default `{value}`"),
            Given::Output | Given::Unspecified => String::new(),
        };
        if bounds(field.shape).is_some() || !given.is_empty() {
            let what = if bounds(field.shape).is_some() { what } else { plain(field) };
            rows.push(vec![format!("`{before}{}`", camel(field.name)), what, given]);
        }
    }
}

fn blocks(before: &str, blocks_of: &[Block], rows: &mut Vec<Vec<String>>) {
    for block in blocks_of {
        let name = format!("{before}{}", camel(block.name));
        let several = block.max.filter(|max| *max > 1);
        if let Some(max) = several {
            rows.push(vec![format!("`{name}`"), format!("Up to {max}"), String::new()]);
        }
        let inner = if several.is_some() { format!("{name}[].") } else { format!("{name}.") };
        fields(&inner, block.fields, rows);
        blocks(&inner, block.blocks, rows);
    }
}

/// Describes a value whose shape has no bounds.
fn plain(field: &Field) -> String {
    use rules::field::ValueType;
    let word = match field.shape.value_type() {
        ValueType::Bool => "`true` or `false`",
        ValueType::Integer => "A 32-bit integer",
        ValueType::Text | ValueType::SetOfTexts | ValueType::ListOfTexts | ValueType::ListOf(_) => {
            return form(field);
        }
    };
    word.to_owned()
}

fn form(field: &Field) -> String {
    use rules::field::Shape;
    if let Shape::Id(prefix) = field.shape {
        return format!("An ID, `{prefix}…`");
    }
    if let Shape::SetOfIds(prefix) = field.shape {
        return format!("IDs, `{prefix}…`, each once");
    }
    "A [time](calling.md#times)".to_owned()
}

/// Parses the constants of a source with their comments.
fn read(source: &str) -> Result<Vec<Limit>> {
    let mut limits: Vec<Limit> = Vec::new();
    let mut comment = String::new();
    for line in source.lines() {
        if let Some(doc) = line.strip_prefix("///") {
            comment = comment + doc + "\n";
        } else if let Some(constant) = line.strip_prefix(CONSTANT) {
            let (name, rest) = constant.split_once(": ").context("the constant has no type")?;
            let (_, value) = rest.split_once(" = ").context("the constant has no value")?;
            let value = value.trim_end_matches(';');
            let known = limits.iter().find(|limit| limit.name == value).map(|it| it.value.clone());
            let value = known.map_or_else(|| format_value(name, value), Ok);
            let value = value.with_context(|| format!("the limit {name}"))?;
            limits.push(Limit { name: name.to_owned(), about: about(&comment), value });
            comment.clear();
        } else {
            comment.clear();
        }
    }
    Ok(limits)
}

/// Returns the description of a limit without its origin.
fn about(comment: &str) -> String {
    let text = paragraphs(comment).join(" ");
    let text = text.split(':').next().unwrap_or(&text);
    let Some((before, rest)) = text.split_once(" (") else {
        return text.trim_end_matches('.').to_owned();
    };
    let after = rest.split_once(')').map_or("", |(_, after)| after);
    format!("{before}{after}").trim_end_matches('.').to_owned()
}

/// Formats a value for people.
fn format_value(name: &str, expression: &str) -> Result<String> {
    let (kind, inner) = match expression.split_once('(') {
        Some((kind, inner)) => (kind, inner.trim_end_matches(')')),
        None => ("", expression),
    };
    let number = product(inner)?;
    Ok(match kind {
        "" if name.ends_with("_BYTES_MAX") || name.ends_with("_BYTES") => bytes(number),
        "" => thousands(number),
        "Duration::from_millis" => format!("{number} ms"),
        "Duration::from_secs" => time(number),
        "Duration::from_mins" => time(number * 60),
        "Duration::from_hours" => time(number * 3600),
        "Timestamp::from_millis" => year(number),
        other => anyhow::bail!("unsupported value `{other}`"),
    })
}

fn product(expression: &str) -> Result<i64> {
    let factors = expression.split(" * ").map(|factor| {
        let digits = factor.replace('_', "");
        digits.parse::<i64>().with_context(|| format!("`{factor}` is not a number"))
    });
    factors.product()
}

fn bytes(number: i64) -> String {
    match number {
        number if number % (1024 * 1024) == 0 => format!("{} MiB", number / (1024 * 1024)),
        number if number % 1024 == 0 => format!("{} KiB", number / 1024),
        number => format!("{number} bytes"),
    }
}

fn time(seconds: i64) -> String {
    let (number, unit) = match seconds {
        it if it % (365 * SECONDS_A_DAY) == 0 => (it / (365 * SECONDS_A_DAY), "year"),
        // Durations of a day are printed in hours, as in their descriptions.
        it if it % SECONDS_A_DAY == 0 && it > SECONDS_A_DAY => (it / SECONDS_A_DAY, "day"),
        it if it % 3600 == 0 => (it / 3600, "hour"),
        it if it % 60 == 0 => (it / 60, "minute"),
        it => (it, "second"),
    };
    let end = if number == 1 { "" } else { "s" };
    format!("{} {unit}{end}", thousands(number))
}

/// Formats the beginning of a year.
fn year(millis: i64) -> String {
    let days = millis / 1000 / SECONDS_A_DAY;
    // A Gregorian year has 365.2425 days on average. Beginnings of years round to themselves.
    let year = 1970 + (days * 10_000 + 1_826_212) / 3_652_425;
    format!("{year}-01-01")
}

/// Formats a number with thousands separators.
pub(super) fn thousands(number: i64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_with_descriptions() {
        let limits = read(SOURCE).unwrap();
        assert_eq!(limits.len(), SOURCE.matches(CONSTANT).count());
        let value = |name: &str| {
            let limit = limits.iter().find(|limit| limit.name == name).unwrap();
            format!("{}: {}", limit.about, limit.value)
        };
        assert_eq!(
            value("MESSAGE_BYTES_MAX"),
            "Maximum size of a message, in bytes, before and after decompression: 4 MiB"
        );
        assert_eq!(
            value("STATUS_CHANGES_KEPT"),
            "Retention of status changes, except for the last one of each monitor: 400 days"
        );
        assert_eq!(value("MAINTENANCE_STARTS_MAX"), "Latest start of a maintenance: 2100-01-01");
        assert_eq!(
            value("FIRST_RETRY_PAUSE"),
            "Pause before the second attempt; doubles with each further one: 500 ms"
        );
        assert!(limits.iter().all(|limit| part_of(&limit.name) < PARTS.len() - 1));
    }

    #[test]
    fn values_are_formatted_for_people() {
        for (expression, expected) in [
            ("10_000", "10,000"),
            ("Duration::from_hours(100 * 365 * 24)", "100 years"),
            ("Duration::from_hours(24)", "24 hours"),
            ("Duration::from_mins(1)", "1 minute"),
            ("Timestamp::from_millis(946_684_800_000)", "2000-01-01"),
        ] {
            assert_eq!(format_value("X", expression).unwrap(), expected);
        }
        assert_eq!(format_value("EVIDENCE_BODY_BYTES", "4 * 1024").unwrap(), "4 KiB");
        assert!(format_value("X", "Other::from(1)").is_err());
    }
}
