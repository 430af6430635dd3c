//! rpc: the services of the contract, one file per service. The gate authenticates callers;
//! `contract` defines the wire format.

mod api_key;
mod audit;
mod body;
mod cache;
mod call_metrics;
mod configuration;
mod error;
mod headers;
mod health;
mod incident;
mod list;
mod maintenance;
mod member;
mod monitor;
mod notification;
mod pipeline_call;
mod probe;
mod reflection;
mod region;
mod request;
mod status_page;
mod status_report;
mod workspace;

use std::sync::Arc;

use ::probe::Egress;
use contract::api_key::wire::ApiKeyService as _;
use contract::audit::wire::AuditService as _;
use contract::configuration::wire::ConfigurationService as _;
use contract::incident::wire::IncidentService as _;
use contract::maintenance::wire::MaintenanceService as _;
use contract::member::wire::MemberService as _;
use contract::monitor::wire::MonitorService as _;
use contract::notification::wire::NotificationService as _;
use contract::probe::wire::ProbeService as _;
use contract::region::wire::RegionService as _;
use contract::rpc;
use contract::status_page::wire::StatusPageService as _;
use contract::status_report::wire::StatusReportService as _;
use contract::workspace::wire::WorkspaceService as _;
use pages::Pages;
use rules::{Region, UserId};
use store::Store;
use tokio_util::sync::CancellationToken;
use web::context::Context;
use web::limits::AttemptLimiter;

use self::api_key::ApiKeys;
use self::audit::AuditLog;
pub(crate) use self::body::buffer_body;
pub(crate) use self::cache::{ResponseCache, ResponseEntries, response_entries};
use self::call_metrics::CallMetrics;
use self::configuration::Configurations;
pub(crate) use self::error::rpc_error;
pub(crate) use self::headers::normalize_headers;
use self::incident::Incidents;
use self::maintenance::Maintenances;
use self::member::Members;
pub(crate) use self::member::invitation_limits;
use self::monitor::Monitors;
pub(crate) use self::monitor::{check_draft, draft_warnings, parse_draft};
use self::notification::Notifications;
use self::probe::ProbeMethods;
use self::region::Regions;
use self::status_page::StatusPages;
use self::status_report::StatusReports;
use self::workspace::CurrentWorkspace;
use crate::auth::{Auth, Caller};
use crate::domains::Domains;
use crate::observe::Metrics;
use crate::pipeline::{Notifier, Pipeline, WorkspaceProbes};
use crate::probes::ProbeTokens;
use crate::workspaces::WorkspaceAdmin;

/// State of the services. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Services {
    pub(crate) ctx: Context,
    pub(crate) store: Store,
    pub(crate) pipeline: Pipeline,
    pub(crate) notifier: Notifier,
    pub(crate) metrics: Metrics,
    /// Status pages, for their owner's overview.
    pub(crate) pages: Pages,
    pub(crate) probe_tokens: Arc<ProbeTokens>,
    /// Cached keys, which a revocation evicts.
    pub(crate) auth: Arc<Auth>,
    pub(crate) workspaces: WorkspaceAdmin,
    /// Invitations that each person created.
    pub(crate) invitations: Arc<AttemptLimiter<UserId>>,
    /// Custom domains of status pages.
    pub(crate) domains: Arc<Domains>,
    /// Egress policy for messages and checks.
    pub(crate) egress: Egress,
    /// Regions of a monitor that names none.
    pub(crate) default_regions: Arc<[Region]>,
}

impl Services {
    /// Returns the probes that serve the regions of the caller's workspace.
    pub(crate) const fn probes(&self, caller: Caller) -> WorkspaceProbes<'_> {
        self.pipeline.probes().of(caller.workspace)
    }
}

/// Creates all services, with health and reflection, over every protocol. Health streams end at
/// `stop`, so that the server need not wait for them.
pub(crate) fn service(services: &Services, stop: CancellationToken) -> rpc::Service {
    let routes = Arc::new(Monitors(services.clone())).register(rpc::Routes::new());
    let routes = Arc::new(AuditLog(services.clone())).register(routes);
    let routes = Arc::new(ApiKeys(services.clone())).register(routes);
    let routes = Arc::new(Configurations(services.clone())).register(routes);
    let routes = Arc::new(CurrentWorkspace(services.clone())).register(routes);
    let routes = Arc::new(Members(services.clone())).register(routes);
    let routes = Arc::new(Incidents(services.clone())).register(routes);
    let routes = Arc::new(Maintenances(services.clone())).register(routes);
    let routes = Arc::new(Notifications(services.clone())).register(routes);
    let routes = Arc::new(ProbeMethods(services.clone())).register(routes);
    let routes = Arc::new(Regions(services.clone())).register(routes);
    let routes = Arc::new(StatusPages(services.clone())).register(routes);
    let routes = Arc::new(StatusReports(services.clone())).register(routes);
    let routes = health::install(routes, stop);
    let routes = reflection::install(routes);
    rpc::serve_with(routes, CallMetrics(services.metrics.clone()))
}
