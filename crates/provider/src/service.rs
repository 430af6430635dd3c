//! What the service has for each resource: its calls, one module a service of the contract, all
//! behind one shape. Values travel as the wire's JSON. When a call is made belongs to `resource`.

mod monitor;
mod notification;
mod status_page;

use contract::rpc;
use futures_util::future::BoxFuture;
use rules::Violations;
use serde_json::Value as Json;

pub use self::monitor::{DNS_MONITORS, HTTP_MONITORS, TCP_MONITORS, any as any_monitor};
pub use self::notification::NOTIFICATIONS;
pub use self::status_page::{COMPONENTS, GROUPS, PAGES};
use crate::client::{Client, Failure};

/// What the service answers of one resource.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The resource as the wire's JSON.
    pub resource: Json,
    /// What its writer should know.
    pub warnings: Vec<Warning>,
}

/// Something that was stored all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Path from the request on, such as `notification.provider_type`.
    pub field: String,
    /// What the matter is and the way out.
    pub message: String,
}

/// A page of a list.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The resources as the wire's JSON, in the order of their ids.
    pub resources: Vec<Json>,
    /// Token of the next page; empty on the last.
    pub next: String,
}

type Called<'a, A> = BoxFuture<'a, Result<A, Failure>>;

/// The calls for the resources of one kind.
#[derive(Debug)]
pub struct Service {
    /// What the product calls one of them.
    pub noun: &'static str,
    /// What is wrong with a resource that was written like this, before anybody is asked.
    pub refused: fn(Json) -> Violations,
    /// Creates one.
    pub create: for<'a> fn(&'a Client, Json) -> Called<'a, Answer>,
    /// Reads the one with this id.
    pub get: for<'a> fn(&'a Client, Id) -> Called<'a, Answer>,
    /// Changes what the mask names.
    pub update: for<'a> fn(&'a Client, Json, Vec<String>) -> Called<'a, Answer>,
    /// Deletes the one with this id.
    pub delete: for<'a> fn(&'a Client, String) -> Called<'a, ()>,
    /// A page of all of them.
    pub list: for<'a> fn(&'a Client, Asked) -> Called<'a, Page>,
}

/// Which resource is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Id {
    /// Its identifier.
    pub id: String,
    /// The page it belongs to, where it belongs to one and that is known.
    pub page_id: Option<String>,
}

/// Which page of a list is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// [`Page::next`] of the page before; empty for the first.
    pub token: String,
    /// Only what belongs to this status page, where such things do.
    pub page_id: Option<String>,
}

impl Asked {
    fn token(&self) -> Option<String> {
        Some(self.token.clone()).filter(|token| !token.is_empty())
    }
}

/// The message that this JSON is. It was made by the tables, whose names are those of the messages.
fn message<M: serde::de::DeserializeOwned>(json: Json) -> Result<M, rpc::Error> {
    serde_json::from_value(json)
        .map_err(|error| rpc::Error::internal(format!("the wire has no place for it: {error}")))
}

/// The JSON of a message, which it has not where the service sent an instant that there is not.
fn json<M: serde::Serialize>(message: &M) -> Result<Json, rpc::Error> {
    serde_json::to_value(message)
        .map_err(|error| rpc::Error::internal(format!("failed to read the answer: {error}")))
}

/// What is wrong with the draft of a message.
fn judged<M, D>(json: Json, parse: impl Fn(D) -> Option<Violations>) -> Violations
where
    M: serde::de::DeserializeOwned + Into<D>,
{
    match message::<M>(json) {
        Ok(message) => parse(message.into()).unwrap_or_default(),
        Err(error) => {
            let said = error.message.unwrap_or_default();
            rules::Violation::unseen("configuration", format!("cannot be sent: {said}")).into()
        }
    }
}

/// The JSON of what an answer must have. An answer without it is not the service's.
fn present<M: serde::Serialize>(noun: &str, message: Option<&M>) -> Result<Json, rpc::Error> {
    match message {
        Some(message) => json(message),
        None => Err(rpc::Error::internal(format!("it has no {noun}"))),
    }
}
