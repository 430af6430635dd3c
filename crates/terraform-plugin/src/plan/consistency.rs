//! Checks that the plan agrees with the configuration, and the new state with the plan. Terraform
//! checks the same, but only reports a bug in the provider. These diagnostics name the attribute
//! and both values.

use crate::schema::{Attribute, Body, Nesting, Shape};
use crate::value::{Object, Value};
use crate::{Diagnostic, Path};

/// Maximum length of a value in a message, in characters.
const SHOWN_CHARS_MAX: usize = 80;

/// Returns the differences between the configuration and the plan that Terraform would reject.
pub(crate) fn check_plan(
    body: &Body,
    config: &Object,
    prior: Option<&Object>,
    plan: &Object,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (name, attribute) in &body.attributes {
        let (config, plan) = (config.value(name), plan.value(name));
        let same = prior.is_some_and(|prior| prior.value(name) == plan);
        let nested = matches!(attribute.shape, Shape::Nested(..));
        let free = attribute.is_computed() && config.is_null();
        if attribute.write_only || nested || same || free || config.is_unknown() || plan == config {
            continue;
        }
        let change = describe_change(is_hidden(attribute), config, plan);
        let detail = format!("the configuration and the plan differ: {change}");
        found.push(fault("Plan differs from configuration", &detail).at(name.as_str()));
    }
    found
}

/// Returns the differences between the new state and the known part of the plan.
pub(crate) fn check_state(body: &Body, plan: &Object, new: &Object) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    check_body(body, plan, new, &Path::root(), false, &mut found);
    found
}

/// Compares one body. `hidden`: an enclosing attribute is sensitive, and so is everything in it.
fn check_body(
    body: &Body,
    plan: &Object,
    new: &Object,
    path: &Path,
    hidden: bool,
    found: &mut Vec<Diagnostic>,
) {
    for (name, attribute) in &body.attributes {
        let hidden = hidden || is_hidden(attribute);
        let (path, plan, new) = (path.name(name), plan.value(name), new.value(name));
        match &attribute.shape {
            Shape::Nested(nesting, body) => {
                check_nested(*nesting, body, plan, new, &path, hidden, found);
            }
            Shape::Plain(_) if is_consistent(plan, new) => {}
            Shape::Plain(_) => found.push(difference(&path, &describe_change(hidden, plan, new))),
        }
    }
    for (name, block) in &body.blocks {
        let (plan, new) = (plan.value(name), new.value(name));
        check_nested(block.nesting, &block.body, plan, new, &path.name(name), hidden, found);
    }
}

fn check_nested(
    nesting: Nesting,
    body: &Body,
    plan: &Value,
    new: &Value,
    path: &Path,
    hidden: bool,
    found: &mut Vec<Diagnostic>,
) {
    match (plan, new, nesting) {
        (Value::Unknown(_), _, _) => {}
        (Value::Object(plan), Value::Object(new), Nesting::Single) => {
            check_body(body, plan, new, path, hidden, found);
        }
        (Value::List(plan), Value::List(new), _) if plan.len() == new.len() => {
            for (index, (plan, new)) in plan.iter().zip(new).enumerate() {
                check_nested(Nesting::Single, body, plan, new, &path.index(index), hidden, found);
            }
        }
        (Value::Map(plan), Value::Map(new), _) if plan.keys().eq(new.keys()) => {
            for ((key, plan), new) in plan.iter().zip(new.values()) {
                check_nested(Nesting::Single, body, plan, new, &path.key(key), hidden, found);
            }
        }
        (plan, new, _) if is_consistent(plan, new) => {}
        (_, _, _) if hidden => found.push(difference(path, &describe_change(hidden, plan, new))),
        (plan, new, _) => {
            let shown = format!("planned {}, got {}", counted(plan), counted(new));
            found.push(difference(path, &shown));
        }
    }
}

/// Returns whether a value is allowed in place of the planned one.
fn is_consistent(plan: &Value, new: &Value) -> bool {
    match (plan, new) {
        (Value::Unknown(known), new) => !(known.null() == Some(false) && new.is_null()),
        (Value::List(plan), Value::List(new)) | (Value::Tuple(plan), Value::Tuple(new)) => {
            plan.len() == new.len()
                && plan.iter().zip(new).all(|(plan, new)| is_consistent(plan, new))
        }
        (Value::Set(plan), Value::Set(new)) => {
            let known = plan.iter().filter(|each| !each.has_unknown());
            let all = known.clone().all(|each| new.iter().any(|new| new == each));
            let open = plan.len() - known.count();
            all && if open == 0 { plan.len() == new.len() } else { new.len() <= plan.len() }
        }
        (Value::Map(plan), Value::Map(new)) => {
            plan.keys().eq(new.keys())
                && plan.values().zip(new.values()).all(|(plan, new)| is_consistent(plan, new))
        }
        (Value::Object(plan), Value::Object(new)) => {
            plan.iter().all(|(name, plan)| is_consistent(plan, new.value(name)))
        }
        (Value::Dynamic(plan_type, plan), Value::Dynamic(new_type, new)) => {
            plan_type == new_type && is_consistent(plan, new)
        }
        (plan, new) => plan == new,
    }
}

fn difference(path: &Path, change: &str) -> Diagnostic {
    let detail = format!("the plan and the state after apply differ: {change}");
    fault("State differs from plan", &detail).at(path.addressable())
}

fn fault(summary: &str, detail: &str) -> Diagnostic {
    Diagnostic::error(summary, format!("{detail}. This is a bug in the provider."))
}

fn is_hidden(attribute: &Attribute) -> bool {
    attribute.sensitive || attribute.write_only
}

fn describe_change(hidden: bool, first: &Value, second: &Value) -> String {
    if hidden {
        return "the values are sensitive".to_owned();
    }
    format!("{} became {}", brief(first), brief(second))
}

fn counted(value: &Value) -> String {
    match value.count() {
        Some(count) => format!("{count} elements"),
        None => value.kind().to_owned(),
    }
}

fn brief(value: &Value) -> String {
    match value {
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => {
            let cut: String = text.chars().take(SHOWN_CHARS_MAX).collect();
            format!("{cut:?}")
        }
        Value::Null
        | Value::Unknown(_)
        | Value::List(_)
        | Value::Set(_)
        | Value::Map(_)
        | Value::Object(_)
        | Value::Tuple(_)
        | Value::Dynamic(..) => counted(value),
    }
}
