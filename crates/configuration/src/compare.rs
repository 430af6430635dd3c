//! Differences between a resource as a file wants it and as the service returns it, in the
//! contract's JSON. An absent value equals its default, and an empty list or text an absent one.

use rules::field::{Block, Field, Presence, Redaction, Rule, Shape, Value, ValueType, json_name};
use serde_json::{Map, Value as Json};

use crate::desired::Desired;
use crate::kind::is_single;

/// End of a value that the service shortened for a read key.
const SHORTENED: char = '…';

/// A field that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Path within the resource, such as `headers[0].value`.
    pub path: String,
    /// Value of the service. Null if it is absent.
    pub old: Json,
    /// Value of the file. Null if it is absent.
    pub new: Json,
    /// Whether the values must not be shown.
    pub is_secret: bool,
    /// Whether the resource must be replaced.
    pub replaces: bool,
}

/// Result of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Comparison {
    pub(crate) changes: Vec<Change>,
    /// Number of values that the key of the caller does not show.
    pub(crate) unseen: usize,
}

struct Comparer<'a> {
    desired: &'a Desired,
    /// Whether the key of the caller shows no secrets.
    reads_only: bool,
    found: Comparison,
}

/// A field or block to compare.
struct Pair<'a> {
    path: String,
    old: &'a Json,
    new: &'a Json,
}

/// Compares a resource of the file, whose references are resolved, with one of the service.
pub(crate) fn compare(desired: &Desired, wire: &Json, old: &Json, reads_only: bool) -> Comparison {
    let found = Comparison::default();
    let mut comparer = Comparer { desired, reads_only, found };
    for field in desired.kind().fields().filter(|field| !desired.leaves(field)) {
        if has_absent_partner(desired, field, [old, wire]) {
            continue;
        }
        let name = json_name(field.name);
        let pair = Pair { path: field.name.to_owned(), old: &old[&name], new: &wire[&name] };
        comparer.field(field, pair);
    }
    for block in desired.kind().blocks() {
        let name = json_name(block.name);
        let pair = Pair { path: block.name.to_owned(), old: &old[&name], new: &wire[&name] };
        comparer.block(block, &pair);
    }
    comparer.found
}

/// Returns whether a field is absent in both versions, because the visible one that it comes with is.
fn has_absent_partner(desired: &Desired, field: &Field, versions: [&Json; 2]) -> bool {
    if !field.is_absent_for_readers() {
        return false;
    }
    let partner = desired.kind().rules().find_map(|rule| match rule {
        Rule::Together { first, second } if *second == field.name => Some(json_name(first)),
        Rule::Together { .. } | Rule::RequiredWhen { .. } | Rule::ExactlyOneBlock { .. } => None,
    });
    partner.is_some_and(|name| versions.iter().all(|version| version[&name].is_null()))
}

impl Comparer<'_> {
    fn field(&mut self, field: &Field, pair: Pair<'_>) {
        let (old, new) = (canonical(field, pair.old), canonical(field, pair.new));
        if old == new && !(self.reads_only && field.is_absent_for_readers() && old.is_null()) {
            return;
        }
        if self.reads_only && is_unseen(field, &old, &new) {
            self.found.unseen += 1;
            return;
        }
        let is_secret = self.desired.hides(&pair.path)
            || [&old, &new].iter().any(|value| is_secret(field, value));
        let (path, replaces) = (pair.path, field.replace);
        self.found.changes.push(Change { path, old, new, is_secret, replaces });
    }

    fn block(&mut self, block: &Block, pair: &Pair<'_>) {
        let (old, new) = (elements(pair.old), elements(pair.new));
        for index in 0..old.len().max(new.len()) {
            let path = if is_single(block) {
                pair.path.clone()
            } else {
                format!("{}[{index}]", pair.path)
            };
            match (old.get(index), new.get(index)) {
                (Some(old), Some(new)) => self.inside(block, &Pair { path, old, new }),
                (old, new) => {
                    let shown = |json: Option<&Json>| {
                        json.map_or(Json::Null, |json| self.without_secrets(block, json, &path))
                    };
                    let (old, new) = (shown(old), shown(new));
                    let change = Change { path, old, new, is_secret: false, replaces: false };
                    self.found.changes.push(change);
                }
            }
        }
    }

    fn inside(&mut self, block: &Block, pair: &Pair<'_>) {
        for field in block.fields {
            let name = json_name(field.name);
            let path = format!("{}.{}", pair.path, field.name);
            self.field(field, Pair { path, old: &pair.old[&name], new: &pair.new[&name] });
        }
        for inner in block.blocks {
            let name = json_name(inner.name);
            let path = format!("{}.{}", pair.path, inner.name);
            self.block(inner, &Pair { path, old: &pair.old[&name], new: &pair.new[&name] });
        }
    }

    /// Returns the fields of a block that may be shown.
    fn without_secrets(&self, block: &Block, json: &Json, path: &str) -> Json {
        let mut shown = Map::new();
        for field in block.fields {
            let value = canonical(field, &json[json_name(field.name)]);
            let is_secret =
                is_secret(field, &value) || self.desired.hides(&format!("{path}.{}", field.name));
            match (value, is_secret) {
                (Json::Null, _) => {}
                (_, true) => {
                    shown.insert(field.name.to_owned(), "(secret)".into());
                }
                (value, false) => {
                    shown.insert(field.name.to_owned(), value);
                }
            }
        }
        Json::Object(shown)
    }
}

/// Returns the value that equal values share.
fn canonical(field: &Field, json: &Json) -> Json {
    let value = match field.shape.value_type() {
        ValueType::SetOfTexts => {
            let mut texts: Vec<Json> = json.as_array().cloned().unwrap_or_default();
            texts.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
            texts.dedup();
            Json::Array(texts)
        }
        ValueType::Text
        | ValueType::Integer
        | ValueType::Bool
        | ValueType::ListOfTexts
        | ValueType::ListOf(_) => json.clone(),
    };
    let is_empty = value.as_str() == Some("") || value.as_array().is_some_and(Vec::is_empty);
    match field.presence {
        Presence::Default(default) if value.is_null() => default_of(default),
        Presence::Optional if is_empty => Json::Null,
        Presence::Default(_)
        | Presence::Optional
        | Presence::Required
        | Presence::Computed
        | Presence::Output => value,
    }
}

/// Returns a default in the contract's JSON.
pub(crate) fn default_of(value: Value) -> Json {
    match value {
        Value::Text(text) => text.into(),
        Value::Integer(number) => number.into(),
        Value::Bool(is_on) => is_on.into(),
    }
}

/// Returns whether the service may have hidden the value from a read key.
fn is_unseen(field: &Field, old: &Json, new: &Json) -> bool {
    let (old, new) = (old.as_str(), new.as_str());
    let is_shortened = old.is_some_and(|text| text.ends_with(SHORTENED));
    let without_credentials = new.is_some_and(|text| text.contains(['@', '?']));
    match (field.is_absent_for_readers(), field.is_masked_for_readers()) {
        (true, _) => old.is_none(),
        (false, true) => is_shortened || without_credentials,
        (false, false) => false,
    }
}

/// Returns whether the value must not be shown, because read keys do not see all of it.
pub(crate) fn is_secret(field: &Field, json: &Json) -> bool {
    field.is_absent_for_readers()
        || field.redaction != Redaction::None
        || has_credentials(field, json)
}

/// Returns whether the value is a URL with a user name, a password or a query, which may be a token.
fn has_credentials(field: &Field, json: &Json) -> bool {
    let Some(text) = json.as_str().filter(|_| matches!(field.shape, Shape::HttpUrl { .. })) else {
        return false;
    };
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.contains('@') || rest.contains('?')
}

/// Returns the blocks of a name: one, several or none.
pub(crate) fn elements(json: &Json) -> &[Json] {
    match json {
        Json::Array(ones) => ones,
        Json::Object(_) => std::slice::from_ref(json),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => &[],
    }
}
