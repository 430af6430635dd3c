//! What the methods of a resource get and return.

use std::fmt;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::private::Private;
use crate::schema::Schema;
use crate::value::Object;
use crate::{Outcome, Path};

/// An object as Terraform keeps it.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct State {
    /// Attributes and blocks, as the schema says.
    pub values: Object,
    /// What is kept beside them, unseen. One that nothing was done to keeps what was there.
    pub private: Private,
    /// What names the object for good, where the resource has an identity; `None` keeps what it was.
    pub identity: Option<Object>,
}

impl State {
    /// A state of values. What is kept beside them stays as it was.
    pub fn new(values: Object) -> Self {
        Self { values, ..Self::default() }
    }

    /// The same with an identity.
    #[must_use]
    pub fn with_identity(mut self, identity: Object) -> Self {
        self.identity = Some(identity);
        self
    }

    /// The same with private state.
    #[must_use]
    pub fn with_private(mut self, private: Private) -> Self {
        self.private = private;
        self
    }
}

/// A creation.
#[derive(Clone, Debug, PartialEq)]
pub struct Create {
    /// What must stand in the state, where it is known. Unknown attributes are the provider's to say.
    pub planned: Object,
    /// The configuration: the only place that has write-only values.
    pub config: Object,
    /// What the plan put aside.
    pub private: Private,
    /// The identity as planned.
    pub identity: Option<Object>,
}

/// A change of an object in place.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// The object as it is.
    pub prior: State,
    /// What must stand in the state, where it is known. Unknown attributes are the provider's to say.
    pub planned: Object,
    /// The configuration: the only place that has write-only values.
    pub config: Object,
    /// What the plan put aside.
    pub private: Private,
    /// The identity as planned.
    pub identity: Option<Object>,
}

/// The plan of a creation or update, to be changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The object as it is; `None` for a creation.
    pub prior: Option<State>,
    /// The configuration, with write-only values.
    pub config: Object,
    /// What is planned: completed by the schema already.
    pub planned: Object,
    /// Put aside for the apply.
    pub private: Private,
    /// Attributes whose change replaces the object.
    pub replace: Vec<Path>,
    /// The identity, if it is known already.
    pub identity: Option<Object>,
}

/// By what an object to be imported is named.
#[derive(Clone, Debug, PartialEq)]
pub enum Import {
    /// By text: `terraform import`, or `id` of an import block.
    Id(String),
    /// By its identity: `identity` of an import block.
    Identity(Object),
}

/// The state of another resource that this one shall take over.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    /// The address of the other provider, such as `registry.terraform.io/hashicorp/null`.
    pub provider: String,
    /// The type name of the other resource.
    pub resource: String,
    /// The version of the other schema.
    pub version: i64,
    /// The other state. Read it with [`crate::codec::from_json`] where numbers must be exact.
    pub state: Json,
    /// The other private state.
    pub private: Vec<u8>,
    /// The other identity, where there is one.
    pub identity: Option<Json>,
}

/// A state of an earlier version.
#[derive(Clone, Debug, PartialEq)]
pub enum Prior {
    /// By the schema that the upgrade names.
    Values(Object),
    /// As it was stored, where the upgrade names no schema.
    Raw(Json),
}

type Upgrader = dyn Fn(Prior) -> Outcome<Object> + Send + Sync;

/// How the states of one earlier version become states of the present one, in one step.
#[derive(Clone)]
pub struct Upgrade {
    pub(crate) from: i64,
    pub(crate) schema: Option<Schema>,
    pub(crate) run: Arc<Upgrader>,
}

impl Upgrade {
    /// An upgrade of states that `schema` describes.
    pub fn of(
        schema: Schema,
        run: impl Fn(Object) -> Outcome<Object> + Send + Sync + 'static,
    ) -> Self {
        let run = move |prior| match prior {
            Prior::Values(values) => run(values),
            Prior::Raw(_) => run(Object::new()),
        };
        Self { from: schema.version, schema: Some(schema), run: Arc::new(run) }
    }

    /// An upgrade of states as they were stored.
    pub fn raw(from: i64, run: impl Fn(Json) -> Outcome<Object> + Send + Sync + 'static) -> Self {
        let run = move |prior| match prior {
            Prior::Raw(json) => run(json),
            Prior::Values(_) => run(Json::Null),
        };
        Self { from, schema: None, run: Arc::new(run) }
    }
}

impl fmt::Debug for Upgrade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upgrade").field("from", &self.from).finish_non_exhaustive()
    }
}
