//! Converts the tables of `rules` to facts.

use aloft_rules::field::{self, Field, Presence, Rule, Shape, Value, ValueType};

use crate::file::{Block, Resource, Row};

/// Converts the table of `resource` to facts.
pub(crate) fn facts(section: &str, resource: &field::Resource) -> Resource {
    let (outputs, arguments) =
        resource.fields.iter().partition::<Vec<_>, _>(|field| field.presence == Presence::Output);
    Resource {
        section: section.to_owned(),
        name: resource.name.to_owned(),
        import: resource.import.map(ToOwned::to_owned),
        exactly_one_block_by: resource.rules.iter().find_map(|rule| match rule {
            Rule::ExactlyOneBlock { named_by } => Some((*named_by).to_owned()),
            Rule::RequiredWhen { .. } | Rule::Together { .. } => None,
        }),
        arguments: arguments.into_iter().map(|field| argument(field, resource.rules)).collect(),
        outputs: outputs.into_iter().map(output).collect(),
        blocks: resource.blocks.iter().map(block).collect(),
    }
}

fn block(block: &field::Block) -> Block {
    Block {
        name: block.name.to_owned(),
        max: block.max.map(i64::from),
        fields: block.fields.iter().map(|field| argument(field, &[])).collect(),
        blocks: block.blocks.iter().map(self::block).collect(),
    }
}

fn argument(field: &Field, rules: &[Rule]) -> Row {
    let (min, max) = if let Shape::Integer { min, max } = field.shape {
        (Some(min.into()), Some(max.into()))
    } else if let Shape::ListOfDomains { max } = field.shape {
        (None, Some(max.into()))
    } else {
        (None, None)
    };
    // The length of an ID is not a limit.
    let identifier = matches!(field.shape, Shape::Id(_));
    let characters = field.shape.characters().filter(|_| !identifier);
    Row {
        default: match field.presence {
            Presence::Default(Value::Text(text)) => Some(text.into()),
            Presence::Default(Value::Integer(number)) => Some(number.into()),
            Presence::Default(Value::Bool(value)) => Some(value.into()),
            Presence::Required | Presence::Optional | Presence::Computed | Presence::Output => None,
        },
        required: field.presence == Presence::Required,
        computed: field.presence == Presence::Computed,
        form: form(field.shape),
        min_chars: characters.map(|(min, _)| min.into()).filter(|min| *min > 0),
        max_chars: characters.map(|(_, max)| max.into()),
        min,
        max,
        replace: field.replace,
        required_when: rules.iter().find_map(|rule| match rule {
            // Stricter than the specification: a component without name would display its ID.
            Rule::RequiredWhen { field: "name", when: "type", is: "static" } => None,
            Rule::RequiredWhen { field: of, when, is } if *of == field.name => {
                Some(((*when).to_owned(), (*is).to_owned()))
            }
            Rule::RequiredWhen { .. } | Rule::Together { .. } | Rule::ExactlyOneBlock { .. } => {
                None
            }
        }),
        ..output(field)
    }
}

/// Converts an output: only name, type, names of values and secrecy are facts.
fn output(field: &Field) -> Row {
    Row {
        name: field.name.to_owned(),
        kind: Some(kind(field.shape).to_owned()),
        words: match field.shape.names() {
            Some(words) => words.iter().map(ToString::to_string).collect(),
            None => vec![],
        },
        objects: if let Shape::ListOf(fields) = field.shape {
            fields.iter().map(|field| field.name.to_owned()).collect()
        } else {
            vec![]
        },
        sensitive: field.sensitive,
        only: ["HTTP", "TCP and DNS"]
            .into_iter()
            .find(|kinds| field.description.contains(&format!("{kinds} monitors only")))
            .map(ToOwned::to_owned),
        ..Row::default()
    }
}

fn kind(shape: Shape) -> &'static str {
    match shape.value_type() {
        ValueType::Text => "string",
        ValueType::Integer => "number",
        ValueType::Bool => "bool",
        ValueType::SetOfTexts => "set(string)",
        ValueType::ListOfTexts => "list(string)",
        ValueType::ListOf(_) => "list(object)",
    }
}

fn form(shape: Shape) -> Option<String> {
    let form = match shape {
        Shape::HttpUrl { .. } => "http url",
        Shape::ContactUrl { .. } => "contact url",
        Shape::HostPort { .. } => "host:port",
        Shape::DomainName { .. } => "domain name",
        Shape::HeaderName { .. } => "header name to set",
        Shape::AnswerHeaderName { .. } => "header name",
        Shape::JsonPath { .. } => "JSONPath",
        Shape::HeaderValue { .. } => "header value",
        Shape::Certificates { .. } => "certificates",
        Shape::PrivateKey { .. } => "private key",
        Shape::Line { .. } => "one line",
        Shape::Slug { .. } => "slug",
        Shape::EmailAddress { .. } => "email address",
        Shape::PhoneNumber => "phone number",
        Shape::TimeOfDay => "time of day",
        Shape::TimeZone => "time zone",
        Shape::Interval { .. } => "interval",
        Shape::Instant => "instant",
        Shape::ListOfDomains { .. } => "domain names",
        Shape::Id(prefix) | Shape::SetOfIds(prefix) => return Some(format!("id {prefix}")),
        Shape::Text { .. }
        | Shape::Integer { .. }
        | Shape::Bool
        | Shape::OneOf(_)
        | Shape::SetOf(_)
        | Shape::SetOfTags { .. }
        | Shape::ListOf(_) => return None,
    };
    Some(form.to_owned())
}
