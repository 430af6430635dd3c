//! Placeholders for unknown values, so that all rules can be checked for the rest. A placeholder is valid, and
//! requires no other argument.

use rules::field::{Block, Field, Presence, Resource, Rule, Shape};
use rules::{TextComparator, Violation};
use terraform_plugin::{IntoValue, Object, Path, Value};

use crate::wire::is_single;

/// A configuration without unknown values.
pub(super) struct Filled {
    pub(super) object: Object,
    /// Paths of placeholders, whose violations are ignored.
    pub(super) unknown: Vec<Path>,
    /// Values that the wire cannot carry.
    pub(super) violations: Vec<Violation>,
}

/// Returns the configuration with placeholders.
pub(super) fn fill_unknown(table: &'static Resource, config: &Object) -> Filled {
    let object = Object::new();
    let mut filled = Filled { object, unknown: Vec::new(), violations: Vec::new() };
    let mut config = config.clone();
    choose(table, &mut config, &mut filled);
    let object = filled.body(table.fields, table.blocks, &config, &Path::root());
    filled.object = object;
    filled
}

impl Filled {
    fn body(
        &mut self,
        fields: &'static [Field],
        blocks: &'static [Block],
        given: &Object,
        path: &Path,
    ) -> Object {
        let mut object = Object::new();
        for field in fields.iter().filter(|field| field.presence != Presence::Output) {
            let value = self.field(field, given.value(field.name), &path.name(field.name));
            object.set(field.name, value);
        }
        for block in blocks {
            let path = path.name(block.name);
            let value = self.blocks(block, given.value(block.name), path);
            object.set(block.name, value);
        }
        object
    }

    fn blocks(&mut self, block: &'static Block, given: &Value, path: Path) -> Value {
        if given.is_unknown() {
            let placeholders = if is_single(block) {
                // `choose_block` left only the one that its channel needs.
                vec![self.block(block, given, path.index(0))]
            } else {
                // Their number is unknown, so that no rule of them can be checked.
                Vec::new()
            };
            self.unknown.push(path);
            return Value::List(placeholders);
        }
        let elements = given.elements().iter().enumerate();
        let filled = elements.map(|(at, value)| self.block(block, value, path.index(at)));
        Value::List(filled.collect())
    }

    fn block(&mut self, block: &'static Block, given: &Value, path: Path) -> Value {
        let nothing = Object::new();
        let unknown = given.is_unknown();
        let object = given.as_object().unwrap_or(&nothing);
        let filled = self.body(block.fields, block.blocks, object, &path);
        if unknown {
            self.unknown.push(path);
        }
        Value::Object(filled)
    }

    fn field(&mut self, field: &'static Field, given: &Value, path: &Path) -> Value {
        if given.is_unknown() {
            self.unknown.push(path.clone());
            return placeholder(field.shape);
        }
        if given.elements().iter().any(Value::is_null) {
            // The wire would omit it, so the result would differ from the plan.
            self.violations.push(Violation::without_value(path.to_string(), "must not be null"));
            self.unknown.push(path.clone());
            return placeholder(field.shape);
        }
        match (field.shape, given) {
            (Shape::Integer { min, max }, Value::Number(number)) => {
                if number.as_i64().is_some_and(|number| i32::try_from(number).is_ok()) {
                    return given.clone();
                }
                let allowed = format!("must be a whole number from {min} to {max}");
                self.violations.push(Violation::new(path.to_string(), number, allowed));
                self.unknown.push(path.clone());
                placeholder(field.shape)
            }
            (Shape::Id(_), Value::String(id)) if is_mocked(id) => {
                self.unknown.push(path.clone());
                placeholder(field.shape)
            }
            (Shape::SetOfIds(_), Value::Set(elements)) => {
                let mocked = |value: &Value| value.as_str().is_some_and(is_mocked);
                let known = elements.iter().filter(|value| !value.is_unknown() && !mocked(value));
                Value::Set(known.cloned().collect())
            }
            (Shape::SetOf(_) | Shape::SetOfTags { .. }, Value::Set(elements)) => {
                Value::Set(elements.iter().filter(|value| !value.is_unknown()).cloned().collect())
            }
            (Shape::ListOfDomains { .. }, Value::List(elements)) => {
                let elements = elements.iter().enumerate();
                let filled = elements.map(|(at, value)| {
                    if value.is_unknown() {
                        self.unknown.push(path.index(at));
                        return DOMAIN.into_value();
                    }
                    value.clone()
                });
                Value::List(filled.collect())
            }
            _ => given.clone(),
        }
    }
}

/// Chooses values of unknown enumerations that other arguments depend on: one that requires what is given, or
/// else one that requires nothing.
fn choose(table: &'static Resource, config: &mut Object, filled: &mut Filled) {
    for rule in table.rules {
        match *rule {
            Rule::RequiredWhen { when, .. } if config.value(when).is_unknown() => {
                let given = |name: &str| !config.value(name).is_null();
                let words = || table.field(when).shape.names().unwrap_or_default().iter();
                let answered = words().find(|word| required_by(table, when, word).any(given));
                let silent =
                    || words().find(|word| required_by(table, when, word).next().is_none());
                let word = answered.or_else(silent).map(|word| (*word).to_owned());
                config.set(when, word);
                filled.unknown.push(Path::from(when));
            }
            Rule::RequiredWhen { .. } => {}
            Rule::Together { first, second } => {
                omit_if_other_is_absent(config, first, second);
                omit_if_other_is_absent(config, second, first);
            }
            Rule::ExactlyOneBlock { named_by } => choose_block(table, named_by, config, filled),
        }
    }
}

/// Returns the arguments that are required if `when` has this value.
fn required_by(
    table: &'static Resource,
    when: &str,
    word: &str,
) -> impl Iterator<Item = &'static str> {
    table.rules.iter().filter_map(move |rule| match *rule {
        Rule::RequiredWhen { field, when: of, is } => (of == when && is == word).then_some(field),
        Rule::Together { .. } | Rule::ExactlyOneBlock { .. } => None,
    })
}

/// Removes an unknown argument whose other one is absent: it may turn out to be absent too.
fn omit_if_other_is_absent(config: &mut Object, name: &str, other: &str) {
    if config.value(name).is_unknown() && config.value(other).is_null() {
        config.set(name, Value::Null);
    }
}

/// Decides which block exists while its name or its `for_each` is unknown. Neither a named block that may be absent
/// nor another one that may exist is rejected before it is known.
fn choose_block(
    table: &'static Resource,
    named_by: &str,
    config: &mut Object,
    filled: &mut Filled,
) {
    let blocks = || table.blocks.iter().map(|block| block.name);
    let Value::Unknown(_) = config.value(named_by) else {
        let named = config.value(named_by).as_str().map(str::to_owned);
        omit_unknown(table, named.as_deref(), config);
        return;
    };
    filled.unknown.push(Path::from(named_by));
    let given = blocks().filter(|name| !config.value(name).elements().is_empty());
    let given: Vec<_> = given.collect();
    let possible = blocks().find(|name| config.value(name).is_unknown());
    if let Some((first, others)) = given.split_first() {
        for other in others {
            let allowed = format!("must not be given together with `{first}`");
            filled.violations.push(Violation::without_value(*other, allowed));
            config.set(*other, Value::Null);
        }
    } else if possible.is_none() {
        let names: Vec<_> = blocks().map(|name| format!("`{name}`")).collect();
        let allowed = format!("must have its block: one of {}", names.join(", "));
        filled.violations.push(Violation::without_value(named_by, allowed));
    }
    let any = || blocks().next().expect("a table with a rule for blocks has blocks");
    let named = given.first().copied().or(possible).unwrap_or_else(any);
    if given.is_empty() {
        filled.unknown.push(Path::from(named));
    }
    config.set(named_by, named);
    omit_unknown(table, Some(named), config);
}

/// Leaves out each block that is unknown and not named.
fn omit_unknown(table: &'static Resource, named: Option<&str>, config: &mut Object) {
    for block in table.blocks {
        if config.value(block.name).is_unknown() && named != Some(block.name) {
            config.set(block.name, Value::Null);
        }
    }
}

/// Longest string that `mock_provider` generates: Terraform's have 8 characters, OpenTofu's 4 to 16.
const MOCKED_MAX: usize = 16;

/// Returns whether `mock_provider` may have generated an ID. The provider still validates mocks, so their IDs must
/// pass. An ID of the service has an underscore after its prefix.
pub(crate) fn is_mocked(id: &str) -> bool {
    let made_of = |byte: u8| byte.is_ascii_alphanumeric();
    (1..=MOCKED_MAX).contains(&id.len()) && id.bytes().all(made_of)
}

/// A valid domain.
const DOMAIN: &str = "example.com";
/// The part of an ID after its prefix.
const DIGITS: &str = "0000000000000";

/// Returns an empty object in PEM.
fn pem(label: &str) -> String {
    format!("-----BEGIN {label}-----\n-----END {label}-----\n")
}

/// Returns a valid value of a shape. The last other word of an enumeration requires nothing else.
fn placeholder(shape: Shape) -> Value {
    match shape {
        Shape::Text { min, .. } | Shape::Line { min, .. } => "x".repeat(min as usize).into_value(),
        Shape::HttpUrl { .. } | Shape::ContactUrl { .. } => "https://example.com".into_value(),
        Shape::HostPort { .. } => "example.com:443".into_value(),
        Shape::DomainName { .. } => DOMAIN.into_value(),
        Shape::HeaderName { .. } | Shape::AnswerHeaderName { .. } | Shape::Slug { .. } => {
            "x".into_value()
        }
        Shape::JsonPath { .. } => "$".into_value(),
        Shape::Certificates { .. } => pem("CERTIFICATE").into_value(),
        Shape::PrivateKey { .. } => pem("PRIVATE KEY").into_value(),
        Shape::HeaderValue { .. } => "".into_value(),
        Shape::EmailAddress { .. } => "ops@example.com".into_value(),
        Shape::PhoneNumber => "+4915112345678".into_value(),
        Shape::TimeOfDay => "00:00".into_value(),
        Shape::TimeZone => "UTC".into_value(),
        Shape::Interval { min, .. } => format!("{min}m").into_value(),
        Shape::Integer { min, .. } => min.into_value(),
        Shape::Bool => false.into_value(),
        Shape::OneOf(words) => {
            // The placeholder of a target is no expression.
            let takes_expression = |word: &str| {
                TextComparator::parse(word).is_ok_and(TextComparator::takes_expression)
            };
            let plain = words.iter().rev().find(|word| !takes_expression(word));
            plain.copied().into_value()
        }
        Shape::SetOf(_) | Shape::SetOfIds(_) | Shape::SetOfTags { .. } => Value::set::<Value>([]),
        Shape::Id(prefix) => format!("{prefix}{DIGITS}").into_value(),
        Shape::ListOfDomains { .. } => Value::list([DOMAIN]),
        Shape::Instant | Shape::ListOf(_) => Value::Null,
    }
}
