//! Runs every rule of a schema over a configuration.

use crate::schema::{Body, Nesting, Shape};
use crate::value::{Object, Value};
use crate::{Diagnostic, Path};

/// All that the schema's rules find.
pub(crate) fn walk(body: &Body, object: &Object) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    walk_body(body, object, &Path::root(), &mut found);
    found
}

fn walk_body(body: &Body, object: &Object, path: &Path, found: &mut Vec<Diagnostic>) {
    for (name, attribute) in &body.attributes {
        let (path, value) = (path.name(name), object.value(name));
        attribute.validators.iter().for_each(|rule| rule.run(&path, value, found));
        if let Shape::Nested(nesting, body) = &attribute.shape {
            walk_nested(*nesting, body, value, &path, found);
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

fn walk_nested(
    nesting: Nesting,
    body: &Body,
    value: &Value,
    path: &Path,
    found: &mut Vec<Diagnostic>,
) {
    let mut one = |value: &Value, path: Path| {
        if let Value::Object(object) = value {
            walk_body(body, object, &path, found);
        }
    };
    match (value, nesting) {
        (Value::Map(elements), _) => {
            elements.iter().for_each(|(key, value)| one(value, path.key(key)));
        }
        (value, Nesting::Single) => one(value, path.clone()),
        (value, Nesting::Set) => {
            value.elements().iter().for_each(|value| one(value, path.element()));
        }
        (value, Nesting::List | Nesting::Map) => {
            let elements = value.elements().iter().enumerate();
            elements.for_each(|(at, value)| one(value, path.index(at)));
        }
    }
}
