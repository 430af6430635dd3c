//! Applies every rule of a schema to a configuration.

mod redact;

use self::redact::redact;
use super::{Body, Nesting, Shape};
use crate::value::{Object, Value};
use crate::{Diagnostic, Path};

/// Returns all violations of the schema's rules.
pub(crate) fn violations(body: &Body, object: &Object) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    walk_body(body, object, &Path::root(), &mut found);
    found
}

fn walk_body(body: &Body, object: &Object, path: &Path, found: &mut Vec<Diagnostic>) {
    for (name, attribute) in &body.attributes {
        let (path, value) = (path.name(name), object.value(name));
        if !attribute.is_configurable() {
            found.extend((!value.is_null()).then(|| read_only(name, &path)));
            continue;
        }
        let from = found.len();
        attribute.validators.iter().for_each(|rule| rule.run(&path, value, found));
        if let Shape::Nested(nesting, body) = &attribute.shape {
            walk_nested(*nesting, body, value, &path, found);
        }
        if attribute.sensitive || attribute.write_only {
            found[from..].iter_mut().for_each(|found| redact(found, value));
        }
    }
    for (name, block) in &body.blocks {
        let (path, value) = (path.name(name), object.value(name));
        block.validators.iter().for_each(|rule| rule.run(&path, value, found));
        walk_nested(block.nesting, &block.body, value, &path, found);
    }
    for check in &body.checks {
        found.extend(check.run(object).into_iter().map(|found| match &found.path {
            Some(_) => found.under(path),
            None if path.steps().is_empty() => found,
            None => found.at(path.clone()),
        }));
    }
}

/// Returns the error for a configured read-only attribute. Terraform leaves this check to the
/// provider. An unknown value is rejected too, because no value is valid.
fn read_only(name: &str, path: &Path) -> Diagnostic {
    let detail = format!(
        "`{name}` is read-only: the provider sets its value. Remove it from the configuration."
    );
    Diagnostic::error("Read-only attribute", detail).at(path.clone())
}

fn walk_nested(
    nesting: Nesting,
    body: &Body,
    value: &Value,
    path: &Path,
    found: &mut Vec<Diagnostic>,
) {
    for (object, path) in within(nesting, value, path) {
        walk_body(body, object, &path, found);
    }
}

/// Returns the write-only attributes that a configuration contains.
pub(crate) fn write_only(body: &Body, object: &Object) -> Vec<Path> {
    let mut paths = Vec::new();
    find_write_only(body, object, &Path::root(), &mut paths);
    paths
}

fn find_write_only(body: &Body, object: &Object, path: &Path, paths: &mut Vec<Path>) {
    for (name, attribute) in &body.attributes {
        let (path, value) = (path.name(name), object.value(name));
        if attribute.write_only && !value.is_null() {
            paths.push(path.clone());
        }
        if let Shape::Nested(nesting, body) = &attribute.shape {
            for (object, path) in within(*nesting, value, &path) {
                find_write_only(body, object, &path, paths);
            }
        }
    }
    for (name, block) in &body.blocks {
        for (object, path) in within(block.nesting, object.value(name), &path.name(name)) {
            find_write_only(&block.body, object, &path, paths);
        }
    }
}

/// Returns the known objects of a nested value with their paths.
fn within<'a>(nesting: Nesting, value: &'a Value, path: &Path) -> Vec<(&'a Object, Path)> {
    if let Value::Object(object) = value {
        return vec![(object, path.clone())];
    }
    if let Value::Map(elements) = value {
        let objects = elements.iter();
        let known = objects.filter_map(|(key, it)| Some((it.as_object()?, path.key(key))));
        return known.collect();
    }
    let elements = value.elements().iter().enumerate();
    let place = |at| if nesting == Nesting::Set { path.element() } else { path.index(at) };
    elements.filter_map(|(at, it)| Some((it.as_object()?, place(at)))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Attribute, Block, Presence, Schema};
    use super::*;
    use crate::validate::{between, conflicting, each, length, one_of};
    use crate::value::Type;

    #[test]
    fn nested_violations_have_paths_and_hide_secrets() {
        let word = || Attribute::optional(Type::String).validate(one_of(["a", "b"]));
        let rows = Block::list()
            .attribute("word", word())
            .attribute("other", Attribute::optional(Type::String).validate(length(0..=2)))
            .check(conflicting(["word", "other"]));
        let schema = Schema::new("").attribute("secret", word().sensitive()).block("rows", rows);
        let row = Object::new().with("word", "c").with("other", "long");
        let object = Object::new()
            .with("secret", "hush")
            .with("rows", vec![Value::Object(Object::new()), Value::UNKNOWN, Value::Object(row)]);
        let shown = violations(&schema.body, &object)
            .into_iter()
            .map(|it| format!("{}: {}", it.path.unwrap_or_default(), it.detail));
        insta::assert_snapshot!(shown.collect::<Vec<_>>().join("\n"), @r"
        secret: the value is not one of a, b
        rows[2].other: must have 0 to 2 characters, but has 4
        rows[2].word: `c` is not one of a, b
        rows[2].other: set at most one of `word`, `other`
        ");
    }

    #[test]
    fn configured_read_only_attribute_is_rejected() {
        let computed = || Attribute::computed(Type::String);
        let row = || [("word", Attribute::optional(Type::String)), ("id", computed())];
        let rows =
            row().into_iter().fold(Block::list(), |rows, (name, it)| rows.attribute(name, it));
        let schema = Schema::new("")
            .attribute("id", computed().sensitive())
            .attribute("status", computed())
            .attribute("size", Attribute::optional_computed(Type::Number))
            .attribute("timeout", Attribute::optional(Type::Number).default(1))
            .attribute("nested", Attribute::nested(Nesting::List, Presence::Optional, row()))
            .attribute("read", Attribute::nested(Nesting::List, Presence::Computed, row()))
            .block("rows", rows);
        let given = || vec![Value::Object(Object::new().with("word", "a").with("id", "1"))];
        let object = Object::new()
            .with("id", "hush")
            .with("status", Value::UNKNOWN)
            .with("size", 1)
            .with("timeout", 2)
            .with("nested", given())
            .with("read", given())
            .with("rows", given());
        let shown = violations(&schema.body, &object)
            .into_iter()
            .map(|it| format!("{}: {}: {}", it.path.unwrap_or_default(), it.summary, it.detail));
        insta::assert_snapshot!(shown.collect::<Vec<_>>().join("\n"), @r"
        id: Read-only attribute: `id` is read-only: the provider sets its value. Remove it from the configuration.
        nested[0].id: Read-only attribute: `id` is read-only: the provider sets its value. Remove it from the configuration.
        read: Read-only attribute: `read` is read-only: the provider sets its value. Remove it from the configuration.
        status: Read-only attribute: `status` is read-only: the provider sets its value. Remove it from the configuration.
        rows[0].id: Read-only attribute: `id` is read-only: the provider sets its value. Remove it from the configuration.
        ");
        let fine = Object::new().with("size", 1).with("timeout", 2);
        assert_eq!(violations(&schema.body, &fine), []);
    }

    #[test]
    fn no_part_of_a_secret_is_reported() {
        let word = || Attribute::optional(Type::String).validate(one_of(["a"]));
        let words = Attribute::optional(Type::list(Type::String)).validate(each(one_of(["a"])));
        let pin = Attribute::optional(Type::Number).validate(between(0..=9));
        let nested = Attribute::nested(Nesting::List, Presence::Optional, [("word", word())]);
        let schema = Schema::new("")
            .attribute("nested", nested.sensitive())
            .attribute("pin", pin.write_only())
            .attribute("words", words.sensitive());
        let object = Object::new()
            .with("nested", vec![Value::Object(Object::new().with("word", "hush"))])
            .with("pin", 1234)
            .with("words", vec!["hush"]);
        let shown = violations(&schema.body, &object)
            .into_iter()
            .map(|it| format!("{}: {}", it.path.unwrap_or_default(), it.detail));
        insta::assert_snapshot!(shown.collect::<Vec<_>>().join("\n"), @r"
        nested[0].word: the value is not one of a
        pin: must be from 0 to 9, but is the value
        words[0]: the value is not one of a
        ");
    }
}
