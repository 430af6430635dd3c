//! Validates an input by its table: each value by the shape and presence of its field, so that only
//! the table defines limits. Collects all violations instead of only the first.

mod between;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::str::FromStr;

use crate::field::{Block, Field, Presence, Resource, Rule, Shape, Value};
use crate::format::{FormatError, without_credentials};
use crate::{Secret, Tag, Timestamp, UnknownVariant, Violation, Violations, counted, limits};

/// Maximum length of a domain name in a list, in characters (RFC 1035).
const DOMAIN_NAME_CHARS_MAX: u32 = 253;

/// Reads the fields and blocks of one resource or block. Each method validates the given value of a
/// field. It returns `None` if the value is absent and optional, or invalid; [`Validator::finish`]
/// distinguishes the two. A name that is not in the table is a bug and panics.
#[derive(Debug)]
pub struct Validator {
    fields: &'static [Field],
    blocks: &'static [Block],
    rules: &'static [Rule],
    /// Path of the resource or block with a final dot, such as `headers[2].`; empty at the top.
    path: String,
    violations: Vec<Violation>,
}

impl Validator {
    /// Creates a validator for this resource's arguments.
    pub const fn new(resource: &'static Resource) -> Self {
        Self {
            fields: resource.fields,
            blocks: resource.blocks,
            rules: resource.rules,
            path: String::new(),
            violations: Vec::new(),
        }
    }

    /// Returns the value, or all violations. `read` may only be `None` if there is a violation.
    pub fn finish<T>(self, read: Option<T>) -> Result<T, Violations> {
        if self.violations.is_empty() {
            return Ok(read.expect("a value is only missing if it was rejected"));
        }
        Err(Violations(self.violations))
    }

    /// Reads a text in the format of its shape; returns the default if absent.
    pub fn text(&mut self, name: &str, given: Option<String>) -> Option<String> {
        let field = self.field(name);
        if field.shape.characters().is_none() {
            return not_a(field, "text");
        }
        match self.present(field, given)? {
            Given::Written(text) => self.checked_text(name, field.shape, hidden(field), text),
            Given::Default(Value::Text(text)) => Some(text.to_owned()),
            Given::Default(Value::Integer(_) | Value::Bool(_)) => not_a(field, "text"),
        }
    }

    /// Reads a secret text like [`Self::text`].
    pub fn secret(&mut self, name: &str, given: Option<Secret<String>>) -> Option<Secret<String>> {
        self.text(name, given.map(|given| given.expose().clone())).map(Secret::new)
    }

    /// Reads a name of an enumeration.
    pub fn word<W>(&mut self, name: &str, given: Option<String>) -> Option<W>
    where
        W: FromStr<Err = UnknownVariant>,
    {
        let field = self.field(name);
        let Shape::OneOf(words) = field.shape else { return not_a(field, "word") };
        let word = match self.present(field, given)? {
            Given::Written(word) => word,
            Given::Default(Value::Text(word)) => word.to_owned(),
            Given::Default(Value::Integer(_) | Value::Bool(_)) => return not_a(field, "word"),
        };
        if !words.contains(&word.as_str()) {
            let allowed = format!("must be one of {}", words.join(", "));
            return self.refuse(name, word, allowed);
        }
        Some(word.parse().expect("the table has the names of the field's type"))
    }

    /// Reads a set of names: sorts it and removes duplicates.
    pub fn variant_set<W>(&mut self, name: &str, given: Vec<String>) -> Vec<W>
    where
        W: FromStr<Err = UnknownVariant> + Ord,
    {
        let field = self.field(name);
        let Shape::SetOf(words) = field.shape else { return not_a(field, "set of words") };
        let mut unknown = BTreeSet::new();
        let mut known = BTreeSet::new();
        for word in given {
            if words.contains(&word.as_str()) {
                known.insert(word.parse().expect("the table has the names of the field's type"));
            } else {
                unknown.insert(word);
            }
        }
        if !unknown.is_empty() {
            let given = unknown.into_iter().collect::<Vec<_>>().join(", ");
            let allowed = format!("may only hold the {} values {}", words.len(), words.join(", "));
            let _: Option<W> = self.refuse(name, given, allowed);
        }
        known.into_iter().collect()
    }

    /// Reads an integer within the bounds of its shape; returns the default if absent.
    pub fn integer(&mut self, name: &str, given: Option<i32>) -> Option<i32> {
        let field = self.field(name);
        let Shape::Integer { min, max } = field.shape else { return not_a(field, "number") };
        match self.present(field, given)? {
            Given::Written(number) if (min..=max).contains(&number) => Some(number),
            Given::Written(number) => {
                self.refuse(name, number, format!("must be a whole number from {min} to {max}"))
            }
            Given::Default(Value::Integer(number)) => Some(number),
            Given::Default(Value::Text(_) | Value::Bool(_)) => not_a(field, "number"),
        }
    }

    /// Reads a boolean; returns the default if absent.
    pub fn boolean(&mut self, name: &str, given: Option<bool>) -> Option<bool> {
        let field = self.field(name);
        match self.present(field, given)? {
            Given::Written(value) | Given::Default(Value::Bool(value)) => Some(value),
            Given::Default(Value::Text(_) | Value::Integer(_)) => not_a(field, "bool"),
        }
    }

    /// Reads a timestamp.
    pub fn instant(&mut self, name: &str, given: Option<Timestamp>) -> Option<Timestamp> {
        let field = self.field(name);
        if field.shape != Shape::Instant {
            return not_a(field, "instant");
        }
        match self.present(field, given)? {
            Given::Written(at) => Some(at),
            Given::Default(_) => not_a(field, "instant"),
        }
    }

    /// Reads a set of IDs: sorts it and removes duplicates.
    pub fn id_set(&mut self, name: &str, given: Vec<String>) -> Vec<String> {
        let field = self.field(name);
        let Shape::SetOfIds(prefix) = field.shape else { return not_a(field, "set of ids") };
        let set: BTreeSet<String> = given.into_iter().collect();
        set.into_iter()
            .filter_map(|id| self.checked_text(name, Shape::Id(prefix), field.sensitive, id))
            .collect()
    }

    /// Reads a set of tags: sorts it and removes repeated ones. Rejects tags that differ only in case,
    /// because nobody knows which one to keep. Ignores tags beyond the limit.
    pub fn tags(&mut self, name: &str, given: Vec<String>) -> Vec<Tag> {
        let field = self.field(name);
        let Shape::SetOfTags { max, .. } = field.shape else { return not_a(field, "set of tags") };
        let most = max as usize;
        if given.len() > most {
            let _: Option<Tag> =
                self.refuse(name, given.len(), format!("must have at most {most} tags"));
        }
        let mut tags: BTreeMap<String, Tag> = BTreeMap::new();
        for text in given.into_iter().take(most) {
            match Tag::parse(&text) {
                Err(FormatError(allowed)) => {
                    let _: Option<Tag> =
                        self.refuse(name, text, format!("has a tag that {allowed}"));
                }
                Ok(tag) => match tags.entry(tag.key()) {
                    Entry::Vacant(free) => {
                        free.insert(tag);
                    }
                    Entry::Occupied(first) if *first.get() != tag => {
                        let allowed = format!("has the tag `{}` in different case", first.get());
                        let _: Option<Tag> = self.refuse(name, tag, allowed);
                    }
                    Entry::Occupied(_) => {}
                },
            }
        }
        tags.into_values().collect()
    }

    /// Reads a list of domain names, as written and in order. Ignores names beyond the limit.
    pub fn domains(&mut self, name: &str, given: Vec<String>) -> Vec<String> {
        let field = self.field(name);
        let Shape::ListOfDomains { max } = field.shape else { return not_a(field, "domain list") };
        let most = max as usize;
        if given.len() > most {
            let _: Option<String> =
                self.refuse(name, given.len(), format!("must have at most {most} names"));
        }
        let shape = Shape::DomainName { max: DOMAIN_NAME_CHARS_MAX };
        let names = given.into_iter().take(most).enumerate();
        names
            .filter_map(|(index, domain)| {
                self.checked_text(&format!("{name}[{index}]"), shape, field.sensitive, domain)
            })
            .collect()
    }

    /// Reads the blocks of this name in order, each by `read`. Ignores blocks beyond the limit.
    pub fn blocks<D, T>(
        &mut self,
        name: &str,
        given: Vec<D>,
        read: impl Fn(&mut Self, D) -> Option<T>,
    ) -> Vec<T> {
        let block = self.block(name);
        let most = block.max.map_or(usize::MAX, |max| max as usize);
        if given.len() > most {
            let _: Option<T> = self.refuse(
                name,
                given.len(),
                format!("must be given at most {}", counted(most, "time")),
            );
        }
        let path = format!("{}{name}", self.path);
        let mut inner = Self {
            fields: block.fields,
            blocks: block.blocks,
            rules: &[],
            path: String::new(),
            violations: std::mem::take(&mut self.violations),
        };
        let mut values = Vec::with_capacity(given.len().min(most));
        for (index, draft) in given.into_iter().take(most).enumerate() {
            inner.path = format!("{path}[{index}].");
            values.extend(read(&mut inner, draft));
        }
        self.violations = inner.violations;
        values
    }

    /// Reads the only block of this name by `read`. Returns `None` if it is absent, which the rules
    /// between fields check, or invalid.
    pub fn block_of<D, T>(
        &mut self,
        name: &str,
        given: Option<D>,
        read: impl FnOnce(&mut Self, D) -> Option<T>,
    ) -> Option<T> {
        let block = self.block(name);
        let mut inner = Self {
            fields: block.fields,
            blocks: block.blocks,
            rules: &[],
            path: format!("{}{name}.", self.path),
            violations: std::mem::take(&mut self.violations),
        };
        let value = given.and_then(|draft| read(&mut inner, draft));
        self.violations = inner.violations;
        value
    }

    /// Rejects the given value of `name` by a rule outside the table; `allowed` is the end of a
    /// sentence. Always returns `None`.
    pub fn refuse<T>(
        &mut self,
        name: &str,
        given: impl Display,
        allowed: impl Into<String>,
    ) -> Option<T> {
        let field = format!("{}{name}", self.path);
        self.push(Violation::new(field, given, allowed))
    }

    /// Rejects `name` without repeating the value, because it is absent or a secret.
    pub fn reject_without_value<T>(&mut self, name: &str, allowed: impl Into<String>) -> Option<T> {
        let field = format!("{}{name}", self.path);
        self.push(Violation::without_value(field, allowed))
    }

    /// Checks length and format of `text` by `shape`; never repeats `hidden` values.
    fn checked_text(
        &mut self,
        name: &str,
        shape: Shape,
        hidden: bool,
        text: String,
    ) -> Option<String> {
        let (min, max) = shape.characters().expect("the callers only pass shapes of text");
        if text.is_empty() && min > 0 {
            return self.reject_without_value(name, "must not be empty");
        }
        // A text never has more characters than bytes, so only long ones need counting.
        let characters =
            if text.len() <= max as usize && min <= 1 { text.len() } else { text.chars().count() };
        if characters > max as usize || characters < min as usize {
            let allowed = if min > 1 {
                format!("must have {min} to {max} characters")
            } else {
                format!("must have at most {max} characters")
            };
            return self.refuse(name, counted(characters, "character"), allowed);
        }
        match shape.check_format(&text) {
            Ok(()) => Some(text),
            Err(FormatError(allowed)) if hidden => self.reject_without_value(name, allowed),
            Err(FormatError(allowed)) => self.refuse(name, without_credentials(&text), allowed),
        }
    }

    fn present<T>(&mut self, field: &'static Field, given: Option<T>) -> Option<Given<T>> {
        match (given, field.presence) {
            (_, Presence::Output) => not_a(field, "argument"),
            (Some(given), _) => Some(Given::Written(given)),
            (None, Presence::Required) => self.reject_without_value(field.name, "must be given"),
            (None, Presence::Default(value)) => Some(Given::Default(value)),
            (None, Presence::Optional | Presence::Computed) => None,
        }
    }

    fn push<T>(&mut self, violation: Violation) -> Option<T> {
        if self.violations.len() < limits::VIOLATIONS_MAX {
            self.violations.push(violation);
        }
        None
    }

    fn field(&self, name: &str) -> &'static Field {
        self.fields
            .iter()
            .find(|field| field.name == name)
            .unwrap_or_else(|| panic!("no field `{}{name}` in the table", self.path))
    }

    fn block(&self, name: &str) -> &'static Block {
        self.blocks
            .iter()
            .find(|block| block.name == name)
            .unwrap_or_else(|| panic!("no block `{}{name}` in the table", self.path))
    }
}

/// Value of a field.
enum Given<T> {
    /// Set by the user.
    Written(T),
    /// The table's default.
    Default(Value),
}

/// Returns whether messages must not repeat values of this field: they may be secrets, like header
/// values and request bodies, or uninformative, like free text and certificates.
fn hidden(field: &Field) -> bool {
    field.sensitive
        || matches!(
            field.shape,
            Shape::HeaderValue { .. }
                | Shape::Text { .. }
                | Shape::Line { .. }
                | Shape::Certificates { .. }
                | Shape::PrivateKey { .. }
        )
}

#[track_caller]
fn not_a<T>(field: &Field, kind: &str) -> T {
    panic!("field `{}` is not of the type {kind}: its shape is {:?}", field.name, field.shape)
}
