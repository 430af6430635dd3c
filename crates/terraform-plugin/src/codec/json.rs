//! JSON as in states: decoded by type, with exact numbers. Absent attributes are null.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::text::{Text, parse};
use super::{CodecError, MAX_DEPTH, type_of};
use crate::value::{Object, Type, Value};

/// Decodes a value of a type. Attributes that an object lacks become null. Attributes that the type
/// lacks are ignored, because another version of the provider may have written the state.
///
/// # Errors
/// Fails if the bytes are malformed, too deep, too long, or do not fit the type.
pub fn from_json(bytes: &[u8], ty: &Type) -> Result<Value, CodecError> {
    read(parse(bytes)?, ty, MAX_DEPTH)
}

/// Encodes a value of a type.
///
/// # Errors
/// Fails if the value is not of the type, or not wholly known.
pub fn to_json(value: &Value, ty: &Type) -> Result<String, CodecError> {
    let mut out = String::new();
    write(&mut out, value, ty, MAX_DEPTH)?;
    Ok(out)
}

fn read(text: Text, ty: &Type, depth: usize) -> Result<Value, CodecError> {
    let depth = depth.checked_sub(1).ok_or(CodecError::Deep)?;
    match (text, ty) {
        (Text::Null, _) => Ok(Value::Null),
        (text, Type::Dynamic) => dynamic(text, depth),
        (Text::Bool(flag), Type::Bool) => Ok(Value::Bool(flag)),
        (Text::Number(number), Type::Number) => Ok(Value::Number(number)),
        (Text::String(text), Type::String) => Ok(Value::String(text)),
        // Terraform converts between these types, and so did earlier versions of states.
        (Text::Bool(flag), Type::String) => Ok(Value::String(flag.to_string())),
        (Text::Number(number), Type::String) => Ok(Value::String(number.to_string())),
        (Text::String(text), Type::Number) => {
            let number = text.parse().map_err(|_| CodecError::mismatch("number", "string"))?;
            Ok(Value::Number(number))
        }
        (Text::Array(elements), Type::List(ty)) => Ok(Value::List(all(elements, ty, depth)?)),
        (Text::Array(elements), Type::Set(ty)) => {
            Ok(Value::Set(all(elements, ty, depth)?.into_iter().collect()))
        }
        (Text::Array(elements), Type::Tuple(types)) if elements.len() == types.len() => {
            let pairs = elements.into_iter().zip(types).enumerate();
            let read =
                pairs.map(|(at, (text, ty))| read(text, ty, depth).map_err(|e| e.within(at)));
            read.collect::<Result<_, _>>().map(Value::Tuple)
        }
        (Text::Object(entries), Type::Map(ty)) => {
            let mut map = BTreeMap::new();
            for (name, text) in entries {
                let value = read(text, ty, depth).map_err(|error| error.within(&name))?;
                map.insert(name, value);
            }
            Ok(Value::Map(map))
        }
        (Text::Object(entries), Type::Object(types)) => object(entries, types, depth),
        (text, ty) => Err(CodecError::mismatch(ty, text.kind())),
    }
}

fn all(elements: Vec<Text>, ty: &Type, depth: usize) -> Result<Vec<Value>, CodecError> {
    let each = elements.into_iter().enumerate();
    each.map(|(at, text)| read(text, ty, depth).map_err(|error| error.within(at))).collect()
}

fn object(
    entries: Vec<(String, Text)>,
    types: &BTreeMap<String, Type>,
    depth: usize,
) -> Result<Value, CodecError> {
    let mut object: Object = types.keys().map(|name| (name.clone(), Value::Null)).collect();
    for (name, text) in entries {
        if let Some(ty) = types.get(&name) {
            *object.value_mut(&name) =
                read(text, ty, depth).map_err(|error| error.within(&name))?;
        }
    }
    Ok(Value::Object(object))
}

/// Decodes `{"type": …, "value": …}`.
fn dynamic(text: Text, depth: usize) -> Result<Value, CodecError> {
    let found = text.kind();
    let wrong = || CodecError::mismatch("a value with its type", found);
    let Text::Object(entries) = text else { return Err(wrong()) };
    let (mut ty, mut value) = (None, None);
    for (name, text) in entries {
        match name.as_str() {
            "type" => ty = plain(text).and_then(|json| Type::from_json(&json)),
            "value" => value = Some(text),
            _other => {}
        }
    }
    let (ty, value) = ty.zip(value).ok_or_else(wrong)?;
    let value = read(value, &ty, depth)?;
    Ok(Value::Dynamic(ty, Box::new(value)))
}

/// Converts JSON without numbers, as used for types.
fn plain(text: Text) -> Option<Json> {
    match text {
        Text::String(word) => Some(Json::String(word)),
        Text::Array(parts) => parts.into_iter().map(plain).collect::<Option<_>>().map(Json::Array),
        Text::Object(entries) => {
            let read = entries.into_iter().map(|(name, text)| Some((name, plain(text)?)));
            read.collect::<Option<_>>().map(Json::Object)
        }
        Text::Null | Text::Bool(_) | Text::Number(_) => None,
    }
}

fn write(out: &mut String, value: &Value, ty: &Type, depth: usize) -> Result<(), CodecError> {
    let depth = depth.checked_sub(1).ok_or(CodecError::Deep)?;
    match (value, ty) {
        (Value::Unknown(_), _) => return Err(CodecError::Unknown),
        (Value::Null, _) => out.push_str("null"),
        (Value::Dynamic(inner_type, inner), Type::Dynamic) => {
            wrapped(out, inner, inner_type, depth)?;
        }
        (value, Type::Dynamic) => wrapped(out, value, &type_of(value), depth)?,
        (Value::Bool(flag), Type::Bool) => out.push_str(if *flag { "true" } else { "false" }),
        (Value::Number(number), Type::Number) => out.push_str(&number.to_string()),
        (Value::String(text), Type::String) => quote(out, text),
        (Value::List(elements), Type::List(ty)) => {
            sequence(out, elements.iter().map(|value| (value, &**ty)), depth)?;
        }
        (Value::Set(elements), Type::Set(ty)) => {
            sequence(out, elements.iter().map(|value| (value, &**ty)), depth)?;
        }
        (Value::Tuple(elements), Type::Tuple(types)) if elements.len() == types.len() => {
            sequence(out, elements.iter().zip(types), depth)?;
        }
        (Value::Map(elements), Type::Map(ty)) => {
            entries(out, elements.iter().map(|(name, value)| (name, value, &**ty)), depth)?;
        }
        (Value::Object(object), Type::Object(types)) => {
            entries(out, types.iter().map(|(name, ty)| (name, object.value(name), ty)), depth)?;
        }
        (value, ty) => return Err(CodecError::mismatch(ty, value.kind())),
    }
    Ok(())
}

fn wrapped(out: &mut String, value: &Value, ty: &Type, depth: usize) -> Result<(), CodecError> {
    out.push_str("{\"value\":");
    write(out, value, ty, depth)?;
    out.push_str(",\"type\":");
    out.push_str(&ty.to_json().to_string());
    out.push('}');
    Ok(())
}

fn sequence<'a>(
    out: &mut String,
    elements: impl Iterator<Item = (&'a Value, &'a Type)>,
    depth: usize,
) -> Result<(), CodecError> {
    out.push('[');
    for (at, (value, ty)) in elements.enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(out, value, ty, depth).map_err(|error| error.within(at))?;
    }
    out.push(']');
    Ok(())
}

fn entries<'a>(
    out: &mut String,
    entries: impl Iterator<Item = (&'a String, &'a Value, &'a Type)>,
    depth: usize,
) -> Result<(), CodecError> {
    out.push('{');
    for (at, (name, value, ty)) in entries.enumerate() {
        if at > 0 {
            out.push(',');
        }
        quote(out, name);
        out.push(':');
        write(out, value, ty, depth).map_err(|error| error.within(name))?;
    }
    out.push('}');
    Ok(())
}

fn quote(out: &mut String, text: &str) {
    out.push_str(&Json::String(text.to_owned()).to_string());
}
