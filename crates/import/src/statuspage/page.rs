//! Pages of Statuspage with groups, components, incidents, maintenance and subscribers.

use rules::status_page::PageDraft;

use super::page_of;
use super::part::Part;
use crate::assembly::{Assembly, ComponentPart, GroupPart, PagePart};
use crate::history::{PastImpact, PastIncident, PastUpdate, parsed};
use crate::page::note_incidents;
use crate::preview::{Entry, ObjectKind};
use crate::record::Record;
use crate::saved::unique;

/// Fields of a page without a meaning for visitors.
const WITHOUT_MEANING: [&str; 10] = [
    "id",
    "created_at",
    "updated_at",
    "time_zone",
    "url",
    "headline",
    "branding",
    "activity_score",
    "ip_restrictions",
    "notifications_from_email",
];

/// Fields of groups and components that are computed, or that nothing here shows.
const OF_PARTS: [&str; 11] = [
    "id",
    "page_id",
    "created_at",
    "updated_at",
    "status",
    "group",
    "group_id",
    "showcase",
    "start_date",
    "automation_email",
    "components",
];

/// A page with its parts.
#[derive(Default)]
pub(super) struct StatuspageParts {
    id: String,
    page: Option<Record>,
    groups: Vec<Record>,
    components: Vec<Record>,
    incidents: Vec<Record>,
    subscribers: Vec<Record>,
    unknown: Vec<Record>,
}

/// Adds an object to its page.
pub(super) fn add(part: Part, contents: &mut Vec<StatuspageParts>) {
    match part {
        Part::Page(record) => {
            let id = record.clone().id("id").unwrap_or_default();
            let page = &mut of_page(id, contents).page;
            // The public summary has less than the page.
            if page.is_none() || record.has("subdomain") {
                *page = Some(record);
            }
        }
        Part::Group(record) => of_part(&record, contents).groups.push(record),
        Part::Component(record) => of_part(&record, contents).components.push(record),
        Part::Incident(record) => of_part(&record, contents).incidents.push(record),
        Part::Unknown(record) => of_part(&record, contents).unknown.push(record),
        Part::Subscriber(record) => of_part(&record, contents).subscribers.push(record),
    }
}

fn of_part<'c>(record: &Record, contents: &'c mut Vec<StatuspageParts>) -> &'c mut StatuspageParts {
    of_page(page_of(record).unwrap_or_default(), contents)
}

fn of_page(id: String, contents: &mut Vec<StatuspageParts>) -> &mut StatuspageParts {
    let known = contents.iter().position(|content| content.id == id);
    let at = known.unwrap_or_else(|| {
        contents.push(StatuspageParts { id, ..StatuspageParts::default() });
        contents.len() - 1
    });
    &mut contents[at]
}

/// Imports a page. Returns its incidents for the history.
pub(super) fn import(content: StatuspageParts, assembly: &mut Assembly) -> Vec<PastIncident> {
    let mut record = content.page.unwrap_or_default();
    let title = record.text("name").unwrap_or_else(|| "Status".to_owned());
    let mut entry = Entry::new(ObjectKind::StatusPage, &title);
    let slug = record.text("subdomain").unwrap_or_else(|| title.clone());
    let page = crate::text::slug(&slug, "status", usize::MAX);
    let draft = PageDraft {
        title: Some(title),
        slug: Some(slug),
        description: record.text("page_description"),
        contact_url: record.text("support_url"),
        ..PageDraft::default()
    };
    let why = "publish it with `aloft pages publish` once it is right";
    entry.change("published", true, false, why);
    settings(record, &mut entry);
    let groups = groups(content.groups, &mut entry);
    let components = components(unique(content.components), &groups, &mut entry);
    let groups = groups.into_iter().map(|group| GroupPart { id: group.id, name: group.name });
    assembly.page(PagePart { draft, groups: groups.collect(), components }, entry);
    for record in content.unknown {
        let mut entry = Entry::new(ObjectKind::Setting, &format!("unknown object of {page}"));
        let remedy = "create its counterpart by hand";
        entry.lose(format!("an object with {}", record.names().join(", ")), remedy);
        assembly.note(entry);
    }
    let count = unique(content.subscribers).len();
    if count > 0 {
        let mut entry =
            Entry::new(ObjectKind::Subscriber, &format!("{count} subscribers of {page}"));
        entry.lose("subscribers", "add them with `aloft subscribers add`");
        assembly.note(entry);
    }
    let mut past: Vec<PastIncident> = Vec::new();
    for mut record in unique(content.incidents) {
        if record.has("scheduled_for") {
            note_maintenance(&mut record, assembly);
        }
        past.push(incident(record, &page));
    }
    past.sort_by_key(|incident| incident.started_at.as_deref().and_then(parsed));
    note_incidents(past.len(), &format!("incidents of {page}"), assembly);
    past
}

fn settings(mut record: Record, entry: &mut Entry) {
    if let Some(domain) = record.text("domain") {
        let remedy = "point its DNS to the server, and then set `custom_domain`";
        entry.lose(format!("the domain `{domain}`"), remedy);
    }
    if record.flag("viewers_must_be_team_members") == Some(true) {
        entry.lose("the restriction to the team", "set a password before you publish the page");
    }
    if record.flag("hidden_from_search") == Some(false) {
        entry.lose("the permission for search engines", "allow indexing in the dashboard");
    }
    record.ignore(&WITHOUT_MEANING);
    let names = record.names();
    let of_design = |name: &str| {
        name.starts_with("css_") || name.ends_with("_logo") || name.ends_with("_cover")
    };
    let is_design = names.iter().any(|name| of_design(name));
    for name in names {
        if of_design(&name) || name.starts_with("allow_") || name.starts_with("twitter_") {
            record.ignore(&[&name]);
        }
    }
    if is_design {
        entry.lose("colours and images", "pages have a light and a dark theme, and an icon");
    }
    entry.close(record);
}

/// A group and the identifiers of its components.
struct Members {
    id: String,
    name: String,
    position: i64,
    components: Vec<String>,
}

fn groups(records: Vec<Record>, entry: &mut Entry) -> Vec<Members> {
    let mut groups: Vec<Members> = Vec::new();
    for mut record in records {
        let id = record.id("id").unwrap_or_default();
        if groups.iter().any(|group| group.id == id) {
            continue;
        }
        groups.push(Members {
            id,
            name: record.text("name").unwrap_or_default(),
            position: record.integer("position").unwrap_or(0),
            components: record.texts("components"),
        });
        if record.take("description").is_some() {
            entry.lose("the description of a group", "write it into those of its components");
        }
        if record.flag("only_show_if_degraded") == Some(true) {
            entry.lose("a group only shown if degraded", "pages show all groups");
        }
        record.ignore(&OF_PARTS);
        entry.close(record);
    }
    groups.sort_by_key(|group| group.position);
    groups
}

/// Returns the components in the order of the page. Nothing checks them, so they are static.
fn components(records: Vec<Record>, groups: &[Members], entry: &mut Entry) -> Vec<ComponentPart> {
    let mut ordered: Vec<((i64, i64), ComponentPart)> = Vec::new();
    for mut record in records {
        let id = record.id("id").unwrap_or_default();
        let position = record.integer("position").unwrap_or(0);
        let named = record.id("group_id");
        let listed = groups.iter().find(|group| group.components.contains(&id));
        let group = named.or_else(|| listed.map(|group| group.id.clone()));
        let place = groups.iter().find(|known| group.as_ref() == Some(&known.id));
        let order = (place.map_or(position, |group| group.position), position);
        let name = record.text("name");
        if record.flag("only_show_if_degraded") == Some(true) {
            let what = format!("`{}` only shown if degraded", name.as_deref().unwrap_or_default());
            entry.lose(what, "pages show all components");
        }
        ordered.push((
            order,
            ComponentPart {
                monitor: None,
                group: place.map(|group| group.id.clone()),
                name,
                description: record.text("description"),
            },
        ));
        record.ignore(&OF_PARTS);
        entry.close(record);
    }
    ordered.sort_by_key(|(order, _)| *order);
    if !ordered.is_empty() {
        let count = ordered.len();
        let why =
            "Statuspage checks nothing; to show a check, set `type: monitor` and `monitor_id`";
        entry.change("components", format_args!("{count}, set by people"), "static", why);
    }
    ordered.into_iter().map(|(_, part)| part).collect()
}

fn note_maintenance(record: &mut Record, assembly: &mut Assembly) {
    let status = record.clone().text("status").unwrap_or_default();
    if status == "completed" {
        return;
    }
    let name = record.clone().text("name").unwrap_or_default();
    let mut entry = Entry::new(ObjectKind::Maintenance, &name);
    let [from, to] =
        ["scheduled_for", "scheduled_until"].map(|field| record.text(field).unwrap_or_default());
    entry.lose(format!("maintenance from {from} to {to}"), "plan it with `aloft maintenance plan`");
    assembly.note(entry);
}

fn incident(mut record: Record, page: &str) -> PastIncident {
    let updates = record.records("incident_updates").into_iter().map(|mut update| {
        let impacts =
            update.records("affected_components").into_iter().map(|mut impact| PastImpact {
                component: impact.text("name").or_else(|| impact.text("code")).unwrap_or_default(),
                impact: impact.text("new_status").unwrap_or_default(),
            });
        let components = impacts.collect();
        let at = update.text("display_at").or_else(|| update.text("created_at"));
        PastUpdate {
            at,
            status: update.text("status"),
            text: update.text("body").unwrap_or_default(),
            components,
        }
    });
    let mut updates: Vec<PastUpdate> = updates.collect();
    if let Some(text) = record.text("postmortem_body") {
        let at = record.text("postmortem_published_at").or_else(|| record.text("updated_at"));
        updates.push(PastUpdate {
            at,
            status: Some("postmortem".to_owned()),
            text,
            components: vec![],
        });
    }
    PastIncident::new(page, record.text("name").unwrap_or_default(), updates)
}
