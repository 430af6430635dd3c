//! Types of fields, as arguments and as attributes of messages.

use std::collections::BTreeSet;

use protox::prost_reflect::{FieldDescriptor, FileDescriptor, Kind, MessageDescriptor};

use crate::codegen::typescript::model::{ContractModel, module, nested_message};
use crate::codegen::typescript::words;

/// Full names of messages with another form for arguments.
const TIMESTAMP: &str = "google.protobuf.Timestamp";
const FIELD_MASK: &str = "google.protobuf.FieldMask";

/// Names the types of fields in the module of a file.
pub(super) struct Types<'a> {
    contract: &'a ContractModel,
    file: &'a FileDescriptor,
    /// Prefix of the file's own messages.
    own: &'static str,
}

impl<'a> Types<'a> {
    /// Creates it for the module with the file's messages.
    pub(super) fn of_messages(contract: &'a ContractModel, file: &'a FileDescriptor) -> Self {
        Self { contract, file, own: "" }
    }

    /// Creates it for the module with the file's services.
    pub(super) fn of_services(contract: &'a ContractModel, file: &'a FileDescriptor) -> Self {
        Self { contract, file, own: "pb." }
    }

    /// Returns the type of a field's value, or of one element of a list.
    pub(super) fn single(&self, field: &FieldDescriptor) -> String {
        if let Some(message) = nested_message(field) {
            let file = message.parent_file();
            return if file == *self.file {
                format!("{}{}", self.own, message.name())
            } else {
                format!("{}_pb2.{}", module(&file), message.name())
            };
        }
        if let Some(words) = self.words(field) {
            return words;
        }
        let kind = field.kind();
        if let Kind::Message(message) = &kind {
            return message.name().to_owned();
        }
        let name = if kind == Kind::Bool {
            "bool"
        } else if kind == Kind::String {
            "str"
        } else {
            "int"
        };
        name.to_owned()
    }

    /// Returns the type of a field's attribute.
    pub(super) fn attribute(&self, field: &FieldDescriptor) -> String {
        let single = self.single(field);
        if !field.is_list() {
            return single;
        }
        let kind = if field.kind().as_message().is_some() { "Composite" } else { "Scalar" };
        format!("Repeated{kind}FieldContainer[{single}]")
    }

    /// Returns the type of an argument that sets a field.
    pub(super) fn argument(&self, field: &FieldDescriptor) -> String {
        let single = self.single(field);
        match field.kind().as_message().map(MessageDescriptor::full_name) {
            _ if field.is_list() => format!("Sequence[{single}]"),
            Some(TIMESTAMP) => format!("datetime | {single}"),
            _ => single,
        }
    }

    /// Returns the type of a method's argument, which accepts the names of a mask too.
    pub(super) fn parameter(&self, field: &FieldDescriptor) -> String {
        match field.kind().as_message().map(MessageDescriptor::full_name) {
            Some(FIELD_MASK) => "Sequence[str] | FieldMask".to_owned(),
            _ => self.argument(field),
        }
    }

    /// Returns the type of a field with an enum: its name, or its values if it has none.
    fn words(&self, field: &FieldDescriptor) -> Option<String> {
        let values = words::of_field(self.contract, field)?;
        let named = words::LISTS.iter().find(|list| list.values == values);
        let name = named.map_or_else(|| literal(values), |list| format!("words.{}", list.name));
        Some(if words::may_be_empty(field) { name + " | Literal[\"\"]" } else { name })
    }
}

/// Returns the type of these values.
pub(super) fn literal(values: &[&str]) -> String {
    let quoted: Vec<_> = values.iter().map(|value| format!("\"{value}\"")).collect();
    format!("Literal[{}]", quoted.join(", "))
}

/// Returns import lines for the names that occur in code outside of docstrings.
pub(super) fn imports(code: &str, known: &[(&str, &str)]) -> String {
    let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
    // Every second part is a docstring.
    let parts = code.split("\"\"\"").step_by(2);
    let words: BTreeSet<&str> = parts.flat_map(|part| part.split(|it| !is_name(it))).collect();
    let mut lines: Vec<(&str, Vec<&str>)> = Vec::new();
    for &(name, module) in known.iter().filter(|(name, _)| words.contains(name)) {
        match lines.last_mut() {
            Some((last, names)) if *last == module => names.push(name),
            _ => lines.push((module, vec![name])),
        }
    }
    let line =
        |(module, names): (&str, Vec<&str>)| format!("from {module} import {}\n", names.join(", "));
    lines.into_iter().map(line).collect()
}
