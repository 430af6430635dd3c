//! The result of an import as a configuration file of `aloft apply`.

use std::collections::HashMap;
use std::fmt::Write as _;

use configuration::{FILE_BYTES_MAX, RESOURCES_MAX};
use rules::monitor::MonitorDraft;
use rules::notification::ChannelDraft;
use rules::status_page::{ComponentDraft, GroupDraft, PageDraft};
use rules::tables::{STATUS_PAGE, STATUS_PAGE_COMPONENT, STATUS_PAGE_COMPONENT_GROUP};

use crate::draft_node::{self, Writing, text};
use crate::node::Node;
use crate::preview::{Entry, ObjectKind};
use crate::secrets::{SecretStyle, Secrets};

/// A resource with its key.
#[derive(Clone, Debug)]
pub(crate) struct Keyed<T> {
    pub(crate) key: String,
    pub(crate) value: T,
}

/// A status page with its groups and components.
#[derive(Clone, Debug)]
pub(crate) struct PageConfiguration {
    draft: PageDraft,
    pub(crate) groups: Vec<Keyed<GroupDraft>>,
    pub(crate) components: Vec<Keyed<ComponentDraft>>,
}

/// The resources of an import, all valid.
#[derive(Clone, Debug, Default)]
pub(crate) struct Configuration {
    pub(crate) monitors: Vec<Keyed<MonitorDraft>>,
    /// Their monitors are keys.
    pub(crate) channels: Vec<Keyed<ChannelDraft>>,
    pub(crate) pages: Vec<Keyed<PageConfiguration>>,
    /// Keys of the monitors by their identifiers in the source.
    pub(crate) monitor_keys: HashMap<String, String>,
}

impl PageConfiguration {
    /// Creates a page without components.
    pub(crate) const fn new(draft: PageDraft) -> Self {
        Self { draft, groups: Vec::new(), components: Vec::new() }
    }
}

impl Configuration {
    /// Notes that `aloft apply` does not take the file: it has too many resources or bytes.
    pub(crate) fn excess(&self, text: &str) -> Option<Entry> {
        let of_pages =
            self.pages.iter().map(|page| 1 + page.value.groups.len() + page.value.components.len());
        let count = self.monitors.len() + self.channels.len() + of_pages.sum::<usize>();
        if count <= RESOURCES_MAX && text.len() <= FILE_BYTES_MAX {
            return None;
        }
        let mut entry = Entry::new(ObjectKind::Setting, "the whole configuration");
        let what = format!(
            "{count} resources in {} bytes; `aloft apply` takes {RESOURCES_MAX} in {} MiB",
            text.len(),
            FILE_BYTES_MAX / 1024 / 1024,
        );
        entry.lose(what, "split the file into configurations with names of their own");
        Some(entry)
    }

    /// Returns the text of the file, without its heading. `secrets` gets those of the file.
    pub(crate) fn to_yaml(&self, name: &str, style: SecretStyle, secrets: &mut Secrets) -> String {
        let mut sections = vec![("name".to_owned(), Node::Text(name.to_owned()))];
        let monitors = map_of(&self.monitors, "monitor", style, secrets, draft_node::monitor);
        let channels = map_of(&self.channels, "channel", style, secrets, draft_node::channel);
        let pages = map_of(&self.pages, "page", style, secrets, page_node);
        for (name, fields) in
            [("monitors", monitors), ("channels", channels), ("status_pages", pages)]
        {
            if !fields.is_empty() {
                sections.push((name.to_owned(), Node::Map(fields)));
            }
        }
        Node::Map(sections).to_yaml()
    }
}

/// Returns the comment at the top of the file.
pub(crate) fn heading(source: &str, secrets: &[String]) -> String {
    let mut text =
        format!("# Imported from {source} by `aloft import`. Apply it with `aloft apply`.\n");
    if !secrets.is_empty() {
        text.push_str("# Set these environment variables first:\n");
        for name in secrets {
            writeln!(text, "#   {name}").expect("writing to a string cannot fail");
        }
    }
    text
}

fn map_of<T>(
    resources: &[Keyed<T>],
    kind: &str,
    style: SecretStyle,
    secrets: &mut Secrets,
    node: impl Fn(&T, &mut Writing<'_>) -> Node,
) -> Vec<(String, Node)> {
    let mut fields = Vec::with_capacity(resources.len());
    for Keyed { key, value } in resources {
        let mut writing = Writing { path: format!("{kind}_{key}"), secrets, style };
        fields.push((key.clone(), node(value, &mut writing)));
    }
    fields
}

fn page_node(page: &PageConfiguration, writing: &mut Writing<'_>) -> Node {
    // Destructured, so that a new field cannot be forgotten here.
    let PageDraft {
        title,
        slug,
        description,
        homepage_url,
        contact_url,
        icon,
        custom_domain,
        access_type,
        password,
        auth_email_domains,
    } = &page.draft;
    let domains: Vec<Node> = auth_email_domains.iter().cloned().map(Node::Text).collect();
    let fields = vec![
        ("title", text(title.as_ref())),
        ("slug", text(slug.as_ref())),
        ("description", text(description.as_ref())),
        ("homepage_url", text(homepage_url.as_ref())),
        ("contact_url", text(contact_url.as_ref())),
        ("icon", text(icon.as_ref())),
        ("custom_domain", text(custom_domain.as_ref())),
        ("access_type", text(access_type.as_ref())),
        ("password", password.as_ref().map(|secret| Node::Text(secret.expose().clone()))),
        ("auth_email_domains", (!domains.is_empty()).then_some(Node::List(domains))),
    ];
    let mut nodes = draft_node::object(&STATUS_PAGE, fields, writing);
    let groups = page.groups.iter().map(|Keyed { key, value }| {
        let fields = vec![("name", text(value.name.as_ref()))];
        (key.clone(), Node::Map(draft_node::object(&STATUS_PAGE_COMPONENT_GROUP, fields, writing)))
    });
    let groups: Vec<(String, Node)> = groups.collect();
    let components = page
        .components
        .iter()
        .map(|Keyed { key, value }| (key.clone(), component_node(value, writing)));
    let components: Vec<(String, Node)> = components.collect();
    for (name, fields) in [("groups", groups), ("components", components)] {
        if !fields.is_empty() {
            nodes.push((name.to_owned(), Node::Map(fields)));
        }
    }
    Node::Map(nodes)
}

fn component_node(component: &ComponentDraft, writing: &mut Writing<'_>) -> Node {
    let ComponentDraft {
        page_id: _,
        kind,
        monitor_id,
        name,
        description,
        order,
        group_id,
        group_order,
    } = component;
    let number = |number: &Option<i32>| number.map(|number| Node::Integer(number.into()));
    let fields = vec![
        ("type", text(kind.as_ref())),
        ("monitor_id", text(monitor_id.as_ref())),
        ("name", text(name.as_ref())),
        ("description", text(description.as_ref())),
        ("order", number(order)),
        ("group_id", text(group_id.as_ref())),
        ("group_order", number(group_order)),
    ];
    Node::Map(draft_node::object(&STATUS_PAGE_COMPONENT, fields, writing))
}
