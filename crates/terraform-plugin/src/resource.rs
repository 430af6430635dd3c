//! Managed resources: what a provider's author writes for each.

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

/// A kind of object that Terraform creates, keeps and destroys.
///
/// The framework completes plans by the schema, refuses what contradicts them, and fits what the
/// methods return to the schema: absent attributes become null, lists become sets where they are
/// sets. A method that panics or is cancelled becomes an error.
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
///             .attribute("id", Attribute::computed(Type::String).keep())
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
    /// What the provider's configuration makes: [`crate::Provider::Client`].
    type Client: Send + Sync + 'static;

    /// Its attributes and blocks. Asked once.
    fn schema(&self) -> Schema;

    /// What names one object of this kind for good, if it has that. Where its attributes have the
    /// names of attributes of the schema, states need not say it again.
    fn identity(&self) -> Option<Identity> {
        None
    }

    /// How states of earlier schema versions become states of this one.
    fn upgrades(&self) -> Vec<Upgrade> {
        Vec::new()
    }

    /// Checks a configuration beyond the schema's rules. Parts of it may be unknown; the client is
    /// not there yet.
    fn validate(
        &self,
        ctx: &Context<Self::Client>,
        config: &Object,
    ) -> impl Future<Output = Outcome<()>> + Send {
        let _ = (ctx, config);
        ready(Ok(()))
    }

    /// Changes the plan of a creation or update beyond what the schema says.
    fn plan(
        &self,
        ctx: &Context<Self::Client>,
        plan: &mut Plan,
    ) -> impl Future<Output = Outcome<()>> + Send {
        let _ = (ctx, plan);
        ready(Ok(()))
    }

    /// Checks whether a destruction may be planned.
    fn plan_delete(
        &self,
        ctx: &Context<Self::Client>,
        prior: &State,
    ) -> impl Future<Output = Outcome<()>> + Send {
        let _ = (ctx, prior);
        ready(Ok(()))
    }

    /// Makes the object. What is known in the plan must stand in the state unchanged.
    ///
    /// To keep a half made object in the state, return it and [`Context::report`] the error.
    fn create(
        &self,
        ctx: &Context<Self::Client>,
        create: Create,
    ) -> impl Future<Output = Outcome<State>> + Send;

    /// Reads the object as it is now; `None` when it is gone. Secrets that cannot be read again stay
    /// as they are in `prior`.
    fn read(
        &self,
        ctx: &Context<Self::Client>,
        prior: State,
    ) -> impl Future<Output = Outcome<Option<State>>> + Send;

    /// Changes the object. On an error the state stays as it was.
    fn update(
        &self,
        ctx: &Context<Self::Client>,
        update: Update,
    ) -> impl Future<Output = Outcome<State>> + Send;

    /// Destroys the object. That it is gone already is no error.
    fn delete(
        &self,
        ctx: &Context<Self::Client>,
        prior: State,
    ) -> impl Future<Output = Outcome<()>> + Send;

    /// Finds the object of an import. What it returns may be partial: it is read right after.
    fn import(
        &self,
        ctx: &Context<Self::Client>,
        import: Import,
    ) -> impl Future<Output = Outcome<State>> + Send {
        let _ = (ctx, import);
        let detail = "Objects of this kind cannot be imported.";
        ready(Err(Diagnostic::error("Import is not possible", detail).into()))
    }

    /// Takes over the state of another resource, by a `moved` block; `None` when it cannot.
    fn take_over(
        &self,
        ctx: &Context<Self::Client>,
        from: Move,
    ) -> impl Future<Output = Outcome<Option<State>>> + Send {
        let _ = (ctx, from);
        ready(Ok(None))
    }
}
