//! Data sources: objects that a configuration can look up.

use std::future::{Future, ready};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::schema::Schema;
use crate::value::Object;
use crate::{Context, Outcome};

/// A kind of object that configurations can read.
///
/// ```
/// use terraform_plugin::data_source::DataSource;
/// use terraform_plugin::schema::{Attribute, Schema};
/// use terraform_plugin::{Context, Object, Outcome, Type};
///
/// struct Shout;
///
/// impl DataSource for Shout {
///     type Client = ();
///
///     fn schema(&self) -> Schema {
///         Schema::new("Says it louder.")
///             .attribute("text", Attribute::required(Type::String))
///             .attribute("loud", Attribute::computed(Type::String))
///     }
///
///     async fn read(&self, _: &Context<()>, config: Object) -> Outcome<Object> {
///         let loud = config.get::<String>("text")?.to_uppercase();
///         Ok(config.with("loud", loud))
///     }
/// }
/// ```
pub trait DataSource: Send + Sync + 'static {
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

    /// Reads the object. `config` is wholly known and has its defaults. Returns the configuration
    /// with the computed attributes.
    fn read(
        &self,
        ctx: &Context<Self::Client>,
        config: Object,
    ) -> impl Future<Output = Outcome<Object>> + Send;
}

/// Object-safe form of [`DataSource`], with boxed futures.
pub(crate) trait ErasedDataSource<C>: Send + Sync {
    fn schema(&self) -> Schema;
    fn validate<'a>(
        &'a self,
        ctx: &'a Context<C>,
        config: &'a Object,
    ) -> BoxFuture<'a, Outcome<()>>;
    fn read<'a>(&'a self, ctx: &'a Context<C>, config: Object) -> BoxFuture<'a, Outcome<Object>>;
}

impl<D: DataSource> ErasedDataSource<D::Client> for D {
    fn schema(&self) -> Schema {
        DataSource::schema(self)
    }

    fn validate<'a>(
        &'a self,
        ctx: &'a Context<D::Client>,
        config: &'a Object,
    ) -> BoxFuture<'a, Outcome<()>> {
        DataSource::validate(self, ctx, config).boxed()
    }

    fn read<'a>(
        &'a self,
        ctx: &'a Context<D::Client>,
        config: Object,
    ) -> BoxFuture<'a, Outcome<Object>> {
        DataSource::read(self, ctx, config).boxed()
    }
}
