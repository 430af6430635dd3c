//! Objects of an answer by their kind. Answers do not name it, so fields tell.

use serde_json::Value;

use crate::ImportError;
use crate::record::Record;
use crate::saved::{Document, records};

/// An object of an answer.
pub(super) enum Part {
    Page(Record),
    Component(Record),
    Group(Record),
    Incident(Record),
    Subscriber(Record),
    /// Anything else.
    Unknown(Record),
}

impl Part {
    /// Returns the objects of an answer: a list, one object, or the summary of a page.
    pub(super) fn all_of(document: &Document) -> Result<Vec<Self>, ImportError> {
        let mut parts = Vec::new();
        for mut record in records(document, document.value.clone())? {
            if !record.has("page") {
                parts.push(Self::of(record));
                continue;
            }
            let page = record.record("page").unwrap_or_default();
            let id = page.peek("id").cloned().unwrap_or(Value::Null);
            parts.push(Self::Page(page));
            for list in ["components", "incidents", "scheduled_maintenances"] {
                for part in record.records(list) {
                    parts.push(Self::of(part.with("page_id", id.clone())));
                }
            }
        }
        Ok(parts)
    }

    fn of(record: Record) -> Self {
        let has = |name: &str| record.peek(name).is_some();
        if has("incident_updates") || has("impact") {
            return Self::Incident(record);
        }
        if has("mode") {
            return Self::Subscriber(record);
        }
        if has("subdomain") {
            return Self::Page(record);
        }
        let is_group = record.peek("group") == Some(&Value::Bool(true));
        if is_group || (has("components") && has("position")) {
            return Self::Group(record);
        }
        if has("position") && has("name") {
            return Self::Component(record);
        }
        Self::Unknown(record)
    }
}
