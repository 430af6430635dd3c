//! Parses a body of JSON with a limit for its values: a value needs up to a hundred times the memory of
//! its text.

use std::fmt;

use rules::limits;
use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Parses a document. Returns the reason with its line and column if it is not one. If a name occurs
/// twice in an object, the last value counts.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let mut left = limits::JSON_VALUES_MAX;
    let mut reader = serde_json::Deserializer::from_str(text);
    let document = ValueSeed { left: &mut left }.deserialize(&mut reader);
    document.and_then(|value| reader.end().map(|()| value)).map_err(|error| error.to_string())
}

/// Reads one value, if any are left.
struct ValueSeed<'a> {
    left: &'a mut usize,
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let Some(left) = self.left.checked_sub(1) else {
            return Err(D::Error::custom(format_args!(
                "it has more than {} values",
                limits::JSON_VALUES_MAX
            )));
        };
        *self.left = left;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value of JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(ValueSeed { left: &mut *self.left })? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            let value = fields.next_value_seed(ValueSeed { left: &mut *self.left })?;
            values.insert(name, value);
        }
        Ok(Value::Object(values))
    }
}
