//! Rules for one value.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::value::{Number, Value};
use crate::{Diagnostic, Path};

/// Summary of the diagnostic for a value that breaks a rule.
const SUMMARY: &str = "Invalid value";

type ValueRule = dyn Fn(&Path, &Value, &mut Vec<Diagnostic>) + Send + Sync;

/// A rule for one value. It is not called for null or unknown values.
#[derive(Clone)]
pub struct Validator {
    run: Arc<ValueRule>,
    /// Sentence for the documentation.
    pub(crate) rule: Option<String>,
}

impl Validator {
    /// Creates a rule from a function that returns the problem and the allowed values.
    ///
    /// ```
    /// use terraform_plugin::validate::Validator;
    ///
    /// let even = Validator::new(|value| match value {
    ///     terraform_plugin::Value::Number(n) if n.as_i64().is_some_and(|n| n % 2 == 0) => Ok(()),
    ///     _ => Err("must be even".to_owned()),
    /// });
    /// # let _ = even;
    /// ```
    pub fn new(rule: impl Fn(&Value) -> Result<(), String> + Send + Sync + 'static) -> Self {
        Self::with_path(move |path, value, found| {
            if let Err(detail) = rule(value) {
                found.push(Diagnostic::error(SUMMARY, detail).at(path.clone()));
            }
        })
    }

    /// Creates a rule for text.
    pub fn text(rule: impl Fn(&str) -> Result<(), String> + Send + Sync + 'static) -> Self {
        Self::new(move |value| value.as_str().map_or(Ok(()), &rule))
    }

    /// Creates a rule that returns its own diagnostics, with paths below the given one.
    pub fn with_path(
        rule: impl Fn(&Path, &Value, &mut Vec<Diagnostic>) + Send + Sync + 'static,
    ) -> Self {
        Self { run: Arc::new(rule), rule: None }
    }

    /// Sets the sentence in Markdown that documents the rule.
    #[must_use]
    pub fn describe(mut self, rule: impl Into<String>) -> Self {
        self.rule = Some(rule.into());
        self
    }

    pub(crate) fn run(&self, path: &Path, value: &Value, found: &mut Vec<Diagnostic>) {
        let value = if let Value::Dynamic(_, inner) = value { inner } else { value };
        if !value.is_null() && !value.is_unknown() {
            (self.run)(path, value, found);
        }
    }
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Validator({})", self.rule.as_deref().unwrap_or("…"))
    }
}

/// Requires text whose number of characters is within bounds.
pub fn length(bounds: RangeInclusive<usize>) -> Validator {
    let rule = format!("{} to {} characters.", bounds.start(), bounds.end());
    let validator = Validator::text(move |text| {
        let count = text.chars().count();
        if bounds.contains(&count) {
            return Ok(());
        }
        let (least, most) = (bounds.start(), bounds.end());
        Err(format!("must have {least} to {most} characters, but has {count}"))
    });
    validator.describe(rule)
}

/// Requires text that is not empty.
pub fn not_empty() -> Validator {
    let full = |text: &str| if text.is_empty() { Err("must not be empty".into()) } else { Ok(()) };
    Validator::text(full).describe("Not empty.")
}

/// Requires a number within bounds.
pub fn between(bounds: RangeInclusive<i64>) -> Validator {
    let rule = format!("{} to {}.", bounds.start(), bounds.end());
    let validator = Validator::new(move |value| {
        let Value::Number(number) = value else { return Ok(()) };
        let (least, most) = (*bounds.start(), *bounds.end());
        if *number >= Number::from(least) && *number <= Number::from(most) {
            return Ok(());
        }
        Err(format!("must be from {least} to {most}, but is {number}"))
    });
    validator.describe(rule)
}

/// Requires one of the given texts.
pub fn one_of<T: Into<String>>(allowed: impl IntoIterator<Item = T>) -> Validator {
    let allowed: Vec<String> = allowed.into_iter().map(Into::into).collect();
    let rule = format!("One of `{}`.", allowed.join("`, `"));
    let validator = Validator::text(move |text| {
        if allowed.iter().any(|word| word == text) {
            return Ok(());
        }
        Err(format!("`{text}` is not one of {}", allowed.join(", ")))
    });
    validator.describe(rule)
}

/// Requires a number of elements within bounds. Unknown elements of a set may turn out to be equal.
pub fn items(bounds: RangeInclusive<usize>) -> Validator {
    let rule = format!("{} to {} elements.", bounds.start(), bounds.end());
    let validator = Validator::new(move |value| {
        let Some(count) = value.count() else { return Ok(()) };
        let unsure = matches!(value, Value::Set(_)) && value.has_unknown();
        if bounds.contains(&count) || (unsure && count > *bounds.end()) {
            return Ok(());
        }
        let (least, most) = (bounds.start(), bounds.end());
        Err(format!("must have {least} to {most} elements, but has {count}"))
    });
    validator.describe(rule)
}

/// Applies a rule to each element of a list, set or map.
pub fn each(rule: Validator) -> Validator {
    let description = rule.rule.as_ref().map(|rule| format!("Each element: {rule}"));
    let validator = Validator::with_path(move |path, value, found| {
        for (key, element) in value.as_map().into_iter().flatten() {
            rule.run(&path.key(key), element, found);
        }
        let in_set = matches!(value, Value::Set(_));
        for (at, element) in value.elements().iter().enumerate() {
            let path = if in_set { path.element() } else { path.index(at) };
            rule.run(&path, element, found);
        }
    });
    Validator { rule: description, ..validator }
}

/// Rejects duplicate elements of a list.
pub fn no_duplicates() -> Validator {
    let validator = Validator::with_path(|path, value, found| {
        let elements = value.elements();
        for (at, element) in elements.iter().enumerate() {
            if !element.has_unknown() && elements[..at].contains(element) {
                let detail = "duplicate element";
                found.push(Diagnostic::error("Duplicate element", detail).at(path.index(at)));
            }
        }
    });
    validator.describe("Elements are unique.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::IntoValue;

    fn details(rule: &Validator, value: impl IntoValue) -> Vec<String> {
        let mut found = Vec::new();
        rule.run(&Path::from("a"), &value.into_value(), &mut found);
        let shown = found.into_iter();
        shown.map(|it| format!("{}: {}", it.path.unwrap_or_default(), it.detail)).collect()
    }

    #[test]
    fn violations_name_the_allowed_values() {
        assert_eq!(details(&length(1..=3), "äöü"), [""; 0]);
        assert_eq!(details(&length(1..=3), ""), ["a: must have 1 to 3 characters, but has 0"]);
        assert_eq!(details(&between(0..=10), 11), ["a: must be from 0 to 10, but is 11"]);
        assert_eq!(details(&one_of(["eq", "neq"]), "is"), ["a: `is` is not one of eq, neq"]);
        assert_eq!(details(&each(not_empty()), vec!["x", ""]), ["a[1]: must not be empty"]);
        let twice = details(&no_duplicates(), vec!["x", "y", "x"]);
        assert_eq!(twice, ["a[2]: duplicate element"]);
    }

    #[test]
    fn unknown_and_null_values_pass() {
        for value in [Value::UNKNOWN, Value::Null, Value::list([Value::UNKNOWN, Value::UNKNOWN])] {
            for rule in [length(1..=1), between(1..=1), each(not_empty()), no_duplicates()] {
                assert_eq!(details(&rule, value.clone()), [""; 0], "{value:?}");
            }
        }
        assert_eq!(details(&items(0..=1), Value::set([Value::UNKNOWN, Value::UNKNOWN])), [""; 0]);
    }
}
