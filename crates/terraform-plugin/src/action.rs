//! Actions: what a configuration may have done, apart from any resource.

use std::future::{Future, ready};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc::Sender;

use crate::schema::Schema;
use crate::value::Object;
use crate::{Context, Outcome};

/// Something that can be done.
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
///         progress.say(format!("ringing {}", config.get::<String>("bell")?)).await;
///         Ok(())
///     }
/// }
/// ```
pub trait Action: Send + Sync + 'static {
    /// What the provider's configuration makes: [`crate::Provider::Client`].
    type Client: Send + Sync + 'static;

    /// Its attributes and blocks, none of which is computed. Asked once.
    fn schema(&self) -> Schema;

    /// Checks a configuration beyond the schema's rules. Parts of it may be unknown.
    fn validate(
        &self,
        ctx: &Context<Self::Client>,
        config: &Object,
    ) -> impl Future<Output = Outcome<()>> + Send {
        let _ = (ctx, config);
        ready(Ok(()))
    }

    /// Checks while planning whether it can be done. Parts of `config` may be unknown.
    fn plan(
        &self,
        ctx: &Context<Self::Client>,
        config: &Object,
    ) -> impl Future<Output = Outcome<()>> + Send {
        let _ = (ctx, config);
        ready(Ok(()))
    }

    /// Does it. `config` is wholly known and has defaults filled in.
    fn invoke(
        &self,
        ctx: &Context<Self::Client>,
        config: Object,
        progress: &Progress,
    ) -> impl Future<Output = Outcome<()>> + Send;
}

/// Where an action says how far it is.
#[derive(Debug)]
pub struct Progress(pub(crate) Sender<String>);

impl Progress {
    /// Shows a line to the person at Terraform.
    pub async fn say(&self, message: impl Into<String>) {
        // Nobody listens any more once Terraform has gone; the action itself goes on.
        drop(self.0.send(message.into()).await);
    }
}

/// [`Action`] with boxed futures.
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
