//! Providers: what a plugin offers, and the client that its configuration makes.

mod catalog;
mod described;

use std::future::{Future, ready};

pub use catalog::Catalog;
pub use described::Described;

use crate::schema::Schema;
use crate::value::Object;
use crate::{Context, Outcome};

/// A provider: serve it with [`crate::serve`].
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
    /// What the handlers work with: mostly a client of the provider's service.
    type Client: Send + Sync + 'static;

    /// What its configuration may say. Asked once.
    fn schema(&self) -> Schema;

    /// Resources, data sources and all else that it offers, by their full names. Asked once.
    fn catalog(&self) -> Catalog<Self::Client>;

    /// Checks a configuration beyond the schema's rules. Parts of it may be unknown.
    fn validate(
        &self,
        ctx: &Context<Self::Client>,
        config: &Object,
    ) -> impl Future<Output = Outcome<()>> + Send {
        let _ = (ctx, config);
        ready(Ok(()))
    }

    /// Makes the client of a configuration. While planning, parts of it may be unknown: a value
    /// that another resource will have.
    fn configure(
        &self,
        ctx: &Context<Self::Client>,
        config: Object,
    ) -> impl Future<Output = Outcome<Self::Client>> + Send;
}
