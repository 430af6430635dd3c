//! The rest of a configuration of Gatus: its page of all endpoints, and what has no counterpart.

use rules::status_page::PageDraft;

use super::endpoint::Member;
use crate::assembly::{Assembly, ComponentPart, GroupPart, PagePart};
use crate::preview::{Entry, ObjectKind};
use crate::record::Record;

/// Title of the page if none is set.
const TITLE_DEFAULT: &str = "Health Dashboard";
/// Sections about the program itself.
const OF_THE_PROGRAM: [&str; 9] = [
    "storage",
    "web",
    "metrics",
    "debug",
    "concurrency",
    "disable-monitoring-lock",
    "skip-invalid-config-update",
    "connectivity",
    "tunneling",
];

/// Imports the page, and notes the sections without a counterpart.
pub(super) fn import(mut config: Record, members: Vec<Member>, assembly: &mut Assembly) {
    page(&mut config, members, assembly);
    for (section, kind, what, remedy) in [
        (
            "external-endpoints",
            ObjectKind::Monitor,
            "an endpoint that pushes its results",
            "create a heartbeat monitor, and let the job call its URL",
        ),
        (
            "suites",
            ObjectKind::Monitor,
            "a suite of dependent requests",
            "check each address with a monitor of its own",
        ),
        (
            "announcements",
            ObjectKind::Incident,
            "an announcement",
            "create it with `aloft reports create` if it still matters",
        ),
    ] {
        for mut record in config.records(section) {
            let name = record.text("name").or_else(|| record.text("message")).unwrap_or_default();
            let mut entry = Entry::new(kind, &name);
            entry.lose(what, remedy);
            for mut endpoint in record.records("endpoints") {
                let name = endpoint.text("name").unwrap_or_default();
                let url = endpoint.text("url").unwrap_or_default();
                let url = url.split('?').next().unwrap_or_default();
                entry.lose(format!("the request `{name}` to {url}"), "check it with a monitor");
            }
            for field in record.names() {
                entry.lose(format!("its field `{field}`"), "it has no counterpart alone");
            }
            assembly.note(entry);
        }
    }
    sections(config, assembly);
}

/// Notes the sections that are about the program.
fn sections(mut config: Record, assembly: &mut Assembly) {
    for (section, kind, remedy) in [
        (
            "maintenance",
            ObjectKind::Maintenance,
            "plan it with `aloft maintenance plan`; it takes an RRULE",
        ),
        (
            "security",
            ObjectKind::Setting,
            "people sign in to the dashboard; pages can have a password",
        ),
        ("remote", ObjectKind::Setting, "import the configuration of the remote instance too"),
    ] {
        if let Some(content) = config.take(section) {
            let mut entry = Entry::new(kind, section);
            entry.lose(format!("the section `{section}`"), remedy);
            let fields = Record::of(content).unwrap_or_default().names();
            if !fields.is_empty() {
                entry.lose(format!("its fields {}", fields.join(", ")), remedy);
            }
            assembly.note(entry);
        }
    }
    let mut entry = Entry::new(ObjectKind::Setting, "settings of the program");
    for section in OF_THE_PROGRAM {
        if config.take(section).is_some() {
            let remedy = "docs/reference/settings.md lists the settings of the server";
            entry.lose(format!("the section `{section}`"), remedy);
        }
    }
    entry.close(config);
    if !entry.losses.is_empty() || !entry.unknown_fields.is_empty() {
        assembly.note(entry);
    }
}

/// Creates the page that Gatus shows: all endpoints, by group.
fn page(config: &mut Record, members: Vec<Member>, assembly: &mut Assembly) {
    let mut ui = config.record("ui").unwrap_or_default();
    let title = ui.text("header").or_else(|| ui.text("title"));
    let title = title.unwrap_or_else(|| TITLE_DEFAULT.to_owned());
    if members.is_empty() {
        return;
    }
    let mut entry = Entry::new(ObjectKind::StatusPage, &title);
    entry.change(
        "ui",
        "published",
        "hidden",
        "publish it with `aloft pages publish` once it is right",
    );
    let draft = PageDraft {
        title: Some(title),
        description: ui.text("description"),
        homepage_url: ui.text("link"),
        icon: ui.text("logo"),
        ..PageDraft::default()
    };
    for setting in ui.names() {
        if !matches!(setting.as_str(), "title" | "header") {
            entry.lose(format!("the setting `ui.{setting}`"), "pages have their own design");
        }
    }
    let mut groups: Vec<GroupPart> = Vec::new();
    for name in members.iter().filter_map(|member| member.group.as_ref()) {
        if !groups.iter().any(|group| group.id == *name) {
            groups.push(GroupPart { id: name.clone(), name: name.clone() });
        }
    }
    let components = members.into_iter().map(|member| ComponentPart {
        name: (!assembly.has_monitor(&member.id)).then_some(member.name),
        monitor: Some(member.id),
        group: member.group,
        description: None,
    });
    let components = components.collect();
    assembly.page(PagePart { draft, groups, components }, entry);
}
