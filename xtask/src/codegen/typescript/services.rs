//! Generates services as TypeScript: an interface for each in the module of its package, before the
//! messages, and one interface with all of them by package.

use std::collections::{BTreeMap, BTreeSet};

use protox::prost_reflect::{
    FileDescriptor, MessageDescriptor, MethodDescriptor, ServiceDescriptor,
};

use super::model::{ContractModel, Direction, methods, module as module_name, nested_message};
use super::presence::is_there;
use super::types::Types;
use super::{camel, lower_first};

/// Field of a response with the token of the next page.
const NEXT_PAGE: &str = "next_page_token";
/// Hand-written types and their modules.
const BY_HAND: [(&str, &str); 7] = [
    ("CallOptions", "../options.js"),
    ("FieldMask", "../shapes.js"),
    ("Pages", "../pages.js"),
    ("Part", "../shapes.js"),
    ("Timestamp", "../shapes.js"),
    ("Whole", "../shapes.js"),
    ("WholeBut", "../shapes.js"),
];

/// Generates the module of a file: its services, then its messages.
pub(super) fn module(contract: &ContractModel, file: &FileDescriptor) -> String {
    let types = Types::new(contract);
    let services = file.services().map(|service| interface(&types, &service));
    let messages = file.messages().map(|message| types.declared(&message));
    let code: String = services.chain(messages).collect();
    let code = code.trim_end().to_owned() + "\n";
    imports(&types, file, &code) + &code
}

/// Generates the module of all services by package, which also exports all messages.
pub(super) fn all(contract: &ContractModel) -> String {
    let (mut imports, mut exports, mut fields) = (String::new(), String::new(), String::new());
    for file in contract.files() {
        let module = module_name(&file);
        exports.extend([format!("export type * from \"./{module}.js\";\n")]);
        for service in file.services() {
            let name = service.name();
            imports.extend([format!("import type {{ {name} }} from \"./{module}.js\";\n")]);
            fields.extend([format!(
                "  /** `{}`. */\n  readonly {}: {{ readonly v1: {{ readonly {name}: {name} }} }};\n",
                service.full_name(),
                camel(module)
            )]);
        }
    }
    format!(
        "{imports}\n{exports}\n/** Every service under the name of its package. */\nexport interface Services {{\n{fields}}}\n"
    )
}

/// Returns whether a method returns a page of a list.
pub(in crate::codegen) fn has_pages(method: &MethodDescriptor) -> bool {
    method.output().get_field_by_name(NEXT_PAGE).is_some()
}

fn interface(types: &Types<'_>, service: &ServiceDescriptor) -> String {
    let comment = types.comments.tsdoc(types.contract.service_comment(service), &[], 0);
    let methods: Vec<_> = methods(service).iter().map(|method| signature(types, method)).collect();
    format!("{comment}export interface {} {{\n{}}}\n\n", service.name(), methods.join("\n"))
}

fn signature(types: &Types<'_>, method: &MethodDescriptor) -> String {
    let comment = types.comments.tsdoc(types.contract.method_comment(method), &[], 1);
    let (request, answer) = (method.input(), method.output());
    let may_be_empty = !types
        .fields(&request, Direction::Request)
        .iter()
        .any(|it| is_there(types.contract, it, Direction::Request));
    format!(
        "{comment}  {}(request{}: {}, options?: CallOptions): {}<{}>;\n",
        lower_first(method.name()),
        if may_be_empty { "?" } else { "" },
        types.name(&request, Direction::Request),
        if has_pages(method) { "Pages" } else { "Promise" },
        types.name(&answer, Direction::Response),
    )
}

/// Generates imports for all names that a module uses but does not define.
fn imports(types: &Types<'_>, file: &FileDescriptor, code: &str) -> String {
    let is_comment = |line: &&str| line.trim_start().starts_with(['/', '*']);
    let lines = code.lines().filter(|line| !is_comment(line));
    let named: BTreeSet<&str> =
        lines.flat_map(|line| line.split(|it: char| !it.is_ascii_alphanumeric())).collect();
    let mut from: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut import = |module: String, name: &str| {
        from.entry(module).or_default().insert(name.to_owned());
    };
    for (name, module) in BY_HAND.into_iter().filter(|(name, _)| named.contains(name)) {
        import(module.to_owned(), name);
    }
    for list in super::words::names().filter(|name| named.contains(name)) {
        import("./words.js".to_owned(), list);
    }
    for message in file.messages().flat_map(|message| foreign(&message, file)) {
        let module = format!("./{}.js", module_name(&message.parent_file()));
        import(module, &types.name(&message, Direction::Response));
    }
    let lines = from.into_iter().map(|(module, names)| {
        let names: Vec<_> = names.into_iter().collect();
        format!("import type {{ {} }} from \"{module}\";\n", names.join(", "))
    });
    lines.collect::<String>() + "\n"
}

/// Returns the messages of other files that a message contains.
fn foreign(message: &MessageDescriptor, file: &FileDescriptor) -> Vec<MessageDescriptor> {
    message
        .fields()
        .filter_map(|it| nested_message(&it))
        .filter(|it| it.parent_file() != *file)
        .collect()
}
