//! Providers: the things that a plugin offers, and the client that its configuration builds.

mod catalog;
mod described;

use std::future::{Future, ready};

pub use catalog::Catalog;
pub use described::Described;

use crate::schema::Schema;
use crate::value::Object;
use crate::{Context, Outcome};

/// A provider. Serve it with [`crate::serve`].
///
/// ```
/// use terraform_plugin::schema::{Attribute, Schema};
/// use terraform_plugin::{Catalog, Context, Object, Outcome, Provider, Type};
///
/// struct Example;
///
/// impl Provider for Example {
///     type Client = String;
///
///     fn schema(&self) -> Schema {
///         Schema::new("An example.").attribute("greeting", Attribute::optional(Type::String))
///     }
///
///     async fn configure(&self, _: &Context<String>, config: Object) -> Outcome<String> {
///         Ok(config.get::<Option<String>>("greeting")?.unwrap_or_else(|| "hello".to_owned()))
///     }
///
///     fn catalog(&self) -> Catalog<String> {
///         Catalog::new()
///     }
/// }
/// ```
pub trait Provider: Send + Sync + 'static {
    /// Value that all handlers share, usually a client of the provider's service.
    type Client: Send + Sync + 'static;

    /// Returns the schema of its configuration. Called once.
    fn schema(&self) -> Schema;

    /// Returns its resources, data sources and everything else that it offers, by full name. Called
    /// once.
    fn catalog(&self) -> Catalog<Self::Client>;

    /// Validates a configuration beyond the schema's rules. Parts of it may be unknown.
    fn validate(
        &self,
        ctx: &Context<Self::Client>,
        config: &Object,
    ) -> impl Future<Output = Outcome<()>> + Send {
        let _ = (ctx, config);
        ready(Ok(()))
    }

    /// Builds the client from a configuration. During planning, parts of it may be unknown, because
    /// they depend on other resources.
    fn configure(
        &self,
        ctx: &Context<Self::Client>,
        config: Object,
    ) -> impl Future<Output = Outcome<Self::Client>> + Send;
}
