//! Ephemeral resources: values for one run, stored in no state.

use std::future::{Future, ready};
use std::time::SystemTime;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::schema::Schema;
use crate::value::Object;
use crate::{Context, Outcome, Private};

/// A kind of value that is opened, optionally renewed, and closed.
///
/// ```
/// use terraform_plugin::ephemeral::{EphemeralResource, Opened};
/// use terraform_plugin::schema::{Attribute, Schema};
/// use terraform_plugin::{Context, Object, Outcome, Type};
///
/// struct Token;
///
/// impl EphemeralResource for Token {
///     type Client = ();
///
///     fn schema(&self) -> Schema {
///         Schema::new("A token for one run.")
///             .attribute("token", Attribute::computed(Type::String).sensitive())
///     }
///
///     async fn open(&self, _: &Context<()>, config: Object) -> Outcome<Opened> {
///         Ok(Opened::new(config.with("token", "secret")))
///     }
/// }
/// ```
pub trait EphemeralResource: Send + Sync + 'static {
    /// Client built by the provider's configuration: [`crate::Provider::Client`].
    type Client: Send + Sync + 'static;

    /// Returns its attributes and blocks. Called once.
    fn schema(&self) -> Schema;

    /// Validates a configuration beyond the schema's rules. Parts of it may be unknown.
    fn validate(
        &self,
        ctx: &Context<Self::Client>,
        config: &Object,
    ) -> impl Future<Output = Outcome<()>> + Send {
        let _ = (ctx, config);
        ready(Ok(()))
    }

    /// Opens the value. `config` has its defaults.
    fn open(
        &self,
        ctx: &Context<Self::Client>,
        config: Object,
    ) -> impl Future<Output = Outcome<Opened>> + Send;

    /// Extends the value's lifetime. Called at the time that [`Opened`] names.
    fn renew(
        &self,
        ctx: &Context<Self::Client>,
        private: Private,
    ) -> impl Future<Output = Outcome<Renewed>> + Send {
        let _ = ctx;
        ready(Ok(Renewed { private, renew_at: None }))
    }

    /// Closes the value.
    fn close(
        &self,
        ctx: &Context<Self::Client>,
        private: Private,
    ) -> impl Future<Output = Outcome<()>> + Send {
        let _ = (ctx, private);
        ready(Ok(()))
    }
}

/// A value that was opened.
#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    /// Configuration with the computed attributes.
    pub values: Object,
    /// Data for renewing and closing.
    pub private: Private,
    /// Time at which it must be renewed.
    pub renew_at: Option<SystemTime>,
}

/// A value that was renewed.
#[derive(Clone, Debug, PartialEq)]
pub struct Renewed {
    /// Data for the next renewing and closing.
    pub private: Private,
    /// Time at which it must be renewed again.
    pub renew_at: Option<SystemTime>,
}

impl Opened {
    /// Creates a value that lasts for the whole run.
    pub fn new(values: Object) -> Self {
        Self { values, private: Private::default(), renew_at: None }
    }
}

/// Object-safe form of [`EphemeralResource`], with boxed futures.
pub(crate) trait ErasedEphemeral<C>: Send + Sync {
    fn schema(&self) -> Schema;
    fn validate<'a>(
        &'a self,
        ctx: &'a Context<C>,
        config: &'a Object,
    ) -> BoxFuture<'a, Outcome<()>>;
    fn open<'a>(&'a self, ctx: &'a Context<C>, config: Object) -> BoxFuture<'a, Outcome<Opened>>;
    fn renew<'a>(
        &'a self,
        ctx: &'a Context<C>,
        private: Private,
    ) -> BoxFuture<'a, Outcome<Renewed>>;
    fn close<'a>(&'a self, ctx: &'a Context<C>, private: Private) -> BoxFuture<'a, Outcome<()>>;
}

impl<E: EphemeralResource> ErasedEphemeral<E::Client> for E {
    fn schema(&self) -> Schema {
        EphemeralResource::schema(self)
    }

    fn validate<'a>(
        &'a self,
        ctx: &'a Context<E::Client>,
        config: &'a Object,
    ) -> BoxFuture<'a, Outcome<()>> {
        EphemeralResource::validate(self, ctx, config).boxed()
    }

    fn open<'a>(
        &'a self,
        ctx: &'a Context<E::Client>,
        config: Object,
    ) -> BoxFuture<'a, Outcome<Opened>> {
        EphemeralResource::open(self, ctx, config).boxed()
    }

    fn renew<'a>(
        &'a self,
        ctx: &'a Context<E::Client>,
        private: Private,
    ) -> BoxFuture<'a, Outcome<Renewed>> {
        EphemeralResource::renew(self, ctx, private).boxed()
    }

    fn close<'a>(
        &'a self,
        ctx: &'a Context<E::Client>,
        private: Private,
    ) -> BoxFuture<'a, Outcome<()>> {
        EphemeralResource::close(self, ctx, private).boxed()
    }
}
