//! Converts schemas to the messages of the protocol.

use crate::function::{Parameter, Signature};
use crate::proto::tfplugin6 as proto;
use crate::proto::tfplugin6::schema as wire;
use crate::resource::Identity;
use crate::schema::{Attribute, Block, Body, Nesting, Presence, Schema, Shape};

pub(super) fn schema(schema: &Schema) -> proto::Schema {
    let block = wire::Block {
        version: schema.version,
        ..block(&schema.body, &schema.description, schema.deprecated.as_deref())
    };
    proto::Schema { version: schema.version, block: Some(block) }
}

/// Converts a schema without computed attributes: of the provider, a list or an action. The
/// framework fills in defaults, and Terraform does not see them.
pub(super) fn configuration(it: &Schema) -> proto::Schema {
    let mut described = schema(it);
    if let Some(block) = &mut described.block {
        uncompute(block);
    }
    described
}

fn uncompute(block: &mut wire::Block) {
    for attribute in &mut block.attributes {
        attribute.computed = false;
    }
    for nested in &mut block.block_types {
        nested.block.iter_mut().for_each(uncompute);
    }
}

pub(super) fn function(signature: &Signature) -> proto::Function {
    proto::Function {
        parameters: signature.parameters.iter().map(parameter).collect(),
        variadic_parameter: signature.variadic.as_ref().map(parameter),
        r#return: Some(proto::function::Return {
            r#type: signature.returns.to_json().to_string().into(),
        }),
        summary: signature.summary.clone(),
        description: signature.description.clone(),
        description_kind: proto::StringKind::Markdown.into(),
        deprecation_message: signature.deprecated.clone().unwrap_or_default(),
    }
}

fn parameter(parameter: &Parameter) -> proto::function::Parameter {
    proto::function::Parameter {
        name: parameter.name.clone(),
        r#type: parameter.ty.to_json().to_string().into(),
        allow_null_value: parameter.allow_null,
        allow_unknown_values: parameter.allow_unknown,
        description: parameter.description.clone(),
        description_kind: proto::StringKind::Markdown.into(),
    }
}

pub(super) fn identity(identity: &Identity) -> proto::ResourceIdentitySchema {
    let attributes = identity.attributes.iter().map(|(name, attribute)| {
        proto::resource_identity_schema::IdentityAttribute {
            name: name.clone(),
            r#type: attribute.ty.to_json().to_string().into(),
            required_for_import: attribute.required,
            optional_for_import: !attribute.required,
            description: attribute.description.clone(),
        }
    });
    proto::ResourceIdentitySchema {
        version: identity.version,
        identity_attributes: attributes.collect(),
    }
}

fn block(body: &Body, description: &str, deprecated: Option<&str>) -> wire::Block {
    wire::Block {
        version: 0,
        attributes: attributes(body),
        block_types: body.blocks.iter().map(|(name, block)| nested_block(name, block)).collect(),
        description: description.to_owned(),
        description_kind: proto::StringKind::Markdown.into(),
        deprecated: deprecated.is_some(),
        deprecation_message: deprecated.unwrap_or_default().to_owned(),
    }
}

fn attributes(body: &Body) -> Vec<wire::Attribute> {
    body.attributes.iter().map(|(name, it)| attribute(name, it)).collect()
}

fn attribute(name: &str, attribute: &Attribute) -> wire::Attribute {
    let (ty, nested) = match &attribute.shape {
        Shape::Plain(ty) => (ty.to_json().to_string().into(), None),
        Shape::Nested(nesting, body) => (Vec::new(), Some(object(*nesting, body))),
    };
    wire::Attribute {
        name: name.to_owned(),
        r#type: ty,
        nested_type: nested,
        description: attribute.description.clone(),
        required: attribute.presence == Presence::Required,
        optional: matches!(attribute.presence, Presence::Optional | Presence::OptionalComputed),
        computed: attribute.presence != Presence::Required && attribute.is_computed(),
        sensitive: attribute.sensitive,
        description_kind: proto::StringKind::Markdown.into(),
        deprecated: attribute.deprecated.is_some(),
        write_only: attribute.write_only,
        deprecation_message: attribute.deprecated.clone().unwrap_or_default(),
    }
}

fn object(nesting: Nesting, body: &Body) -> wire::Object {
    use wire::object::NestingMode;
    let nesting = match nesting {
        Nesting::Single => NestingMode::Single,
        Nesting::List => NestingMode::List,
        Nesting::Set => NestingMode::Set,
        Nesting::Map => NestingMode::Map,
    };
    wire::Object {
        attributes: attributes(body),
        nesting: nesting.into(),
        ..wire::Object::default()
    }
}

fn nested_block(name: &str, it: &Block) -> wire::NestedBlock {
    use wire::nested_block::NestingMode;
    let nesting = match it.nesting {
        Nesting::Single => NestingMode::Single,
        Nesting::List => NestingMode::List,
        Nesting::Set => NestingMode::Set,
        Nesting::Map => NestingMode::Map,
    };
    // For a single block, Terraform only supports "required": minimum and maximum are one.
    let single = it.nesting == Nesting::Single;
    wire::NestedBlock {
        type_name: name.to_owned(),
        block: Some(block(&it.body, &it.description, it.deprecated.as_deref())),
        nesting: nesting.into(),
        min_items: it.min_items.into(),
        max_items: if single { i64::from(it.min_items) } else { it.max_items.into() },
    }
}
