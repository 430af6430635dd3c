//! Collects what an importer reads, allots keys, validates every resource by its table, and resolves
//! references between resources once all are known.

use std::collections::HashMap;

use rules::field::Resource;
use rules::monitor::MonitorDraft;
use rules::notification::ChannelDraft;
use rules::status_page::{ComponentDraft, GroupDraft, PageDraft};
use rules::tables::{NOTIFICATION, STATUS_PAGE, STATUS_PAGE_COMPONENT_GROUP};
use rules::{ComponentType, GroupId, MonitorId, PageId};

use crate::configuration::{Configuration, Keyed, PageConfiguration};
use crate::preview::Entry;
use crate::repair;
use crate::secrets::Secrets;
use crate::text::Keys;

/// Maximum length of a slug made of a name, in characters.
const SLUG_CHARS_MAX: usize = 63;

/// A component of a page, with the identifiers of the source.
#[derive(Debug, Default)]
pub(crate) struct ComponentPart {
    /// `None` for a component that only shows reports.
    pub(crate) monitor: Option<String>,
    pub(crate) group: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
}

/// A group of components of a page.
#[derive(Debug)]
pub(crate) struct GroupPart {
    /// Identifier in the source.
    pub(crate) id: String,
    pub(crate) name: String,
}

/// A page, with its components in their order.
#[derive(Debug, Default)]
pub(crate) struct PagePart {
    pub(crate) draft: PageDraft,
    pub(crate) groups: Vec<GroupPart>,
    pub(crate) components: Vec<ComponentPart>,
}

struct ChannelPart {
    name: String,
    draft: ChannelDraft,
    /// Identifiers of its monitors in the source.
    monitors: Vec<String>,
    entry: usize,
}

/// The resources of an importer so far.
#[derive(Default)]
pub(crate) struct Assembly {
    monitors: Vec<Keyed<MonitorDraft>>,
    /// Keys of the monitors by their identifiers in the source.
    monitor_keys: HashMap<String, String>,
    channels: Vec<ChannelPart>,
    pages: Vec<(PagePart, usize)>,
    entries: Vec<Entry>,
    taken: Keys,
    slugs: Keys,
    pub(crate) secrets: Secrets,
}

impl Assembly {
    /// Adds a monitor. `id` identifies it in the source.
    pub(crate) fn monitor(&mut self, id: &str, draft: MonitorDraft, mut entry: Entry) {
        if let Some(draft) = repair::monitor(draft, &mut entry)
            && !entry.is_refused
        {
            let name = draft.name.clone().unwrap_or_default();
            let key = self.taken.take(&name, "monitor");
            entry.imported_as(&key);
            self.monitor_keys.insert(id.to_owned(), key.clone());
            self.monitors.push(Keyed { key, value: draft });
        }
        self.entries.push(entry);
    }

    /// Adds an object that has no counterpart.
    pub(crate) fn note(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Adds the channels that one object of the source becomes; usually one. `monitors` are
    /// identifiers of the source.
    pub(crate) fn channels(
        &mut self,
        drafts: Vec<ChannelDraft>,
        monitors: &[String],
        mut entry: Entry,
    ) {
        let at = self.entries.len();
        for mut draft in drafts {
            let raw = draft.name.take().unwrap_or_default();
            let name = repair::name(&raw, name_chars_max(&NOTIFICATION, "name"), &mut entry);
            draft.name = Some(name.clone());
            match draft.clone().parse() {
                Ok(_) => {
                    let monitors = monitors.to_vec();
                    self.channels.push(ChannelPart { name, draft, monitors, entry: at });
                }
                Err(violations) => repair::refuse(&violations, &mut entry),
            }
        }
        self.entries.push(entry);
    }

    /// Adds a page with its groups and components.
    pub(crate) fn page(&mut self, part: PagePart, entry: Entry) {
        self.pages.push((part, self.entries.len()));
        self.entries.push(entry);
    }

    /// Returns whether a monitor of the source is in the configuration.
    pub(crate) fn has_monitor(&self, id: &str) -> bool {
        self.monitor_keys.contains_key(id)
    }

    /// Resolves all references.
    pub(crate) fn finish(mut self) -> (Configuration, Vec<Entry>, Secrets) {
        let mut keys = Keys::default();
        let channels = std::mem::take(&mut self.channels)
            .into_iter()
            .map(|part| self.keyed_channel(part, &mut keys))
            .collect();
        let mut keys = Keys::default();
        let pages = std::mem::take(&mut self.pages)
            .into_iter()
            .filter_map(|(part, entry)| self.keyed_page(part, entry, &mut keys))
            .collect();
        for entry in &mut self.entries {
            entry.decide();
            entry.replace(|text| self.secrets.hide_variables(text));
        }
        let monitor_keys = self.monitor_keys;
        let configuration =
            Configuration { monitors: self.monitors, channels, pages, monitor_keys };
        (configuration, self.entries, self.secrets)
    }

    fn keyed_channel(&mut self, part: ChannelPart, keys: &mut Keys) -> Keyed<ChannelDraft> {
        let entry = &mut self.entries[part.entry];
        let key = keys.take(&part.name, "channel");
        entry.imported_as(&key);
        let mut draft = part.draft;
        let known = part.monitors.iter().filter_map(|id| self.monitor_keys.get(id));
        draft.monitor_ids = known.cloned().collect();
        draft.monitor_ids.dedup();
        let missing =
            part.monitors.iter().filter(|id| !self.monitor_keys.contains_key(*id)).count();
        if missing > 0 {
            let what = format!("{missing} of its monitors");
            entry.lose(what, "they are not in the configuration; see their entries");
        }
        Keyed { key, value: draft }
    }

    fn keyed_page(
        &mut self,
        mut part: PagePart,
        at: usize,
        keys: &mut Keys,
    ) -> Option<Keyed<PageConfiguration>> {
        let entry = &mut self.entries[at];
        let title = part.draft.title.take().unwrap_or_default();
        let title = repair::name(&title, name_chars_max(&STATUS_PAGE, "title"), entry);
        repair_slug(&mut part.draft, &title, &mut self.slugs, entry);
        part.draft.description =
            part.draft.description.and_then(|text| repair::description(&text, entry));
        part.draft.title = Some(title.clone());
        drop_invalid_links(&mut part.draft, entry);
        if let Err(violations) = part.draft.clone().parse() {
            repair::refuse(&violations, entry);
            return None;
        }
        let key = keys.take(&title, "page");
        entry.imported_as(&key);
        let mut page = PageConfiguration::new(part.draft);
        let mut group_keys = HashMap::new();
        let mut taken = Keys::default();
        for GroupPart { id, name } in part.groups {
            let max = name_chars_max(&STATUS_PAGE_COMPONENT_GROUP, "name");
            let name = repair::name(&name, max, entry);
            let key = taken.take(&name, "group");
            group_keys.insert(id, key.clone());
            page.groups.push(Keyed { key, value: GroupDraft { name: Some(name), page_id: None } });
        }
        let mut taken = Keys::default();
        for (place, component) in part.components.into_iter().enumerate() {
            let monitor = component.monitor.as_ref().and_then(|id| self.monitor_keys.get(id));
            let group = component.group.as_ref().and_then(|id| group_keys.get(id));
            let draft = component_draft(&component, monitor, group, place as i32, entry);
            match checked(&draft).parse() {
                Ok(_) => {
                    let name = draft.name.as_deref().or(draft.monitor_id.as_deref());
                    let key = taken.take(name.unwrap_or_default(), "component");
                    page.components.push(Keyed { key, value: draft });
                }
                Err(violations) => repair::refuse(&violations, entry),
            }
        }
        Some(Keyed { key, value: page })
    }
}

/// Creates the draft of a component. One whose monitor is not imported shows reports only.
fn component_draft(
    part: &ComponentPart,
    monitor: Option<&String>,
    group: Option<&String>,
    place: i32,
    entry: &mut Entry,
) -> ComponentDraft {
    let max = name_chars_max(&STATUS_PAGE_COMPONENT_GROUP, "name");
    let name = part.name.as_deref().map(|raw| repair::name(raw, max, entry));
    let kind = if monitor.is_some() { ComponentType::Monitor } else { ComponentType::Static };
    let name =
        if kind == ComponentType::Static { name.or(Some("unnamed".to_owned())) } else { name };
    if part.monitor.is_some() && monitor.is_none() {
        let field = format!("component `{}`", name.as_deref().unwrap_or_default());
        entry.change(
            &field,
            "a monitor",
            "static",
            "its monitor is not imported; it shows reports only",
        );
    }
    ComponentDraft {
        page_id: None,
        kind: Some(kind.to_string()),
        monitor_id: monitor.cloned(),
        name,
        description: part.description.as_deref().and_then(|text| repair::description(text, entry)),
        order: Some(place),
        group_id: group.cloned(),
        group_order: group.map(|_| place),
    }
}

/// Returns the draft with identifiers in the place of keys, as the tables expect them.
fn checked(draft: &ComponentDraft) -> ComponentDraft {
    ComponentDraft {
        page_id: Some(PageId::from_bits(1).to_string()),
        monitor_id: draft.monitor_id.as_ref().map(|_| MonitorId::from_bits(1).to_string()),
        group_id: draft.group_id.as_ref().map(|_| GroupId::from_bits(1).to_string()),
        ..draft.clone()
    }
}

/// Makes a valid slug of the given one, or else of the title.
fn repair_slug(draft: &mut PageDraft, title: &str, taken: &mut Keys, entry: &mut Entry) {
    let given = draft.slug.take().filter(|slug| !slug.is_empty());
    let raw = given.clone().unwrap_or_else(|| title.to_owned());
    let slug = if STATUS_PAGE.field("slug").shape.takes(&raw) {
        raw
    } else {
        crate::text::slug(&raw, "status", SLUG_CHARS_MAX)
    };
    let free = taken.claim(&slug);
    if free != slug {
        entry.change("slug", &slug, &free, "another page of the source has it");
    }
    let slug = free;
    if let Some(given) = given.filter(|given| *given != slug) {
        entry.change("slug", given, &slug, "a slug is words in lower case, joined by hyphens");
    }
    draft.slug = Some(slug);
}

/// Drops links that the tables do not allow.
fn drop_invalid_links(draft: &mut PageDraft, entry: &mut Entry) {
    let links = [
        ("icon", &mut draft.icon),
        ("homepage_url", &mut draft.homepage_url),
        ("contact_url", &mut draft.contact_url),
    ];
    for (name, link) in links {
        let shape = STATUS_PAGE.field(name).shape;
        if let Some(invalid) = link.take_if(|link| !shape.takes(link)) {
            entry.lose(format!("{name} `{invalid}`"), "give an absolute http or https URL");
        }
    }
}

fn name_chars_max(table: &'static Resource, field: &str) -> usize {
    table.field(field).shape.characters().map_or(usize::MAX, |(_, max)| max as usize)
}
