//! Generates the types of messages, with the comments of the contract, for type checkers and editors
//! (protoc generates the messages themselves), and the module that exports all of them.

use std::collections::{BTreeMap, BTreeSet};

use protox::prost_reflect::{FieldDescriptor, FileDescriptor, MessageDescriptor};

use super::comments::Docstrings;
use super::types::{Types, imports, literal};
use super::{PROTO, is_keyword};
use crate::codegen::typescript::model::{ContractModel, module as module_name, type_name};

/// Imports of a module, in order.
const IMPORTS: [(&str, &str); 12] = [
    ("Sequence", "collections.abc"),
    ("datetime", "datetime"),
    ("Any", "typing"),
    ("Literal", "typing"),
    ("overload", "typing"),
    ("FileDescriptor", "google.protobuf.descriptor"),
    ("FieldMask", "google.protobuf.field_mask_pb2"),
    ("RepeatedCompositeFieldContainer", "google.protobuf.internal.containers"),
    ("RepeatedScalarFieldContainer", "google.protobuf.internal.containers"),
    ("Message", "google.protobuf.message"),
    ("Timestamp", "google.protobuf.timestamp_pb2"),
    ("words", "."),
];

/// Generates the types of a file's messages.
pub(super) fn module(contract: &ContractModel, file: &FileDescriptor) -> String {
    let docs = Docstrings::new(contract.mentioned_names().1);
    let types = Types::of_messages(contract, file);
    let classes: Vec<_> =
        file.messages().map(|message| class(contract, &docs, &types, &message)).collect();
    let body = format!("DESCRIPTOR: FileDescriptor\n\n{}", classes.join("\n"));
    let foreign: BTreeSet<String> = file
        .dependencies()
        .filter(|other| other.name() != file.name() && !other.name().starts_with("google/"))
        .map(|other| format!("from . import {}_pb2\n", module_name(&other)))
        .collect();
    let foreign: String = foreign.into_iter().collect();
    format!("\n{}{foreign}\n{body}", imports(&body, &IMPORTS))
}

/// Generates the module with all messages, under names that are unique in the contract.
pub(super) fn all(contract: &ContractModel) -> String {
    let (mut lines, mut names) = (String::new(), BTreeMap::new());
    for file in contract.files() {
        for message in file.messages() {
            let (name, own) = (type_name(&message), message.name().to_owned());
            let module = module_name(&file);
            let line = format!("from .{module}_pb2 import {own} as {name}\n");
            lines += &line;
            let other = names.insert(name.clone(), line);
            assert!(other.is_none(), "two messages of {PROTO}/ are called {name}");
        }
    }
    let names: Vec<_> = names.keys().map(|name| format!("    \"{name}\",\n")).collect();
    format!(
        "\n\"\"\"All messages of the contract.\"\"\"\n\n{lines}\n__all__ = [\n{}]\n",
        names.concat()
    )
}

fn class(
    contract: &ContractModel,
    docs: &Docstrings,
    types: &Types<'_>,
    message: &MessageDescriptor,
) -> String {
    let mut text = format!(
        "class {}(Message):\n{}",
        message.name(),
        docs.docstring(contract.message_comment(message), 1)
    );
    let fields: Vec<_> = message.fields().collect();
    for field in fields.iter().filter(|field| !is_keyword(field.name())) {
        text += &attribute(contract, docs, types, field);
    }
    text += &constructor(types, &fields);
    let present: Vec<_> = fields.iter().filter(|it| it.supports_presence()).collect();
    if !present.is_empty() {
        text += &format!("    def HasField(self, field_name: {}) -> bool: ...\n", names(&present));
    }
    if !fields.is_empty() {
        let all: Vec<_> = fields.iter().collect();
        text += &format!("    def ClearField(self, field_name: {}) -> None: ...\n", names(&all));
    }
    for choice in message.oneofs().filter(|it| !it.is_synthetic()) {
        let chosen: Vec<_> = choice.fields().collect();
        text += &format!(
            "    def WhichOneof(self, oneof_group: {}) -> {} | None: ...\n",
            literal(&[choice.name()]),
            names(&chosen.iter().collect::<Vec<_>>())
        );
    }
    text
}

/// Returns an attribute. Only single values may be assigned.
fn attribute(
    contract: &ContractModel,
    docs: &Docstrings,
    types: &Types<'_>,
    field: &FieldDescriptor,
) -> String {
    let (name, kind) = (field.name(), types.attribute(field));
    let comment = contract.field_comment(field);
    if field.is_list() || field.kind().as_message().is_some() {
        let doc = docs.docstring(comment, 2);
        let body = if doc.is_empty() { "        ...\n".to_owned() } else { doc };
        return format!("    @property\n    def {name}(self) -> {kind}:\n{body}");
    }
    format!("    {name}: {kind}\n{}", docs.docstring(comment, 1))
}

fn constructor(types: &Types<'_>, fields: &[FieldDescriptor]) -> String {
    if fields.is_empty() {
        return "    def __init__(self) -> None: ...\n".to_owned();
    }
    let named = fields.iter().filter(|field| !is_keyword(field.name()));
    let line = |field: &FieldDescriptor| {
        format!("        {}: {} | None = ...,\n", field.name(), types.argument(field))
    };
    let lines: String = named.map(line).collect();
    let own = format!("    def __init__(\n        self,\n        *,\n{lines}    ) -> None: ...\n");
    if fields.iter().any(|field| is_keyword(field.name())) {
        // The name is a word of the language, so callers unpack it: `**{"from": …}`.
        format!(
            "    @overload\n{own}    @overload\n    def __init__(self, **fields: Any) -> None: ...\n"
        )
    } else {
        own
    }
}

fn names(fields: &[&FieldDescriptor]) -> String {
    literal(&fields.iter().map(|field| field.name()).collect::<Vec<_>>())
}
