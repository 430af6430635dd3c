//! Objects of an answer by their kind. Answers do not name it, so fields tell.

use serde_json::Value;

use crate::record::Record;
use crate::saved::records;

/// An object of an answer.
pub(super) enum Part {
    Page(Record),
    Component(Record),
    Group(Record),
    Incident(Record),
    Subscriber(Record),
}

impl Part {
    /// Returns the objects of an answer: a list, one object, or the summary of a page.
    pub(super) fn all_of(answer: &Value) -> Vec<Self> {
        let mut parts = Vec::new();
        for mut record in records(answer.clone()) {
            if !record.has("page") {
                parts.extend(Self::of(record));
                continue;
            }
            let page = record.record("page").unwrap_or_default();
            let id = page.peek("id").cloned().unwrap_or(Value::Null);
            parts.push(Self::Page(page));
            for list in ["components", "incidents", "scheduled_maintenances"] {
                for part in record.records(list) {
                    parts.extend(Self::of(part.with("page_id", id.clone())));
                }
            }
        }
        parts
    }

    fn of(record: Record) -> Option<Self> {
        let has = |name: &str| record.peek(name).is_some();
        if has("incident_updates") || has("impact") {
            return Some(Self::Incident(record));
        }
        if has("mode") {
            return Some(Self::Subscriber(record));
        }
        if has("subdomain") {
            return Some(Self::Page(record));
        }
        let is_group = record.peek("group") == Some(&Value::Bool(true));
        if is_group || (has("components") && has("position")) {
            return Some(Self::Group(record));
        }
        (has("position") && has("name")).then_some(Self::Component(record))
    }
}
