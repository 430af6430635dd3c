//! Parts of a running server that answer requests, and the router that exposes them.

use std::sync::Arc;

use axum::middleware::{from_fn, from_fn_with_state};
use axum::{Extension, Router};
use dashboard::Dashboard;
use pages::{PageDomain, Pages};
use probe::Egress;
use remote::nats::NatsSettings;
use rules::{Region, UserId};
use store::Store;
use tokio_util::sync::CancellationToken;
use web::context::Context;
use web::limits::AttemptLimiter;
use web::proxies::TrustedProxies;

use crate::assistants::{self, AssistantState};
use crate::auth::Auth;
use crate::control::ControlService;
use crate::demo::DemoState;
use crate::domains::{Domains, HostRouter};
use crate::edge::{self, BODY_WITHIN, Budget, Edge};
use crate::gate::{AuthLayer, before_inner_rpc};
use crate::health::{self, HealthState, RunningCheck};
use crate::heartbeats::{self, CallLimits, HeartbeatEndpoint};
use crate::housekeeping::Housekeeping;
use crate::observe::Metrics;
use crate::pipeline::{Notifier, Pipeline};
use crate::probes::{self, NatsLane, NatsStatus, ProbeCalls, ProbeState, ProbeTokens};
use crate::rpc::{self, ResponseCache, ResponseEntries, Services};
use crate::v1::{self, V1State};
use crate::workspaces::WorkspaceAdmin;

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
    /// Verified tokens of probes.
    pub(crate) probe_tokens: Arc<ProbeTokens>,
    /// State of the connection to NATS, if the server uses it.
    pub(crate) nats: Option<NatsStatus>,
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
    /// Client for the server's own requests.
    pub(crate) client: probe::Client,
    /// Regions of a monitor that names none.
    pub(crate) default_regions: Arc<[Region]>,
    /// Invitations that each person created.
    pub(crate) invitations: Arc<AttemptLimiter<UserId>>,
    /// Limits of heartbeats.
    pub(crate) call_limits: Arc<CallLimits>,
}

impl App {
    /// Returns the router of all paths: operational endpoints, `/v1`, `/mcp`, status pages,
    /// documentation and RPC services. The services are below `/rpc` and at the root, because stock gRPC clients
    /// cannot add a path prefix.
    ///
    /// On the custom domain of a page, only that page is served. Cancelling `stop` ends the streams
    /// that have no end.
    pub fn router(&self, dashboard: &Dashboard, stop: CancellationToken) -> Router {
        let pages_stop = stop.clone();
        let assistants = assistants::routes(self.assistants(stop.clone()), self.auth_layer());
        let rpc_routes = self
            .rpc_routes(stop)
            .layer(from_fn_with_state(self.auth_layer(), AuthLayer::before_rpc))
            .layer(from_fn(rpc::normalize_headers));
        let pages = pages::domain_routes(&self.pages, pages_stop.clone());
        let service = Router::new()
            .merge(health::routes(self.health()))
            .merge(v1::routes(self.keys(), self.auth_layer()))
            .merge(probes::routes(self.probes(pages_stop.clone())))
            .merge(assistants)
            .merge(heartbeats::routes(self.heartbeats()))
            .merge(pages::routes(&self.pages, pages_stop))
            .merge(documentation::routes(self.pages.public_url()))
            .merge(dashboard::routes(dashboard))
            .fallback_service(rpc_routes);
        let (domains, proxies) = (Arc::clone(&self.domains), self.proxies.clone());
        let edge = Edge {
            ctx: self.ctx.clone(),
            budget: self.bodies.clone(),
            body_within: BODY_WITHIN,
            sessions: dashboard.session_lookups(),
            traces: self.metrics.traces.clone(),
        };
        Router::new()
            .fallback_service(HostRouter { domains, proxies, service, pages })
            .layer(from_fn_with_state(edge, edge::edge))
    }

    /// Returns the services of the contract, for authenticated callers.
    fn rpc_routes(&self, stop: CancellationToken) -> Router {
        let rpc_service = rpc::service(&self.services(), stop);
        Router::new()
            .nest_service("/rpc", rpc_service.clone())
            .fallback_service(rpc_service)
            .layer(from_fn_with_state(self.response_cache_layer(), ResponseCache::serve_cached))
            .layer(from_fn_with_state(self.metrics.clone(), rpc::buffer_body))
    }

    /// Returns the services of the contract for callers whom another surface of this server has
    /// authenticated. Requests carry their [`crate::auth::Caller`], whose role or scope decides about
    /// each call.
    pub fn inner_routes(&self, stop: CancellationToken) -> Router {
        self.rpc_routes(stop).layer(from_fn(before_inner_rpc))
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
            .with_server_url(self.pages.url())
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
    pub(crate) fn housekeeping(&self, dashboard: Dashboard) -> Housekeeping {
        Housekeeping {
            dashboard,
            ctx: self.ctx.clone(),
            store: self.store.clone(),
            auth: Arc::clone(&self.auth),
            probe_tokens: Arc::clone(&self.probe_tokens),
            invitations: Arc::clone(&self.invitations),
            call_limits: Arc::clone(&self.call_limits),
            workspaces: self.workspaces(),
            pages: self.pages.clone(),
            response_cache: Arc::clone(&self.response_cache),
        }
    }

    /// Returns the state of the services of the contract.
    pub(crate) fn services(&self) -> Services {
        Services {
            ctx: self.ctx.clone(),
            store: self.store.clone(),
            pipeline: self.pipeline.clone(),
            notifier: self.notifier.clone(),
            metrics: self.metrics.clone(),
            pages: self.pages.clone(),
            probe_tokens: Arc::clone(&self.probe_tokens),
            auth: Arc::clone(&self.auth),
            workspaces: self.workspaces(),
            domains: Arc::clone(&self.domains),
            invitations: Arc::clone(&self.invitations),
            egress: self.egress.clone(),
            default_regions: Arc::clone(&self.default_regions),
        }
    }

    fn workspaces(&self) -> WorkspaceAdmin {
        WorkspaceAdmin {
            store: self.store.clone(),
            auth: Some(Arc::clone(&self.auth)),
            pipeline: Some(self.pipeline.clone()),
        }
    }

    fn keys(&self) -> V1State {
        let auth = Arc::clone(&self.auth);
        V1State { ctx: self.ctx.clone(), store: self.store.clone(), auth }
    }

    /// Returns the lane to probes through NATS.
    pub(crate) fn nats_lane(
        &self,
        settings: NatsSettings,
        status: NatsStatus,
        stop: CancellationToken,
    ) -> NatsLane {
        NatsLane::new(self.probe_calls(), settings, status, stop)
    }

    fn assistants(&self, stop: CancellationToken) -> AssistantState {
        let public_url = self.pages.public_url().map(str::to_owned);
        AssistantState { methods: self.inner_routes(stop), public_url }
    }

    fn heartbeats(&self) -> HeartbeatEndpoint {
        HeartbeatEndpoint {
            store: self.store.clone(),
            pipeline: self.pipeline.clone(),
            proxies: self.proxies.clone(),
            limits: Arc::clone(&self.call_limits),
        }
    }

    fn probes(&self, stop: CancellationToken) -> ProbeState {
        ProbeState { calls: self.probe_calls(), proxies: self.proxies.clone(), stop }
    }

    fn probe_calls(&self) -> ProbeCalls {
        let lane = self.pipeline.remote().clone();
        let (tokens, metrics) = (Arc::clone(&self.probe_tokens), self.metrics.clone());
        ProbeCalls { ctx: self.ctx.clone(), lane, tokens, metrics }
    }

    fn health(&self) -> HealthState {
        HealthState {
            ctx: self.ctx.clone(),
            store: self.store.clone(),
            pipeline: self.pipeline.clone(),
            metrics: self.metrics.clone(),
            nats: self.nats.clone(),
            running: RunningCheck::default(),
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
    let fixed = health::paths().chain(v1::paths()).chain(probes::paths());
    let fixed = fixed.chain(assistants::paths()).chain(documentation::paths());
    let fixed = fixed.chain(dashboard::paths()).chain(heartbeats::paths());
    fixed.map(str::to_owned).chain(pages::paths())
}
