//! Completes a configuration with defaults, values of the state, and unknown values.

use super::match_blocks;
use crate::schema::{Attribute, Body, Nesting, Shape};
use crate::value::{Object, Value};

/// Value of a computed attribute that is not configured.
#[derive(Clone, Copy, PartialEq)]
enum Computed {
    /// The value of the state, for an update without changes.
    Prior,
    /// Unknown, except for attributes that keep the value of the state.
    Unknown,
}

/// Plans a configuration for a state, or a creation if there is no state. If nothing changes, the
/// plan equals the state, so values that the server computes do not appear as changes.
pub(crate) fn propose(body: &Body, config: &Object, prior: Option<&Object>) -> Object {
    let Some(prior) = prior else { return complete(body, config, None, Computed::Unknown) };
    let same = complete(body, config, Some(prior), Computed::Prior);
    if same == *prior { same } else { changed(body, config, prior) }
}

/// Plans an update that changes something.
pub(crate) fn changed(body: &Body, config: &Object, prior: &Object) -> Object {
    complete(body, config, Some(prior), Computed::Unknown)
}

fn complete(body: &Body, config: &Object, prior: Option<&Object>, computed: Computed) -> Object {
    let mut plan = Object::new();
    for (name, attribute) in &body.attributes {
        let prior = prior.map(|prior| prior.value(name));
        plan.set(name, complete_attribute(attribute, config.value(name), prior, computed));
    }
    for (name, block) in &body.blocks {
        let prior = prior.map(|prior| prior.value(name));
        let value = config.value(name);
        let none = value.is_null().then(|| block.none());
        plan.set(
            name,
            none.unwrap_or_else(|| {
                complete_nested(block.nesting, &block.body, value, prior, computed)
            }),
        );
    }
    derive(body, config, &mut plan);
    plan
}

fn complete_attribute(
    attribute: &Attribute,
    config: &Value,
    prior: Option<&Value>,
    computed: Computed,
) -> Value {
    if attribute.write_only {
        return Value::Null;
    }
    if !config.is_null() {
        return match &attribute.shape {
            Shape::Plain(_) => config.clone(),
            Shape::Nested(nesting, body) => {
                complete_nested(*nesting, body, config, prior, computed)
            }
        };
    }
    if let Some(default) = &attribute.default {
        return default.clone();
    }
    if !attribute.is_computed() {
        return Value::Null;
    }
    let kept = prior.filter(|prior| !prior.is_null() && !prior.is_unknown());
    match (computed, prior) {
        (Computed::Prior, prior) => prior.cloned().unwrap_or_default(),
        (Computed::Unknown, _) if attribute.use_state_for_unknown && kept.is_some() => {
            kept.cloned().unwrap_or_default()
        }
        (Computed::Unknown, _) => Value::UNKNOWN,
    }
}

fn complete_nested(
    nesting: Nesting,
    body: &Body,
    config: &Value,
    prior: Option<&Value>,
    computed: Computed,
) -> Value {
    let one = |config: &Value, prior: Option<&Object>| match config.as_object() {
        Some(config) => Value::Object(complete(body, config, prior, computed)),
        None => config.clone(),
    };
    match (config, nesting) {
        (Value::Object(_), Nesting::Single) => one(config, prior.and_then(Value::as_object)),
        (Value::List(elements), _) => {
            let elements = elements.iter().enumerate();
            Value::List(
                elements.map(|(index, each)| one(each, match_blocks::at(prior, index))).collect(),
            )
        }
        (Value::Map(elements), _) => {
            let elements = elements.iter();
            let elements = elements
                .map(|(key, each)| (key.clone(), one(each, match_blocks::under(prior, key))));
            Value::Map(elements.collect())
        }
        (Value::Set(elements), _) => {
            let mut left: Vec<&Object> = prior
                .map(Value::elements)
                .unwrap_or_default()
                .iter()
                .filter_map(Value::as_object)
                .collect();
            let elements = elements.iter().map(|each| {
                let twin = find_match(body, each, &left).map(|at| left.swap_remove(at));
                one(each, twin)
            });
            Value::Set(elements.collect())
        }
        (other, _) => other.clone(),
    }
}

/// Returns the index of the object in the state that matches the configured one: all attributes
/// that are not computed are equal.
fn find_match(body: &Body, config: &Value, left: &[&Object]) -> Option<usize> {
    let config = config.as_object()?;
    left.iter().position(|prior| complete(body, config, Some(prior), Computed::Prior) == **prior)
}

/// Sets derived values. One may depend on another, so this takes several rounds.
fn derive(body: &Body, config: &Object, plan: &mut Object) {
    let left_out = body.attributes.iter().filter(|(name, _)| config.value(name).is_null());
    let derived: Vec<_> = left_out
        .filter_map(|(name, attribute)| Some((name, attribute.derived.as_ref()?)))
        .collect();
    for _ in 0..derived.len() {
        let before = plan.clone();
        for (name, derived) in &derived {
            let waits = derived.sources.iter().any(|source| plan.value(source).has_unknown());
            let value = if waits { Value::UNKNOWN } else { (derived.from)(plan) };
            plan.set(*name, value);
        }
        if *plan == before {
            return;
        }
    }
}
