//! Reads the files of a configuration by the tables. Collects all problems of all files. Leaves
//! single values to `value` and references to `reference`.

mod reference;
mod resource;
mod value;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rules::MonitorKind;

use self::resource::Part;
use crate::desired::{Configuration, Desired, Reference, Setting};
use crate::kind::{Address, Kind, suggestion};
use crate::limits::{FILE_BYTES_MAX, FILES_MAX, KEY_CHARS_MAX, NAME, RESOURCES_MAX};
use crate::problem::{Position, Problem, Problems};
use crate::scalar::Scalar;
use crate::yaml::{self, Entry, Node, NodeValue};

pub(crate) use self::value::elements_max;

/// Name of a configuration whose files have none.
const DEFAULT_NAME: &str = "default";
/// Keys of a file.
const SECTIONS: [&str; 4] = ["name", "monitors", "channels", "status_pages"];
/// Begin of keys that only have anchors for other places.
const SHARED: &str = "x-";
/// Keys of a page that have its parts.
const PARTS: [&str; 2] = ["groups", "components"];
/// Key of a monitor with its kind.
const KIND: &str = "kind";

/// A file.
#[derive(Clone, Debug)]
pub struct Document {
    /// Name in messages.
    pub name: String,
    /// Folder that paths of files in it are relative to.
    pub folder: PathBuf,
    pub text: String,
}

/// Sources of the values that a file refers to.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// Returns the value of an environment variable, if it is set.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Returns the content of a text file.
    pub file: &'a dyn Fn(&Path) -> io::Result<String>,
}

struct Reader<'a> {
    sources: Sources<'a>,
    /// Folder of the file that is being read.
    folder: &'a Path,
    name: Option<String>,
    resources: Vec<Draft>,
    /// Positions of the keys of all resources.
    keys: HashMap<(&'static str, String), Position>,
    problems: Vec<Problem>,
}

/// A resource whose references are not resolved.
struct Draft {
    desired: Desired,
    references: Vec<NamedReference>,
}

/// A reference as written.
struct NamedReference {
    field: &'static str,
    path: String,
    at: Position,
    text: String,
    /// Whether the text is not in the file itself.
    is_hidden: bool,
}

/// Reads the files of one configuration.
pub fn read(documents: &[Document], sources: Sources<'_>) -> Result<Configuration, Problems> {
    let mut reader = Reader {
        sources,
        folder: Path::new(""),
        name: None,
        resources: Vec::new(),
        keys: HashMap::new(),
        problems: Vec::new(),
    };
    if documents.len() > FILES_MAX {
        let message = format!("more than {FILES_MAX} files; merge some");
        return Err(Problem::of_input(message).into());
    }
    for document in documents {
        reader.folder = &document.folder;
        reader.document(document);
    }
    reader.finish()
}

impl Reader<'_> {
    fn finish(mut self) -> Result<Configuration, Problems> {
        if self.resources.len() > RESOURCES_MAX {
            let message = format!(
                "more than {RESOURCES_MAX} resources; split them into configurations with a `name` each"
            );
            self.problems.push(Problem::of_input(message));
        }
        let targets = reference::Targets::new(&self.resources);
        let mut resources = Vec::new();
        for mut draft in std::mem::take(&mut self.resources) {
            reference::resolve(&mut draft, &targets, &mut self.problems);
            resources.push(draft.desired);
        }
        if !self.problems.is_empty() {
            return Err(Problems::sorted(self.problems));
        }
        // Stable, so that resources of a kind stay in the order of the files.
        resources.sort_by_key(|it| it.address.kind);
        let name = self.name.unwrap_or_else(|| DEFAULT_NAME.to_owned());
        Ok(Configuration { name, resources })
    }

    fn document(&mut self, document: &Document) {
        let file: Arc<str> = Arc::from(document.name.as_str());
        if document.text.len() > FILE_BYTES_MAX {
            let at = Position { file, line: 1, column: 1 };
            let message = format!("larger than {FILE_BYTES_MAX} bytes; split the file");
            return self.problem(&at, "", message);
        }
        match yaml::parse(&file, &document.text) {
            Ok(node) if is_empty(&node) => {
                // An empty file with --prune would delete everything, and is rather a mistake.
                let message = "the file is empty; delete it, or give it a `name`";
                self.problem(&node.at, "", message);
            }
            Ok(node) => self.root(node),
            Err(problem) => self.problems.push(problem),
        }
    }

    fn root(&mut self, node: Node) {
        for Entry { key, key_at, value } in self.entries(node, "").unwrap_or_default() {
            if key.starts_with(SHARED) {
                continue;
            }
            match key.as_str() {
                "name" => self.configuration_name(&value),
                "monitors" => self.section(value, &key, Self::monitor),
                "channels" => self.section(value, &key, Self::channel),
                "status_pages" => self.section(value, &key, Self::page),
                _ => self.unknown(&key_at, &key, &SECTIONS, "is not a key of a configuration"),
            }
        }
    }

    fn configuration_name(&mut self, node: &Node) {
        let NodeValue::Scalar(Scalar::Text(name)) = &node.value else {
            return self.problem(&node.at, "name", "must be a text");
        };
        if let Some(allowed) = NAME.violated_by(name) {
            return self.problem(&node.at, "name", allowed);
        }
        match &self.name {
            Some(other) if other != name => {
                let message = format!("is `{name}` here and `{other}` in another file; use one");
                self.problem(&node.at, "name", message);
            }
            Some(_) | None => self.name = Some(name.clone()),
        }
    }

    /// Reads the resources of a section, each by `read`.
    fn section(&mut self, node: Node, section: &str, read: fn(&mut Self, Part)) {
        for Entry { key, key_at, value } in self.entries(node, section).unwrap_or_default() {
            let path = format!("{section}.{key}");
            if self.check_key(&key, &key_at, &path) {
                read(self, Part { key, at: key_at, path, node: value });
            }
        }
    }

    fn monitor(&mut self, part: Part) {
        let Some(mut entries) = self.entries(part.node, &part.path) else { return };
        let Some(index) = entries.iter().position(|entry| entry.key == KIND) else {
            let message = format!("must have a `kind`: one of {}", MonitorKind::WORDS.join(", "));
            return self.problem(&part.at, &part.path, message);
        };
        let kind = entries.remove(index).value;
        let path = format!("{}.{KIND}", part.path);
        let word = match &kind.value {
            NodeValue::Scalar(Scalar::Text(word)) => word.as_str(),
            NodeValue::Scalar(_) | NodeValue::List(_) | NodeValue::Mapping(_) => "",
        };
        let Ok(known) = word.parse() else {
            let words = MonitorKind::WORDS;
            let message = format!("must be one of {}{}", words.join(", "), suggestion(word, words));
            return self.problem(&kind.at, &path, message);
        };
        let head = resource::Head { at: part.at, path: part.path, key: part.key };
        self.resource(Kind::Monitor(known), "monitors", head, entries, None);
    }

    fn channel(&mut self, part: Part) {
        let Some(entries) = self.entries(part.node, &part.path) else { return };
        let head = resource::Head { at: part.at, path: part.path, key: part.key };
        self.resource(Kind::Channel, "channels", head, entries, None);
    }

    fn page(&mut self, part: Part) {
        let Some(entries) = self.entries(part.node, &part.path) else { return };
        let (parts, own): (Vec<Entry>, Vec<Entry>) =
            entries.into_iter().partition(|entry| PARTS.contains(&entry.key.as_str()));
        let page = Address { kind: Kind::Page, key: part.key.clone() };
        let head = resource::Head { at: part.at, path: part.path.clone(), key: part.key };
        self.resource(Kind::Page, "status_pages", head, own, None);
        for Entry { key: section, value, .. } in parts {
            let kind = if section == PARTS[0] { Kind::Group } else { Kind::Component };
            let path = format!("{}.{section}", part.path);
            for Entry { key, key_at, value } in self.entries(value, &path).unwrap_or_default() {
                let part = Part { path: format!("{path}.{key}"), key, at: key_at, node: value };
                self.page_part(kind, &page, part);
            }
        }
    }

    /// Reads a group or a component of a page.
    fn page_part(&mut self, kind: Kind, page: &Address, part: Part) {
        if !self.check_key(&part.key, &part.at, &part.path) {
            return;
        }
        let Some(entries) = self.entries(part.node, &part.path) else { return };
        let key = format!("{}/{}", page.key, part.key);
        let head = resource::Head { at: part.at, path: part.path, key };
        self.resource(kind, kind.name(), head, entries, Some(page));
    }

    /// Returns the entries of a mapping. A null has none.
    fn entries(&mut self, node: Node, path: &str) -> Option<Vec<Entry>> {
        match node.value {
            NodeValue::Mapping(entries) => Some(entries),
            NodeValue::Scalar(Scalar::Null) => Some(Vec::new()),
            NodeValue::Scalar(_) | NodeValue::List(_) => {
                self.problem(&node.at, path, "must be a mapping of names to values");
                None
            }
        }
    }

    fn check_key(&mut self, key: &str, at: &Position, path: &str) -> bool {
        let begins = key.starts_with(|it: char| it.is_ascii_lowercase() || it.is_ascii_digit());
        let allowed =
            |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || b"_-".contains(&it);
        let is_valid = begins && key.bytes().all(allowed) && key.len() <= KEY_CHARS_MAX;
        if !is_valid {
            let message = format!(
                "is not a key; keys have up to {KEY_CHARS_MAX} letters a to z, digits, `_` and `-`, \
                 and begin with a letter or a digit"
            );
            self.problem(at, path, message);
        }
        is_valid
    }

    fn unknown(&mut self, at: &Position, path: &str, known: &[&str], message: &str) {
        let given = path.rsplit('.').next().unwrap_or(path);
        let meant = suggestion(given, known);
        let message = if meant.is_empty() {
            format!("{message}; known are {}", known.join(", "))
        } else {
            format!("{message}{meant}")
        };
        self.problem(at, path, message);
    }

    fn problem(&mut self, at: &Position, path: &str, message: impl Into<String>) {
        self.problems.push(Problem::new(at, path, message));
    }
}

/// Returns whether a file says nothing.
fn is_empty(file: &Node) -> bool {
    match &file.value {
        NodeValue::Scalar(scalar) => *scalar == Scalar::Null,
        NodeValue::List(_) => false,
        NodeValue::Mapping(entries) => entries.iter().all(|entry| entry.key.starts_with(SHARED)),
    }
}

impl Draft {
    /// Sets a field that the place of the resource implies.
    fn imply(&mut self, field: &'static str, address: &Address) {
        let page = Setting::Reference(Reference::Resource(address.clone()));
        self.desired.settings.insert(field, page);
    }
}

#[cfg(test)]
mod tests;
