//! Reads the JSON backup of Uptime Kuma 1.x: monitors, notifications and tags, without status pages and
//! history. Names of fields are converted to the names of the database's columns.

use std::path::Path;

use serde_json::{Map, Value};

use super::Rows;
use super::database::WARN_DAYS_DEFAULT;
use crate::record::Record;
use crate::{ImportError, json};

/// Fields of the backup whose column has another name.
const RENAMED: [(&str, &str); 2] =
    [("accepted_statuscodes", "accepted_statuscodes_json"), ("proxyId", "proxy_id")];
/// Fields that the interface computes.
const COMPUTED: [&str; 7] = [
    "pathName",
    "path",
    "childrenIDs",
    "maintenance",
    "includeSensitiveData",
    "screenshot",
    "dns_last_result",
];

/// Reads a backup.
pub(super) fn rows(path: &Path) -> Result<Rows, ImportError> {
    let text = json::read_text(path)?;
    let first = text.trim_start().chars().next();
    if first != Some('{') {
        let remedy = "give the file `kuma.db`, or a JSON backup of Uptime Kuma 1.x";
        return Err(ImportError::unusable(path, "is neither a database nor a backup", remedy));
    }
    let mut backup = Record::of(json::parse(path, &text)?).unwrap_or_default();
    if !backup.has("monitorList") && !backup.has("notificationList") {
        let remedy = "give a file that Uptime Kuma 1.x exported under Settings, Backup";
        return Err(ImportError::unusable(path, "has no `monitorList`", remedy));
    }
    let mut rows = Rows { warn_days: WARN_DAYS_DEFAULT, ..Rows::default() };
    for mut monitor in list(&mut backup, "monitorList") {
        let id = monitor.peek("id").map(ToString::to_string).unwrap_or_default();
        let id = id.trim_matches('"').to_owned();
        rows.tags.insert(id.clone(), tags(&mut monitor));
        if let Some(mut links) = monitor.record("notificationIDList") {
            for notification in links.names() {
                if links.flag(&notification) != Some(true) {
                    continue;
                }
                rows.notified.entry(notification).or_default().push(id.clone());
            }
        }
        monitor.ignore(&COMPUTED);
        rows.monitors.push(as_columns(monitor));
    }
    rows.notifications =
        list(&mut backup, "notificationList").into_iter().map(as_columns).collect();
    let proxies = list(&mut backup, "proxyList").len() as u64;
    rows.counts.push(("proxy", proxies));
    Ok(rows)
}

/// Returns the objects of a list, which old versions write as an object by identifier.
fn list(backup: &mut Record, name: &str) -> Vec<Record> {
    match backup.take(name) {
        Some(Value::Array(items)) => items.into_iter().filter_map(Record::of).collect(),
        Some(Value::Object(items)) => {
            items.into_iter().filter_map(|(_, item)| Record::of(item)).collect()
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | None => {
            Vec::new()
        }
    }
}

fn tags(monitor: &mut Record) -> Vec<String> {
    let tags = monitor.records("tags").into_iter();
    tags.filter_map(|mut tag| {
        let name = tag.text("name")?;
        Some(tag.text("value").map_or(name.clone(), |value| format!("{name}: {value}")))
    })
    .collect()
}

/// Renames all fields, and writes lists as JSON, as the database does.
fn as_columns(mut record: Record) -> Record {
    let mut columns = Map::new();
    for name in record.names() {
        let Some(value) = record.take(&name) else { continue };
        let renamed = RENAMED.iter().find(|(field, _)| *field == name);
        let column = renamed.map_or_else(|| snake(&name), |(_, column)| (*column).to_owned());
        let value = match value {
            Value::Array(_) | Value::Object(_) => Value::String(value.to_string()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
        };
        columns.insert(column, value);
    }
    Record::from(columns)
}

/// Returns `retry_interval` for `retryInterval`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for character in name.chars() {
        if character.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}
