//! Generates services: a class for each, with and without async, and the classes with all of them.

use std::collections::BTreeSet;

use protox::prost_reflect::{FieldDescriptor, FileDescriptor, MethodDescriptor, ServiceDescriptor};

use super::comments::{Docstrings, block};
use super::types::{Types, imports};
use super::{argument, snake};
use crate::codegen::typescript::methods::{
    CREATES, ENDS, READS, REPEATABLE, REPETITION, WAITS, traits,
};
use crate::codegen::typescript::model::{
    ContractModel, Direction, methods, module as module_name, nested_message,
};
use crate::codegen::typescript::presence::is_there;
use crate::codegen::typescript::services::has_pages;

/// Imports of a module, in order.
const IMPORTS: [(&str, &str); 15] = [
    ("annotations", "__future__"),
    ("AsyncIterator", "collections.abc"),
    ("Iterator", "collections.abc"),
    ("Sequence", "collections.abc"),
    ("datetime", "datetime"),
    ("Final", "typing"),
    ("Literal", "typing"),
    ("FieldMask", "google.protobuf.field_mask_pb2"),
    ("Timestamp", "google.protobuf.timestamp_pb2"),
    ("AsyncCaller", ".._async"),
    ("Method", ".._method"),
    ("Repetition", ".._method"),
    ("CallOptions", ".._options"),
    ("Caller", ".._sync"),
    ("words", "."),
];
/// Argument with the options of a call.
const OPTIONS: &str = "options";
/// End of the name of a method that returns all pages.
const PAGES: &str = "_pages";

/// Kind of a class.
#[derive(Clone, Copy)]
enum Style {
    Sync,
    Async,
}

/// Generates the module of a file's services.
pub(super) fn module(contract: &ContractModel, file: &FileDescriptor) -> String {
    let docs = Docstrings::new(contract.mentioned_names().1);
    let types = Types::of_services(contract, file);
    let writer = Writer { contract, docs, types };
    let mut body = String::new();
    for service in file.services() {
        for method in methods(&service) {
            body += &writer.constant(&method);
        }
        body += &writer.class(&service, Style::Sync);
        body += &writer.class(&service, Style::Async);
    }
    let foreign: BTreeSet<String> = file
        .services()
        .flat_map(|service| methods(&service))
        .flat_map(|method| method.input().fields().collect::<Vec<_>>())
        .filter_map(|field| nested_message(&field))
        .filter(|message| message.parent_file() != *file)
        .map(|message| format!("from . import {}_pb2\n", module_name(&message.parent_file())))
        .collect();
    let foreign: String = foreign.into_iter().collect();
    let imported = imports(&format!("annotations {body}"), &IMPORTS);
    format!(
        "\n{imported}{foreign}from . import {}_pb2 as pb\n\n{}",
        module_name(file),
        body.trim_end().to_owned() + "\n"
    )
}

/// Generates the module with all services by package.
pub(super) fn all(contract: &ContractModel) -> String {
    let (mut imports, mut plain, mut with_async) = (String::new(), Fields::new(), Fields::new());
    for file in contract.files() {
        for service in file.services() {
            let (name, module) = (service.name(), module_name(&file));
            imports += &format!("from .{module}_service import Async{name}, {name}\n");
            plain.add(module, name, service.full_name());
            with_async.add(module, &format!("Async{name}"), service.full_name());
        }
    }
    format!(
        "\nfrom __future__ import annotations\n\nfrom .._async import AsyncCaller\nfrom .._sync import Caller\n{imports}\n\n{}\n\n{}",
        plain.class("Services", "Caller", "Every service under the name of its package."),
        with_async.class("AsyncServices", "AsyncCaller", "The same for async.")
    )
}

/// The attributes of a class with all services.
struct Fields {
    declared: String,
    assigned: String,
}

impl Fields {
    fn new() -> Self {
        Self { declared: String::new(), assigned: String::new() }
    }

    fn add(&mut self, module: &str, class: &str, full: &str) {
        self.declared += &format!("    {module}: {class}\n    \"\"\"`{full}`.\"\"\"\n");
        self.assigned += &format!("        self.{module} = {class}(caller)\n");
    }

    fn class(&self, name: &str, caller: &str, about: &str) -> String {
        let Self { declared, assigned } = self;
        format!(
            "class {name}:\n    \"\"\"{about}\"\"\"\n\n{declared}\n    def __init__(self, caller: {caller}) -> None:\n{assigned}"
        )
    }
}

struct Writer<'a> {
    contract: &'a ContractModel,
    docs: Docstrings,
    types: Types<'a>,
}

impl Writer<'_> {
    fn constant(&self, method: &MethodDescriptor) -> String {
        let traits = traits(self.contract, method);
        let repetition = match traits & REPETITION {
            READS => "READS",
            REPEATABLE => "REPEATABLE",
            CREATES => "CREATES",
            _ => "ONCE",
        };
        let mut more = String::new();
        if traits & WAITS != 0 {
            more += "    waits=True,\n";
        }
        if traits & ENDS != 0 {
            more += "    ends=True,\n";
        }
        format!(
            "{}: Final = Method(\n    \"{}/{}\",\n    pb.{},\n    pb.{},\n    Repetition.{repetition},\n{more})\n",
            constant_name(method),
            method.parent_service().full_name(),
            method.name(),
            method.input().name(),
            method.output().name(),
        )
    }

    fn class(&self, service: &ServiceDescriptor, style: Style) -> String {
        let (prefix, caller) = match style {
            Style::Sync => ("", "Caller"),
            Style::Async => ("Async", "AsyncCaller"),
        };
        let mut text = format!(
            "\n\nclass {prefix}{}:\n{}\n    def __init__(self, caller: {caller}) -> None:\n        self._caller = caller\n",
            service.name(),
            self.docs.docstring(self.contract.service_comment(service), 1)
        );
        for method in methods(service) {
            text += &self.method(&method, style);
            if has_pages(&method) {
                text += &self.pages(&method, style);
            }
        }
        text
    }

    fn method(&self, method: &MethodDescriptor, style: Style) -> String {
        let (prefix, wait) = match style {
            Style::Sync => ("", ""),
            Style::Async => ("async ", "await "),
        };
        let fields: Vec<_> = method.input().fields().collect();
        format!(
            "\n    {prefix}def {}(\n{}    ) -> pb.{}:\n{}        return {wait}self._caller.call({}, {}, options)\n",
            snake(method.name()),
            self.parameters(&fields),
            method.output().name(),
            self.about(self.contract.method_comment(method), &fields),
            constant_name(method),
            given(&fields),
        )
    }

    /// Generates the method that returns all pages of a list.
    fn pages(&self, method: &MethodDescriptor, style: Style) -> String {
        let kind = match style {
            Style::Sync => "Iterator",
            Style::Async => "AsyncIterator",
        };
        let name = snake(method.name());
        let fields: Vec<_> = method.input().fields().collect();
        let about = format!(
            "Calls `{name}` for each page of the list, from the given one on.\n\nA page is fetched when it is needed."
        );
        format!(
            "\n    def {name}{PAGES}(\n{}    ) -> {kind}[pb.{}]:\n{}        return self._caller.pages({}, {}, options)\n",
            self.parameters(&fields),
            method.output().name(),
            self.about(&about, &fields),
            constant_name(method),
            given(&fields),
        )
    }

    fn parameters(&self, fields: &[FieldDescriptor]) -> String {
        let mut text = "        self,\n        *,\n".to_owned();
        for field in fields {
            assert!(field.name() != OPTIONS, "{} needs another name", field.full_name());
            let (name, kind) = (argument(field.name()), self.types.parameter(field));
            text += &if is_there(self.contract, field, Direction::Request) {
                format!("        {name}: {kind},\n")
            } else {
                format!("        {name}: {kind} | None = None,\n")
            };
        }
        text + "        options: CallOptions | None = None,\n"
    }

    /// Returns the docstring of a method: its comment, and those of its arguments.
    fn about(&self, comment: &str, fields: &[FieldDescriptor]) -> String {
        let mut lines = self.docs.lines(comment);
        lines.extend([String::new(), "Args:".to_owned()]);
        for field in fields {
            let about = self.docs.lines(self.contract.field_comment(field));
            for (at, line) in about.iter().enumerate() {
                lines.push(match at {
                    0 => format!("    {}: {line}", argument(field.name())),
                    _ => format!("        {line}"),
                });
            }
        }
        lines.push(format!("    {OPTIONS}: Options of this call."));
        block(&lines, 2)
    }
}

fn given(fields: &[FieldDescriptor]) -> String {
    let entry =
        |field: &FieldDescriptor| format!("\"{}\": {}", field.name(), argument(field.name()));
    format!("{{{}}}", fields.iter().map(entry).collect::<Vec<_>>().join(", "))
}

fn constant_name(method: &MethodDescriptor) -> String {
    format!("_{}", snake(method.name()).to_uppercase())
}
