//! Imports from UptimeRobot: saved answers of version 2 of its interface (`getMonitors`,
//! `getAlertContacts`, `getPSPs`, `getMWindows`). The meaning of numbers: <https://uptimerobot.com/api/> and the clients of
//! louy/terraform-provider-uptimerobot and strvmarv/uptimerobot-dotnet.

mod contact;
mod monitor;

use std::collections::HashMap;

use rules::status_page::PageDraft;

use crate::ImportError;
use crate::assembly::{Assembly, ComponentPart, PagePart};
use crate::history::History;
use crate::peer::Reading;
use crate::preview::{Entry, ObjectKind};
use crate::record::Record;
use crate::saved::{self, Document};

/// References of monitors to other objects.
#[derive(Default)]
struct Links {
    /// Names of monitors by their identifiers.
    names: Vec<(String, String)>,
    /// Identifiers of contacts, each with a monitor.
    notified: Vec<(String, String)>,
}

/// Reads saved answers.
pub(crate) fn read(documents: Vec<Document>) -> Result<Reading, ImportError> {
    let mut assembly = Assembly::default();
    let (mut monitors, mut contacts, mut pages, mut windows) = (vec![], vec![], vec![], vec![]);
    for document in documents {
        let Some(mut record) = Record::of(document.value.clone()) else {
            return Err(saved::unknown(&document, "answer of UptimeRobot"));
        };
        if record.text("stat").as_deref() == Some("fail") {
            let error = record.record("error").and_then(|mut error| error.text("message"));
            let problem = format!("is an error of UptimeRobot ({})", error.unwrap_or_default());
            let remedy = "save the answer again with a read-only key";
            return Err(ImportError::unusable(&document.path, problem, remedy));
        }
        let names = ["monitors", "alert_contacts", "psps", "mwindows", "account"];
        if !names.iter().any(|name| record.peek(name).is_some()) {
            return Err(saved::unknown(&document, "monitors, alert_contacts, psps or mwindows"));
        }
        monitors.extend(record.records("monitors"));
        contacts.extend(record.records("alert_contacts"));
        pages.extend(record.records("psps"));
        windows.extend(record.records("mwindows"));
    }
    let mut links = Links::default();
    for record in monitors {
        monitor::import(record, &mut links, &mut assembly);
    }
    for record in saved::unique(contacts) {
        contact::import(record, &links, &mut assembly);
    }
    for record in saved::unique(pages) {
        page(record, &links, &mut assembly);
    }
    for mut record in saved::unique(windows) {
        let name = record.text("friendly_name").unwrap_or_default();
        let mut entry = Entry::new(ObjectKind::Maintenance, &name);
        let remedy = "plan it with `aloft maintenance plan`; it takes an RRULE";
        record.ignore(&["id"]);
        let fields = record.names().into_iter().map(|field| {
            let value = record.text(&field).unwrap_or_default();
            format!("{field} {value}")
        });
        let fields: Vec<String> = fields.collect();
        entry.lose(format!("a maintenance window: {}", fields.join(", ")), remedy);
        assembly.note(entry);
    }
    Ok(Reading { assembly, history: History::Incidents(Vec::new()) })
}

fn page(mut record: Record, links: &Links, assembly: &mut Assembly) {
    let title = record.text("friendly_name");
    let mut entry = Entry::new(ObjectKind::StatusPage, title.as_deref().unwrap_or_default());
    let draft = PageDraft { title, ..PageDraft::default() };
    let why = "publish it with `aloft pages publish` once it is right";
    entry.change("status", "published", "hidden", why);
    if let Some(domain) = record.text("custom_url") {
        let remedy = "point its DNS to the server, and then set `custom_domain`";
        entry.lose(format!("the domain `{domain}`"), remedy);
    }
    // 0 stands for all monitors.
    let chosen = match record.take("monitors") {
        Some(serde_json::Value::Array(items)) => {
            items.iter().map(|item| item.to_string().trim_matches('"').to_owned()).collect()
        }
        Some(_) | None => links.names.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>(),
    };
    let names: HashMap<&String, &String> =
        links.names.iter().map(|(id, name)| (id, name)).collect();
    let components = chosen.into_iter().map(|id| ComponentPart {
        name: names.get(&id).map(|name| (*name).clone()),
        monitor: Some(id),
        ..ComponentPart::default()
    });
    let components = components.collect();
    record.ignore(&["id", "standard_url", "sort", "status"]);
    entry.close(record);
    assembly.page(PagePart { draft, groups: Vec::new(), components }, entry);
}
