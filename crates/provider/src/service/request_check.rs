//! Validates a request before it is sent: the JSON becomes a message, which `rules` parses exactly as the service
//! does. Also checks that a response is a message of the contract.

use contract::IntoDraft;
use contract::notification::wire::Notification;
use contract::status_page::wire::{Component, ComponentGroup, StatusPage};
use rules::monitor::MonitorDraft;
use rules::{Violation, Violations};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

pub(super) fn monitor<M: IntoDraft<Draft = MonitorDraft> + DeserializeOwned>(
    resource: Json,
) -> Violations {
    violations::<M>(resource, |draft| draft.parse().err())
}

pub(super) fn channel(resource: Json) -> Violations {
    violations::<Notification>(resource, |draft| draft.parse().err())
}

pub(super) fn page(resource: Json) -> Violations {
    violations::<StatusPage>(resource, |draft| draft.parse().err())
}

pub(super) fn component(resource: Json) -> Violations {
    violations::<Component>(resource, |draft| draft.parse().err())
}

pub(super) fn group(resource: Json) -> Violations {
    violations::<ComponentGroup>(resource, |draft| draft.parse().err())
}

/// Checks that each field has the type of the contract.
pub(super) fn check_types<M: DeserializeOwned>(resource: Json) -> Result<(), serde_json::Error> {
    serde_json::from_value::<M>(resource).map(drop)
}

/// Returns the violations of a draft. The JSON follows the tables, whose names are those of the messages.
fn violations<M>(resource: Json, parse: impl Fn(M::Draft) -> Option<Violations>) -> Violations
where
    M: DeserializeOwned + IntoDraft,
{
    match serde_json::from_value::<M>(resource) {
        Ok(message) => parse(message.into_draft()).unwrap_or_default(),
        Err(error) => {
            let description = format!("cannot be sent: {error}");
            Violation::without_value("configuration", description).into()
        }
    }
}
