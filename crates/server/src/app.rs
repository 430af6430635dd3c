//! Parts of a running server that answer requests, and the router that exposes them.

use std::sync::Arc;

use axum::middleware::{from_fn, from_fn_with_state};
use axum::{Extension, Router};
use pages::{PageDomain, Pages};
use probe::Egress;
use rules::Region;
use store::Store;
use tokio_util::sync::CancellationToken;
use web::context::Context;
use web::proxies::TrustedProxies;

use crate::auth::Auth;
use crate::control::ControlService;
use crate::demo::DemoState;
use crate::domains::{Domains, HostRouter};
use crate::edge::{self, Budget, Edge};
use crate::gate::AuthLayer;
use crate::health::{self, HealthState};
use crate::housekeeping::Housekeeping;
use crate::observe::Metrics;
use crate::pipeline::{Notifier, Pipeline};
use crate::rpc::{self, ResponseCache, ResponseEntries, Services};
use crate::v1::{self, V1State};

/// Composes the surfaces of a running server. Each gets only the parts that it needs, and only
/// `boot` imports this type.
#[derive(Clone, Debug)]
pub struct App {
    pub ctx: Context,
    pub store: Store,
    pub pipeline: Pipeline,
    pub notifier: Notifier,
    pub auth: Arc<Auth>,
    pub metrics: Metrics,
    pub pages: Pages,
    /// The operator's proxies.
    pub(crate) proxies: TrustedProxies,
    /// Memory budgets for request bodies.
    pub(crate) bodies: Budget,
    /// Cache of RPC responses.
    pub(crate) response_cache: Arc<ResponseEntries>,
    /// Custom domains of status pages.
    pub(crate) domains: Arc<Domains>,
    /// Egress policy for messages and checks.
    pub(crate) egress: Egress,
    /// Regions of a monitor that names none.
    pub(crate) default_regions: Arc<[Region]>,
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
        let rpc_service = rpc::service(&self.services(), stop);
        let rpc_routes = Router::new()
            .nest_service("/rpc", rpc_service.clone())
            .fallback_service(rpc_service)
            .layer(from_fn_with_state(self.response_cache_layer(), ResponseCache::serve_cached))
            .layer(from_fn_with_state(self.metrics.clone(), rpc::buffer_body))
            .layer(from_fn_with_state(self.auth_layer(), AuthLayer::before_rpc))
            .layer(from_fn(rpc::normalize_headers));
        let pages = pages::domain_routes(&self.pages, pages_stop.clone());
        let service = Router::new()
            .merge(health::routes(self.health()))
            .merge(v1::routes(self.keys(), self.auth_layer()))
            .merge(pages::routes(&self.pages, pages_stop))
            .merge(documentation::routes(self.pages.public_url()))
            .fallback_service(rpc_routes);
        let (domains, proxies) = (Arc::clone(&self.domains), self.proxies.clone());
        let edge = Edge { ctx: self.ctx.clone(), budget: self.bodies.clone() };
        Router::new()
            .fallback_service(HostRouter { domains, proxies, service, pages })
            .layer(from_fn_with_state(edge, edge::edge))
    }

    /// Returns the router that serves the status page of a custom domain at the root of its host.
    /// `domain` is normalized as in [`rules::DomainName`].
    pub fn page_router(&self, domain: &str, stop: CancellationToken) -> Router {
        let domain = PageDomain(domain.to_owned());
        pages::domain_routes(&self.pages, stop).layer(Extension(domain))
    }

    /// Returns the operations on workspaces and keys.
    pub fn control(&self) -> ControlService {
        let auth = Some(Arc::clone(&self.auth));
        ControlService::new(self.ctx.clone(), self.store.clone(), auth)
            .with_pipeline(self.pipeline.clone())
    }

    /// Returns the parts that the demo fills.
    pub(crate) fn demo(&self) -> DemoState {
        DemoState {
            ctx: self.ctx.clone(),
            store: self.store.clone(),
            pipeline: self.pipeline.clone(),
            default_regions: Arc::clone(&self.default_regions),
        }
    }

    /// Returns the parts that need upkeep.
    pub(crate) fn housekeeping(&self) -> Housekeeping {
        Housekeeping {
            ctx: self.ctx.clone(),
            store: self.store.clone(),
            auth: Arc::clone(&self.auth),
            pages: self.pages.clone(),
            response_cache: Arc::clone(&self.response_cache),
        }
    }

    fn services(&self) -> Services {
        Services {
            ctx: self.ctx.clone(),
            store: self.store.clone(),
            pipeline: self.pipeline.clone(),
            notifier: self.notifier.clone(),
            metrics: self.metrics.clone(),
            pages: self.pages.clone(),
            domains: Arc::clone(&self.domains),
            egress: self.egress.clone(),
            default_regions: Arc::clone(&self.default_regions),
        }
    }

    fn keys(&self) -> V1State {
        let auth = Arc::clone(&self.auth);
        V1State { ctx: self.ctx.clone(), store: self.store.clone(), auth }
    }

    fn health(&self) -> HealthState {
        HealthState {
            store: self.store.clone(),
            pipeline: self.pipeline.clone(),
            metrics: self.metrics.clone(),
        }
    }

    fn response_cache_layer(&self) -> ResponseCache {
        ResponseCache {
            ctx: self.ctx.clone(),
            store: self.store.clone(),
            metrics: self.metrics.clone(),
            entries: Arc::clone(&self.response_cache),
        }
    }

    fn auth_layer(&self) -> AuthLayer {
        AuthLayer { auth: Arc::clone(&self.auth), metrics: self.metrics.clone() }
    }
}

/// Returns the paths of all routes of [`App::router`] except the RPC services, with `{…}` for
/// parameters. The routers are built from the same lists.
pub fn paths() -> impl Iterator<Item = String> {
    let fixed = health::paths().chain(v1::paths()).chain(documentation::paths());
    fixed.map(str::to_owned).chain(pages::paths())
}
