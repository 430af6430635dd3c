//! List resources: `terraform query` finds objects that exist, to be imported.

use std::future::{Future, ready};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc::Sender;

use crate::schema::Schema;
use crate::value::Object;
use crate::{Context, Diagnostics, Outcome};

/// How the objects of a resource are found. It has the name of the resource, which must have an
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
    /// What the provider's configuration makes: [`crate::Provider::Client`].
    type Client: Send + Sync + 'static;

    /// What a search may say. Asked once.
    fn schema(&self) -> Schema;

    /// Checks a search beyond the schema's rules. Parts of it may be unknown.
    fn validate(
        &self,
        ctx: &Context<Self::Client>,
        config: &Object,
    ) -> impl Future<Output = Outcome<()>> + Send {
        let _ = (ctx, config);
        ready(Ok(()))
    }

    /// Sends what is found, one by one, until there is no more or none is wanted.
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
    /// By the schema of the search, with defaults filled in.
    pub config: Object,
    /// Whether the objects themselves are wanted, and not their identities alone.
    pub include_resource: bool,
    /// No more than so many are wanted.
    pub limit: u64,
}

/// One object that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// What people call it.
    pub name: String,
    /// Its identity.
    pub identity: Object,
    /// The object, by the schema of the resource, where it was asked for.
    pub resource: Option<Object>,
    /// What is to say about it.
    pub diagnostics: Diagnostics,
}

impl Found {
    /// An object by name and identity.
    pub fn new(name: impl Into<String>, identity: Object) -> Self {
        let (name, diagnostics) = (name.into(), Diagnostics::new());
        Self { name, identity, resource: None, diagnostics }
    }

    /// The same with the object itself.
    #[must_use]
    pub fn with_resource(mut self, resource: Object) -> Self {
        self.resource = Some(resource);
        self
    }
}

/// Where what is found goes.
#[derive(Debug)]
pub struct Listing(pub(crate) Sender<Found>);

impl Listing {
    /// Sends one, as fast as Terraform takes them, and tells whether more are wanted.
    pub async fn send(&self, found: Found) -> bool {
        self.0.send(found).await.is_ok()
    }
}

/// [`ListResource`] with boxed futures.
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
