//! Managed resources: the traits that an author of a provider implements.

mod erased;
mod identity;
mod requests;

use std::future::{Future, ready};

pub(crate) use erased::ErasedResource;
pub use identity::{Identity, IdentityAttribute, IdentityUpgrade};
pub use requests::{Create, Import, Move, Plan, Prior, State, Update, Upgrade};

use crate::schema::Schema;
use crate::value::Object;
use crate::{Context, Diagnostic, Outcome};

/// A kind of object that Terraform creates, updates and deletes.
///
/// The framework completes plans by the schema and rejects results that contradict them. It fits
/// the results of the methods to the schema: absent attributes become null, and lists become sets
/// where the schema has sets. A method that panics or is cancelled becomes an error.
///
/// ```
/// use terraform_plugin::resource::{Create, Prior, Resource, State, Update};
/// use terraform_plugin::schema::{Attribute, Schema};
/// use terraform_plugin::{Context, Object, Outcome, Type};
///
/// struct Note;
///
/// impl Resource for Note {
///     type Client = ();
///
///     fn schema(&self) -> Schema {
///         Schema::new("A note that nobody keeps.")
///             .attribute("id", Attribute::computed(Type::String).use_state_for_unknown())
///             .attribute("text", Attribute::required(Type::String))
///     }
///
///     async fn create(&self, _: &Context<()>, create: Create) -> Outcome<State> {
///         Ok(State::new(create.planned.with("id", "1")))
///     }
///
///     async fn read(&self, _: &Context<()>, prior: State) -> Outcome<Option<State>> {
///         Ok(Some(prior))
///     }
///
///     async fn update(&self, _: &Context<()>, update: Update) -> Outcome<State> {
///         Ok(State::new(update.planned))
///     }
///
///     async fn delete(&self, _: &Context<()>, prior: State) -> Outcome<()> {
///         prior.values.get::<String>("id")?;
///         Ok(())
///     }
/// }
/// ```
pub trait Resource: Send + Sync + 'static {
    /// Client built by the provider's configuration: [`crate::Provider::Client`].
    type Client: Send + Sync + 'static;

    /// Returns its attributes and blocks. Called once.
    fn schema(&self) -> Schema;

    /// Returns the schema of its identity, if objects of this kind have one. Identity attributes
    /// with the names of schema attributes are read from the state if a result has no identity.
    fn identity(&self) -> Option<Identity> {
        None
    }

    /// Returns the upgrades from states of earlier schema versions.
    fn upgrades(&self) -> Vec<Upgrade> {
        Vec::new()
    }

    /// Validates a configuration beyond the schema's rules. Parts of it may be unknown. The client
    /// is not available.
    fn validate(
        &self,
        ctx: &Context<Self::Client>,
        config: &Object,
    ) -> impl Future<Output = Outcome<()>> + Send {
        let _ = (ctx, config);
        ready(Ok(()))
    }

    /// Changes the plan of a creation or update beyond the schema's rules.
    fn plan(
        &self,
        ctx: &Context<Self::Client>,
        plan: &mut Plan,
    ) -> impl Future<Output = Outcome<()>> + Send {
        let _ = (ctx, plan);
        ready(Ok(()))
    }

    /// Checks whether a deletion may be planned.
    fn plan_delete(
        &self,
        ctx: &Context<Self::Client>,
        prior: &State,
    ) -> impl Future<Output = Outcome<()>> + Send {
        let _ = (ctx, prior);
        ready(Ok(()))
    }

    /// Creates the object. The state must contain the known values of the plan unchanged.
    ///
    /// To record a partly created object in the state, return it and [`Context::report`] the error.
    fn create(
        &self,
        ctx: &Context<Self::Client>,
        create: Create,
    ) -> impl Future<Output = Outcome<State>> + Send;

    /// Reads the current object. Returns `None` if it is gone. Keep secrets that cannot be read
    /// again as they are in `prior`.
    fn read(
        &self,
        ctx: &Context<Self::Client>,
        prior: State,
    ) -> impl Future<Output = Outcome<Option<State>>> + Send;

    /// Changes the object. After an error the state remains as it was.
    fn update(
        &self,
        ctx: &Context<Self::Client>,
        update: Update,
    ) -> impl Future<Output = Outcome<State>> + Send;

    /// Deletes the object. Succeeds if the object is already gone.
    fn delete(
        &self,
        ctx: &Context<Self::Client>,
        prior: State,
    ) -> impl Future<Output = Outcome<()>> + Send;

    /// Finds the object of an import. The result may be partial, because a read follows.
    fn import(
        &self,
        ctx: &Context<Self::Client>,
        import: Import,
    ) -> impl Future<Output = Outcome<State>> + Send {
        let _ = (ctx, import);
        let detail = "This resource does not support import.";
        ready(Err(Diagnostic::error("Import is not supported", detail).into()))
    }

    /// Converts the state of another resource, for a `moved` block. Returns `None` if it cannot.
    fn move_state(
        &self,
        ctx: &Context<Self::Client>,
        from: Move,
    ) -> impl Future<Output = Outcome<Option<State>>> + Send {
        let _ = (ctx, from);
        ready(Ok(None))
    }
}
