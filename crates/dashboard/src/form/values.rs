//! Values of a form by the path of their field, as a browser posts them or as a resource has them.

use std::collections::BTreeMap;

use rules::field::{Block, Field, Presence, Resource, Shape, json_name};
use serde_json::Value as Json;

use super::field_text::default_text;
use super::is_single;

/// Values of a form. A path is the name of a field, such as `url` or `headers[0].key`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Values {
    values: BTreeMap<String, Vec<String>>,
    /// Whether a browser posted them. It leaves out switches that are off.
    is_posted: bool,
}

impl Values {
    /// Returns the values that a browser posted, without rows that are empty.
    pub(crate) fn posted(fields: Vec<(String, String)>, resource: &Resource) -> Self {
        let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, value) in fields {
            values.entry(name).or_default().push(value.replace("\r\n", "\n"));
        }
        for field in resource.fields {
            if let (Shape::SetOfTags { .. }, Some(texts)) =
                (field.shape, values.get_mut(field.name))
            {
                *texts = tags(&texts.join(","));
            }
        }
        let mut posted = Self { values, is_posted: true };
        for block in resource.blocks {
            posted.tidy(block);
        }
        posted
    }

    /// Returns the values of a stored resource, in the JSON of the contract.
    pub(crate) fn stored(json: &Json, resource: &Resource) -> Self {
        let mut stored = Self { values: BTreeMap::new(), is_posted: false };
        for field in resource.fields.iter().filter(|it| it.presence != Presence::Output) {
            stored.read(field, field.name.to_owned(), json);
        }
        for block in resource.blocks {
            let json = &json[json_name(block.name)];
            if is_single(block) {
                for field in block.fields {
                    stored.read(field, format!("{}.{}", block.name, field.name), json);
                }
                for inner in block.blocks {
                    let path = format!("{}.{}", block.name, inner.name);
                    stored.read_rows(inner, &path, &json[json_name(inner.name)]);
                }
            } else {
                stored.read_rows(block, block.name, json);
            }
        }
        stored
    }

    /// Adds the values of another resource of the same form.
    pub(crate) fn merge(&mut self, other: Self) {
        self.values.extend(other.values);
    }

    /// Sets a value.
    pub(crate) fn set(&mut self, path: &str, value: impl Into<String>) {
        self.values.insert(path.to_owned(), vec![value.into()]);
    }

    /// Returns the value at this path.
    pub(crate) fn first(&self, path: &str) -> Option<&str> {
        self.all(path).first().map(String::as_str)
    }

    /// Returns all values at this path.
    pub(crate) fn all(&self, path: &str) -> &[String] {
        self.values.get(path).map_or(&[], Vec::as_slice)
    }

    /// Returns whether a switch is on. `default` counts before the form was posted.
    pub(crate) fn is_on(&self, path: &str, default: bool) -> bool {
        match self.first(path) {
            Some(value) => value == "true",
            None => default && !self.is_posted,
        }
    }

    /// Returns the number of rows of a block.
    pub(crate) fn rows(&self, block: &str) -> usize {
        self.indexes(block).last().map_or(0, |last| last + 1)
    }

    /// Adds an empty row to a block.
    pub(crate) fn add_row(&mut self, block: &Block) {
        self.add_row_at(block.name, block);
    }

    /// Adds an empty row to a block at this path.
    pub(crate) fn add_row_at(&mut self, path: &str, block: &Block) {
        let index = self.rows(path);
        for field in block.fields {
            self.set(&format!("{path}[{index}].{}", field.name), "");
        }
    }

    /// Returns whether a person filled in a block that a resource has at most once.
    pub(super) fn has_block(&self, block: &Block) -> bool {
        let path = |name: &str| format!("{}.{name}", block.name);
        let values = |field: &Field| Some(self.all(&path(field.name)).to_vec());
        let fields: Vec<_> = block.fields.iter().map(values).collect();
        let has_rows = block.blocks.iter().any(|inner| self.rows(&path(inner.name)) > 0);
        has_rows || has_text(block, &fields)
    }

    /// Returns whether a field or block has another value than its default.
    pub(super) fn differs_from_default(&self, resource: &Resource, name: &str) -> bool {
        if let Some(block) = resource.blocks.iter().find(|block| block.name == name) {
            return if is_single(block) { self.has_block(block) } else { self.rows(name) > 0 };
        }
        let field = resource.field(name);
        let default = default_text(field);
        match field.shape {
            Shape::Bool => self.is_on(name, default == "true") != (default == "true"),
            _ => self.all(name).iter().any(|value| !value.is_empty() && *value != default),
        }
    }

    /// Returns the value of a field or block as one text, for comparisons.
    pub(crate) fn described(&self, resource: &Resource, name: &str) -> String {
        if let Some(block) = resource.blocks.iter().find(|block| block.name == name) {
            let row = |index: usize| {
                let path = |field: &Field| format!("{name}[{index}].{}", field.name);
                let texts = block.fields.iter().map(|field| self.all(&path(field)).join(", "));
                texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
            };
            return (0..self.rows(name)).map(row).collect::<Vec<_>>().join("; ");
        }
        let field = resource.field(name);
        let default = default_text(field);
        match field.shape {
            Shape::Bool if self.is_on(name, default == "true") => "on".to_owned(),
            Shape::Bool => "off".to_owned(),
            _ => {
                let mut texts = self.all(name).to_vec();
                texts.retain(|text| !text.is_empty());
                texts.sort_unstable();
                if texts.is_empty() { default } else { texts.join(", ") }
            }
        }
    }

    fn read(&mut self, field: &Field, path: String, json: &Json) {
        let texts: Vec<String> = match &json[json_name(field.name)] {
            Json::Null => return,
            Json::Array(all) => all.iter().map(text).collect(),
            Json::String(instant) if field.shape == Shape::Instant => vec![local_input(instant)],
            one => vec![text(one)],
        };
        self.values.insert(path, texts);
    }

    fn read_rows(&mut self, block: &Block, path: &str, json: &Json) {
        for (index, row) in json.as_array().into_iter().flatten().enumerate() {
            for field in block.fields {
                self.read(field, format!("{path}[{index}].{}", field.name), row);
            }
        }
    }

    /// Removes the empty rows of a block, or of its inner blocks.
    fn tidy(&mut self, block: &Block) {
        if !is_single(block) {
            return self.remove_empty_rows(block, block.name);
        }
        for inner in block.blocks {
            self.remove_empty_rows(inner, &format!("{}.{}", block.name, inner.name));
        }
    }

    /// Removes the rows of a block whose texts are all empty, and closes the gaps.
    fn remove_empty_rows(&mut self, block: &Block, at: &str) {
        let rows: Vec<Vec<Option<Vec<String>>>> = self
            .indexes(at)
            .into_iter()
            .map(|index| {
                let path = |field: &Field| format!("{at}[{index}].{}", field.name);
                block.fields.iter().map(|field| self.values.remove(&path(field))).collect()
            })
            .filter(|row: &Vec<_>| has_text(block, row))
            .collect();
        for (index, row) in rows.into_iter().enumerate() {
            for (field, values) in block.fields.iter().zip(row) {
                let path = format!("{at}[{index}].{}", field.name);
                self.values.insert(path, values.unwrap_or_default());
            }
        }
    }

    fn indexes(&self, block: &str) -> Vec<usize> {
        let prefix = format!("{block}[");
        let paths = self.values.keys().filter_map(|path| path.strip_prefix(&prefix));
        let mut indexes: Vec<usize> =
            paths.filter_map(|rest| rest.split_once(']')?.0.parse().ok()).collect();
        indexes.sort_unstable();
        indexes.dedup();
        indexes
    }
}

/// Returns whether a person wrote something in a row. Selections have a value in any case.
fn has_text(block: &Block, row: &[Option<Vec<String>>]) -> bool {
    block.fields.iter().zip(row).any(|(field, values)| {
        let is_written = values.iter().flatten().any(|value| !value.trim().is_empty());
        field.shape.names().is_none() && is_written
    })
}

/// Returns the tags of a text. No tag has a comma or a space at its ends.
fn tags(text: &str) -> Vec<String> {
    let tags = text.split(',').map(str::trim).filter(|tag| !tag.is_empty());
    tags.map(str::to_owned).collect()
}

fn text(json: &Json) -> String {
    json.as_str().map_or_else(|| json.to_string(), str::to_owned)
}

/// Returns an instant as `datetime-local` has it, in UTC.
fn local_input(instant: &str) -> String {
    instant.get(..16).unwrap_or(instant).to_owned()
}
