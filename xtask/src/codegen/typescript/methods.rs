//! Generates the table of methods for the client: how to retry each, and the fields of its request.
//! With it the client rejects unknown fields before it sends anything.

use std::collections::BTreeSet;

use protox::prost_reflect::{MessageDescriptor, MethodDescriptor};

use super::camel;
use super::model::{ContractModel, methods, module, nested_message, type_name};
use super::services::has_pages;

/// Numbers of `clients/typescript/src/method.ts`.
const ONCE: u32 = 0;
pub(in crate::codegen) const READS: u32 = 1;
pub(in crate::codegen) const REPEATABLE: u32 = 2;
pub(in crate::codegen) const CREATES: u32 = 3;
const PAGES: u32 = 4;
pub(in crate::codegen) const WAITS: u32 = 8;
pub(in crate::codegen) const ENDS: u32 = 16;
/// The bits of the first four.
pub(in crate::codegen) const REPETITION: u32 = 3;
/// Number of `google.protobuf.MethodOptions.IdempotencyLevel`.
const NO_SIDE_EFFECTS: i32 = 1;
const IDEMPOTENT: i32 = 2;
/// Text in the comments of methods that accept an idempotency key.
const KEY: &str = "`Idempotency-Key`";
/// Prefix of methods that accept a key even if only another method's comment says so.
const CREATE: &str = "Create";
/// Prefixes of methods that delete.
const TAKING: [&str; 2] = ["Delete", "Remove"];
/// Name of the method that waits for checks.
const TRIGGER: &str = "TriggerMonitor";

/// Generates the module.
pub(super) fn table(contract: &ContractModel) -> String {
    let (mut shapes, mut written) = (String::new(), BTreeSet::new());
    let mut services = String::new();
    for service in contract.services() {
        services.extend([format!(
            "  [\n    \"{}\",\n    \"{}\",\n    {{\n",
            camel(module(&service.parent_file())),
            service.full_name()
        )]);
        for method in methods(&service) {
            let request = method.input();
            for inner in request.fields().filter_map(|field| nested_message(&field)) {
                declare(&inner, &mut shapes, &mut written);
            }
            let traits = traits(contract, &method);
            services.extend([format!(
                "      {}: [{traits}, {}],\n",
                method.name(),
                shape(&request)
            )]);
        }
        services += "    },\n  ],\n";
    }
    format!(
        "import type {{ Methods, Shape }} from \"../method.js\";\n\n{shapes}\n/** Every service: the name of its package in a client, its full name, its methods. */\nexport const SERVICES: readonly (readonly [name: string, path: string, methods: Methods])[] = [\n{services}];\n"
    )
}

/// Returns the traits of a method, added up.
pub(in crate::codegen) fn traits(contract: &ContractModel, method: &MethodDescriptor) -> u32 {
    let options = method.method_descriptor_proto().options.as_ref();
    let level = options.and_then(|options| options.idempotency_level);
    let takes_key =
        method.name().starts_with(CREATE) || contract.method_comment(method).contains(KEY);
    let repetition = match level {
        Some(NO_SIDE_EFFECTS) => READS,
        Some(IDEMPOTENT) => REPEATABLE,
        _ if takes_key => CREATES,
        _ => ONCE,
    };
    let pages = if has_pages(method) { PAGES } else { 0 };
    let waits = if method.name() == TRIGGER { WAITS } else { 0 };
    // If a delete returns more than an empty response, a repetition that gets 404 has nothing to
    // return.
    let takes = TAKING.iter().any(|start| method.name().starts_with(start));
    let is_end = takes && repetition == REPEATABLE && method.output().fields().len() == 0;
    let ends = if is_end { ENDS } else { 0 };
    repetition + pages + waits + ends
}

/// Writes the fields of a message after those of its nested messages, each once.
fn declare(message: &MessageDescriptor, shapes: &mut String, written: &mut BTreeSet<String>) {
    if !written.insert(message.full_name().to_owned()) {
        return;
    }
    for inner in message.fields().filter_map(|field| nested_message(&field)) {
        declare(&inner, shapes, written);
    }
    shapes.extend([format!("const {}: Shape = {};\n", type_name(message), shape(message))]);
}

fn shape(message: &MessageDescriptor) -> String {
    let fields = message.fields().map(|field| {
        let inner =
            nested_message(&field).map_or_else(|| "1".to_owned(), |inner| type_name(&inner));
        format!("{}: {inner}", camel(field.name()))
    });
    let fields: Vec<_> = fields.collect();
    if fields.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", fields.join(", ")) }
}
