//! The kinds of resources that a configuration has: their tables, names and order.

use std::borrow::Cow;

use rules::field::{Block, Field, Presence, Resource, Rule};
use rules::tables::{
    NOTIFICATION, NOTIFICATION_PREFERENCES, STATUS_PAGE, STATUS_PAGE_COMPONENT,
    STATUS_PAGE_COMPONENT_GROUP, monitor,
};
use rules::{MonitorKind, nearest};

/// A channel has its preferences beside the table of the specification.
static CHANNEL_TABLES: [&Resource; 2] = [&NOTIFICATION, &NOTIFICATION_PREFERENCES];

/// A kind of resource. The order is that of creation: a resource refers to earlier ones only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    Monitor(MonitorKind),
    Page,
    Group,
    Component,
    Channel,
}

/// A resource within a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    pub kind: Kind,
    /// Path in the file: `shop`, or `status/web` for a part of a page.
    pub key: String,
}

impl Kind {
    /// All kinds, in the order of creation.
    pub fn all() -> impl Iterator<Item = Self> {
        let monitors = MonitorKind::ALL.iter().map(|kind| Self::Monitor(*kind));
        monitors.chain([Self::Page, Self::Group, Self::Component, Self::Channel])
    }

    /// Returns the table of the specification.
    pub fn table(self) -> &'static Resource {
        match self {
            Self::Monitor(kind) => monitor(kind),
            Self::Page => &STATUS_PAGE,
            Self::Group => &STATUS_PAGE_COMPONENT_GROUP,
            Self::Component => &STATUS_PAGE_COMPONENT,
            Self::Channel => &NOTIFICATION,
        }
    }

    /// Returns the kind of a table's resources.
    pub fn of_table(table: &Resource) -> Option<Self> {
        Self::all().find(|kind| kind.table().name == table.name)
    }

    /// Returns the name of the kind in the record of the service, such as `http_monitor`.
    pub fn name(self) -> &'static str {
        self.table().kind()
    }

    /// Returns the kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|kind| kind.name() == name)
    }

    /// Returns the name of the kind in messages.
    pub fn noun(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Monitor(kind) => {
                return format!("{} monitor", kind.as_str().to_uppercase()).into();
            }
            Self::Page => "status page",
            Self::Group => "component group",
            Self::Component => "component",
            Self::Channel => "channel",
        })
    }

    /// Returns the arguments of the kind.
    pub fn fields(self) -> impl Iterator<Item = &'static Field> {
        let fields = self.tables().flat_map(|table| table.fields);
        fields.filter(|field| field.presence != Presence::Output)
    }

    /// Returns the blocks of the kind.
    pub fn blocks(self) -> impl Iterator<Item = &'static Block> {
        self.tables().flat_map(|table| table.blocks)
    }

    /// Returns the rules between its fields.
    pub fn rules(self) -> impl Iterator<Item = &'static Rule> {
        self.tables().flat_map(|table| table.rules)
    }

    /// Returns the names that a file may give, without `implied` ones.
    pub(crate) fn names(self, implied: &[&str]) -> Vec<&'static str> {
        let fields = self.fields().map(|field| field.name);
        let names = fields.chain(self.blocks().map(|block| block.name));
        names.filter(|name| !implied.contains(name)).collect()
    }

    fn tables(self) -> impl Iterator<Item = &'static Resource> {
        let own: &'static [&'static Resource] = match self {
            Self::Channel => &CHANNEL_TABLES,
            Self::Monitor(_) | Self::Page | Self::Group | Self::Component => &[],
        };
        let table = own.is_empty().then(|| self.table());
        own.iter().copied().chain(table)
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} `{}`", self.kind.noun(), self.key)
    }
}

/// Returns whether a block occurs once, so that the wire has an object for it instead of a list.
pub(crate) fn is_single(block: &Block) -> bool {
    block.max == Some(1)
}

/// Returns the end of a sentence that suggests the name that a user meant; empty if none is similar.
pub(crate) fn suggestion(given: &str, known: &[&str]) -> String {
    nearest(given, known).map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default()
}
