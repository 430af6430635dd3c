//! Encodes values as msgpack.

use std::collections::BTreeMap;

use rmp::encode;

use super::{REFINED, UNKNOWN, key};
use crate::codec::{CodecError, MAX_DEPTH, type_of};
use crate::value::{Bound, Number, Refinements, Type, Value};

/// Reason why encoding cannot fail.
const IN_MEMORY: &str = "writing to memory cannot fail";

/// Encodes a value of a type. Attributes that an object lacks are written as null.
///
/// # Errors
/// Fails if the value is not of the type.
pub fn to_msgpack(value: &Value, ty: &Type) -> Result<Vec<u8>, CodecError> {
    let mut out = Vec::new();
    write(&mut out, value, ty, MAX_DEPTH)?;
    Ok(out)
}

fn write(out: &mut Vec<u8>, value: &Value, ty: &Type, depth: usize) -> Result<(), CodecError> {
    let depth = depth.checked_sub(1).ok_or(CodecError::Deep)?;
    match (value, ty) {
        (Value::Null, _) => encode::write_nil(out).expect(IN_MEMORY),
        (Value::Unknown(known), _) => unknown(out, known),
        (Value::Dynamic(inner_type, inner), Type::Dynamic) => {
            dynamic(out, inner, inner_type, depth)?;
        }
        (value, Type::Dynamic) => dynamic(out, value, &type_of(value), depth)?,
        (Value::Dynamic(_, inner), ty) => write(out, inner, ty, depth)?,
        (Value::Bool(flag), Type::Bool) => encode::write_bool(out, *flag).expect(IN_MEMORY),
        (Value::Number(given), Type::Number) => number(out, given),
        (Value::String(text), Type::String) => encode::write_str(out, text).expect(IN_MEMORY),
        (Value::List(elements), Type::List(element)) => all(out, elements, element, depth)?,
        (Value::Set(elements), Type::Set(element)) => {
            all(out, elements.as_slice(), element, depth)?;
        }
        (Value::Map(elements), Type::Map(element)) => {
            encode::write_map_len(out, elements.len() as u32).expect(IN_MEMORY);
            for (name, value) in elements {
                encode::write_str(out, name).expect(IN_MEMORY);
                write(out, value, element, depth).map_err(|error| error.within(name))?;
            }
        }
        (Value::Object(object), Type::Object(attributes)) => {
            let known = |(name, _): &(&String, &Value)| !attributes.contains_key(*name);
            if let Some((name, _)) = object.iter().find(known) {
                return Err(CodecError::UnknownAttribute(name.clone()));
            }
            let value_of = |name: &str| object.value(name);
            fields(out, attributes, value_of, depth)?;
        }
        (Value::Tuple(elements), Type::Tuple(types)) if elements.len() == types.len() => {
            encode::write_array_len(out, types.len() as u32).expect(IN_MEMORY);
            for (at, (value, ty)) in elements.iter().zip(types).enumerate() {
                write(out, value, ty, depth).map_err(|error| error.within(at))?;
            }
        }
        (value, ty) => return Err(CodecError::mismatch(ty, value.kind())),
    }
    Ok(())
}

fn all(out: &mut Vec<u8>, values: &[Value], ty: &Type, depth: usize) -> Result<(), CodecError> {
    encode::write_array_len(out, values.len() as u32).expect(IN_MEMORY);
    for (at, value) in values.iter().enumerate() {
        write(out, value, ty, depth).map_err(|error| error.within(at))?;
    }
    Ok(())
}

fn fields<'a>(
    out: &mut Vec<u8>,
    types: &BTreeMap<String, Type>,
    value_of: impl Fn(&str) -> &'a Value,
    depth: usize,
) -> Result<(), CodecError> {
    encode::write_map_len(out, types.len() as u32).expect(IN_MEMORY);
    for (name, ty) in types {
        encode::write_str(out, name).expect(IN_MEMORY);
        write(out, value_of(name), ty, depth).map_err(|error| error.within(name))?;
    }
    Ok(())
}

fn dynamic(out: &mut Vec<u8>, value: &Value, ty: &Type, depth: usize) -> Result<(), CodecError> {
    encode::write_array_len(out, 2).expect(IN_MEMORY);
    encode::write_bin(out, ty.to_json().to_string().as_bytes()).expect(IN_MEMORY);
    // A dynamic value inside a dynamic type would be wrapped twice.
    let bare = matches!(ty, Type::Dynamic) && (value.is_null() || value.is_unknown());
    if bare {
        return write(out, value, &Type::Bool, depth);
    }
    write(out, value, ty, depth)
}

/// Writes whole numbers that fit as integers, and all others as text, which is exact.
fn number(out: &mut Vec<u8>, given: &Number) {
    match given.as_i64() {
        Some(small) => {
            encode::write_sint(out, small).expect(IN_MEMORY);
        }
        None => encode::write_str(out, &given.to_string()).expect(IN_MEMORY),
    }
}

fn unknown(out: &mut Vec<u8>, known: &Refinements) {
    if known.is_empty() {
        encode::write_ext_meta(out, 1, UNKNOWN).expect(IN_MEMORY);
        out.push(0);
        return;
    }
    let mut count = 0;
    let mut body = Vec::new();
    let mut entry = |name: i64, write: &mut dyn FnMut(&mut Vec<u8>)| {
        encode::write_sint(&mut body, name).expect(IN_MEMORY);
        write(&mut body);
        count += 1;
    };
    if let Some(null) = known.null() {
        entry(key::NULL, &mut |out| encode::write_bool(out, null).expect(IN_MEMORY));
    }
    if let Some(prefix) = known.prefix() {
        entry(key::PREFIX, &mut |out| encode::write_str(out, prefix).expect(IN_MEMORY));
    }
    for (name, limit) in [(key::LEAST, known.least()), (key::MOST, known.most())] {
        if let Some(limit) = limit {
            entry(name, &mut |out| bound(out, limit));
        }
    }
    let lengths =
        [(key::LEAST_LENGTH, known.least_length()), (key::MOST_LENGTH, known.most_length())];
    for (name, length) in lengths {
        if let Some(length) = length {
            entry(name, &mut |out| number(out, &Number::from(length)));
        }
    }
    let mut map = Vec::new();
    encode::write_map_len(&mut map, count).expect(IN_MEMORY);
    map.append(&mut body);
    encode::write_ext_meta(out, map.len() as u32, REFINED).expect(IN_MEMORY);
    out.append(&mut map);
}

fn bound(out: &mut Vec<u8>, bound: &Bound) {
    encode::write_array_len(out, 2).expect(IN_MEMORY);
    number(out, &bound.number);
    encode::write_bool(out, bound.inclusive).expect(IN_MEMORY);
}
