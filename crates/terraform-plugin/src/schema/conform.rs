//! Fits the results of a provider to the schema: absent attributes become null, absent repeated
//! blocks become empty, lists become sets where the schema has sets, and write-only values are
//! removed.

use std::collections::BTreeMap;

use super::{Attribute, Block, Body, Nesting, Shape};
use crate::Path;
use crate::codec::type_of;
use crate::value::{Object, Type, Value};

/// A value that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}expected {expected}, found {found}", format_location(path))]
pub(crate) struct SchemaMismatch {
    pub(crate) path: Path,
    pub(crate) expected: String,
    pub(crate) found: String,
}

fn format_location(path: &Path) -> String {
    if path.steps().is_empty() { String::new() } else { format!("`{path}`: ") }
}

/// Fits an object to a body.
pub(crate) fn conform(body: &Body, object: Object) -> Result<Object, SchemaMismatch> {
    fit_body(body, object, &Path::root())
}

/// Keeps the parts of an object that fit, and replaces the others by null. Used to record an object
/// whose provider returned invalid values.
pub(crate) fn salvage(body: &Body, mut object: Object) -> Object {
    let mut kept = Object::new();
    for (name, attribute) in &body.attributes {
        let value = object.remove(name).unwrap_or_default();
        kept.set(name, fit_attribute(attribute, value, &Path::root()).unwrap_or_default());
    }
    for (name, block) in &body.blocks {
        let value = object.remove(name).unwrap_or_default();
        kept.set(name, fit_block(block, value, &Path::root()).unwrap_or_else(|_| block.none()));
    }
    kept
}

/// Fits a value to a type.
pub(crate) fn fit_type(ty: &Type, value: Value) -> Result<Value, SchemaMismatch> {
    fit(ty, value, &Path::root())
}

fn fit_body(body: &Body, mut object: Object, path: &Path) -> Result<Object, SchemaMismatch> {
    let mut fitted = Object::new();
    for (name, attribute) in &body.attributes {
        let value = object.remove(name).unwrap_or_default();
        fitted.set(name, fit_attribute(attribute, value, &path.name(name))?);
    }
    for (name, block) in &body.blocks {
        let value = object.remove(name).unwrap_or_default();
        fitted.set(name, fit_block(block, value, &path.name(name))?);
    }
    match object.iter().next() {
        Some((name, value)) => Err(unfit(&path.name(name), "no such attribute", value)),
        None => Ok(fitted),
    }
}

fn fit_attribute(
    attribute: &Attribute,
    value: Value,
    path: &Path,
) -> Result<Value, SchemaMismatch> {
    if attribute.write_only {
        return Ok(Value::Null);
    }
    match &attribute.shape {
        Shape::Plain(ty) => fit(ty, value, path),
        Shape::Nested(nesting, body) => fit_nested(*nesting, body, value, path),
    }
}

fn fit_block(block: &Block, value: Value, path: &Path) -> Result<Value, SchemaMismatch> {
    if value.is_null() {
        return Ok(block.none());
    }
    fit_nested(block.nesting, &block.body, value, path)
}

fn fit_nested(
    nesting: Nesting,
    body: &Body,
    value: Value,
    path: &Path,
) -> Result<Value, SchemaMismatch> {
    if value.is_null() || value.is_unknown() {
        return Ok(value);
    }
    let one = |value: Value, path: &Path| {
        if value.is_unknown() {
            return Ok(value);
        }
        object(value, path).and_then(|it| fit_body(body, it, path)).map(Value::Object)
    };
    match nesting {
        Nesting::Single => one(value, path),
        Nesting::List => in_list(value, path, one),
        Nesting::Set => in_set(value, path, one),
        Nesting::Map => in_map(value, path, one),
    }
}

/// Fits a value to a type. `path` is its position.
fn fit(ty: &Type, value: Value, path: &Path) -> Result<Value, SchemaMismatch> {
    if value.is_null() || value.is_unknown() {
        return Ok(value);
    }
    match ty {
        Type::Dynamic => Ok(wrap(value)),
        Type::Bool if matches!(value, Value::Bool(_)) => Ok(value),
        Type::Number if matches!(value, Value::Number(_)) => Ok(value),
        Type::String if matches!(value, Value::String(_)) => Ok(value),
        Type::Bool | Type::Number | Type::String => Err(unfit(path, &ty.to_string(), &value)),
        Type::List(element) => in_list(value, path, |value, path| fit(element, value, path)),
        Type::Set(element) => in_set(value, path, |value, path| fit(element, value, path)),
        Type::Map(element) => in_map(value, path, |value, path| fit(element, value, path)),
        Type::Object(types) => fit_object(types, object(value, path)?, path),
        Type::Tuple(types) => {
            let elements = sequence(value, path)?;
            if elements.len() != types.len() {
                return Err(unfit(path, &ty.to_string(), &Value::Tuple(elements)));
            }
            let pairs = types.iter().zip(elements).enumerate();
            let fitted = pairs.map(|(at, (ty, value))| fit(ty, value, &path.index(at)));
            fitted.collect::<Result<_, _>>().map(Value::Tuple)
        }
    }
}

fn fit_object(
    types: &BTreeMap<String, Type>,
    mut object: Object,
    path: &Path,
) -> Result<Value, SchemaMismatch> {
    let mut fitted = Object::new();
    for (name, ty) in types {
        let value = object.remove(name).unwrap_or_default();
        fitted.set(name, fit(ty, value, &path.name(name))?);
    }
    match object.iter().next() {
        Some((name, value)) => Err(unfit(&path.name(name), "no such attribute", value)),
        None => Ok(Value::Object(fitted)),
    }
}

type Fitted = Result<Value, SchemaMismatch>;

fn in_list(value: Value, path: &Path, one: impl Fn(Value, &Path) -> Fitted) -> Fitted {
    let elements = sequence(value, path)?.into_iter().enumerate();
    let fitted = elements.map(|(at, value)| one(value, &path.index(at)));
    fitted.collect::<Result<_, _>>().map(Value::List)
}

fn in_set(value: Value, path: &Path, one: impl Fn(Value, &Path) -> Fitted) -> Fitted {
    let elements = sequence(value, path)?.into_iter();
    let fitted = elements.map(|value| one(value, &path.element()));
    fitted.collect::<Result<_, _>>().map(Value::Set)
}

fn in_map(value: Value, path: &Path, one: impl Fn(Value, &Path) -> Fitted) -> Fitted {
    let elements: Vec<(String, Value)> = if let Value::Map(elements) = value {
        elements.into_iter().collect()
    } else {
        object(value, path)?.into_iter().collect()
    };
    let fitted = elements.into_iter().map(|(key, value)| {
        let value = one(value, &path.key(&key))?;
        Ok((key, value))
    });
    fitted.collect::<Result<_, _>>().map(Value::Map)
}

fn wrap(value: Value) -> Value {
    if matches!(value, Value::Dynamic(..)) {
        return value;
    }
    Value::Dynamic(type_of(&value), Box::new(value))
}

fn object(value: Value, path: &Path) -> Result<Object, SchemaMismatch> {
    if let Value::Object(object) = value { Ok(object) } else { Err(unfit(path, "object", &value)) }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "values without elements are rejected by their kind"
)]
fn sequence(value: Value, path: &Path) -> Result<Vec<Value>, SchemaMismatch> {
    match value {
        Value::List(elements) | Value::Tuple(elements) => Ok(elements),
        Value::Set(elements) => Ok(elements.into_vec()),
        other => Err(unfit(path, "elements", &other)),
    }
}

fn unfit(path: &Path, expected: &str, found: &Value) -> SchemaMismatch {
    SchemaMismatch {
        path: path.clone(),
        expected: expected.to_owned(),
        found: found.kind().to_owned(),
    }
}
