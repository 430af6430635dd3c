//! Validates the arguments of data sources, lists and actions by the same tables as resources.

use rules::field::{Field, Presence, Resource, Shape};
use rules::{Validator, Violations};
use terraform_plugin::{Object, Outcome};

use super::{is_mocked, to_diagnostic};
use crate::wire;

/// Validates arguments by their table. Unknown values pass.
pub(crate) fn check_arguments(table: &'static Resource, config: &Object) -> Outcome<()> {
    let mut validator = Validator::new(table);
    for field in table.fields.iter().filter(|field| field.presence != Presence::Output) {
        check_field(&mut validator, field, config);
    }
    let Err(Violations(violations)) = validator.finish(Some(())) else { return Ok(()) };
    let refusals = violations.iter();
    Err(refusals.map(|it| to_diagnostic(it, wire::parse_path(&it.field))).collect())
}

fn check_field(validator: &mut Validator, field: &Field, config: &Object) {
    let given = config.value(field.name);
    if given.is_unknown() {
        return;
    }
    if let Shape::Integer { min, max } = field.shape {
        if let Ok(number) = config.get::<Option<i32>>(field.name) {
            let _ = validator.integer(field.name, number);
        } else {
            let allowed = format!("must be a whole number from {min} to {max}");
            let _: Option<()> = validator.reject_without_value(field.name, allowed);
        }
        return;
    }
    if let Shape::SetOfTags { .. } = field.shape {
        let known = given.elements().iter().filter_map(|tag| tag.as_str());
        let _ = validator.tags(field.name, known.map(str::to_owned).collect());
        return;
    }
    // The other arguments are IDs and enumerations, which are strings here.
    let text = given.as_str().map(str::to_owned);
    if matches!(field.shape, Shape::Id(_)) && text.as_deref().is_some_and(is_mocked) {
        return;
    }
    if field.shape.characters().is_some() {
        let _ = validator.text(field.name, text);
    } else if let (Some(words), Some(text)) = (field.shape.names(), text)
        && !words.contains(&text.as_str())
    {
        let allowed = format!("must be one of {}", words.join(", "));
        let _: Option<()> = validator.refuse(field.name, text, allowed);
    }
}
