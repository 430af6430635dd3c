//! The data sources of §2.8, and two of ours: regions and whose key this is.

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
use rules::{Reader, Violations};
use terraform_plugin::{Object, Outcome};

use crate::{validate, wire};

/// Holds the arguments of a data source against its table; what is not known yet passes.
pub(crate) fn held(table: &'static Resource, config: &Object) -> Outcome<()> {
    let mut reader = Reader::new(table);
    for field in table.fields.iter().filter(|field| field.presence != Presence::Output) {
        hold(&mut reader, field, config);
    }
    let Err(Violations(violations)) = reader.finish(Some(())) else { return Ok(()) };
    let refusals = violations.iter();
    Err(refusals.map(|it| validate::refusal(it, wire::path_of(&it.field))).collect())
}

fn hold(reader: &mut Reader, field: &Field, config: &Object) {
    let given = config.value(field.name);
    if given.is_unknown() {
        return;
    }
    if let Shape::Integer { min, max } = field.shape {
        if let Ok(number) = config.get::<Option<i32>>(field.name) {
            let _ = reader.integer(field.name, number);
        } else {
            let allowed = format!("must be a whole number from {min} to {max}");
            let _: Option<()> = reader.refuse_unseen(field.name, allowed);
        }
        return;
    }
    // The arguments of data sources are numbers, identifiers and words, and the last are texts here.
    let text = given.as_str().map(str::to_owned);
    if matches!(field.shape, Shape::Id(_)) && text.as_deref().is_some_and(validate::is_mocked) {
        return;
    }
    if field.shape.characters().is_some() {
        let _ = reader.text(field.name, text);
    } else if let (Some(words), Some(text)) = (field.shape.words(), text)
        && !words.contains(&text.as_str())
    {
        let allowed = format!("must be one of {}", words.join(", "));
        let _: Option<()> = reader.refuse(field.name, text, allowed);
    }
}
