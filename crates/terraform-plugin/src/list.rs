//! List resources: `terraform query` finds existing objects to import.

use std::future::{Future, ready};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc::Sender;

use crate::schema::Schema;
use crate::value::Object;
use crate::{Context, Diagnostics, Outcome};

/// A search for the objects of a resource. It has the name of the resource, which must have an
/// identity.
///
/// ```
/// use terraform_plugin::list::{Found, ListResource, Listing, Query};
/// use terraform_plugin::schema::Schema;
/// use terraform_plugin::{Context, Object, Outcome};
///
/// struct Notes;
///
/// impl ListResource for Notes {
///     type Client = Vec<String>;
///
///     fn schema(&self) -> Schema {
///         Schema::new("All notes.")
///     }
///
///     async fn list(&self, ctx: &Context<Vec<String>>, _: Query, found: &Listing) -> Outcome<()> {
///         for id in ctx.client()? {
///             if !found.send(Found::new(id, Object::new().with("id", id))).await {
///                 break;
///             }
///         }
///         Ok(())
///     }
/// }
/// ```
pub trait ListResource: Send + Sync + 'static {
    /// Client built by the provider's configuration: [`crate::Provider::Client`].
    type Client: Send + Sync + 'static;

    /// Returns the arguments of a search. Called once.
    fn schema(&self) -> Schema;

    /// Validates a search beyond the schema's rules. Parts of it may be unknown.
    fn validate(
        &self,
        ctx: &Context<Self::Client>,
        config: &Object,
    ) -> impl Future<Output = Outcome<()>> + Send {
        let _ = (ctx, config);
        ready(Ok(()))
    }

    /// Sends the objects found, one by one, until all are sent or Terraform wants no more.
    fn list(
        &self,
        ctx: &Context<Self::Client>,
        query: Query,
        found: &Listing,
    ) -> impl Future<Output = Outcome<()>> + Send;
}

/// A search.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Arguments by the schema of the search, with defaults.
    pub config: Object,
    /// Whether to send the objects, and not only their identities.
    pub include_resource: bool,
    /// Maximum number of objects.
    pub limit: u64,
}

/// An object found by a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Display name.
    pub name: String,
    /// Identity of the object.
    pub identity: Object,
    /// The object by the schema of the resource, if requested.
    pub resource: Option<Object>,
    /// Warnings and errors about the object.
    pub diagnostics: Diagnostics,
}

impl Found {
    /// Creates a result from a name and an identity.
    pub fn new(name: impl Into<String>, identity: Object) -> Self {
        let (name, diagnostics) = (name.into(), Diagnostics::new());
        Self { name, identity, resource: None, diagnostics }
    }

    /// Adds the object itself.
    #[must_use]
    pub fn with_resource(mut self, resource: Object) -> Self {
        self.resource = Some(resource);
        self
    }
}

/// Sender of the objects found.
#[derive(Debug)]
pub struct Listing(pub(crate) Sender<Found>);

impl Listing {
    /// Sends an object and waits until Terraform has room for it. Returns whether Terraform wants
    /// more.
    pub async fn send(&self, found: Found) -> bool {
        self.0.send(found).await.is_ok()
    }
}

/// Object-safe form of [`ListResource`], with boxed futures.
pub(crate) trait ErasedList<C>: Send + Sync {
    fn schema(&self) -> Schema;
    fn validate<'a>(
        &'a self,
        ctx: &'a Context<C>,
        config: &'a Object,
    ) -> BoxFuture<'a, Outcome<()>>;
    fn list<'a>(
        &'a self,
        ctx: &'a Context<C>,
        query: Query,
        found: &'a Listing,
    ) -> BoxFuture<'a, Outcome<()>>;
}

impl<L: ListResource> ErasedList<L::Client> for L {
    fn schema(&self) -> Schema {
        ListResource::schema(self)
    }

    fn validate<'a>(
        &'a self,
        ctx: &'a Context<L::Client>,
        config: &'a Object,
    ) -> BoxFuture<'a, Outcome<()>> {
        ListResource::validate(self, ctx, config).boxed()
    }

    fn list<'a>(
        &'a self,
        ctx: &'a Context<L::Client>,
        query: Query,
        found: &'a Listing,
    ) -> BoxFuture<'a, Outcome<()>> {
        ListResource::list(self, ctx, query, found).boxed()
    }
}
