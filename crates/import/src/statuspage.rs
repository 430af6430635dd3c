//! Imports from Atlassian Statuspage: saved answers of its interface, or of the public `summary.json` of a
//! page. The meaning of fields: <https://developer.statuspage.io/>, and openstatusHQ/openstatus, August
//! 2026 (`packages/importers/src/providers/statuspage/`).

mod page;
mod part;

use crate::ImportError;
use crate::assembly::Assembly;
use crate::history::History;
use crate::peer::Reading;
use crate::record::Record;
use crate::saved::{self, Document};
use page::StatuspageParts;
use part::Part;

/// Reads saved answers.
pub(crate) fn read(documents: Vec<Document>) -> Result<Reading, ImportError> {
    let mut contents: Vec<StatuspageParts> = Vec::new();
    for document in documents {
        let mut parts = Part::all_of(&document)?;
        let is_unknown = parts.iter().all(|part| matches!(part, Part::Unknown(_)));
        if is_unknown && document.value != serde_json::json!([]) {
            return Err(saved::unknown(&document, "page, components, incidents or subscribers"));
        }
        // A page comes before its parts.
        parts.sort_by_key(|part| !matches!(part, Part::Page(_)));
        for part in parts {
            page::add(part, &mut contents);
        }
    }
    let mut assembly = Assembly::default();
    let mut incidents = Vec::new();
    for content in contents {
        incidents.extend(page::import(content, &mut assembly));
    }
    Ok(Reading { assembly, history: History::Incidents(incidents) })
}

/// Returns the page that an object belongs to.
fn page_of(record: &Record) -> Option<String> {
    record.clone().id("page_id")
}
