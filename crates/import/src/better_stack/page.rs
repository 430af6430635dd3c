//! Status pages of Better Stack with sections, resources and reports.

use rules::AccessType;
use rules::status_page::PageDraft;

use super::{Object, Objects, take};
use crate::assembly::{Assembly, ComponentPart, GroupPart, PagePart};
use crate::history::{PastImpact, PastIncident, PastUpdate, in_utc};
use crate::page::{note_incidents, password_from_environment};
use crate::preview::{Entry, ObjectKind};
use crate::record::Record;

/// Settings of a page that it has in any case, or that are computed.
const WITHOUT_MEANING: [&str; 14] = [
    "created_at",
    "updated_at",
    "aggregate_state",
    "subscribable",
    "history",
    "design",
    "layout",
    "password_enabled",
    "min_incident_length",
    "automatic_reports",
    "whitelabeled",
    "published",
    "status_page_group_id",
    "hide_from_search_engines",
];

/// Fields of sections and resources that are computed, or that say how history is drawn.
const OF_RESOURCES: [&str; 11] = [
    "id",
    "created_at",
    "updated_at",
    "position",
    "status_page_id",
    "status_page_section_id",
    "history",
    "widget_type",
    "availability",
    "status",
    "status_history",
];

/// Imports all pages. Returns their reports, and the incidents of monitors.
pub(super) fn import_all(objects: &mut Objects, assembly: &mut Assembly) -> Vec<PastIncident> {
    let pages = take(objects, "status_page");
    let sections = take(objects, "status_page_section");
    let resources = take(objects, "status_page_resource");
    let reports = take(objects, "status_report");
    let updates = take(objects, "status_update");
    let names: Vec<(String, String)> = resources
        .iter()
        .filter_map(|resource| {
            let name = resource.attributes.clone().text("public_name")?;
            Some((resource.id.clone(), name))
        })
        .collect();
    let is_only = pages.len() == 1;
    let mut slugs: Vec<(String, String)> = Vec::new();
    for page in pages {
        let slug = page.attributes.clone().text("subdomain").unwrap_or_default();
        slugs.push((page.id.clone(), slug));
        import(page, is_only, &sections, &resources, assembly);
    }
    let mut past = Vec::new();
    for report in reports {
        let page = report.attributes.clone().id("status_page_id").unwrap_or_default();
        let slug =
            slugs.iter().find(|(id, _)| *id == page || is_only).map(|(_, slug)| slug.clone());
        past.push(report_of(report, &slug.unwrap_or_default(), &updates, &names, assembly));
    }
    for incident in take(objects, "incident") {
        past.push(incident_of(incident));
    }
    note_incidents(past.len(), "reports and incidents", assembly);
    past
}

fn import(
    page: Object,
    is_only: bool,
    sections: &[Object],
    resources: &[Object],
    assembly: &mut Assembly,
) {
    let Object { id, attributes: mut record } = page;
    let title = record.text("company_name");
    let mut entry = Entry::new(ObjectKind::StatusPage, title.as_deref().unwrap_or_default());
    let mut draft = PageDraft {
        title,
        slug: record.text("subdomain"),
        homepage_url: record.text("company_url"),
        contact_url: record.text("contact_url"),
        icon: record.text("logo_url"),
        ..PageDraft::default()
    };
    settings(&mut record, &mut draft, assembly, &mut entry);
    let mut groups: Vec<(i64, GroupPart)> = Vec::new();
    for section in sections {
        let mut attributes = section.attributes.clone();
        if is_only || attributes.id("status_page_id").as_ref() == Some(&id) {
            let position = attributes.integer("position").unwrap_or(0);
            let name = attributes.text("name").unwrap_or_default();
            groups.push((position, GroupPart { id: section.id.clone(), name }));
            attributes.ignore(&OF_RESOURCES);
            entry.close(attributes);
        }
    }
    groups.sort_by_key(|(position, _)| *position);
    let mut components: Vec<((i64, i64), ComponentPart)> = Vec::new();
    for resource in resources {
        let mut attributes = resource.attributes.clone();
        let section = attributes.id("status_page_section_id");
        let group = groups.iter().find(|(_, group)| section.as_ref() == Some(&group.id));
        if group.is_some() || is_only {
            let place = group.map_or(0, |(position, _)| *position);
            let order = (place, attributes.integer("position").unwrap_or(0));
            let group = group.map(|(_, group)| group.id.clone());
            components.push((order, component(attributes, group, &mut entry)));
        }
    }
    components.sort_by_key(|(order, _)| *order);
    let groups = groups.into_iter().map(|(_, group)| group).collect();
    let components = components.into_iter().map(|(_, component)| component).collect();
    assembly.page(PagePart { draft, groups, components }, entry);
}

fn component(mut resource: Record, group: Option<String>, entry: &mut Entry) -> ComponentPart {
    let kind = resource.text("resource_type").unwrap_or_default();
    let is_monitor = kind == "Monitor";
    let name = resource.text("public_name");
    if !is_monitor {
        let field = format!("component `{}`", name.as_deref().unwrap_or_default());
        let why = "only monitors set the state of a component; this one shows reports only";
        entry.change(&field, kind, "static", why);
    }
    let part = ComponentPart {
        monitor: resource.id("resource_id").filter(|_| is_monitor),
        group,
        name,
        description: resource.text("explanation"),
    };
    resource.ignore(&OF_RESOURCES);
    entry.close(resource);
    part
}

fn settings(
    record: &mut Record,
    draft: &mut PageDraft,
    assembly: &mut Assembly,
    entry: &mut Entry,
) {
    let why = "publish it with `aloft pages publish` once it is right";
    entry.change("published", true, false, why);
    if record.flag("password_enabled") == Some(true) {
        draft.access_type = Some(AccessType::Password.to_string());
        draft.password = Some(password_from_environment(draft, assembly, entry));
    }
    if let Some(domain) = record.text("custom_domain") {
        let remedy = "point its DNS to the server, and then set `custom_domain`";
        entry.lose(format!("the domain `{domain}`"), remedy);
    }
    record.ignore(&WITHOUT_MEANING);
    for (field, what, remedy) in [
        ("timezone", "the time zone", "pages show times in the zone of the visitor"),
        ("require_sso", "single sign-on", "set a password before you publish the page"),
        (
            "ip_allowlist",
            "the restriction to IP addresses",
            "set a password before you publish the page",
        ),
        ("announcement", "the announcement", "create a report with `aloft reports create`"),
        ("custom_css", "the style sheet", "pages have a light and a dark theme"),
        ("custom_javascript", "scripts", "pages run no scripts of others"),
        ("google_analytics_id", "analytics", "pages have none"),
        ("theme", "the theme", "choose it in the dashboard"),
        ("dark_logo_url", "the dark logo", "pages have one icon"),
        ("navigation_links", "links", "pages link to a homepage and a contact"),
    ] {
        let value = record.take(field);
        if value.is_some_and(|value| value != serde_json::json!(false)) {
            entry.lose(what, remedy);
        }
    }
    for name in record.names() {
        if name.starts_with("announcement_embed") {
            record.ignore(&[&name]);
        }
    }
    entry.close(std::mem::take(record));
}

/// Returns a report for the history. Notes maintenance.
fn report_of(
    report: Object,
    page: &str,
    updates: &[Object],
    names: &[(String, String)],
    assembly: &mut Assembly,
) -> PastIncident {
    let Object { id, attributes: mut record } = report;
    let title = record.text("title").unwrap_or_default();
    let [from, to] = ["starts_at", "ends_at"].map(|field| record.text(field));
    if record.text("report_type").as_deref() == Some("maintenance") {
        let mut entry = Entry::new(ObjectKind::Maintenance, &title);
        let [from, to] = [&from, &to].map(|at| at.clone().unwrap_or_default());
        let remedy = "plan it with `aloft maintenance plan`, if it is not over";
        entry.lose(format!("maintenance from {from} to {to}"), remedy);
        assembly.note(entry);
    }
    let mut lines: Vec<PastUpdate> = Vec::new();
    for update in updates {
        let mut attributes = update.attributes.clone();
        if attributes.id("status_report_id").as_ref() != Some(&id) {
            continue;
        }
        let impacts = attributes.records("affected_resources").into_iter().map(|mut impact| {
            let resource = impact.id("status_page_resource_id").unwrap_or_default();
            let name = names.iter().find(|(id, _)| *id == resource).map(|(_, name)| name.clone());
            let impact = impact.text("status").unwrap_or_default();
            PastImpact { component: name.unwrap_or(resource), impact }
        });
        let components = impacts.collect();
        let (at, text) = (attributes.text("published_at"), attributes.text("message"));
        lines.push(PastUpdate { at, status: None, text: text.unwrap_or_default(), components });
    }
    let [started_at, resolved_at] = [from, to].map(|at| at.map(in_utc));
    PastIncident { started_at, resolved_at, ..PastIncident::new(page, title, lines) }
}

/// Returns an incident of a monitor, which belongs to no page.
fn incident_of(incident: Object) -> PastIncident {
    let mut record = incident.attributes;
    let title = record.text("name").unwrap_or_default();
    let [started, resolved] = ["started_at", "resolved_at"].map(|field| record.text(field));
    let update = PastUpdate {
        at: started.clone(),
        status: record.text("status"),
        text: record.text("cause").unwrap_or_default(),
        components: Vec::new(),
    };
    let incident = PastIncident::new("", title, vec![update]);
    let [started_at, resolved_at] = [started, resolved].map(|at| at.map(in_utc));
    PastIncident { started_at, resolved_at, ..incident }
}
