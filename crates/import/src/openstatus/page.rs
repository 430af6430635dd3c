//! Status pages of OpenStatus with groups, components, reports and maintenance.

use rules::AccessType;
use rules::status_page::PageDraft;

use super::word;
use crate::assembly::{Assembly, ComponentPart, GroupPart, PagePart};
use crate::history::{PastImpact, PastIncident, PastUpdate};
use crate::page::password_from_environment;
use crate::preview::{Entry, ObjectKind};
use crate::record::Record;

/// Fields of groups and components that are computed, or that their place says.
const OF_PARTS: [&str; 7] =
    ["id", "pageId", "type", "createdAt", "updatedAt", "order", "defaultOpen"];

/// An answer of `GetStatusPageContent`.
pub(super) struct PageContent {
    page: Record,
    groups: Vec<Record>,
    components: Vec<Record>,
    reports: Vec<Record>,
    maintenances: Vec<Record>,
}

impl PageContent {
    pub(super) fn of(mut answer: Record) -> Self {
        Self {
            page: answer.record("statusPage").unwrap_or_default(),
            groups: answer.records("groups"),
            components: answer.records("components"),
            reports: answer.records("statusReports"),
            maintenances: answer.records("maintenances"),
        }
    }

    /// Returns the identifier of the page.
    pub(super) fn id(&self) -> Option<String> {
        self.page.clone().id("id")
    }
}

/// Imports a page. Returns its reports for the history.
pub(super) fn import(content: PageContent, assembly: &mut Assembly) -> Vec<PastIncident> {
    let mut record = content.page;
    let title = record.text("title");
    let mut entry = Entry::new(ObjectKind::StatusPage, title.as_deref().unwrap_or_default());
    let slug = record.text("slug");
    let mut draft = PageDraft {
        title,
        slug: slug.clone(),
        description: record.text("description"),
        homepage_url: record.text("homepageUrl"),
        contact_url: record.text("contactUrl"),
        icon: record.text("icon"),
        ..PageDraft::default()
    };
    access(&mut record, &mut draft, assembly, &mut entry);
    settings(&mut record, &mut entry);
    entry.close(record);
    let groups = content.groups.into_iter().map(|mut group| {
        let id = group.id("id").unwrap_or_default();
        let name = group.text("name").unwrap_or_default();
        group.ignore(&OF_PARTS);
        entry.close(group);
        GroupPart { id, name }
    });
    let groups: Vec<GroupPart> = groups.collect();
    let names = content.components.iter().filter_map(|component| {
        let mut component = component.clone();
        Some((component.id("id")?, component.text("name")?))
    });
    let names: Vec<(String, String)> = names.collect();
    let components = components(content.components, &mut entry);
    assembly.page(PagePart { draft, groups, components }, entry);
    for maintenance in content.maintenances {
        note_maintenance(maintenance, assembly);
    }
    let page = slug.unwrap_or_default();
    crate::page::note_incidents(content.reports.len(), &format!("reports of {page}"), assembly);
    content.reports.into_iter().map(|report| past(report, &page, &names)).collect()
}

fn access(record: &mut Record, draft: &mut PageDraft, assembly: &mut Assembly, entry: &mut Entry) {
    let given = record.text("accessType").unwrap_or_default();
    let password = record.text("password");
    let domains = record.texts("authEmailDomains");
    match given.as_str() {
        "PAGE_ACCESS_TYPE_PASSWORD_PROTECTED" => {
            draft.access_type = Some(AccessType::Password.to_string());
            draft.password = Some(match password {
                Some(password) => rules::Secret::new(password),
                None => password_from_environment(draft, assembly, entry),
            });
        }
        "PAGE_ACCESS_TYPE_AUTHENTICATED" => {
            draft.access_type = Some(AccessType::EmailDomain.to_string());
            draft.auth_email_domains = domains;
        }
        "PAGE_ACCESS_TYPE_IP_RESTRICTED" => {
            entry.lose(
                "the restriction to IP addresses",
                "set a password before you publish the page",
            );
        }
        _ => {}
    }
    record.ignore(&["allowedIpRanges"]);
}

fn settings(record: &mut Record, entry: &mut Entry) {
    if record.flag("published") == Some(true) {
        let why = "publish it with `aloft pages publish` once it is right";
        entry.change("published", true, false, why);
    }
    if let Some(domain) = record.text("customDomain") {
        let remedy = "point its DNS to the server, and then set `custom_domain`";
        entry.lose(format!("the domain `{domain}`"), remedy);
    }
    let theme = record.text("theme").map(|theme| word(&theme, "PAGE_THEME_"));
    if let Some(theme) = theme.filter(|theme| theme != "system") {
        entry.lose(format!("the theme `{theme}`"), "choose it in the dashboard");
    }
    if record.take("customTheme").is_some() {
        entry.lose("the colours of the page", "pages have a light and a dark theme");
    }
    if record.flag("allowIndex") == Some(true) {
        entry.lose("the permission for search engines", "allow indexing in the dashboard");
    }
    let languages = record.list("locales").len();
    if languages > 1 {
        entry.lose("the choice of languages", "pages use the language of the visitor");
    }
    record.ignore(&["id", "createdAt", "updatedAt", "defaultLocale"]);
}

/// Returns the components in the order of the page.
fn components(records: Vec<Record>, entry: &mut Entry) -> Vec<ComponentPart> {
    let mut ordered: Vec<((i64, i64), ComponentPart)> = Vec::new();
    for mut record in records {
        let order =
            (record.integer("order").unwrap_or(0), record.integer("groupOrder").unwrap_or(0));
        let monitor = record.id("monitorId");
        ordered.push((
            order,
            ComponentPart {
                group: record.id("groupId").filter(|group| group != "0"),
                name: record.text("name"),
                description: record.text("description"),
                monitor: monitor.filter(|monitor| monitor != "0"),
            },
        ));
        record.ignore(&OF_PARTS);
        entry.close(record);
    }
    ordered.sort_by_key(|(order, _)| *order);
    ordered.into_iter().map(|(_, part)| part).collect()
}

/// Notes planned maintenance.
pub(super) fn note_maintenance(mut record: Record, assembly: &mut Assembly) {
    let title = record.text("title").unwrap_or_default();
    let mut entry = Entry::new(ObjectKind::Maintenance, &title);
    let [from, to] = ["from", "to"].map(|field| record.text(field).unwrap_or_default());
    let remedy = "plan it with `aloft maintenance plan`, if it is not over";
    entry.lose(format!("maintenance from {from} to {to}"), remedy);
    assembly.note(entry);
}

fn past(mut report: Record, page: &str, names: &[(String, String)]) -> PastIncident {
    let updates = report.records("updates").into_iter().map(|mut update| {
        let impacts = update.records("componentImpacts").into_iter().map(|mut impact| {
            let id = impact.id("pageComponentId").unwrap_or_default();
            let name = names.iter().find(|(known, _)| *known == id).map(|(_, name)| name.clone());
            let given = impact.text("impact").unwrap_or_default();
            PastImpact {
                component: name.unwrap_or(id),
                impact: word(&given, "PAGE_COMPONENT_IMPACT_"),
            }
        });
        PastUpdate {
            at: update.text("date"),
            status: update.text("status").map(|status| word(&status, "STATUS_REPORT_STATUS_")),
            text: update.text("message").unwrap_or_default(),
            components: impacts.collect(),
        }
    });
    let updates: Vec<PastUpdate> = updates.collect();
    PastIncident::new(page, report.text("title").unwrap_or_default(), updates)
}
