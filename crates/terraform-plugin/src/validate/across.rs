//! Rules across the attributes and blocks of one body.

use std::fmt;
use std::sync::Arc;

use crate::Diagnostic;
use crate::value::{Object, Value};

type BodyRule = dyn Fn(&Object) -> Vec<Diagnostic> + Send + Sync;

/// A rule across attributes. It gets the configuration of one body, and the paths of its
/// diagnostics begin there.
#[derive(Clone)]
pub struct Check(Arc<BodyRule>);

impl Check {
    /// Creates a rule from a function. The function must accept unknown values.
    ///
    /// ```
    /// use terraform_plugin::validate::Check;
    /// use terraform_plugin::{Diagnostic, Given};
    ///
    /// let password = Check::new(|config| {
    ///     let kind = config.get::<Given<String>>("access_type");
    ///     let needs = kind.is_ok_and(|kind| kind.known().as_deref() == Some("password"));
    ///     if needs && config.value("password").is_null() {
    ///         return vec![Diagnostic::error("Missing password", "set it").at("password")];
    ///     }
    ///     Vec::new()
    /// });
    /// # let _ = password;
    /// ```
    pub fn new(rule: impl Fn(&Object) -> Vec<Diagnostic> + Send + Sync + 'static) -> Self {
        Self(Arc::new(rule))
    }

    pub(crate) fn run(&self, object: &Object) -> Vec<Diagnostic> {
        (self.0)(object)
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Check(…)")
    }
}

/// The given attributes and blocks of a configuration, among some names.
struct Present<'a> {
    given: Vec<&'a str>,
    unknown: bool,
}

impl<'a> Present<'a> {
    fn new(names: &'a [String], object: &Object) -> Self {
        let mut present = Self { given: Vec::new(), unknown: false };
        for name in names {
            let value = object.value(name);
            if value.is_unknown() {
                present.unknown = true;
            } else if is_given(value) {
                present.given.push(name);
            }
        }
        present
    }
}

/// Returns whether a value is given. An absent repeated block is an empty collection.
fn is_given(value: &Value) -> bool {
    !value.is_null() && value.count() != Some(0)
}

fn named<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Vec<String> {
    names.into_iter().map(Into::into).collect()
}

fn join_names(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn surplus(given: &[&str], names: &[String]) -> Vec<Diagnostic> {
    let detail = format!("set at most one of {}", join_names(names));
    let extra = given.iter().skip(1);
    extra.map(|name| Diagnostic::error("Conflicting arguments", &detail).at(*name)).collect()
}

fn missing(names: &[String], bound: &str) -> Vec<Diagnostic> {
    let detail = format!("set {bound} one of {}", join_names(names));
    vec![Diagnostic::error("Missing argument", detail)]
}

/// Requires exactly one of the attributes and blocks.
pub fn exactly_one_of<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Check {
    let names = named(names);
    Check::new(move |object| {
        let present = Present::new(&names, object);
        if present.given.is_empty() && !present.unknown {
            return missing(&names, "exactly");
        }
        surplus(&present.given, &names)
    })
}

/// Requires at least one of the attributes and blocks.
pub fn at_least_one_of<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Check {
    let names = named(names);
    Check::new(move |object| {
        let present = Present::new(&names, object);
        let none = present.given.is_empty() && !present.unknown;
        if none { missing(&names, "at least") } else { Vec::new() }
    })
}

/// Allows at most one of the attributes and blocks.
pub fn conflicting<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Check {
    let names = named(names);
    Check::new(move |object| surplus(&Present::new(&names, object).given, &names))
}

/// Requires all of the attributes and blocks, or none.
pub fn required_together<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Check {
    let names = named(names);
    Check::new(move |object| {
        let present = Present::new(&names, object);
        let absent = |name: &&String| {
            !present.given.contains(&name.as_str()) && !object.value(name).is_unknown()
        };
        if present.given.is_empty() {
            return Vec::new();
        }
        let detail = format!("set all of {} or none", join_names(&names));
        let absent = names.iter().filter(absent);
        absent
            .map(|name| Diagnostic::error("Missing argument", &detail).at(name.as_str()))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_attributes_are_counted_and_unknown_passes() {
        let one = Object::new().with("a", "x").with("b", Value::list::<Value>([]));
        let two = one.clone().with("b", "y");
        let none = Object::new();
        let unsure = Object::new().with("a", Value::UNKNOWN);
        let names = ["a", "b"];
        let cases = [
            ("exactly", exactly_one_of(names), [0, 1, 1, 0]),
            ("at least", at_least_one_of(names), [0, 0, 1, 0]),
            ("conflicting", conflicting(names), [0, 1, 0, 0]),
            ("together", required_together(names), [1, 0, 0, 0]),
        ];
        for (name, check, counts) in cases {
            let found = [&one, &two, &none, &unsure].map(|object| check.run(object).len());
            assert_eq!(found, counts, "{name}");
        }
    }
}
