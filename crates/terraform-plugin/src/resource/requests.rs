//! Arguments and results of a resource's methods.

use std::fmt;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::private::Private;
use crate::schema::Schema;
use crate::value::Object;
use crate::{Outcome, Path};

/// The state of an object.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct State {
    /// Attributes and blocks by the schema.
    pub values: Object,
    /// Private data next to the values. A default value keeps the existing data.
    pub private: Private,
    /// Identity, if the resource has one. `None` keeps the existing identity.
    pub identity: Option<Object>,
}

impl State {
    /// Creates a state from values. Keeps the private data.
    pub fn new(values: Object) -> Self {
        Self { values, ..Self::default() }
    }

    /// Sets the identity.
    #[must_use]
    pub fn with_identity(mut self, identity: Object) -> Self {
        self.identity = Some(identity);
        self
    }

    /// Sets the private data.
    #[must_use]
    pub fn with_private(mut self, private: Private) -> Self {
        self.private = private;
        self
    }
}

/// A creation.
#[derive(Clone, Debug, PartialEq)]
pub struct Create {
    /// Planned values. The state must contain the known ones. The provider sets the unknown ones.
    pub planned: Object,
    /// Configuration. Only it contains write-only values.
    pub config: Object,
    /// Private data of the plan.
    pub private: Private,
    /// Planned identity.
    pub identity: Option<Object>,
}

/// A change of an object in place.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// Current state.
    pub prior: State,
    /// Planned values. The state must contain the known ones. The provider sets the unknown ones.
    pub planned: Object,
    /// Configuration. Only it contains write-only values.
    pub config: Object,
    /// Private data of the plan.
    pub private: Private,
    /// Planned identity.
    pub identity: Option<Object>,
}

/// The plan of a creation or update, which the provider may change.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Current state. `None` for a creation.
    pub prior: Option<State>,
    /// Configuration with write-only values.
    pub config: Object,
    /// Planned values, already completed by the schema.
    pub planned: Object,
    /// Private data for the apply.
    pub private: Private,
    /// Attributes whose change replaces the object.
    pub replace: Vec<Path>,
    /// Identity, if it is already known.
    pub identity: Option<Object>,
}

/// The name of an object to import.
#[derive(Clone, Debug, PartialEq)]
pub enum Import {
    /// Text from `terraform import`, or from `id` in an `import` block.
    Id(String),
    /// Identity from `identity` in an `import` block.
    Identity(Object),
}

/// The state of another resource to convert to this one.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    /// Address of the other provider, such as `registry.terraform.io/hashicorp/null`.
    pub provider: String,
    /// Type name of the other resource.
    pub resource: String,
    /// Version of the other schema.
    pub version: i64,
    /// State of the other resource. If numbers must be exact, read it with
    /// [`crate::codec::from_json`].
    pub state: Json,
    pub private: Vec<u8>,
    pub identity: Option<Json>,
}

/// A state of an earlier version.
#[derive(Clone, Debug, PartialEq)]
pub enum Prior {
    /// Values by the schema of the upgrade.
    Values(Object),
    /// State as it was stored, if the upgrade has no schema.
    Raw(Json),
}

type Upgrader = dyn Fn(Prior) -> Outcome<Object> + Send + Sync;

/// An upgrade from the states of one earlier version to the current version, in one step.
#[derive(Clone)]
pub struct Upgrade {
    pub(crate) from: i64,
    pub(crate) schema: Option<Schema>,
    pub(crate) run: Arc<Upgrader>,
}

impl Upgrade {
    /// Creates an upgrade of states that `schema` describes.
    pub fn new(
        schema: Schema,
        run: impl Fn(Object) -> Outcome<Object> + Send + Sync + 'static,
    ) -> Self {
        let run = move |prior| match prior {
            Prior::Values(values) => run(values),
            Prior::Raw(_) => run(Object::new()),
        };
        Self { from: schema.version, schema: Some(schema), run: Arc::new(run) }
    }

    /// Creates an upgrade of states as they were stored.
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
