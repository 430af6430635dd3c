//! Validates JSON requests against the schema (design §4). Unknown fields are rejected by name, and
//! values of a wrong type with their path. The library ignores the former and reports only line and
//! column of the latter. Validation of values belongs to `rules`.

use std::fmt::{self, Write as _};

use buffa_descriptor::{FieldDescriptor, FieldKind, MessageDescriptor, ScalarType, SingularKind};
use buffa_types::google::protobuf::{FieldMask, Timestamp};
use rules::limits::VIOLATIONS_MAX;
use rules::{Violation, Violations, nearest};
use serde::de::value::{Error as NoText, StrDeserializer};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, IgnoredAny, IntoDeserializer as _, MapAccess,
    SeqAccess, Visitor,
};

use super::methods::{POOL, method};

/// Maximum length of an unknown name in a path, in characters.
const NAME_SHOWN: usize = 64;

/// Checks the JSON body of a call of the method with this path. Rejects unknown fields, values of a
/// wrong type, and fractions where an integer is expected.
///
/// Malformed JSON and unknown methods pass, because decoding rejects them. The check stores no part
/// of the body, whatever its size.
pub fn check_json(path: &str, body: &[u8]) -> Result<(), Violations> {
    let Some(method) = method(path) else { return Ok(()) };
    let mut walk = Walk { path: String::new(), found: Vec::new() };
    let request = FieldKind::Singular(SingularKind::Message(method.request_index));
    let due = Due { walk: &mut walk, kind: request, null: Null::Refused };
    // A syntax error ends the walk. Violations before it are more helpful.
    let _ = due.deserialize(&mut serde_json::Deserializer::from_slice(body));
    if walk.found.is_empty() { Ok(()) } else { Err(Violations(walk.found)) }
}

/// Current path of the walk, and the violations so far.
struct Walk {
    path: String,
    found: Vec<Violation>,
}

impl Walk {
    fn refuse(&mut self, violation: impl FnOnce(&str) -> Violation) {
        if self.found.len() < VIOLATIONS_MAX {
            let path = if self.path.is_empty() { "request" } else { &self.path };
            self.found.push(violation(path));
        }
    }
}

/// Meaning of `null` at the current path.
#[derive(PartialEq)]
enum Null {
    /// The field is unset.
    LeavesOut,
    /// `null` is rejected, for an element of a list or the whole request.
    Refused,
}

/// Expected value at the current path.
struct Due<'a> {
    walk: &'a mut Walk,
    kind: FieldKind,
    null: Null,
}

impl Due<'_> {
    /// Adds a violation. The value may be a misplaced secret, so `given` is only its type.
    fn refuse(self, given: &str) {
        let due = match self.kind {
            FieldKind::List(_) => "a list",
            FieldKind::Map { .. } => "an object",
            FieldKind::Singular(kind) => singular(kind),
        };
        self.walk.refuse(|path| Violation::new(path, given, format!("must be {due}")));
    }

    fn integer(self, given: &impl ToString, fits: bool) {
        if self.kind == FieldKind::Singular(SingularKind::Scalar(ScalarType::Int32)) {
            if !fits {
                self.refuse(&given.to_string());
            }
        } else {
            self.refuse("a number");
        }
    }

    /// Returns the expected message, if it is an object in JSON. Timestamps and masks are strings.
    fn message(&self) -> Option<&'static MessageDescriptor> {
        match self.kind {
            FieldKind::Singular(SingularKind::Message(index)) => {
                Some(POOL.message(index)).filter(|message| !is_string_in_json(message))
            }
            FieldKind::Singular(_) | FieldKind::List(_) | FieldKind::Map { .. } => None,
        }
    }

    /// Checks the next entry of `map`, which is a field.
    fn entry<'de, A: MapAccess<'de>>(
        &mut self,
        message: &'static MessageDescriptor,
        name: &str,
        map: &mut A,
    ) -> Result<(), A::Error> {
        let end = self.walk.path.len();
        if end > 0 {
            self.walk.path.push('.');
        }
        if let Some(field) = field(message, name) {
            self.walk.path.push_str(field.name());
            let kind = field.kind();
            map.next_value_seed(Due { walk: self.walk, kind, null: Null::LeavesOut })?;
        } else {
            self.walk.path.extend(name.chars().take(NAME_SHOWN));
            let of = message.full_name();
            let names: Vec<&str> =
                message.fields().iter().map(FieldDescriptor::json_name).collect();
            let meant = nearest(name, &names).map(|name| format!("; did you mean `{name}`?"));
            let why = format!("is not a field of {of}{}", meant.unwrap_or_default());
            self.walk.refuse(|path| Violation::without_value(path, why));
            map.next_value::<IgnoredAny>()?;
        }
        self.walk.path.truncate(end);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Due<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Due<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        if self.null == Null::Refused {
            self.refuse("null");
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        if self.kind != FieldKind::Singular(SingularKind::Scalar(ScalarType::Bool)) {
            self.refuse("a bool");
        }
        Ok(())
    }

    fn visit_i64<E>(self, given: i64) -> Result<(), E> {
        self.integer(&given, i32::try_from(given).is_ok());
        Ok(())
    }

    fn visit_u64<E>(self, given: u64) -> Result<(), E> {
        self.integer(&given, i32::try_from(given).is_ok());
        Ok(())
    }

    fn visit_f64<E>(self, given: f64) -> Result<(), E> {
        // In the JSON of protobuf, 5.0 and 5e0 are integers.
        self.integer(&given, given.fract() == 0.0 && given.abs() <= f64::from(i32::MAX));
        Ok(())
    }

    fn visit_str<E>(self, given: &str) -> Result<(), E> {
        if let Some(due) = misspelt(self.kind, given) {
            self.walk.refuse(|path| Violation::without_value(path, due));
            return Ok(());
        }
        let fits = match self.kind {
            FieldKind::Singular(SingularKind::Scalar(ScalarType::String)) => true,
            // In the JSON of protobuf, an integer may be a string.
            FieldKind::Singular(SingularKind::Scalar(ScalarType::Int32)) => {
                given.parse::<i32>().is_ok()
            }
            FieldKind::Singular(SingularKind::Message(_)) => self.message().is_none(),
            FieldKind::Singular(_) | FieldKind::List(_) | FieldKind::Map { .. } => false,
        };
        if !fits {
            self.refuse("a string");
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let FieldKind::List(kind) = self.kind else {
            self.refuse("a list");
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(());
        };
        let end = self.walk.path.len();
        for index in 0.. {
            let _ = write!(self.walk.path, "[{index}]");
            let kind = FieldKind::Singular(kind);
            let element = Due { walk: self.walk, kind, null: Null::Refused };
            let is_over = seq.next_element_seed(element)?.is_none();
            self.walk.path.truncate(end);
            if is_over {
                break;
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let Some(message) = self.message() else {
            if !matches!(self.kind, FieldKind::Map { .. }) {
                self.refuse("an object");
            }
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(());
        };
        while let Some(name) = map.next_key::<String>()? {
            self.entry(message, &name, &mut map)?;
        }
        Ok(())
    }
}

/// Returns the field with this name, in the spelling of JSON or of the proto.
fn field(message: &'static MessageDescriptor, name: &str) -> Option<&'static FieldDescriptor> {
    message.fields().iter().find(|field| field.json_name() == name || field.name() == name)
}

fn is_string_in_json(message: &MessageDescriptor) -> bool {
    message.full_name().starts_with("google.protobuf.")
}

/// Returns the expected format of a string that encodes a message, or `None` if the string is
/// valid.
fn misspelt(kind: FieldKind, given: &str) -> Option<&'static str> {
    let FieldKind::Singular(SingularKind::Message(index)) = kind else { return None };
    let text: StrDeserializer<'_, NoText> = given.into_deserializer();
    match POOL.message(index).full_name() {
        "google.protobuf.FieldMask" => FieldMask::deserialize(text).err().map(|_| {
            "must name fields as JSON does, in lowerCamelCase and joined by commas, such as \
             `name,monitorIds`"
        }),
        "google.protobuf.Timestamp" => Timestamp::deserialize(text)
            .err()
            .map(|_| "must be a time of RFC 3339, such as 2026-11-21T00:00:00Z"),
        _ => None,
    }
}

/// Returns the expected value of this kind, to complete the phrase "must be".
fn singular(kind: SingularKind) -> &'static str {
    match kind {
        SingularKind::Scalar(ScalarType::Bool) => "true or false",
        SingularKind::Scalar(ScalarType::Int32) => "a whole number of 32 bits",
        SingularKind::Scalar(_) | SingularKind::Enum(_) => "a string",
        SingularKind::Message(index) if is_string_in_json(POOL.message(index)) => "a string",
        SingularKind::Message(_) => "an object",
    }
}

#[cfg(test)]
mod tests;
