//! Creates Terraform's schemas from the tables of `rules`: types, presence, defaults, replacement, descriptions.
//! Validation of values belongs to `validate`.

use rules::field::{self, Field, Presence, Resource, Shape, ValueType};
use rules::monitor::degraded_at_ms_of;
use serde_json::Value as Json;
use terraform_plugin::codec::from_json;
use terraform_plugin::resource::Upgrade;
use terraform_plugin::schema::{Attribute, Block, Nesting, Presence as TerraformPresence, Schema};
use terraform_plugin::{Diagnostic, IntoValue, Object, Type, Value};

use crate::wire::is_single;
use crate::write_only::{self, WriteOnlyArgument};

/// Outputs that no update changes.
const FIXED: [&str; 3] = ["id", "created_at", "url"];

/// Version of the states in which a block that may be given once is a list. In states of version 0 it
/// is an object.
const SINGLE_BLOCKS_AS_LISTS: i64 = 1;

/// Returns the schema of a resource or data source.
pub fn schema(table: &'static Resource) -> Schema {
    let mut schema = Schema::new(table.description);
    if table.blocks.iter().any(is_single) {
        schema = schema.version(SINGLE_BLOCKS_AS_LISTS);
    }
    for field in table.fields {
        schema = schema.attribute(field.name, attribute(field));
    }
    for twin in write_only::for_block(table, None) {
        for (name, attribute) in write_only_attributes(twin) {
            schema = schema.attribute(name, attribute);
        }
    }
    for inner in table.blocks {
        schema = schema.block(inner.name, block(table, inner));
    }
    schema
}

/// Returns the upgrades of states of earlier versions.
pub fn upgrades(table: &'static Resource) -> Vec<Upgrade> {
    if !table.blocks.iter().any(is_single) {
        return Vec::new();
    }
    let upgrade = move |mut stored: Json| {
        for block in table.blocks.iter().filter(|block| is_single(block)) {
            let before = stored[block.name].take();
            let blocks = if before.is_null() { Vec::new() } else { vec![before] };
            stored[block.name] = Json::Array(blocks);
        }
        let values = from_json(stored.to_string().as_bytes(), &schema(table).ty());
        let Ok(Value::Object(values)) = values else {
            let detail = "The state of version 0 is not what this provider wrote.";
            return Err(Diagnostic::error("Cannot read the stored state", detail).into());
        };
        Ok(values)
    };
    vec![Upgrade::raw(0, upgrade)]
}

/// Returns the attribute of a field.
pub fn attribute(field: &'static Field) -> Attribute {
    let attribute = shape_attribute(field).describe(description(field));
    let attribute = match field.presence {
        Presence::Default(field::Value::Text(text)) => attribute.default(text),
        Presence::Default(field::Value::Integer(number)) => attribute.default(number),
        Presence::Default(field::Value::Bool(flag)) => attribute.default(flag),
        // Only `degraded_at` is computed.
        Presence::Computed => attribute.derive(["timeout"], degraded_at),
        Presence::Output if FIXED.contains(&field.name) => attribute.use_state_for_unknown(),
        Presence::Required | Presence::Optional | Presence::Output => attribute,
    };
    let attribute = if field.sensitive { attribute.sensitive() } else { attribute };
    if field.replace { attribute.requires_replace() } else { attribute }
}

fn shape_attribute(field: &Field) -> Attribute {
    let presence = match field.presence {
        Presence::Required => TerraformPresence::Required,
        Presence::Optional | Presence::Default(_) => TerraformPresence::Optional,
        Presence::Computed => TerraformPresence::OptionalComputed,
        Presence::Output => TerraformPresence::Computed,
    };
    let plain = |ty| Attribute::new(terraform_plugin::schema::Shape::Plain(ty), presence);
    match field.shape.value_type() {
        ValueType::Text => plain(Type::String),
        ValueType::Integer => plain(Type::Number),
        ValueType::Bool => plain(Type::Bool),
        ValueType::SetOfTexts => plain(Type::set(Type::String)),
        ValueType::ListOfTexts => plain(Type::list(Type::String)),
        ValueType::ListOf(fields) => {
            let inner = fields.iter().map(|field| (field.name, attribute(field)));
            Attribute::nested(Nesting::List, presence, inner)
        }
    }
}

fn block(table: &'static Resource, inner: &'static field::Block) -> Block {
    // A block that may be given once is a list too: only a list is unknown as a whole while the
    // `for_each` of a `dynamic` block is (decision 0044).
    let mut block = Block::new(Nesting::List).describe(inner.description);
    if let Some(max) = inner.max {
        block = block.max_items(max);
    }
    for field in inner.fields {
        block = block.attribute(field.name, attribute(field));
    }
    for twin in write_only::for_block(table, Some(inner.name)) {
        for (name, attribute) in write_only_attributes(twin) {
            block = block.attribute(name, attribute);
        }
    }
    for nested in inner.blocks {
        block = block.block(nested.name, self::block(table, nested));
    }
    block
}

/// Returns the write-only secret and its version.
fn write_only_attributes(twin: &WriteOnlyArgument) -> [(String, Attribute); 2] {
    let WriteOnlyArgument { field, .. } = twin;
    let secret = Attribute::optional(Type::String).sensitive().write_only().describe(format!(
        "As `{field}`, but kept out of plan and state. Needs `{}`; not together with `{field}`. An \
         import cannot know of it: the state has `{field}` until the apply that comes after.",
        twin.version_name()
    ));
    let version = Attribute::optional(Type::Number)
        .describe(format!("Any number. Change it to send a changed `{}`.", twin.argument_name()));
    [(twin.argument_name(), secret), (twin.version_name(), version)]
}

/// Returns the description of the table, with bounds that it does not mention, the values of an enumeration
/// and the default.
fn description(field: &Field) -> String {
    let words = field.shape.names().map(|words| {
        let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
        format!(" One of {}.", words.join(", "))
    });
    let default = match field.presence {
        Presence::Default(field::Value::Text("")) => " Empty by default.".to_owned(),
        Presence::Default(field::Value::Text(text)) => format!(" `{text}` by default."),
        Presence::Default(field::Value::Integer(number)) => format!(" {number} by default."),
        Presence::Default(field::Value::Bool(flag)) => format!(" {flag} by default."),
        Presence::Required | Presence::Optional | Presence::Computed | Presence::Output => {
            String::new()
        }
    };
    let bounds = bounds(field).unwrap_or_default();
    format!("{}{bounds}{}{default}", field.description, words.unwrap_or_default())
}

/// Returns the bounds of an argument whose description does not mention them.
fn bounds(field: &Field) -> Option<String> {
    let (least, most, unit) = match field.shape {
        Shape::Text { min, max } | Shape::Line { min, max } | Shape::Slug { min, max } => {
            (i64::from(min), i64::from(max), " characters")
        }
        Shape::HttpUrl { max }
        | Shape::HostPort { max }
        | Shape::DomainName { max }
        | Shape::ContactUrl { max }
        | Shape::HeaderName { max }
        | Shape::AnswerHeaderName { max }
        | Shape::JsonPath { max }
        | Shape::HeaderValue { max }
        | Shape::EmailAddress { max } => (0, i64::from(max), " characters"),
        Shape::Certificates { max } | Shape::PrivateKey { max } => (0, i64::from(max), " bytes"),
        Shape::SetOfTags { max, .. } => (0, i64::from(max), " tags"),
        Shape::ListOfDomains { max } => (0, i64::from(max), " domains"),
        Shape::Integer { min, max } => (i64::from(min), i64::from(max), ""),
        Shape::PhoneNumber
        | Shape::TimeOfDay
        | Shape::TimeZone
        | Shape::Interval { .. }
        | Shape::Bool
        | Shape::OneOf(_)
        | Shape::SetOf(_)
        | Shape::Id(_)
        | Shape::SetOfIds(_)
        | Shape::Instant
        | Shape::ListOf(_) => return None,
    };
    let mut numbers = field.description.split(|letter: char| !letter.is_ascii_digit());
    if field.presence == Presence::Output || numbers.any(|number| number == most.to_string()) {
        return None;
    }
    Some(match (least, most) {
        // The wire has no larger number.
        (least, most) if most == i64::from(i32::MAX) => format!(" At least {least}{unit}."),
        (0, most) if !unit.is_empty() => format!(" At most {most}{unit}."),
        (least, most) => format!(" {least} to {most}{unit}."),
    })
}

/// Returns the value that the service computes (design §4), so that a plan shows it.
pub fn degraded_at(plan: &Object) -> Value {
    match plan.get::<u32>("timeout") {
        Ok(timeout) if timeout <= rules::tables::TIMEOUT_MS_MAX => {
            degraded_at_ms_of(timeout).into_value()
        }
        // `validate` rejects it.
        Ok(_) | Err(_) => Value::UNKNOWN,
    }
}
