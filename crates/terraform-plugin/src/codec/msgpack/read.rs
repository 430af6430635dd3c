//! Decodes values from msgpack.

use std::collections::BTreeMap;

use rmp::Marker;

use super::{UNKNOWN, key};
use crate::codec::{CodecError, MAX_BYTES, MAX_DEPTH};
use crate::value::{Bound, Number, Object, Refinements, Type, Value};

/// Decodes a value of a type. Attributes that an object lacks become null.
///
/// # Errors
/// Fails if the bytes are malformed, too deep, too long, or do not fit the type.
pub fn from_msgpack(bytes: &[u8], ty: &Type) -> Result<Value, CodecError> {
    if bytes.len() > MAX_BYTES {
        return Err(CodecError::Long);
    }
    let mut reader = Reader { rest: bytes };
    let value = reader.value(ty, MAX_DEPTH)?;
    if reader.rest.is_empty() { Ok(value) } else { Err(CodecError::Trailing(reader.rest.len())) }
}

/// A decoded marker with its value or length.
enum Token<'a> {
    Nil,
    Bool(bool),
    Int(Number),
    Float(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
    Array(usize),
    Map(usize),
    Ext(i8, &'a [u8]),
}

impl<'a> Token<'a> {
    fn bytes(&self) -> Option<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Text(text) => Some(text.as_bytes()),
            Self::Nil
            | Self::Bool(_)
            | Self::Int(_)
            | Self::Float(_)
            | Self::Array(_)
            | Self::Map(_)
            | Self::Ext(..) => None,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Nil => "null",
            Self::Bool(_) => "bool",
            Self::Int(_) | Self::Float(_) => "number",
            Self::Text(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Array(_) => "array",
            Self::Map(_) => "map",
            Self::Ext(..) => "unknown",
        }
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn value(&mut self, ty: &Type, depth: usize) -> Result<Value, CodecError> {
        let depth = depth.checked_sub(1).ok_or(CodecError::Deep)?;
        let token = self.token()?;
        match (token, ty) {
            (Token::Nil, _) => Ok(Value::Null),
            (Token::Ext(kind, body), _) => Ok(Value::Unknown(refinements(kind, body))),
            (Token::Array(2), Type::Dynamic) => self.dynamic(depth),
            (Token::Bool(flag), Type::Bool) => Ok(Value::Bool(flag)),
            (token @ (Token::Int(_) | Token::Float(_) | Token::Text(_)), Type::Number) => {
                number(token).map(Value::Number)
            }
            (Token::Text(text), Type::String) => Ok(Value::String(text.to_owned())),
            (Token::Array(count), Type::List(element)) => {
                Ok(Value::List(self.elements(count, element, depth)?))
            }
            (Token::Array(count), Type::Set(element)) => {
                Ok(Value::Set(self.elements(count, element, depth)?.into_iter().collect()))
            }
            (Token::Array(count), Type::Tuple(types)) if count == types.len() => {
                let each = types.iter().enumerate();
                let read = each.map(|(at, ty)| self.value(ty, depth).map_err(|e| e.within(at)));
                read.collect::<Result<_, _>>().map(Value::Tuple)
            }
            (Token::Map(count), Type::Map(element)) => {
                let mut map = BTreeMap::new();
                for _ in 0..count {
                    let name = self.text()?;
                    let value = self.value(element, depth).map_err(|error| error.within(name))?;
                    map.insert(name.to_owned(), value);
                }
                Ok(Value::Map(map))
            }
            (Token::Map(count), Type::Object(attributes)) => self.object(count, attributes, depth),
            (token, ty) => Err(CodecError::mismatch(ty, token.kind())),
        }
    }

    fn elements(
        &mut self,
        count: usize,
        ty: &Type,
        depth: usize,
    ) -> Result<Vec<Value>, CodecError> {
        (0..count).map(|at| self.value(ty, depth).map_err(|error| error.within(at))).collect()
    }

    fn object(
        &mut self,
        count: usize,
        attributes: &BTreeMap<String, Type>,
        depth: usize,
    ) -> Result<Value, CodecError> {
        let mut object: Object =
            attributes.keys().map(|name| (name.clone(), Value::Null)).collect();
        for _ in 0..count {
            let name = self.text()?;
            let Some(ty) = attributes.get(name) else {
                return Err(CodecError::UnknownAttribute(name.to_owned()));
            };
            *object.value_mut(name) = self.value(ty, depth).map_err(|error| error.within(name))?;
        }
        Ok(Value::Object(object))
    }

    fn dynamic(&mut self, depth: usize) -> Result<Value, CodecError> {
        let token = self.token()?;
        let json = token.bytes();
        let json = json.ok_or_else(|| CodecError::mismatch("the JSON of a type", token.kind()))?;
        let ty = serde_json::from_slice(json).ok().and_then(|json| Type::from_json(&json));
        let ty = ty.ok_or_else(|| CodecError::mismatch("the JSON of a type", "other text"))?;
        let value = self.value(&ty, depth)?;
        Ok(Value::Dynamic(ty, Box::new(value)))
    }

    fn text(&mut self) -> Result<&'a str, CodecError> {
        let token = self.token()?;
        let Token::Text(text) = token else {
            return Err(CodecError::mismatch("a name", token.kind()));
        };
        Ok(text)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "all other markers are extensions")]
    fn token(&mut self) -> Result<Token<'a>, CodecError> {
        let [first] = self.array()?;
        Ok(match Marker::from_u8(first) {
            Marker::Null => Token::Nil,
            Marker::False => Token::Bool(false),
            Marker::True => Token::Bool(true),
            Marker::FixPos(number) => Token::Int(number.into()),
            Marker::FixNeg(number) => Token::Int(number.into()),
            Marker::U8 => Token::Int(u8::from_be_bytes(self.array()?).into()),
            Marker::U16 => Token::Int(u16::from_be_bytes(self.array()?).into()),
            Marker::U32 => Token::Int(u32::from_be_bytes(self.array()?).into()),
            Marker::U64 => Token::Int(u64::from_be_bytes(self.array()?).into()),
            Marker::I8 => Token::Int(i8::from_be_bytes(self.array()?).into()),
            Marker::I16 => Token::Int(i16::from_be_bytes(self.array()?).into()),
            Marker::I32 => Token::Int(i32::from_be_bytes(self.array()?).into()),
            Marker::I64 => Token::Int(i64::from_be_bytes(self.array()?).into()),
            Marker::F32 => Token::Float(f32::from_be_bytes(self.array()?).into()),
            Marker::F64 => Token::Float(f64::from_be_bytes(self.array()?)),
            Marker::FixStr(length) => self.string(length.into())?,
            Marker::Str8 => self.string8()?,
            Marker::Str16 => {
                let length = self.length16()?;
                self.string(length)?
            }
            Marker::Str32 => {
                let length = self.length32()?;
                self.string(length)?
            }
            Marker::Bin8 => {
                let length = self.length8()?;
                Token::Bytes(self.take(length)?)
            }
            Marker::Bin16 => {
                let length = self.length16()?;
                Token::Bytes(self.take(length)?)
            }
            Marker::Bin32 => {
                let length = self.length32()?;
                Token::Bytes(self.take(length)?)
            }
            Marker::FixArray(count) => Token::Array(self.count(count.into())?),
            Marker::Array16 => {
                let count = self.length16()?;
                Token::Array(self.count(count)?)
            }
            Marker::Array32 => {
                let count = self.length32()?;
                Token::Array(self.count(count)?)
            }
            Marker::FixMap(count) => Token::Map(self.count(count.into())?),
            Marker::Map16 => {
                let count = self.length16()?;
                Token::Map(self.count(count)?)
            }
            Marker::Map32 => {
                let count = self.length32()?;
                Token::Map(self.count(count)?)
            }
            other => self.extension(other)?,
        })
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "markers of a library: the others have no length or value"
    )]
    fn extension(&mut self, marker: Marker) -> Result<Token<'a>, CodecError> {
        let length = match marker {
            Marker::FixExt1 => 1,
            Marker::FixExt2 => 2,
            Marker::FixExt4 => 4,
            Marker::FixExt8 => 8,
            Marker::FixExt16 => 16,
            Marker::Ext8 => self.length8()?,
            Marker::Ext16 => self.length16()?,
            Marker::Ext32 => self.length32()?,
            _reserved => return Err(CodecError::mismatch("a value", "a reserved byte")),
        };
        let kind = i8::from_be_bytes(self.array()?);
        Ok(Token::Ext(kind, self.take(length)?))
    }

    fn string8(&mut self) -> Result<Token<'a>, CodecError> {
        let length = self.length8()?;
        self.string(length)
    }

    fn string(&mut self, length: usize) -> Result<Token<'a>, CodecError> {
        let bytes = self.take(length)?;
        let text = std::str::from_utf8(bytes);
        text.map(Token::Text).map_err(|_| CodecError::mismatch("text in UTF-8", "other bytes"))
    }

    /// Checks a count. Each element takes at least one byte, so a count larger than the rest is
    /// invalid.
    fn count(&self, count: usize) -> Result<usize, CodecError> {
        if count > self.rest.len() { Err(CodecError::Short) } else { Ok(count) }
    }

    fn length8(&mut self) -> Result<usize, CodecError> {
        self.array().map(|bytes| u8::from_be_bytes(bytes).into())
    }

    fn length16(&mut self) -> Result<usize, CodecError> {
        self.array().map(|bytes| u16::from_be_bytes(bytes).into())
    }

    fn length32(&mut self) -> Result<usize, CodecError> {
        self.array().map(|bytes| u32::from_be_bytes(bytes) as usize)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], CodecError> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(CodecError::Short)?;
        self.rest = rest;
        Ok(*taken)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], CodecError> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(CodecError::Short)?;
        self.rest = rest;
        Ok(taken)
    }
}

fn number(token: Token<'_>) -> Result<Number, CodecError> {
    let found = token.kind();
    let read = match token {
        Token::Int(number) => Some(number),
        Token::Float(float) => Number::from_exact_f64(float).ok(),
        Token::Text(text) => text.parse().ok(),
        Token::Nil
        | Token::Bool(_)
        | Token::Bytes(_)
        | Token::Array(_)
        | Token::Map(_)
        | Token::Ext(..) => None,
    };
    read.ok_or_else(|| CodecError::mismatch("number", found))
}

/// Decodes refinements. Those that this crate does not understand are dropped, because knowing less
/// about an unknown value is always valid.
fn refinements(kind: i8, body: &[u8]) -> Refinements {
    if kind == UNKNOWN {
        return Refinements::NONE;
    }
    read_refinements(body).unwrap_or_default()
}

fn read_refinements(body: &[u8]) -> Result<Refinements, CodecError> {
    let mut reader = Reader { rest: body };
    let Token::Map(count) = reader.token()? else {
        return Err(CodecError::mismatch("map", "other"));
    };
    let mut known = Refinements::NONE;
    for _ in 0..count {
        let name = number(reader.token()?)?.as_i64();
        known = match name {
            Some(key::LEAST) => known.with_least(reader.bound()?),
            Some(key::MOST) => known.with_most(reader.bound()?),
            name => match (name, reader.token()?) {
                (Some(key::NULL), Token::Bool(null)) => known.with_null(null),
                (Some(key::PREFIX), Token::Text(prefix)) => known.with_prefix(prefix),
                (Some(key::LEAST_LENGTH), length @ Token::Int(_)) => {
                    known.with_least_length(number(length)?.as_u64().unwrap_or(0))
                }
                (Some(key::MOST_LENGTH), length @ Token::Int(_)) => {
                    known.with_most_length(number(length)?.as_u64().unwrap_or(u64::MAX))
                }
                (_other, _token) => return Ok(known),
            },
        };
    }
    Ok(known)
}

impl Reader<'_> {
    fn bound(&mut self) -> Result<Bound, CodecError> {
        let Token::Array(2) = self.token()? else {
            return Err(CodecError::mismatch("a bound", "other"));
        };
        let number = number(self.token()?)?;
        let Token::Bool(inclusive) = self.token()? else {
            return Err(CodecError::mismatch("a bound", "other"));
        };
        Ok(Bound { number, inclusive })
    }
}
