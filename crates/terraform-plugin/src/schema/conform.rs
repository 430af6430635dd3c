//! Makes what a provider's code returned fit the schema: absent attributes are null, repeated blocks
//! never are, lists are sets where the schema says so, write-only values are gone.

use super::{Attribute, Block, Body, Nesting, Shape};
use crate::Path;
use crate::value::{Object, Type, Value};

/// A value that cannot be made to fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}expected {expected}, found {found}", place(path))]
pub(crate) struct Unfit {
    pub(crate) path: Path,
    pub(crate) expected: String,
    pub(crate) found: String,
}

fn place(path: &Path) -> String {
    if path.steps().is_empty() { String::new() } else { format!("`{path}`: ") }
}

/// Fits an object to a body.
pub(crate) fn conform(body: &Body, object: Object) -> Result<Object, Unfit> {
    fit_body(body, object, &Path::root())
}

/// What of an object fits, and null for the rest: to keep what was made by a provider that answered
/// with something wrong.
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
pub(crate) fn fit_type(ty: &Type, value: Value) -> Result<Value, Unfit> {
    fit(ty, value, &Path::root())
}

fn fit_body(body: &Body, mut object: Object, path: &Path) -> Result<Object, Unfit> {
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

fn fit_attribute(attribute: &Attribute, value: Value, path: &Path) -> Result<Value, Unfit> {
    if attribute.write_only {
        return Ok(Value::Null);
    }
    match &attribute.shape {
        Shape::Plain(ty) => fit(ty, value, path),
        Shape::Nested(nesting, body) => fit_nested(*nesting, body, value, path),
    }
}

fn fit_block(block: &Block, value: Value, path: &Path) -> Result<Value, Unfit> {
    if value.is_null() {
        return Ok(block.none());
    }
    fit_nested(block.nesting, &block.body, value, path)
}

fn fit_nested(nesting: Nesting, body: &Body, value: Value, path: &Path) -> Result<Value, Unfit> {
    let one = |value: Value, path: Path| match value {
        Value::Object(object) => fit_body(body, object, &path).map(Value::Object),
        Value::Unknown(known) => Ok(Value::Unknown(known)),
        other => Err(unfit(&path, "an object", &other)),
    };
    match (value, nesting) {
        (value @ (Value::Null | Value::Unknown(_)), _) => Ok(value),
        (value, Nesting::Single) => one(value, path.clone()),
        (Value::Map(elements), Nesting::Map) => {
            let fitted = elements.into_iter().map(|(key, value)| {
                let path = path.key(&key);
                Ok((key, one(value, path)?))
            });
            fitted.collect::<Result<_, _>>().map(Value::Map)
        }
        (Value::Object(elements), Nesting::Map) => {
            let fitted = elements.into_iter().map(|(key, value)| {
                let path = path.key(&key);
                Ok((key, one(value, path)?))
            });
            fitted.collect::<Result<_, _>>().map(Value::Map)
        }
        (value, Nesting::List) => {
            let elements = sequence(value, path)?.into_iter().enumerate();
            let fitted = elements.map(|(at, value)| one(value, path.index(at)));
            fitted.collect::<Result<_, _>>().map(Value::List)
        }
        (value, Nesting::Set) => {
            let elements = sequence(value, path)?.into_iter();
            elements
                .map(|value| one(value, path.element()))
                .collect::<Result<_, _>>()
                .map(Value::Set)
        }
        (value, Nesting::Map) => Err(unfit(path, "a map", &value)),
    }
}

/// Fits a value to a type.
fn fit(ty: &Type, value: Value, path: &Path) -> Result<Value, Unfit> {
    match (ty, value) {
        (_, value @ (Value::Null | Value::Unknown(_))) => Ok(value),
        (Type::Dynamic, value) => Ok(wrap(value)),
        (Type::Bool, value @ Value::Bool(_))
        | (Type::Number, value @ Value::Number(_))
        | (Type::String, value @ Value::String(_)) => Ok(value),
        (Type::List(element), value) => {
            let elements = sequence(value, path)?.into_iter().enumerate();
            let fitted = elements.map(|(at, value)| fit(element, value, &path.index(at)));
            fitted.collect::<Result<_, _>>().map(Value::List)
        }
        (Type::Set(element), value) => {
            let elements = sequence(value, path)?.into_iter();
            let fitted = elements.map(|value| fit(element, value, &path.element()));
            fitted.collect::<Result<_, _>>().map(Value::Set)
        }
        (Type::Map(element), Value::Map(elements)) => {
            let fitted = elements.into_iter().map(|(key, value)| {
                let value = fit(element, value, &path.key(&key))?;
                Ok((key, value))
            });
            fitted.collect::<Result<_, _>>().map(Value::Map)
        }
        (Type::Map(element), Value::Object(elements)) => {
            let fitted = elements.into_iter().map(|(key, value)| {
                let value = fit(element, value, &path.key(&key))?;
                Ok((key, value))
            });
            fitted.collect::<Result<_, _>>().map(Value::Map)
        }
        (Type::Object(attributes), Value::Object(mut object)) => {
            let mut fitted = Object::new();
            for (name, ty) in attributes {
                let value = object.remove(name).unwrap_or_default();
                fitted.set(name, fit(ty, value, &path.name(name))?);
            }
            match object.iter().next() {
                Some((name, value)) => Err(unfit(&path.name(name), "no such attribute", value)),
                None => Ok(Value::Object(fitted)),
            }
        }
        (Type::Tuple(types), value) if sequence(value.clone(), path)?.len() == types.len() => {
            let pairs = types.iter().zip(sequence(value, path)?).enumerate();
            let fitted = pairs.map(|(at, (ty, value))| fit(ty, value, &path.index(at)));
            fitted.collect::<Result<_, _>>().map(Value::Tuple)
        }
        (ty, value) => Err(unfit(path, &ty.to_string(), &value)),
    }
}

fn wrap(value: Value) -> Value {
    match value {
        Value::Dynamic(..) => value,
        value => Value::Dynamic(crate::codec::type_of(&value), Box::new(value)),
    }
}

fn sequence(value: Value, path: &Path) -> Result<Vec<Value>, Unfit> {
    match value {
        Value::List(elements) | Value::Tuple(elements) => Ok(elements),
        Value::Set(elements) => Ok(elements.into_vec()),
        other => Err(unfit(path, "elements", &other)),
    }
}

fn unfit(path: &Path, expected: &str, found: &Value) -> Unfit {
    Unfit { path: path.clone(), expected: expected.to_owned(), found: found.kind().to_owned() }
}
