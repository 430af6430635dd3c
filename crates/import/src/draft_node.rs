//! Drafts of `rules` as trees of a configuration. The lists of `rules` declare the fields, so a new
//! argument needs no code here.

use rules::Secret;
use rules::field::{Block, Field, Resource, Shape};
use rules::monitor::{
    CheckDraft, HeaderAssertionDraft, HeaderDraft, JsonAssertionDraft, MonitorDraft,
    RecordAssertionDraft, StatusCodeAssertionDraft, TextAssertionDraft,
};
use rules::notification::ChannelDraft;
use rules::tables;

use crate::node::Node;
use crate::secrets::{SecretStyle, Secrets};

/// Path and secrets of the object that is written.
pub(crate) struct Writing<'a> {
    /// Kind and key, such as `monitor_shop`, from which names of secrets are made.
    pub(crate) path: String,
    pub(crate) secrets: &'a mut Secrets,
    pub(crate) style: SecretStyle,
}

impl Writing<'_> {
    fn name_for(&mut self, field: &Field, label: &str, text: &str) -> Option<String> {
        self.secrets.name_for(self.style, field, &self.path, label, text)
    }
}

/// A part of a draft as a tree. `None` if the field is unset.
trait ToNode {
    fn to_node(&self) -> Option<Node>;
}

impl ToNode for Option<String> {
    fn to_node(&self) -> Option<Node> {
        self.clone().map(Node::Text)
    }
}

impl ToNode for Option<Secret<String>> {
    fn to_node(&self) -> Option<Node> {
        self.as_ref().map(|secret| Node::Text(secret.expose().clone()))
    }
}

impl ToNode for Option<i32> {
    fn to_node(&self) -> Option<Node> {
        self.map(|number| Node::Integer(number.into()))
    }
}

impl ToNode for Option<bool> {
    fn to_node(&self) -> Option<Node> {
        self.map(Node::Bool)
    }
}

impl ToNode for Vec<String> {
    fn to_node(&self) -> Option<Node> {
        let items = self.iter().cloned().map(Node::Text).collect();
        (!self.is_empty()).then_some(Node::List(items))
    }
}

/// Declares blocks as lists of maps.
macro_rules! blocks {
    ($($block:ident { $($field:ident),+ })+) => {$(
        impl ToNode for Vec<$block> {
            fn to_node(&self) -> Option<Node> {
                let items = self.iter().map(|block| {
                    Node::map([$((stringify!($field), block.$field.to_node())),+])
                });
                (!self.is_empty()).then(|| Node::List(items.collect()))
            }
        }
    )+};
}

blocks! {
    HeaderDraft { key, value }
    StatusCodeAssertionDraft { target, comparator }
    TextAssertionDraft { target, comparator }
    JsonAssertionDraft { path, target, comparator }
    HeaderAssertionDraft { key, target, comparator }
    RecordAssertionDraft { record, target, comparator }
}

/// Fields of an object by name.
type Fields = Vec<(&'static str, Option<Node>)>;

macro_rules! shared_arguments {
    ([] $($(#[$doc:meta])* $name:ident $field:ident: $type:ty,)+) => {
        fn shared_arguments(draft: &MonitorDraft) -> Fields {
            vec![$((stringify!($name), draft.$name.to_node())),+]
        }
    };
}

rules::monitor_arguments!(shared_arguments);

macro_rules! check_arguments {
    ($($(#[doc = $meaning:literal])+ $variant:ident $name:literal $table:ident $arguments:ident
        $(#[$doc:meta])+ $settings:ident $draft:ident $message:ident {
            $($(#[$field_doc:meta])* $field:ident: $type:ty,)+
        })+) => {
        fn check_arguments(draft: &CheckDraft) -> Fields {
            match draft {
                $(CheckDraft::$variant(check) => {
                    vec![$((stringify!($field), check.$field.to_node())),+]
                })+
            }
        }
    };
}

rules::check_kinds!(check_arguments);

macro_rules! channel_block {
    ($($(#[doc = $meaning:literal])+ $variant:ident $block:ident $name:literal:
        $settings:ident { $($field:ident),+ } = $description:literal;)+) => {
        fn channel_blocks(draft: &ChannelDraft) -> Fields {
            vec![$(($name, draft.blocks.$block.as_ref().map(|block| {
                Node::map([$((stringify!($field), block.$field.to_node())),+])
            }))),+]
        }
    };
}

rules::channel_kinds!(channel_block);

/// Returns the tree of a monitor, its kind first and the rest in the order of its table.
pub(crate) fn monitor(draft: &MonitorDraft, writing: &mut Writing<'_>) -> Node {
    let table = tables::monitor(draft.check.kind());
    let mut fields = shared_arguments(draft);
    fields.extend(check_arguments(&draft.check));
    let mut ordered = vec![("kind".to_owned(), Node::Text(draft.check.kind().to_string()))];
    ordered.extend(in_order(table, fields));
    hide_secrets(&mut ordered, table.fields, table.blocks, writing);
    Node::Map(ordered)
}

/// Returns the tree of a channel: its name, its block and the keys of its monitors.
pub(crate) fn channel(draft: &ChannelDraft, writing: &mut Writing<'_>) -> Node {
    let table = &tables::NOTIFICATION;
    let mut fields = channel_blocks(draft);
    fields.push(("name", draft.name.to_node()));
    fields.push(("monitor_ids", draft.monitor_ids.to_node()));
    let mut ordered: Vec<(String, Node)> = in_order(table, fields).collect();
    hide_secrets(&mut ordered, table.fields, table.blocks, writing);
    Node::Map(ordered)
}

/// Returns the tree of an object from its fields, in the order of its table.
pub(crate) fn object(
    table: &'static Resource,
    fields: Vec<(&'static str, Option<Node>)>,
    writing: &mut Writing<'_>,
) -> Vec<(String, Node)> {
    let mut ordered: Vec<(String, Node)> = in_order(table, fields).collect();
    hide_secrets(&mut ordered, table.fields, table.blocks, writing);
    ordered
}

/// Returns a text as a tree.
pub(crate) fn text(text: Option<&String>) -> Option<Node> {
    text.cloned().map(Node::Text)
}

/// Returns the fields that have a value, in the order of the table.
fn in_order(table: &'static Resource, mut fields: Fields) -> impl Iterator<Item = (String, Node)> {
    table.writable().filter_map(move |name| {
        let at = fields.iter().position(|(field, _)| *field == name)?;
        let (_, node) = fields.swap_remove(at);
        Some((name.to_owned(), node?))
    })
}

/// Replaces secrets by the variables that hold them.
fn hide_secrets(
    nodes: &mut [(String, Node)],
    fields: &'static [Field],
    blocks: &'static [Block],
    writing: &mut Writing<'_>,
) {
    let label = match nodes.iter().find(|(name, _)| name == "key") {
        Some((_, Node::Text(key))) => key.clone(),
        Some(_) | None => String::new(),
    };
    for (name, node) in nodes {
        if let Some(block) = blocks.iter().find(|block| block.name == name.as_str()) {
            hide_in_block(node, block, writing);
            continue;
        }
        let Some(field) = fields.iter().find(|field| field.name == name.as_str()) else { continue };
        if let Node::Text(text) = node
            && may_be_secret(field)
            && let Some(variable) = writing.name_for(field, &label, text)
        {
            *node = Node::Environment(variable);
        }
    }
}

fn hide_in_block(node: &mut Node, block: &'static Block, writing: &mut Writing<'_>) {
    match node {
        Node::Map(inner) => hide_secrets(inner, block.fields, block.blocks, writing),
        Node::List(items) => {
            for item in items {
                hide_in_block(item, block, writing);
            }
        }
        Node::Text(_) | Node::Integer(_) | Node::Bool(_) | Node::Environment(_) => {}
    }
}

/// Returns whether the values of a field can be secrets: names of enumerations and of headers cannot.
fn may_be_secret(field: &Field) -> bool {
    field.shape.characters().is_some()
        && field.name != "key"
        && !matches!(field.shape, Shape::Id(_))
}
