//! Names of the people and keys that acted on incidents.

use contract::incident::wire::Person;
use rules::KeyId;

/// Returns the name of an actor of the contract.
pub(crate) fn name(person: &Person) -> String {
    if person.key_id.is_empty() {
        person.name.clone()
    } else {
        format!("key “{}”", person.name)
    }
}

/// Returns the name of an actor of the store.
pub(crate) fn stored_name(person: &store::Person) -> String {
    let name = person.name.as_deref().unwrap_or(&person.actor);
    if KeyId::parse(&person.actor).is_ok() { format!("key “{name}”") } else { name.to_owned() }
}
