//! Imports from Better Stack Uptime: saved answers of its interface, which has the form of JSON:API.
//! The meaning of fields: BetterStackHQ/terraform-provider-better-uptime, July 2026 (`docs/resources/`),
//! and openstatusHQ/openstatus, August 2026 (`packages/importers/src/providers/betterstack/`).

mod monitor;
mod page;

use std::collections::{BTreeMap, HashSet};

use crate::ImportError;
use crate::assembly::Assembly;
use crate::history::History;
use crate::peer::Reading;
use crate::preview::{Entry, ObjectKind};
use crate::record::Record;
use crate::saved::{self, Document};

/// An object of an answer.
struct Object {
    id: String,
    attributes: Record,
}

/// Objects by their type.
type Objects = BTreeMap<String, Vec<Object>>;

/// Reads saved answers.
pub(crate) fn read(documents: Vec<Document>) -> Result<Reading, ImportError> {
    let mut objects = Objects::new();
    let mut seen = HashSet::new();
    for document in documents {
        let data = Record::of(document.value.clone()).and_then(|mut answer| answer.take("data"));
        let is_empty =
            document.value.get("data").is_some_and(|data| *data == serde_json::json!([]));
        let records = saved::records(&document, data.unwrap_or_default())?;
        if records.is_empty() && !is_empty {
            return Err(saved::unknown(&document, "`data` with monitors or status pages"));
        }
        for mut record in records {
            let (Some(id), Some(kind)) = (record.id("id"), record.text("type")) else {
                return Err(saved::unknown(&document, "objects with `id` and `type`"));
            };
            let attributes = record.record("attributes").unwrap_or_default();
            // Pages of a list overlap if objects were added meanwhile.
            if seen.insert((kind.clone(), id.clone())) {
                objects.entry(kind).or_default().push(Object { id, attributes });
            }
        }
    }
    let mut assembly = Assembly::default();
    let groups = monitor::groups(take(&mut objects, "monitor_group"), &mut assembly);
    for object in take(&mut objects, "monitor") {
        monitor::import(object, &groups, &mut assembly);
    }
    let incidents = page::import_all(&mut objects, &mut assembly);
    note_rest(objects, &mut assembly);
    Ok(Reading { assembly, history: History::Incidents(incidents) })
}

fn take(objects: &mut Objects, kind: &str) -> Vec<Object> {
    objects.remove(kind).unwrap_or_default()
}

/// Notes all other objects, by their type.
fn note_rest(objects: Objects, assembly: &mut Assembly) {
    for (kind, objects) in objects {
        let object_kind = match kind.as_str() {
            "heartbeat" => ObjectKind::Monitor,
            _ => ObjectKind::Setting,
        };
        let remedy = match kind.as_str() {
            "heartbeat" => {
                "create a heartbeat monitor: its `interval` is `period`, and `grace` is `grace`"
            }
            "heartbeat_group" => "give the heartbeat monitors of the group a tag",
            "policy" | "policy_group" | "on_call_calendar" | "severity" => {
                "create channels, and name the monitors in them"
            }
            _ => "create its counterpart by hand",
        };
        for mut object in objects {
            let name = object.attributes.text("name").unwrap_or(object.id);
            let mut entry = Entry::new(object_kind, &name);
            entry.lose(format!("objects of the type `{kind}`"), remedy);
            assembly.note(entry);
        }
    }
}
