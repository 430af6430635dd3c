//! The data sources of the specification (§2.8), and two of our own: regions and the identity of the key.

mod monitor;
mod monitors;
mod regions;
mod single;
mod whoami;

pub use self::monitor::MonitorData;
pub use self::monitors::MonitorsData;
pub use self::regions::RegionsData;
pub use self::single::SingleData;
pub use self::whoami::WhoamiData;

use rules::field::{Field, Presence, Resource, Shape};
use rules::{Validator, Violations};
use terraform_plugin::{Object, Outcome};

use crate::{validate, wire};

/// Validates the arguments of a data source by its table. Unknown values pass.
pub(crate) fn check_arguments(table: &'static Resource, config: &Object) -> Outcome<()> {
    let mut reader = Validator::new(table);
    for field in table.fields.iter().filter(|field| field.presence != Presence::Output) {
        check_field(&mut reader, field, config);
    }
    let Err(Violations(violations)) = reader.finish(Some(())) else { return Ok(()) };
    let refusals = violations.iter();
    Err(refusals.map(|it| validate::to_diagnostic(it, wire::parse_path(&it.field))).collect())
}

fn check_field(reader: &mut Validator, field: &Field, config: &Object) {
    let given = config.value(field.name);
    if given.is_unknown() {
        return;
    }
    if let Shape::Integer { min, max } = field.shape {
        if let Ok(number) = config.get::<Option<i32>>(field.name) {
            let _ = reader.integer(field.name, number);
        } else {
            let allowed = format!("must be a whole number from {min} to {max}");
            let _: Option<()> = reader.reject_without_value(field.name, allowed);
        }
        return;
    }
    // The other arguments of data sources are IDs and enumerations, which are strings here.
    let text = given.as_str().map(str::to_owned);
    if matches!(field.shape, Shape::Id(_)) && text.as_deref().is_some_and(validate::is_mocked) {
        return;
    }
    if field.shape.characters().is_some() {
        let _ = reader.text(field.name, text);
    } else if let (Some(words), Some(text)) = (field.shape.names(), text)
        && !words.contains(&text.as_str())
    {
        let allowed = format!("must be one of {}", words.join(", "));
        let _: Option<()> = reader.refuse(field.name, text, allowed);
    }
}
