//! Finds the changes that replace the resource.

use std::collections::{BTreeMap, BTreeSet};

use super::match_blocks;
use crate::Path;
use crate::schema::{Attribute, Body, Nesting, Replace, Shape};
use crate::value::{Object, Value};

/// Returns the attributes whose change from `prior` to `plan` replaces the resource.
pub(crate) fn replacements(
    body: &Body,
    config: &Object,
    prior: &Object,
    plan: &Object,
) -> Vec<Path> {
    let mut paths = Vec::new();
    let change = ObjectChange { config: Some(config), prior: Some(prior), plan: Some(plan) };
    in_body(body, &change, &Path::root(), &mut paths);
    paths.dedup();
    paths
}

/// One object in the configuration, in the state and in the plan.
struct ObjectChange<'a> {
    config: Option<&'a Object>,
    prior: Option<&'a Object>,
    plan: Option<&'a Object>,
}

impl<'a> ObjectChange<'a> {
    fn values_of(&self, name: &str) -> (&'a Value, &'a Value, &'a Value) {
        let value = |object: Option<&'a Object>| object.map_or(&Value::Null, |it| it.value(name));
        (value(self.config), value(self.prior), value(self.plan))
    }
}

fn in_body(body: &Body, change: &ObjectChange<'_>, path: &Path, paths: &mut Vec<Path>) {
    for (name, attribute) in &body.attributes {
        let (config, prior, plan) = change.values_of(name);
        if prior == plan {
            continue;
        }
        let path = path.name(name);
        if replaces(attribute, config, prior, plan) {
            paths.push(path.addressable());
        }
        if let Shape::Nested(nesting, body) = &attribute.shape {
            in_nested(*nesting, body, (config, prior, plan), &path, paths);
        }
    }
    for (name, block) in &body.blocks {
        let values = change.values_of(name);
        if values.1 != values.2 {
            in_nested(block.nesting, &block.body, values, &path.name(name), paths);
        }
    }
}

fn replaces(attribute: &Attribute, config: &Value, prior: &Value, plan: &Value) -> bool {
    match &attribute.replace {
        Replace::Never => false,
        Replace::Always => true,
        Replace::IfConfigured => !config.is_null(),
        Replace::If(rule) => rule(prior, plan),
    }
}

fn in_nested(
    nesting: Nesting,
    body: &Body,
    (config, prior, plan): (&Value, &Value, &Value),
    path: &Path,
    paths: &mut Vec<Path>,
) {
    match nesting {
        Nesting::Single => {
            let change = ObjectChange {
                config: config.as_object(),
                prior: prior.as_object(),
                plan: plan.as_object(),
            };
            in_body(body, &change, path, paths);
        }
        Nesting::List => {
            let count = prior.elements().len().max(plan.elements().len());
            for index in 0..count {
                let [config, prior, plan] =
                    [config, prior, plan].map(|value| match_blocks::at(Some(value), index));
                in_body(body, &ObjectChange { config, prior, plan }, &path.index(index), paths);
            }
        }
        Nesting::Map => {
            let both = [prior, plan].into_iter().filter_map(Value::as_map);
            let keys: BTreeSet<&String> = both.flat_map(BTreeMap::keys).collect();
            for key in keys {
                let [config, prior, plan] =
                    [config, prior, plan].map(|value| match_blocks::under(Some(value), key));
                in_body(body, &ObjectChange { config, prior, plan }, &path.key(key), paths);
            }
        }
        // Elements of a set have no identity, so the set itself changes.
        Nesting::Set => {
            if in_set(body, (config, prior, plan)) {
                paths.push(path.addressable());
            }
        }
    }
}

/// Returns whether any rule within the elements of a changed set replaces the resource.
fn in_set(body: &Body, (config, prior, plan): (&Value, &Value, &Value)) -> bool {
    let by_attribute = |attribute: &Attribute| {
        let within = match &attribute.shape {
            Shape::Plain(_) => false,
            Shape::Nested(_, body) => in_set(body, (config, prior, plan)),
        };
        within || replaces(attribute, config, prior, plan)
    };
    body.attributes.values().any(by_attribute)
        || body.blocks.values().any(|block| in_set(&block.body, (config, prior, plan)))
}
