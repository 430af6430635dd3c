//! Reads `proto/` with its comments: services, methods, messages and fields, with their JSON names.
//! Leaves the meaning of comments to `comment`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use protox::prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use protox::prost_reflect::prost_types::method_options::IdempotencyLevel;
use protox::prost_reflect::prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorProto, MethodDescriptorProto,
    MethodOptions, ServiceDescriptorProto,
};

/// Packages of third parties, or for reflection only.
const NOT_OURS: [&str; 2] = ["google.", "grpc."];
/// Field numbers in the paths of source positions: `syntax`, messages, services, and the fields and
/// methods within them.
const SYNTAX: i32 = 12;
const MESSAGE: i32 = 4;
const SERVICE: i32 = 6;
const MEMBER: i32 = 2;

/// Our part of the contract.
#[derive(Debug)]
pub(super) struct Contract {
    /// Services, sorted by package.
    pub(super) services: Vec<Service>,
    /// Messages by full name, such as `monitor.v1.HttpMonitor`.
    pub(super) messages: BTreeMap<String, Message>,
}

/// A service.
#[derive(Debug)]
pub(super) struct Service {
    /// Package, such as `monitor.v1`.
    pub(super) package: String,
    /// Name, such as `MonitorService`.
    pub(super) name: String,
    /// Comment at the top of its file.
    pub(super) about: String,
    pub(super) comment: String,
    pub(super) methods: Vec<Method>,
}

/// A method.
#[derive(Debug)]
pub(super) struct Method {
    /// Full name of its service, such as `monitor.v1.MonitorService`.
    pub(super) service: String,
    /// Name, such as `GetMonitor`.
    pub(super) name: String,
    pub(super) comment: String,
    pub(super) level: Level,
    /// Full name of the request message.
    pub(super) request: String,
    /// Full name of the response message.
    pub(super) response: String,
}

/// Effect of repeating a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// None, like the first call: a read key may call it.
    Reads,
    /// None after the first call.
    Repeatable,
    /// The same effect again.
    Once,
}

/// A message.
#[derive(Debug)]
pub(super) struct Message {
    /// Full name, such as `monitor.v1.HttpMonitor`.
    pub(super) full: String,
    pub(super) comment: String,
    pub(super) fields: Vec<Field>,
}

/// A field of a message.
#[derive(Debug)]
pub(super) struct Field {
    /// Name in the tables, such as `degraded_at`.
    pub(super) name: String,
    /// Name in JSON, such as `degradedAt`.
    pub(super) json: String,
    pub(super) comment: String,
    pub(super) kind: FieldKind,
    pub(super) repeated: bool,
    /// Whether a response leaves it out if it is not set.
    pub(super) can_be_absent: bool,
    /// Whether it is a choice of a `oneof`.
    pub(super) is_choice: bool,
}

/// Type of a field's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FieldKind {
    Text,
    Number,
    Flag,
    Time,
    Mask,
    /// Full name of a message.
    Object(String),
}

impl Contract {
    /// Reads `proto/` in the workspace.
    pub(super) fn read(workspace: &Path) -> Result<Self> {
        let proto = workspace.join("proto");
        let sources = crate::codegen::sources(&proto)?;
        let mut compiler = protox::Compiler::new([&proto])?;
        compiler.include_imports(true).include_source_info(true).open_files(&sources)?;
        let mut contract = Self { services: Vec::new(), messages: BTreeMap::new() };
        for file in compiler.file_descriptor_set().file {
            if !NOT_OURS.iter().any(|package| file.package().starts_with(package)) {
                contract.add(&file)?;
            }
        }
        contract.services.sort_by(|a, b| a.package.cmp(&b.package));
        Ok(contract)
    }

    /// Iterates over every method of every service.
    pub(super) fn methods(&self) -> impl Iterator<Item = &Method> {
        self.services.iter().flat_map(|service| &service.methods)
    }

    /// Returns the message with this full name.
    pub(super) fn message(&self, full: &str) -> &Message {
        &self.messages[full]
    }

    fn add(&mut self, file: &FileDescriptorProto) -> Result<()> {
        let comments = Comments::new(file);
        for (at, message) in (0..).zip(&file.message_type) {
            let message = read_message(file.package(), message, &comments, at)?;
            self.messages.insert(message.full.clone(), message);
        }
        for (at, service) in (0..).zip(&file.service) {
            self.services.push(read_service(file.package(), service, &comments, at));
        }
        Ok(())
    }
}

impl Message {
    /// Returns the name without the package.
    pub(super) fn name(&self) -> &str {
        self.full.rsplit('.').next().unwrap_or(&self.full)
    }

    /// Returns the package.
    pub(super) fn package(&self) -> &str {
        package_of(&self.full)
    }
}

impl Method {
    /// Returns the path of calls: `monitor.v1.MonitorService/GetMonitor`.
    pub(super) fn path(&self) -> String {
        format!("{}/{}", self.service, self.name)
    }

    /// Returns the package of its service.
    pub(super) fn package(&self) -> &str {
        package_of(&self.service)
    }
}

/// Returns the package of a full name.
pub(super) fn package_of(full: &str) -> &str {
    full.rsplit_once('.').map_or("", |(package, _)| package)
}

/// Comments of a file by source path.
struct Comments(BTreeMap<Vec<i32>, String>);

impl Comments {
    fn new(file: &FileDescriptorProto) -> Self {
        let locations = file.source_code_info.iter().flat_map(|info| &info.location);
        let texts = locations.filter_map(|location| {
            let detached = location.leading_detached_comments.first();
            let comment = location.leading_comments.as_ref().or(detached)?;
            Some((location.path.clone(), unindented(comment)))
        });
        Self(texts.collect())
    }

    fn at(&self, path: &[i32]) -> String {
        self.0.get(path).cloned().unwrap_or_default()
    }
}

/// Removes the space after the slashes of a comment.
fn unindented(comment: &str) -> String {
    let lines = comment.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end());
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

fn read_service(
    package: &str,
    service: &ServiceDescriptorProto,
    comments: &Comments,
    at: i32,
) -> Service {
    let full = format!("{package}.{}", service.name());
    let method = |(index, method): (i32, &MethodDescriptorProto)| Method {
        service: full.clone(),
        name: method.name().to_owned(),
        comment: comments.at(&[SERVICE, at, MEMBER, index]),
        level: match method.options.as_ref().map(MethodOptions::idempotency_level) {
            Some(IdempotencyLevel::NoSideEffects) => Level::Reads,
            Some(IdempotencyLevel::Idempotent) => Level::Repeatable,
            Some(IdempotencyLevel::IdempotencyUnknown) | None => Level::Once,
        },
        request: method.input_type().trim_start_matches('.').to_owned(),
        response: method.output_type().trim_start_matches('.').to_owned(),
    };
    Service {
        package: package.to_owned(),
        name: service.name().to_owned(),
        about: comments.at(&[SYNTAX]),
        comment: comments.at(&[SERVICE, at]),
        methods: (0..).zip(&service.method).map(method).collect(),
    }
}

fn read_message(
    package: &str,
    message: &DescriptorProto,
    comments: &Comments,
    at: i32,
) -> Result<Message> {
    let full = format!("{package}.{}", message.name());
    if !message.nested_type.is_empty() {
        bail!("{full} has nested messages, which the reference does not support");
    }
    let fields = (0..).zip(&message.field).map(|(index, field)| {
        let comment = comments.at(&[MESSAGE, at, MEMBER, index]);
        read_field(field, comment).with_context(|| format!("{full}.{}", field.name()))
    });
    let fields = fields.collect::<Result<_>>()?;
    Ok(Message { comment: comments.at(&[MESSAGE, at]), fields, full })
}

fn read_field(field: &FieldDescriptorProto, comment: String) -> Result<Field> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the contract does not use the other types")]
    let kind = match field.r#type() {
        Type::String => FieldKind::Text,
        Type::Int32 => FieldKind::Number,
        Type::Bool => FieldKind::Flag,
        Type::Message => match field.type_name().trim_start_matches('.') {
            "google.protobuf.Timestamp" => FieldKind::Time,
            "google.protobuf.FieldMask" => FieldKind::Mask,
            other => FieldKind::Object(other.to_owned()),
        },
        other => bail!("unsupported field type {other:?}"),
    };
    let repeated = field.label() == Label::Repeated;
    let is_choice = field.oneof_index.is_some() && !field.proto3_optional();
    let is_object = field.r#type() == Type::Message;
    Ok(Field {
        name: field.name().to_owned(),
        json: field.json_name().to_owned(),
        comment,
        kind,
        repeated,
        can_be_absent: !repeated && (is_object || field.oneof_index.is_some()),
        is_choice,
    })
}
