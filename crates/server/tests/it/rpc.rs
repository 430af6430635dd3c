//! The services, one file per service.

mod audit;
mod client_certificates;
mod history;
mod idempotency;
pub(crate) mod incident;
mod kinds;
mod list;
mod maintenance;
mod monitor;
mod notification;
pub(crate) mod people;
mod probe;
mod region;
mod revision;
mod running;
mod status_page;
mod status_report;
mod update;

/// Converts a name of the specification to JSON case.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |all, word| all + &word[..1].to_uppercase() + &word[1..])
}
