//! Parts of a running server that answer requests, and the router that exposes them.

use std::sync::Arc;

use axum::middleware::{from_fn, from_fn_with_state};
use axum::{Extension, Router};
use contract::rpc;
use probe::Egress;
use rules::Region;
use store::{Store, StoreError};
use tokio_util::sync::CancellationToken;

use crate::auth::{Auth, AuthLayer};
use crate::context::Context;
use crate::control::ControlService;
use crate::domains::{ByHost, Domains};
use crate::edge::{self, Budget, Edge};
use crate::observe::{Metrics, health};
use crate::pipeline::{Notifier, Pipeline};
use crate::status_page::{AccessControl, DetailCache, Icons, PageCache, SubscribeLimits};
use crate::{docs, rpc as services, status_page, v1};

/// Dependencies of request handlers. Cheap to clone.
#[derive(Clone, Debug)]
pub struct App {
    pub ctx: Context,
    pub store: Store,
    pub pipeline: Pipeline,
    pub notifier: Notifier,
    pub auth: Arc<Auth>,
    pub metrics: Metrics,
    /// Memory budgets for request bodies.
    pub(crate) bodies: Budget,
    /// Cache of RPC responses.
    pub(crate) response_cache: Arc<services::CacheEntries>,
    /// Cache of rendered status pages.
    pub(crate) page_cache: Arc<PageCache>,
    /// Custom domains of status pages.
    pub(crate) domains: Arc<Domains>,
    /// Cache of the detail pages of status pages.
    pub(crate) detail_cache: Arc<DetailCache>,
    pub(crate) icons: Arc<Icons>,
    /// Access control of status pages.
    pub(crate) page_access: Arc<AccessControl>,
    /// Subscription to status pages.
    pub(crate) subscribe_limits: Arc<SubscribeLimits>,
    /// Egress policy for messages and checks.
    pub egress: Egress,
    /// Regions of a monitor that names none.
    pub default_regions: Arc<[Region]>,
}

impl App {
    /// Returns the router of all paths: operational endpoints, `/v1`, status pages, documentation
    /// and RPC services. The services are below `/rpc` and at the root, because stock gRPC clients
    /// cannot add a path prefix.
    ///
    /// On the custom domain of a page, only that page is served. Cancelling `stop` ends the streams
    /// that have no end.
    pub fn router(&self, stop: CancellationToken) -> Router {
        let pages_stop = stop.clone();
        let service = services::service(self, stop);
        let services = Router::new()
            .nest_service("/rpc", service.clone())
            .fallback_service(service)
            .layer(from_fn_with_state(
                self.response_cache_layer(),
                services::ResponseCache::serve_cached,
            ))
            .layer(from_fn_with_state(self.metrics.clone(), services::whole))
            .layer(from_fn_with_state(self.auth_layer(), AuthLayer::before_rpc))
            .layer(from_fn(services::normalize_headers));
        let pages = status_page::domain_routes(self, pages_stop.clone());
        let service = Router::new()
            .merge(health::routes(self))
            .merge(v1::routes(self))
            .merge(status_page::routes(self, pages_stop))
            .merge(docs::routes(self.page_cache.origin()))
            .fallback_service(services);
        let (domains, auth) = (Arc::clone(&self.domains), Arc::clone(&self.auth));
        let edge = Edge { ctx: self.ctx.clone(), budget: self.bodies.clone() };
        Router::new()
            .fallback_service(ByHost { domains, auth, service, pages })
            .layer(from_fn_with_state(edge, edge::edge))
    }

    /// Returns the router that serves the status page of a custom domain at the root of its host.
    /// `domain` is normalized as in [`rules::DomainName`].
    pub fn page_router(&self, domain: &str, stop: CancellationToken) -> Router {
        let domain = status_page::PageDomain(domain.to_owned());
        status_page::domain_routes(self, stop).layer(Extension(domain))
    }

    /// Returns the operations on workspaces and keys.
    pub fn control(&self) -> ControlService {
        let auth = Some(Arc::clone(&self.auth));
        ControlService::new(self.ctx.clone(), self.store.clone(), auth)
            .with_pipeline(self.pipeline.clone())
    }

    fn response_cache_layer(&self) -> services::ResponseCache {
        services::ResponseCache {
            ctx: self.ctx.clone(),
            store: self.store.clone(),
            metrics: self.metrics.clone(),
            entries: Arc::clone(&self.response_cache),
        }
    }

    pub(crate) fn auth_layer(&self) -> AuthLayer {
        AuthLayer { auth: Arc::clone(&self.auth), metrics: self.metrics.clone() }
    }
}

/// Returns the paths of all routes of [`App::router`] except the RPC services, with `{…}` for
/// parameters. The routers are built from the same lists.
pub fn paths() -> impl Iterator<Item = String> {
    let fixed = health::paths().chain(v1::paths()).chain(docs::paths());
    fixed.map(str::to_owned).chain(status_page::paths())
}

/// Converts an error of the store into an RPC error.
pub(crate) fn rpc_error(error: StoreError) -> rpc::Error {
    match error {
        StoreError::NotFound { what, id } => rpc::not_found(what, &id),
        StoreError::AlreadyExists { .. }
        | StoreError::Gone { .. }
        | StoreError::KeyReused { .. } => rpc::already_exists(error.to_string()),
        StoreError::Taken(violation) => rpc::taken(&violation.into()),
        StoreError::Refused(violation) => rpc::invalid(&violation.into()),
        StoreError::Conflict { .. } => rpc::conflict(error.to_string()),
        StoreError::PlanLimit { .. } => rpc::failed_precondition(error.to_string()),
        StoreError::Closed => rpc::deferred("the server is stopping; try again"),
        StoreError::NoSpace { .. } => {
            tracing::error!(%error, "a call failed: {error}");
            rpc::deferred(error.to_string())
        }
        StoreError::NotCommitted { .. }
        | StoreError::Database(_)
        | StoreError::NewerDatabase { .. }
        | StoreError::ChangedMigration { .. }
        | StoreError::Locked { .. }
        | StoreError::DatabaseInUse { .. }
        | StoreError::TakenOver
        | StoreError::NotEmpty { .. }
        | StoreError::Moved { .. }
        | StoreError::NoDatabase { .. }
        | StoreError::Emptied { .. }
        | StoreError::NotFresh { .. }
        | StoreError::NotEmbedded
        | StoreError::Address { .. }
        | StoreError::Unconfirmed { .. }
        | StoreError::Folder { .. }
        | StoreError::KeyFile { .. }
        | StoreError::WrongMasterKey
        | StoreError::Corrupt { .. } => {
            tracing::error!(%error, "a call failed: {error}");
            rpc::internal()
        }
    }
}
