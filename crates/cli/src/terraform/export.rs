//! Converts a workspace to HCL by the tables of `rules`, so that no field is missing. Omits absent
//! values and defaults. References resources in the export. Replaces values that a read key cannot
//! see by variables.

use std::collections::HashMap;

use contract::hcl::quoted;
use rules::field::{Block, Field, Presence, Resource, Rule, Shape, Value, json_name};
use rules::tables::RESOURCES;
use rules::{Secret, counted};
use serde_json::Value as Json;

use super::hcl::{Body, Expression};
use super::names::{Names, words};
use super::variables::{Variable, Variables};
use crate::content::{Found, Workspace};

const PROVIDER: &str = r#"terraform {
  required_providers {
    service = {
      source  = "aloft/service"
      version = "~> 0.1"
    }
  }
}

# The key comes from SERVICE_API_TOKEN.
"#;

/// The texts of an export.
#[derive(Debug)]
pub(super) struct Export {
    /// Files by name in reading order. Empty files are not written.
    pub(super) files: [(&'static str, String); 4],
    /// Known values of the variables, as a file of their own.
    pub(super) secrets: Secret<String>,
    resources: usize,
    variables: usize,
}

/// Representation of a field in the configuration.
enum FieldExpr {
    Nothing,
    Value(Expression),
    Secret { value: Option<Secret<String>>, optional: bool },
}

struct Writer<'a> {
    reads_only: bool,
    /// Addresses of exported resources by id.
    addresses: &'a HashMap<String, String>,
    variables: Variables,
}

/// Position of a body in the configuration.
struct BodyContext<'a> {
    address: &'a str,
    /// Prefix of variable names.
    name: String,
    /// Path from the resource, such as `webhook.`.
    path: String,
}

/// Exports a workspace that was read from this address.
pub(super) fn export_workspace(workspace: &Workspace, base_url: &str) -> Export {
    let ordered = RESOURCES.iter().flat_map(|table| {
        workspace.found.iter().filter(move |found| found.table.name == table.name)
    });
    let (whole, broken): (Vec<_>, Vec<_>) =
        ordered.partition(|found| missing_field(found.table, &found.json).is_none());
    let labels = labels(&whole);
    let addresses = whole.iter().zip(&labels).map(|(found, label)| {
        (text(&found.json, "id").to_owned(), format!("{}.{label}", found.table.name))
    });
    let addresses = addresses.collect();
    let reads_only = workspace.reads_only;
    let mut writer = Writer { reads_only, addresses: &addresses, variables: Variables::default() };
    let (mut resources, mut imports) = (Body::default(), Body::default());
    for (found, label) in whole.iter().zip(&labels) {
        resources.block("resource", &[found.table.name, label], writer.resource(found, label));
        imports.block("import", &[], import(found, label));
    }
    let files = [
        ("provider.tf", provider(base_url)),
        ("variables.tf", writer.variables.declared()),
        ("resources.tf", comments(&broken, reads_only) + &resources.text()),
        ("imports.tf", imports.text()),
    ];
    let secrets = writer.variables.values();
    Export { files, secrets, resources: whole.len(), variables: writer.variables.count() }
}

impl Export {
    /// Returns all files as one text.
    pub(super) fn text(&self) -> String {
        let texts = self.files.iter().map(|(_, text)| text.as_str());
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// Returns a summary for the user.
    pub(super) fn summary(&self, with_secrets: bool) -> String {
        let exported = format!("exported {}", counted(self.resources, "resource"));
        match self.variables {
            0 => exported,
            secrets if with_secrets => format!("{exported} with {}", counted(secrets, "secret")),
            secrets => format!(
                "{exported}; set the values of {}, or export with --with-secrets",
                counted(secrets, "secret variable")
            ),
        }
    }
}

impl Writer<'_> {
    fn resource(&mut self, found: &Found, label: &str) -> Body {
        let noun = found.table.kind();
        let address = format!("{}.{label}", found.table.name);
        let place =
            BodyContext { address: &address, name: format!("{noun}_{label}"), path: String::new() };
        self.body(found.table.fields, found.table.blocks, &found.json, &place, found.table.rules)
    }

    fn body(
        &mut self,
        fields: &[Field],
        blocks: &[Block],
        json: &Json,
        place: &BodyContext<'_>,
        rules: &[Rule],
    ) -> Body {
        let mut body = Body::default();
        let inputs = fields.iter().filter(|field| field.presence != Presence::Output);
        for field in inputs.filter(|field| !is_hidden_without_partner(rules, field, json)) {
            match self.field_expression(
                field,
                &json[json_name(field.name)],
                is_required(rules, field, json),
            ) {
                FieldExpr::Nothing => {}
                FieldExpr::Value(value) => body.set(field.name, value),
                FieldExpr::Secret { value, optional } => {
                    let variable = self.variable(field, place, value, optional);
                    body.set(field.name, Expression::Word(format!("var.{variable}")));
                }
            }
        }
        for block in blocks {
            for one in elements(&json[json_name(block.name)]) {
                let place = place.within(block, one);
                let inner = self.body(block.fields, block.blocks, one, &place, &[]);
                body.block(block.name, &[], inner);
            }
        }
        body
    }

    fn field_expression(&self, field: &Field, given: &Json, may_have_variable: bool) -> FieldExpr {
        if let (true, Some(text)) = (is_secret(field, given), given.as_str()) {
            return FieldExpr::Secret {
                value: Some(Secret::new(text.to_owned())),
                optional: false,
            };
        }
        if self.reads_only && is_masked(field, given) {
            return FieldExpr::Secret { value: None, optional: false };
        }
        let may_be_hidden = field.is_absent_for_readers();
        match expression(given) {
            None if may_be_hidden && may_have_variable => {
                FieldExpr::Secret { value: None, optional: false }
            }
            None if may_be_hidden && self.reads_only => {
                FieldExpr::Secret { value: None, optional: true }
            }
            None => FieldExpr::Nothing,
            Some(_) if is_default(field, given) => FieldExpr::Nothing,
            Some(value) => FieldExpr::Value(match (field.shape, value) {
                (Shape::Id(_) | Shape::SetOfIds(_), ids) => self.with_references(ids),
                (_, value) => value,
            }),
        }
    }

    /// Replaces ids by references if the export contains their resources.
    fn with_references(&self, value: Expression) -> Expression {
        match value {
            Expression::Text(id) => match self.addresses.get(&id) {
                Some(address) => Expression::Word(format!("{address}.id")),
                None => Expression::Text(id),
            },
            Expression::List(ids) => {
                Expression::List(ids.into_iter().map(|id| self.with_references(id)).collect())
            }
            Expression::Number(_) | Expression::Bool(_) | Expression::Word(_) => value,
        }
    }

    fn variable(
        &mut self,
        field: &Field,
        place: &BodyContext<'_>,
        value: Option<Secret<String>>,
        optional: bool,
    ) -> String {
        self.variables.add(Variable {
            name: format!("{}_{}", place.name, field.name),
            description: format!("`{}{}` of {}.", place.path, field.name, place.address),
            value,
            sensitive: field.sensitive,
            optional,
        })
    }
}

impl BodyContext<'_> {
    /// Returns the position of a nested block. Headers are identified by their name.
    fn within(&self, block: &Block, json: &Json) -> Self {
        let mut name = format!("{}_{}", self.name, block.name);
        let mut path = format!("{}{}.", self.path, block.name);
        let key = text(json, "key");
        if let Some(word) = words(key) {
            name = format!("{name}_{}", word.trim_start_matches('_'));
            path = format!("{}{}[{key}].", self.path, block.name);
        }
        Self { address: self.address, name, path }
    }
}

/// Converts a value of the wire. Returns `None` for absent values and empty lists.
fn expression(json: &Json) -> Option<Expression> {
    match json {
        Json::String(text) => Some(Expression::Text(text.clone())),
        Json::Number(number) => number.as_i64().map(Expression::Number),
        Json::Bool(flag) => Some(Expression::Bool(*flag)),
        Json::Array(elements) => {
            let elements: Vec<_> = elements.iter().filter_map(expression).collect();
            (!elements.is_empty()).then_some(Expression::List(elements))
        }
        Json::Null | Json::Object(_) => None,
    }
}

/// Returns whether a read key cannot see this value: fields that the table hides, and credentials
/// in a URL.
fn is_secret(field: &Field, given: &Json) -> bool {
    let is_url = matches!(field.shape, Shape::HttpUrl { .. });
    field.is_absent_for_readers() || (is_url && given.as_str().is_some_and(has_credentials))
}

/// Returns whether the service replaced a part of the value by `…` for a read key.
fn is_masked(field: &Field, given: &Json) -> bool {
    field.is_masked_for_readers() && given.as_str().is_some_and(|text| text.ends_with('…'))
}

fn has_credentials(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().is_some_and(|authority| authority.contains('@'))
}

fn is_default(field: &Field, given: &Json) -> bool {
    match field.presence {
        Presence::Default(Value::Text(text)) => given == text,
        Presence::Default(Value::Integer(number)) => given == number,
        Presence::Default(Value::Bool(flag)) => given == flag,
        Presence::Required | Presence::Optional | Presence::Computed | Presence::Output => false,
    }
}

/// Returns whether the field is required here.
fn is_required(rules: &[Rule], field: &Field, json: &Json) -> bool {
    field.presence == Presence::Required
        || rules.iter().any(|rule| match rule {
            Rule::RequiredWhen { field: name, when, is } => {
                *name == field.name && text(json, &json_name(when)) == *is
            }
            Rule::Together { first, second } => {
                let is_given = |name| !json[json_name(name)].is_null();
                (*first == field.name && is_given(second))
                    || (*second == field.name && is_given(first))
            }
            Rule::ExactlyOneBlock { .. } => false,
        })
}

/// Returns whether readers do not see the field, and it certainly has no value: it comes with another one,
/// which is absent.
fn is_hidden_without_partner(rules: &[Rule], field: &Field, json: &Json) -> bool {
    field.is_absent_for_readers()
        && rules.iter().any(|rule| match rule {
            Rule::Together { first, second } => {
                *second == field.name && json[json_name(first)].is_null()
            }
            Rule::RequiredWhen { .. } | Rule::ExactlyOneBlock { .. } => false,
        })
}

/// Returns a required field that has no value, because the object that it named was deleted.
/// Ignores secrets, which become variables.
fn missing_field(table: &Resource, json: &Json) -> Option<&'static str> {
    table
        .fields
        .iter()
        .filter(|field| matches!(field.shape, Shape::Id(_)) && !field.sensitive)
        .filter(|field| field.presence != Presence::Output)
        .find(|field| {
            is_required(table.rules, field, json) && json[json_name(field.name)].is_null()
        })
        .map(|field| field.name)
}

/// Returns labels that are unique among resources of one type, from their names or from the names
/// of their monitors.
fn labels(found: &[&Found]) -> Vec<String> {
    let mut taken: HashMap<&str, Names> = HashMap::new();
    let mut by_id: HashMap<&str, String> = HashMap::new();
    let mut labels = Vec::new();
    for Found { table, json } in found {
        let named = ["name", "title", "slug"].iter().find_map(|field| words(text(json, field)));
        let shown = || by_id.get(text(json, "monitorId")).cloned();
        let kind = || words(text(json, "providerType"));
        let candidate =
            named.or_else(shown).or_else(kind).unwrap_or_else(|| table.kind().to_owned());
        let label = taken.entry(table.name).or_default().unique(&candidate);
        by_id.insert(text(json, "id"), label.clone());
        labels.push(label);
    }
    labels
}

fn import(found: &Found, label: &str) -> Body {
    let id = text(&found.json, "id");
    let id = match text(&found.json, "pageId") {
        "" => id.to_owned(),
        page => format!("{page}/{id}"),
    };
    let mut import = Body::default();
    import.set("to", Expression::Word(format!("{}.{label}", found.table.name)));
    import.set("id", Expression::Text(id));
    import
}

fn provider(base_url: &str) -> String {
    let mut provider = Body::default();
    provider.set("base_url", Expression::Text(crate::check::without_credentials(base_url)));
    let mut body = Body::default();
    body.block("provider", &["service"], provider);
    PROVIDER.to_owned() + &body.text()
}

/// Returns comments for the reader of the file.
fn comments(broken: &[&Found], reads_only: bool) -> String {
    let mut notes = String::new();
    if reads_only {
        notes += "# Exported with a read key: credentials in URLs are missing, and optional secrets \
                  are\n# variables that may be null.\n\n";
    }
    for Found { table, json } in broken {
        let lacking = missing_field(table, json).unwrap_or_default();
        let name =
            ["name", "title"].iter().map(|field| text(json, field)).find(|it| !it.is_empty());
        let name = name.map(|name| format!(" {}", quoted(name))).unwrap_or_default();
        let id = text(json, "id");
        let why = format!("it needs `{lacking}`, whose object was deleted");
        notes.extend(["# ", table.name, " ", id, &name, " is not exported: ", &why, ".\n\n"]);
    }
    notes
}

/// Returns the blocks of a name: one, several or none.
fn elements(json: &Json) -> &[Json] {
    match json {
        Json::Array(ones) => ones,
        Json::Object(_) => std::slice::from_ref(json),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => &[],
    }
}

fn text<'a>(json: &'a Json, name: &str) -> &'a str {
    json[name].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests;
