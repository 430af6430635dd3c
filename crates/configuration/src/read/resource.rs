//! Reads one resource: its fields and blocks by the tables, and the rules between them.

use std::collections::{BTreeMap, BTreeSet};

use rules::field::{Block, Field, Presence, Rule, json_name};
use serde_json::{Map, Value as Json};

use super::{Draft, NamedReference, Reader};
use crate::desired::{Desired, Setting};
use crate::kind::{Address, Kind, is_single};
use crate::problem::Position;
use crate::scalar::Scalar;
use crate::yaml::{Entry, Node, NodeValue};

/// Field of the parts of a page that their place implies.
const PAGE: &str = "page_id";
const NAME: &str = "name";

/// An entry of a section.
pub(super) struct Part {
    pub(super) key: String,
    pub(super) at: Position,
    pub(super) path: String,
    pub(super) node: Node,
}

/// Key of a resource, and its place.
pub(super) struct Head {
    pub(super) key: String,
    pub(super) at: Position,
    pub(super) path: String,
}

/// The part of a resource that was read until now.
pub(super) struct Progress {
    /// Path of the resource in the file.
    pub(super) path: String,
    pub(super) settings: BTreeMap<&'static str, Setting>,
    pub(super) positions: BTreeMap<String, Position>,
    pub(super) hidden: BTreeSet<String>,
    pub(super) references: Vec<NamedReference>,
}

impl Progress {
    /// Returns the path in the file of a path within the resource.
    pub(super) fn whole(&self, within: &str) -> String {
        format!("{}.{within}", self.path)
    }
}

impl Reader<'_> {
    /// Reads a resource. `section` is the name space of its key, and `page` its page.
    pub(super) fn resource(
        &mut self,
        kind: Kind,
        section: &'static str,
        head: Head,
        entries: Vec<Entry>,
        page: Option<&Address>,
    ) {
        let Head { key, at, path } = head;
        if let Some(first) = self.keys.insert((section, key.clone()), at.clone()) {
            return self.problem(&at, &path, format!("exists twice; the first one is at {first}"));
        }
        let mut progress = Progress {
            path,
            settings: BTreeMap::new(),
            positions: BTreeMap::new(),
            hidden: BTreeSet::new(),
            references: Vec::new(),
        };
        let implied: &[&str] = if page.is_some() { &[PAGE] } else { &[] };
        let names = kind.names(implied);
        for Entry { key, key_at, value } in entries {
            let Some(name) = names.iter().copied().find(|name| *name == key) else {
                let what = format!("is not a field of {}s", kind.noun());
                let path = progress.whole(&key);
                self.unknown(&key_at, &path, &names, &what);
                continue;
            };
            self.argument(kind, name, value, &mut progress);
        }
        if kind == Kind::Channel {
            self.complete_channel(&key, &at, &mut progress);
        }
        self.check_required(kind, &at, &progress, implied);
        let Progress { path, settings, positions, hidden, references } = progress;
        let address = Address { kind, key };
        let desired = Desired { address, path, at, settings, positions, hidden };
        let mut draft = Draft { desired, references };
        if let Some(page) = page {
            draft.imply(PAGE, page);
        }
        self.resources.push(draft);
    }

    fn argument(&mut self, kind: Kind, name: &'static str, node: Node, progress: &mut Progress) {
        if matches!(node.value, NodeValue::Scalar(Scalar::Null)) {
            return;
        }
        progress.positions.insert(name.to_owned(), node.at.clone());
        if let Some(block) = kind.blocks().find(|block| block.name == name) {
            let value = self.block(block, node, name, progress);
            progress.settings.extend(value.map(|value| (name, Setting::Value(value))));
        } else if let Some(field) = kind.fields().find(|field| field.name == name) {
            let value = self.setting(field, node, progress);
            progress.settings.extend(value.map(|value| (name, value)));
        }
    }

    /// Reads the block or the blocks of a name.
    fn block(
        &mut self,
        block: &'static Block,
        node: Node,
        path: &str,
        progress: &mut Progress,
    ) -> Option<Json> {
        let nodes = match node.value {
            NodeValue::List(nodes) => nodes,
            NodeValue::Mapping(_) if is_single(block) => {
                return Some(self.block_fields(block, node, path, progress));
            }
            NodeValue::Mapping(_) | NodeValue::Scalar(_) => {
                let example = if is_single(block) { "a mapping" } else { "a list of mappings" };
                let message = format!("must be {example}");
                self.problem(&node.at, &progress.whole(path), message);
                return None;
            }
        };
        let most = block.max.map_or(usize::MAX, |max| max as usize);
        if nodes.len() > most {
            let message = format!("must be given at most {}", rules::counted(most, "time"));
            self.problem(&node.at, &progress.whole(path), message);
            return None;
        }
        let mut values = Vec::new();
        for (index, node) in nodes.into_iter().enumerate() {
            let path = if is_single(block) { path.to_owned() } else { format!("{path}[{index}]") };
            values.push(self.block_fields(block, node, &path, progress));
        }
        if is_single(block) { values.pop() } else { Some(Json::Array(values)) }
    }

    fn block_fields(
        &mut self,
        block: &'static Block,
        node: Node,
        path: &str,
        progress: &mut Progress,
    ) -> Json {
        let at = node.at.clone();
        progress.positions.insert(path.to_owned(), at.clone());
        let names: Vec<&str> = block.fields.iter().map(|field| field.name).collect();
        let inner: Vec<&str> = block.blocks.iter().map(|block| block.name).collect();
        let known = [names, inner].concat();
        let mut value = Map::new();
        for Entry { key, key_at, value: node } in
            self.entries(node, &progress.whole(path)).unwrap_or_default()
        {
            let within = format!("{path}.{key}");
            progress.positions.insert(within.clone(), node.at.clone());
            if matches!(node.value, NodeValue::Scalar(Scalar::Null)) && known.contains(&&*key) {
                continue;
            }
            let read = if let Some(field) = block.fields.iter().find(|it| it.name == key) {
                self.value(field, node, &within, progress)
            } else if let Some(block) = block.blocks.iter().find(|it| it.name == key) {
                self.block(block, node, &within, progress)
            } else {
                let what = format!("is not a field of `{}`", block.name);
                self.unknown(&key_at, &progress.whole(&within), &known, &what);
                None
            };
            // An invalid value counts as given, so that one mistake is one problem.
            value.insert(json_name(&key), read.unwrap_or(Json::Null));
        }
        let required = |field: &&Field| field.presence == Presence::Required;
        for field in block.fields.iter().filter(required) {
            if !value.contains_key(&json_name(field.name)) {
                let path = progress.whole(&format!("{path}.{}", field.name));
                self.problem(&at, &path, "must be given");
            }
        }
        Json::Object(value)
    }

    /// Sets the name and the kind of a channel if the file omits them.
    fn complete_channel(&mut self, key: &str, at: &Position, progress: &mut Progress) {
        if !progress.positions.contains_key(NAME) {
            progress.settings.insert(NAME, Setting::Value(key.into()));
        }
        let Some(named_by) = Kind::Channel.rules().find_map(|rule| match rule {
            Rule::ExactlyOneBlock { named_by } => Some(*named_by),
            Rule::RequiredWhen { .. } | Rule::Together { .. } => None,
        }) else {
            return;
        };
        if progress.positions.contains_key(named_by) {
            return;
        }
        let table = Kind::Channel.table();
        let given = table.blocks.iter().map(|block| block.name);
        let given: Vec<&str> =
            given.filter(|name| progress.positions.contains_key(*name)).collect();
        match *given {
            [kind] => {
                progress.settings.insert(named_by, Setting::Value(kind.into()));
                progress.positions.insert(named_by.to_owned(), at.clone());
            }
            [] => {
                let known: Vec<&str> = table.blocks.iter().map(|block| block.name).collect();
                let message =
                    format!("must have the block of its kind: one of {}", known.join(", "));
                self.problem(at, &progress.path, message);
                progress.positions.insert(named_by.to_owned(), at.clone());
            }
            _ => {
                let message = format!("must have one kind, but has {}", given.join(", "));
                self.problem(at, &progress.path, message);
                progress.positions.insert(named_by.to_owned(), at.clone());
            }
        }
    }

    fn check_required(&mut self, kind: Kind, at: &Position, progress: &Progress, implied: &[&str]) {
        let is_given = |name: &str| progress.positions.contains_key(name);
        let word = |name: &str| match progress.settings.get(name) {
            Some(Setting::Value(Json::String(word))) => Some(word.as_str()),
            Some(_) | None => None,
        };
        let mut missing: Vec<(&str, String)> = Vec::new();
        for field in kind.fields().filter(|it| it.presence == Presence::Required) {
            if !is_given(field.name) && !implied.contains(&field.name) {
                missing.push((field.name, "must be given".to_owned()));
            }
        }
        for rule in kind.rules() {
            match *rule {
                Rule::RequiredWhen { field, when, is } => {
                    if word(when) == Some(is) && !is_given(field) {
                        missing.push((field, format!("must be given when `{when}` is `{is}`")));
                    }
                }
                Rule::Together { first, second } => match (is_given(first), is_given(second)) {
                    (true, true) | (false, false) => {}
                    (true, false) => {
                        missing.push((second, format!("must be given with `{first}`")));
                    }
                    (false, true) => {
                        missing.push((first, format!("must be given with `{second}`")));
                    }
                },
                Rule::ExactlyOneBlock { named_by } => {
                    let Some(named) = word(named_by) else { continue };
                    for block in kind.table().blocks {
                        let rule = match (block.name == named, is_given(block.name)) {
                            (true, true) | (false, false) => continue,
                            (true, false) => "must be given",
                            (false, true) => "must not be given",
                        };
                        let message = format!("{rule} when `{named_by}` is `{named}`");
                        missing.push((block.name, message));
                    }
                }
            }
        }
        for (name, message) in missing {
            let at = progress.positions.get(name).unwrap_or(at);
            self.problem(at, &progress.whole(name), message);
        }
    }
}
