//! Actions: operations that a configuration can trigger apart from any resource.

use std::future::{Future, ready};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc::Sender;

use crate::schema::Schema;
use crate::value::Object;
use crate::{Context, Outcome};

/// An operation that configurations can trigger.
///
/// ```
/// use terraform_plugin::action::{Action, Progress};
/// use terraform_plugin::schema::{Attribute, Schema};
/// use terraform_plugin::{Context, Object, Outcome, Type};
///
/// struct Ring;
///
/// impl Action for Ring {
///     type Client = ();
///
///     fn schema(&self) -> Schema {
///         Schema::new("Rings a bell.").attribute("bell", Attribute::required(Type::String))
///     }
///
///     async fn invoke(&self, _: &Context<()>, config: Object, progress: &Progress) -> Outcome<()> {
///         progress.report(format!("ringing {}", config.get::<String>("bell")?)).await;
///         Ok(())
///     }
/// }
/// ```
pub trait Action: Send + Sync + 'static {
    /// Client built by the provider's configuration: [`crate::Provider::Client`].
    type Client: Send + Sync + 'static;

    /// Returns its attributes and blocks, none of which may be computed. Called once.
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

    /// Checks during planning whether the action can run. Parts of `config` may be unknown.
    fn plan(
        &self,
        ctx: &Context<Self::Client>,
        config: &Object,
    ) -> impl Future<Output = Outcome<()>> + Send {
        let _ = (ctx, config);
        ready(Ok(()))
    }

    /// Runs the action. `config` is wholly known and has its defaults.
    fn invoke(
        &self,
        ctx: &Context<Self::Client>,
        config: Object,
        progress: &Progress,
    ) -> impl Future<Output = Outcome<()>> + Send;
}

/// Sender of progress messages.
#[derive(Debug)]
pub struct Progress(pub(crate) Sender<String>);

impl Progress {
    /// Shows a line to the person who runs Terraform.
    pub async fn report(&self, message: impl Into<String>) {
        // The receiver is gone once Terraform has disconnected. The action itself continues.
        drop(self.0.send(message.into()).await);
    }
}

/// Object-safe form of [`Action`], with boxed futures.
pub(crate) trait ErasedAction<C>: Send + Sync {
    fn schema(&self) -> Schema;
    fn validate<'a>(
        &'a self,
        ctx: &'a Context<C>,
        config: &'a Object,
    ) -> BoxFuture<'a, Outcome<()>>;
    fn plan<'a>(&'a self, ctx: &'a Context<C>, config: &'a Object) -> BoxFuture<'a, Outcome<()>>;
    fn invoke<'a>(
        &'a self,
        ctx: &'a Context<C>,
        config: Object,
        progress: &'a Progress,
    ) -> BoxFuture<'a, Outcome<()>>;
}

impl<A: Action> ErasedAction<A::Client> for A {
    fn schema(&self) -> Schema {
        Action::schema(self)
    }

    fn validate<'a>(
        &'a self,
        ctx: &'a Context<A::Client>,
        config: &'a Object,
    ) -> BoxFuture<'a, Outcome<()>> {
        Action::validate(self, ctx, config).boxed()
    }

    fn plan<'a>(
        &'a self,
        ctx: &'a Context<A::Client>,
        config: &'a Object,
    ) -> BoxFuture<'a, Outcome<()>> {
        Action::plan(self, ctx, config).boxed()
    }

    fn invoke<'a>(
        &'a self,
        ctx: &'a Context<A::Client>,
        config: Object,
        progress: &'a Progress,
    ) -> BoxFuture<'a, Outcome<()>> {
        Action::invoke(self, ctx, config, progress).boxed()
    }
}
