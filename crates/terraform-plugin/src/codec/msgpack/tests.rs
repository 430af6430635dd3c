//! Terraform's msgpack decodes, decoded values encode to the same bytes, and no input panics.

use proptest::prelude::*;

use super::{from_msgpack, to_msgpack};
use crate::codec::{CodecError, from_json, to_json};
use crate::value::{Bound, Number, Refinements, Type, Value};

fn number(text: &str) -> Value {
    Value::Number(text.parse().unwrap())
}

#[test]
fn msgpack_of_terraform_decodes() {
    let cases: [(&[u8], Type, Value); 9] = [
        (&[0xc0], Type::String, Value::Null),
        (&[0xd4, 0, 0], Type::Bool, Value::UNKNOWN),
        (&[0xc7, 3, 12, 0x81, 1, 0xc2], Type::String, Value::Unknown(Refinements::not_null())),
        (&[0x2a], Type::Number, number("42")),
        (&[0xcb, 0x3f, 0xe0, 0, 0, 0, 0, 0, 0], Type::Number, number("0.5")),
        (b"\xa30.1", Type::Number, number("0.1")),
        (b"\xb418446744073709551616", Type::Number, number("18446744073709551616")),
        (b"\x92\xc4\x08\"string\"\xa1x", Type::Dynamic, {
            Value::Dynamic(Type::String, Box::new(Value::String("x".into())))
        }),
        (b"\x81\xa1a\xc3", Type::object([("a", Type::Bool), ("b", Type::Bool)]), {
            Value::object([("a", Value::Bool(true)), ("b", Value::Null)])
        }),
    ];
    for (bytes, ty, value) in cases {
        assert_eq!(from_msgpack(bytes, &ty), Ok(value), "{bytes:x?}");
    }
}

#[test]
fn refinements_round_trip() {
    let bound = |text: &str, inclusive| Bound { number: text.parse().unwrap(), inclusive };
    let known = Refinements::not_null()
        .with_prefix("https://")
        .with_least(bound("-1.5", true))
        .with_most(bound("1e30", false))
        .with_least_length(1)
        .with_most_length(20);
    let value = Value::Unknown(known);
    let bytes = to_msgpack(&value, &Type::String).unwrap();
    assert_eq!(from_msgpack(&bytes, &Type::String), Ok(value));
}

#[test]
fn unsupported_refinement_is_ignored() {
    let value = from_msgpack(&[0xc7, 3, 12, 0x81, 99, 0xc2], &Type::String).unwrap();
    assert_eq!(value, Value::UNKNOWN);
}

#[test]
fn wrong_lengths_are_rejected() {
    let list = Type::list(Type::Bool);
    assert_eq!(from_msgpack(&[0xdd, 0xff, 0xff, 0xff, 0xff], &list), Err(CodecError::Short));
    assert_eq!(
        from_msgpack(&[0xdb, 0xff, 0xff, 0xff, 0xff], &Type::String),
        Err(CodecError::Short)
    );
    assert_eq!(from_msgpack(&[0xc3, 0xc3], &Type::Bool), Err(CodecError::Trailing(1)));
}

#[test]
fn deeply_nested_dynamic_value_is_rejected() {
    let mut bytes = Vec::new();
    for _ in 0..10_000 {
        bytes.extend_from_slice(b"\x92\xc4\x09\"dynamic\"");
    }
    assert_eq!(from_msgpack(&bytes, &Type::Dynamic), Err(CodecError::Deep));
}

/// Generates a type and a value of it. Unknown values only occur if the codec supports them.
fn typed(unknown: bool) -> impl Strategy<Value = (Type, Value)> {
    let numbers = prop_oneof![
        any::<i64>().prop_map(Number::from),
        any::<u64>().prop_map(Number::from),
        any::<f64>().prop_filter_map("finite", |float| Number::from_f64(float).ok()),
    ];
    let leaf = prop_oneof![
        any::<bool>().prop_map(|flag| (Type::Bool, Value::Bool(flag))),
        numbers.prop_map(|number| (Type::Number, Value::Number(number))),
        any::<String>().prop_map(|text| (Type::String, Value::String(text))),
        Just((Type::String, Value::Null)),
        Just((Type::Number, if unknown { Value::UNKNOWN } else { Value::Null })),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let several = prop::collection::vec(inner.clone(), 0..4);
        let named = prop::collection::btree_map("[a-z]{1,3}", inner.clone(), 0..4);
        prop_oneof![
            several.prop_map(|pairs| {
                let (types, values) = pairs.into_iter().unzip();
                (Type::Tuple(types), Value::Tuple(values))
            }),
            named.prop_map(|pairs| {
                let types = pairs.iter().map(|(name, (ty, _))| (name.clone(), ty.clone()));
                let values = pairs.iter().map(|(name, (_, value))| (name.clone(), value.clone()));
                (Type::object(types), Value::object(values))
            }),
            inner.clone().prop_map(|(ty, value)| (Type::list(ty), Value::List(vec![value]))),
            inner.clone().prop_map(|(ty, value)| {
                (Type::set(ty), Value::Set([value].into_iter().collect()))
            }),
            inner.prop_map(|(ty, value)| { (Type::Dynamic, Value::Dynamic(ty, Box::new(value))) }),
        ]
    })
}

proptest! {
    #[test]
    fn msgpack_round_trips((ty, value) in typed(true)) {
        let bytes = to_msgpack(&value, &ty).unwrap();
        prop_assert_eq!(from_msgpack(&bytes, &ty), Ok(value));
    }

    #[test]
    fn json_round_trips((ty, value) in typed(false)) {
        let text = to_json(&value, &ty).unwrap();
        prop_assert_eq!(from_json(text.as_bytes(), &ty), Ok(value));
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), (ty, _) in typed(false)) {
        let _ = from_msgpack(&bytes, &ty);
        let _ = from_json(&bytes, &ty);
    }

    #[test]
    fn truncated_or_changed_values_never_panic((ty, value) in typed(true), at in any::<usize>(), byte: u8) {
        let mut bytes = to_msgpack(&value, &ty).unwrap();
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = from_msgpack(&bytes, &ty);
        prop_assert!(from_msgpack(&bytes[..at], &ty).is_err());
    }
}
