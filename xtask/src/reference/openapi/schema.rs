//! Messages as schemas. A message of both requests and responses has two: an input with the bounds that the
//! service checks, and an output, whose texts may be redacted. A resource has two inputs, because an update
//! may leave out all but its ID.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use super::shape::{self, keywords};
use crate::reference::Book;
use crate::reference::comment::{Given, capitalised, paragraphs, parse_field};
use crate::reference::contract::{Field, FieldKind, Message, Method};
use crate::reference::service::{CONDITIONAL, given, object, reach};
use crate::reference::tables;

/// The field by which an update finds its resource.
const ID: &str = "id";

/// The schemas of one contract.
pub(super) struct Schemas<'a> {
    book: &'a Book,
    inputs: BTreeSet<&'a str>,
    outputs: BTreeSet<&'a str>,
    /// Resources that updates may send in part.
    partial: BTreeSet<&'a str>,
}

/// Use of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// In a request that may leave out all but the ID of a resource.
    Update,
    /// In every other request.
    Input,
    Output,
}

impl<'a> Schemas<'a> {
    pub(super) fn new(book: &'a Book) -> Self {
        let (mut inputs, mut outputs) = (BTreeSet::new(), BTreeSet::new());
        let mut partial = BTreeSet::new();
        for method in book.contract.methods() {
            inputs.insert(method.request.as_str());
            outputs.insert(method.response.as_str());
            reach(book, &method.request, &mut inputs);
            reach(book, &method.response, &mut outputs);
            if is_update(&method.request) {
                partial.extend(resources(book, &method.request).filter_map(object));
            }
        }
        Self { book, inputs, outputs, partial }
    }

    /// Returns all schemas by their names.
    pub(super) fn all(&self) -> Result<Map<String, Value>> {
        let outputs = self.outputs.iter().map(|full| (*full, Use::Output));
        let inputs = self.inputs.iter().map(|full| (*full, Use::Input));
        let patches = self.partial.iter().map(|full| (*full, Use::Update));
        let mut all = Map::new();
        for (full, used) in outputs.chain(inputs).chain(patches) {
            let name = self.name(full, used);
            if all.insert(name.clone(), self.message(full, used)?).is_some() {
                bail!("two schemas are called `{name}`");
            }
        }
        all.sort_keys();
        Ok(all)
    }

    /// Returns the schema of a method's request.
    pub(super) fn request(&self, method: &Method) -> Value {
        self.reference(&method.request, Use::Input)
    }

    /// Returns the schema of a method's response.
    pub(super) fn response(&self, method: &Method) -> Value {
        self.reference(&method.response, Use::Output)
    }

    fn message(&self, full: &str, used: Use) -> Result<Value> {
        let message = self.book.contract.message(full);
        let mut properties = Map::new();
        for field in &message.fields {
            properties.insert(field.json.clone(), self.property(message, field, used)?);
        }
        let required = match used {
            Use::Output => always_present(message),
            Use::Update => identity(message),
            Use::Input => Self::required(message)?,
        };
        let mut schema = keywords(json!({
            "type": "object",
            "description": self.plain(&paragraphs(&message.comment).join("\n\n")),
            "properties": properties,
        }));
        if !required.is_empty() {
            schema.insert("required".to_owned(), json!(required));
        }
        if message.fields.iter().all(|field| field.is_choice) && !message.fields.is_empty() {
            schema.extend(keywords(json!({ "minProperties": 1, "maxProperties": 1 })));
        }
        if used != Use::Output {
            schema.insert("additionalProperties".to_owned(), Value::from(false));
        }
        Ok(Value::Object(schema))
    }

    fn property(&self, message: &Message, field: &Field, used: Use) -> Result<Value> {
        let doc = parse_field(&field.comment);
        let given = given(message, field, &doc.given)?;
        let entry = tables::entry(&message.full, &field.name);
        let parts = if is_update(&message.full) { Use::Update } else { used };
        let mut schema = keywords(self.kind(&field.kind, parts));
        if field.repeated {
            schema = keywords(json!({ "type": "array", "items": schema }));
        }
        let bounds = match used {
            Use::Input | Use::Update if given == Given::Output => None,
            Use::Input | Use::Update => entry.map(shape::bounds),
            Use::Output => entry.map(shape::enum_values),
        };
        schema.extend(bounds.unwrap_or_default());
        schema.insert("description".to_owned(), Value::from(self.plain(&doc.text)));
        match given {
            Given::Output if used == Use::Input || used == Use::Update && field.name != ID => {
                schema.insert("readOnly".to_owned(), Value::from(true));
            }
            Given::Default(value) if used == Use::Input => {
                let value: Value = serde_json::from_str(&value).with_context(|| {
                    format!("{}.{}: the default `{value}` is not JSON", message.full, field.name)
                })?;
                schema.insert("default".to_owned(), value);
            }
            Given::Required | Given::Default(_) | Given::Output | Given::Unspecified => {}
        }
        Ok(Value::Object(schema))
    }

    fn kind(&self, kind: &FieldKind, used: Use) -> Value {
        match kind {
            FieldKind::Text | FieldKind::Mask => json!({ "type": "string" }),
            FieldKind::Number => json!({ "type": "integer", "format": "int32" }),
            FieldKind::Flag => json!({ "type": "boolean" }),
            FieldKind::Time => json!({ "type": "string", "format": "date-time" }),
            FieldKind::Object(full) => self.reference(full, used),
        }
    }

    fn reference(&self, full: &str, used: Use) -> Value {
        json!({ "$ref": format!("#/components/schemas/{}", self.name(full, used)) })
    }

    fn name(&self, full: &str, used: Use) -> String {
        let is_output = self.outputs.contains(full);
        match used {
            Use::Update if self.partial.contains(full) => format!("{full}Patch"),
            Use::Update | Use::Input if is_output => format!("{full}Input"),
            Use::Output | Use::Update | Use::Input => full.to_owned(),
        }
    }

    /// Returns the fields that a caller must give.
    fn required(message: &Message) -> Result<Vec<String>> {
        let mut required = Vec::new();
        for field in &message.fields {
            let doc = parse_field(&field.comment);
            let is_required = given(message, field, &doc.given)? == Given::Required;
            if is_required && !doc.text.contains(CONDITIONAL) {
                required.push(field.json.clone());
            }
        }
        Ok(required)
    }

    fn plain(&self, text: &str) -> String {
        self.book.prose().plain(&capitalised(text))
    }
}

/// Returns whether a request changes a resource by its fields.
fn is_update(request: &str) -> bool {
    let name = request.rsplit('.').next().unwrap_or(request);
    name.ends_with("Request") && (name.starts_with("Update") || name.starts_with("Edit"))
}

/// Returns the fields by which an update finds a resource.
fn identity(message: &Message) -> Vec<String> {
    let fields = message.fields.iter().filter(|field| field.name == ID);
    fields.map(|field| field.json.clone()).collect()
}

/// Returns the fields of a request that hold one object.
fn resources<'a>(book: &'a Book, request: &str) -> impl Iterator<Item = &'a Field> {
    let fields = book.contract.message(request).fields.iter();
    fields.filter(|field| !field.repeated && object(field).is_some())
}

/// Returns the fields that each response has.
fn always_present(message: &Message) -> Vec<String> {
    let fields = message.fields.iter().filter(|field| !field.can_be_absent);
    fields.map(|field| field.json.clone()).collect()
}
