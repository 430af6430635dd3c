//! Types of values, and their JSON form: `"string"`, `["list","string"]`, `["object",{…}]`.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value as Json;

/// Maximum nesting depth of a decoded type.
const MAX_DEPTH: usize = 64;

/// The type of a value, in Terraform's terms.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Type {
    Bool,
    Number,
    String,
    /// Any type. The value carries it.
    Dynamic,
    /// `list(…)`
    List(Box<Type>),
    /// `set(…)`
    Set(Box<Type>),
    /// `map(…)`
    Map(Box<Type>),
    /// `object({…})`
    Object(BTreeMap<String, Type>),
    /// `tuple([…])`
    Tuple(Vec<Type>),
}

impl Type {
    /// Creates `list(element)`.
    pub fn list(element: Self) -> Self {
        Self::List(Box::new(element))
    }

    /// Creates `set(element)`.
    pub fn set(element: Self) -> Self {
        Self::Set(Box::new(element))
    }

    /// Creates `map(element)`.
    pub fn map(element: Self) -> Self {
        Self::Map(Box::new(element))
    }

    /// Creates `object({…})`.
    pub fn object<N: Into<String>>(attributes: impl IntoIterator<Item = (N, Self)>) -> Self {
        Self::Object(attributes.into_iter().map(|(name, ty)| (name.into(), ty)).collect())
    }

    /// Returns the JSON form of the protocol.
    pub fn to_json(&self) -> Json {
        match self {
            Self::Bool => Json::from("bool"),
            Self::Number => Json::from("number"),
            Self::String => Json::from("string"),
            Self::Dynamic => Json::from("dynamic"),
            Self::List(element) => Json::from(vec![Json::from("list"), element.to_json()]),
            Self::Set(element) => Json::from(vec![Json::from("set"), element.to_json()]),
            Self::Map(element) => Json::from(vec![Json::from("map"), element.to_json()]),
            Self::Object(attributes) => {
                let attributes = attributes.iter().map(|(name, ty)| (name.clone(), ty.to_json()));
                Json::from(vec![Json::from("object"), Json::Object(attributes.collect())])
            }
            Self::Tuple(elements) => {
                let elements: Vec<Json> = elements.iter().map(Self::to_json).collect();
                Json::from(vec![Json::from("tuple"), Json::from(elements)])
            }
        }
    }

    /// Parses the JSON form. Returns `None` if it is not a type or too deep.
    pub fn from_json(json: &Json) -> Option<Self> {
        Self::read(json, MAX_DEPTH)
    }

    fn read(json: &Json, depth: usize) -> Option<Self> {
        let depth = depth.checked_sub(1)?;
        let parts = match json {
            Json::String(word) => {
                return match word.as_str() {
                    "bool" => Some(Self::Bool),
                    "number" => Some(Self::Number),
                    "string" => Some(Self::String),
                    "dynamic" => Some(Self::Dynamic),
                    _ => None,
                };
            }
            Json::Array(parts) => parts,
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_) => return None,
        };
        let inner = parts.get(1)?;
        match parts.first()?.as_str()? {
            "list" => Self::read(inner, depth).map(Self::list),
            "set" => Self::read(inner, depth).map(Self::set),
            "map" => Self::read(inner, depth).map(Self::map),
            "tuple" => {
                let elements = inner.as_array()?.iter().map(|element| Self::read(element, depth));
                elements.collect::<Option<_>>().map(Self::Tuple)
            }
            "object" => {
                let attributes = inner.as_object()?.iter();
                let read =
                    attributes.map(|(name, ty)| Some((name.clone(), Self::read(ty, depth)?)));
                read.collect::<Option<_>>().map(Self::Object)
            }
            _ => None,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("bool"),
            Self::Number => f.write_str("number"),
            Self::String => f.write_str("string"),
            Self::Dynamic => f.write_str("any"),
            Self::List(element) => write!(f, "list({element})"),
            Self::Set(element) => write!(f, "set({element})"),
            Self::Map(element) => write!(f, "map({element})"),
            Self::Object(attributes) => {
                f.write_str("object({")?;
                for (at, (name, ty)) in attributes.iter().enumerate() {
                    write!(f, "{}{name} = {ty}", if at == 0 { "" } else { ", " })?;
                }
                f.write_str("})")
            }
            Self::Tuple(elements) => {
                f.write_str("tuple([")?;
                for (at, ty) in elements.iter().enumerate() {
                    write!(f, "{}{ty}", if at == 0 { "" } else { ", " })?;
                }
                f.write_str("])")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_round_trip_through_json() {
        let ty = Type::object([
            ("a", Type::list(Type::set(Type::map(Type::Dynamic)))),
            ("b", Type::Tuple(vec![Type::Bool, Type::Number])),
        ]);
        let json = ty.to_json();
        assert_eq!(
            json.to_string(),
            r#"["object",{"a":["list",["set",["map","dynamic"]]],"b":["tuple",["bool","number"]]}]"#
        );
        assert_eq!(Type::from_json(&json), Some(ty));
    }

    #[test]
    fn deeply_nested_type_is_rejected() {
        let mut json = Json::from("string");
        for _ in 0..200 {
            json = Json::from(vec![Json::from("list"), json]);
        }
        assert_eq!(Type::from_json(&json), None);
    }
}
