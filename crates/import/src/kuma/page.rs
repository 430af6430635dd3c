//! Status pages of Uptime Kuma with their groups, monitors and incidents.

use rules::status_page::PageDraft;

use super::Rows;
use super::heartbeats::moment;
use crate::assembly::{Assembly, ComponentPart, GroupPart, PagePart};
use crate::history::{PastIncident, PastUpdate};
use crate::preview::{Entry, ObjectKind};
use crate::record::Record;

/// Columns without a meaning outside of Uptime Kuma.
const WITHOUT_MEANING: [&str; 7] = [
    "created_date",
    "modified_date",
    "show_powered_by",
    "search_engine_index",
    "password",
    "auto_refresh_interval",
    "analytics_id",
];

/// Imports all pages. Returns their incidents.
pub(super) fn import_all(rows: &mut Rows, assembly: &mut Assembly) -> Vec<PastIncident> {
    let mut slugs = Vec::new();
    for record in std::mem::take(&mut rows.pages) {
        let mut named = record.clone();
        if let (Some(id), Some(slug)) = (named.id("id"), named.text("slug")) {
            slugs.push((id, slug));
        }
        import(record, rows, assembly);
    }
    let mut incidents = Vec::new();
    for record in std::mem::take(&mut rows.incidents) {
        incidents.push(incident(record, &slugs, assembly));
    }
    incidents
}

fn import(mut record: Record, rows: &Rows, assembly: &mut Assembly) {
    let id = record.id("id").unwrap_or_default();
    let title = record.text("title");
    let mut entry = Entry::new(ObjectKind::StatusPage, title.as_deref().unwrap_or_default());
    let icon = record.text("icon").filter(|icon| icon != "/icon.svg");
    let draft = PageDraft {
        title,
        slug: record.text("slug"),
        description: record.text("description"),
        icon,
        ..PageDraft::default()
    };
    let published = record.flag("published") == Some(true);
    let change = if published { "published" } else { "hidden" };
    if published {
        entry.change(
            "published",
            change,
            "hidden",
            "publish it with `aloft pages publish` once it is right",
        );
    }
    match record.text("theme").as_deref() {
        None | Some("auto") => {}
        Some(theme) => entry.lose(format!("the theme `{theme}`"), "choose it in the dashboard"),
    }
    domains(&id, rows, &mut entry);
    for (field, what) in [
        ("footer_text", "the footer"),
        ("custom_css", "the style sheet"),
        ("google_analytics_tag_id", "analytics"),
        ("analytics_script_url", "analytics"),
        ("analytics_type", "analytics"),
        ("rss_title", "the title of the feed"),
    ] {
        if record.take(field).is_some() {
            entry.lose(what, "pages have no such setting; their description takes a text");
        }
    }
    for (field, what) in [
        ("show_tags", "tags on the page"),
        ("show_certificate_expiry", "the expiry of certificates on the page"),
        ("show_only_last_heartbeat", "only the last result on the page"),
    ] {
        if record.flag(field) == Some(true) {
            entry.lose(what, "pages have no such setting");
        }
    }
    record.ignore(&WITHOUT_MEANING);
    entry.close(record);
    let (groups, components) = components(&id, rows, assembly, &mut entry);
    assembly.page(PagePart { draft, groups, components }, entry);
}

/// Notes the domains: one must point to the server before the page can have it.
fn domains(page: &str, rows: &Rows, entry: &mut Entry) {
    for domain in &rows.domains {
        let mut domain = domain.clone();
        let is_of_page = domain.id("status_page_id").as_deref() == Some(page);
        if let Some(name) = domain.text("domain").filter(|_| is_of_page) {
            let remedy = "point its DNS to the server, and then set `custom_domain`";
            entry.lose(format!("the domain `{name}`"), remedy);
        }
    }
}

/// Returns the groups of a page and its components, in their order.
fn components(
    page: &str,
    rows: &Rows,
    assembly: &Assembly,
    entry: &mut Entry,
) -> (Vec<GroupPart>, Vec<ComponentPart>) {
    let (mut groups, mut components) = (Vec::new(), Vec::new());
    for group in &rows.page_groups {
        let mut group = group.clone();
        if group.id("status_page_id").as_deref() != Some(page) {
            continue;
        }
        let id = group.id("id").unwrap_or_default();
        for member in &rows.page_monitors {
            let mut member = member.clone();
            if member.id("group_id").as_ref() != Some(&id) {
                continue;
            }
            if member.flag("send_url") == Some(true) {
                let what = "links to the addresses of monitors";
                entry.lose(what, "pages never show addresses; write them into descriptions");
            }
            if let Some(url) = member.text("custom_url") {
                let what = format!("the link `{url}` of a monitor");
                entry.lose(what, "write it into the description of the component");
            }
            let monitor = member.id("monitor_id").unwrap_or_default();
            member.ignore(&["id", "group_id", "monitor_id", "send_url", "weight"]);
            entry.close(member);
            // The name is only needed if the monitor is not imported.
            let name = (!assembly.has_monitor(&monitor)).then(|| rows.name_of(&monitor));
            components.push(ComponentPart {
                monitor: Some(monitor),
                group: Some(id.clone()),
                name,
                description: None,
            });
        }
        groups.push(GroupPart { id, name: group.text("name").unwrap_or_default() });
        group.ignore(&["created_date", "public", "active", "weight"]);
        entry.close(group);
    }
    (groups, components)
}

/// Notes an incident, and returns it for the history.
fn incident(
    mut record: Record,
    slugs: &[(String, String)],
    assembly: &mut Assembly,
) -> PastIncident {
    let title = record.text("title").unwrap_or_default();
    let mut entry = Entry::new(ObjectKind::Incident, &title);
    let remedy =
        "`--history` exports it; create it with `aloft reports create` if it still matters";
    entry.lose("incidents of status pages", remedy);
    assembly.note(entry);
    let page = record.id("status_page_id").unwrap_or_default();
    let page = slugs.iter().find(|(id, _)| *id == page).map(|(_, slug)| slug.clone());
    let started_at = record.text("created_date").as_deref().and_then(moment);
    PastIncident {
        page: page.unwrap_or_default(),
        title,
        started_at: started_at.clone(),
        resolved_at: None,
        updates: vec![PastUpdate {
            at: started_at,
            status: record.text("style"),
            text: record.text("content").unwrap_or_default(),
            components: Vec::new(),
        }],
    }
}
