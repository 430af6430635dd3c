//! Writes a workspace as a configuration file by the tables. Omits absent values and defaults,
//! refers to resources by their keys, and replaces secrets by environment variables.

mod emit;
mod names;

use std::collections::{BTreeMap, HashMap};

use rules::field::{Block, Field, Presence, Rule, Shape, json_name};
use serde_json::{Map, Value as Json, json};

use self::names::Names;
use crate::compare::{default_of, elements, is_secret};
use crate::kind::{Kind, is_single};
use crate::plan::Existing;

pub use self::emit::to_yaml;

/// Field of the parts of a page that their place implies.
const PAGE: &str = "page_id";

/// Owners of the resources, and how to write secrets.
#[derive(Clone, Copy, Debug)]
pub struct ExportOptions<'a> {
    /// Names of configurations by the IDs that they own.
    pub owners: &'a HashMap<String, String>,
    /// Write their values instead of variables.
    pub with_secrets: bool,
    /// Whether the key of the caller shows no secrets.
    pub reads_only: bool,
}

/// A workspace as a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    pub text: String,
    /// Number of resources in it.
    pub resources: usize,
    /// Environment variables that it reads.
    pub variables: Vec<String>,
}

struct Exporter<'a> {
    options: ExportOptions<'a>,
    /// Keys by ID, for references. Those of groups are keys within their page.
    keys: HashMap<String, String>,
    variables: Names,
    names: Vec<String>,
}

/// Exports the resources of a workspace, oldest first within each kind.
pub fn export(existing: &[Existing], options: ExportOptions<'_>) -> Export {
    let (keys, variables) = (HashMap::new(), Names::default());
    let mut exporter = Exporter { options, keys, variables, names: Vec::new() };
    let mut left_out = Vec::new();
    let mut taken: HashMap<String, Names> = HashMap::new();
    let mut whole = Vec::new();
    for kind in Kind::all() {
        for it in existing.iter().filter(|it| it.kind == kind) {
            let without_page = matches!(kind, Kind::Group | Kind::Component)
                && !exporter.keys.contains_key(text(&it.json, "pageId"));
            match missing_reference(it).or(without_page.then_some(PAGE)) {
                None => {
                    exporter.name(it, &mut taken);
                    whole.push(it);
                }
                Some(field) => left_out.push(format!(
                    "# {} {} is not exported: it needs `{field}`, whose object was deleted.\n",
                    kind.noun(),
                    text(&it.json, "id")
                )),
            }
        }
    }
    let mut sections = Map::new();
    for it in &whole {
        exporter.add(it, &mut sections);
    }
    let mut head = left_out.concat() + &owned(&whole, options.owners);
    if options.reads_only {
        head += "# Exported with a read key: optional secrets and parts of URLs are missing.\n\
                 # `aloft apply --adopt` of this file would clear them: export with a write key for that.\n";
    }
    let body = if sections.is_empty() { String::new() } else { to_yaml(&Json::Object(sections)) };
    Export { text: head + &body, resources: whole.len(), variables: exporter.names }
}

impl Exporter<'_> {
    /// Chooses the key of a resource.
    fn name(&mut self, it: &Existing, taken: &mut HashMap<String, Names>) {
        let json = &it.json;
        let named =
            ["slug", "name", "title"].iter().find_map(|field| names::key(text(json, field)));
        let monitor = || self.keys.get(text(json, "monitorId")).cloned();
        let candidate = named.or_else(monitor).or_else(|| names::key(text(json, "providerType")));
        let candidate = candidate.unwrap_or_else(|| it.kind.name().replace('_', "-"));
        let space = match it.kind {
            Kind::Monitor(_) => "monitors".to_owned(),
            Kind::Page | Kind::Channel => it.kind.name().to_owned(),
            Kind::Group | Kind::Component => {
                format!("{} {}", it.kind.name(), text(json, "pageId"))
            }
        };
        let key = taken.entry(space).or_default().unique(&candidate, "-");
        self.keys.insert(text(json, "id").to_owned(), key);
    }

    /// Adds a resource to its section.
    fn add(&mut self, it: &Existing, sections: &mut Map<String, Json>) {
        let key = self.keys.get(text(&it.json, "id")).cloned().unwrap_or_default();
        let page = self.keys.get(text(&it.json, "pageId")).cloned().unwrap_or_default();
        let body = Json::Object(self.resource(it, &key));
        let slot = match it.kind {
            Kind::Monitor(_) => section(sections, "monitors"),
            Kind::Channel => section(sections, "channels"),
            Kind::Page => section(sections, "status_pages"),
            Kind::Group | Kind::Component => {
                let part = if it.kind == Kind::Group { "groups" } else { "components" };
                let pages = section(sections, "status_pages");
                let page = pages.entry(page).or_insert_with(|| json!({}));
                match page.as_object_mut() {
                    Some(page) => section(page, part),
                    None => return,
                }
            }
        };
        slot.insert(key, body);
    }

    fn resource(&mut self, it: &Existing, key: &str) -> Map<String, Json> {
        let mut body = Map::new();
        if let Kind::Monitor(kind) = it.kind {
            body.insert("kind".to_owned(), kind.as_str().into());
        }
        let named_by = it.kind.rules().find_map(|rule| match rule {
            Rule::ExactlyOneBlock { named_by } => Some(*named_by),
            Rule::RequiredWhen { .. } | Rule::Together { .. } => None,
        });
        for field in it.kind.fields() {
            // Their place or their block says it.
            if field.name == PAGE || named_by == Some(field.name) {
                continue;
            }
            let required = is_required(it, field);
            let value = self.value(field, &it.json[json_name(field.name)], key, required);
            // Without a name, a channel would get its key as name.
            let unnamed = it.kind == Kind::Channel && field.name == "name";
            let value = value.or_else(|| unnamed.then(|| "".into()));
            body.extend(value.map(|value| (field.name.to_owned(), value)));
        }
        for block in it.kind.blocks() {
            let value = self.blocks(block, &it.json[json_name(block.name)], key);
            body.extend(value.map(|value| (block.name.to_owned(), value)));
        }
        body
    }

    fn blocks(&mut self, block: &Block, json: &Json, path: &str) -> Option<Json> {
        let mut ones = Vec::new();
        for one in elements(json) {
            let path = [path, block.name, text(one, "key")].join("_");
            let mut body = Map::new();
            for field in block.fields {
                let required = field.presence == Presence::Required;
                let value = self.value(field, &one[json_name(field.name)], &path, required);
                body.extend(value.map(|value| (field.name.to_owned(), value)));
            }
            for inner in block.blocks {
                let value = self.blocks(inner, &one[json_name(inner.name)], &path);
                body.extend(value.map(|value| (inner.name.to_owned(), value)));
            }
            ones.push(Json::Object(body));
        }
        if is_single(block) { ones.pop() } else { (!ones.is_empty()).then_some(Json::Array(ones)) }
    }

    /// Returns the value of a field in the file, or `None` to omit it.
    fn value(&mut self, field: &Field, json: &Json, path: &str, required: bool) -> Option<Json> {
        let is_secret = is_secret(field, json);
        let is_shortened = self.options.reads_only
            && field.is_masked_for_readers()
            && json.as_str().is_some_and(|text| text.ends_with('…'));
        let is_missing = json.is_null() && is_secret && required;
        let is_given = !json.is_null() && (required || !is_default(field, json));
        if is_missing || is_shortened || (is_secret && is_given && !self.options.with_secrets) {
            return Some(self.variable(field, path));
        }
        if field.presence != Presence::Required && (json.is_null() || is_default(field, json)) {
            return None;
        }
        let is_reference = matches!(field.shape, Shape::Id(_) | Shape::SetOfIds(_));
        Some(if is_reference { self.with_keys(json) } else { json.clone() })
    }

    fn variable(&mut self, field: &Field, path: &str) -> Json {
        let name = names::variable(&[path, field.name].join("_"));
        let name = self.variables.unique(&name, "_");
        self.names.push(name.clone());
        json!({ "env": name })
    }

    fn with_keys(&self, json: &Json) -> Json {
        match json {
            Json::String(id) => {
                self.keys.get(id).cloned().map_or_else(|| json.clone(), Json::String)
            }
            Json::Array(ids) => ids.iter().map(|id| self.with_keys(id)).collect(),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_) => json.clone(),
        }
    }
}

/// Returns comments on the owners of exported resources, which another configuration cannot take over.
fn owned(exported: &[&Existing], owners: &HashMap<String, String>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for owner in exported.iter().filter_map(|it| owners.get(text(&it.json, "id"))) {
        *counts.entry(owner).or_default() += 1;
    }
    let line = |(owner, count): (&str, usize)| {
        let count = rules::counted(count, "resource");
        format!(
            "# The configuration `{owner}` owns {count} of this file; others cannot adopt them.\n"
        )
    };
    counts.into_iter().map(line).collect()
}

/// Returns the mapping of this key, which it creates if it is absent.
fn section<'a>(parent: &'a mut Map<String, Json>, key: &str) -> &'a mut Map<String, Json> {
    let slot = parent.entry(key.to_owned()).or_insert_with(|| json!({}));
    slot.as_object_mut().expect("sections are mappings")
}

/// Returns whether an omitted field has this value.
fn is_default(field: &Field, json: &Json) -> bool {
    let is_empty = json.as_str() == Some("") || json.as_array().is_some_and(Vec::is_empty);
    match field.presence {
        Presence::Default(value) => *json == default_of(value),
        Presence::Optional => is_empty,
        Presence::Required | Presence::Computed | Presence::Output => false,
    }
}

/// Returns whether the field must be given here.
fn is_required(it: &Existing, field: &Field) -> bool {
    field.presence == Presence::Required
        || it.kind.rules().any(|rule| match rule {
            Rule::RequiredWhen { field: name, when, is } => {
                *name == field.name && text(&it.json, &json_name(when)) == *is
            }
            Rule::Together { first, second } => {
                let is_given = |name| !it.json[json_name(name)].is_null();
                (*first == field.name && is_given(second))
                    || (*second == field.name && is_given(first))
            }
            Rule::ExactlyOneBlock { .. } => false,
        })
}

/// Returns a required reference that is absent, because its object was deleted.
fn missing_reference(it: &Existing) -> Option<&'static str> {
    let references = it.kind.fields().filter(|field| matches!(field.shape, Shape::Id(_)));
    let mut missing = references
        .filter(|field| is_required(it, field) && it.json[json_name(field.name)].is_null());
    missing.next().map(|field| field.name)
}

fn text<'a>(json: &'a Json, name: &str) -> &'a str {
    json[name].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests;
