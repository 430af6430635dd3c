//! rpc: the services of the contract, one file per service. The gate authenticates callers;
//! `contract` defines the wire format.

mod answer;
mod audit;
mod body;
mod cache;
mod call_metrics;
mod headers;
mod health;
mod history;
mod incident;
mod list;
mod maintenance;
mod monitor;
mod notification;
mod pipeline_call;
mod reflection;
mod region;
mod request;
mod status_page;
mod status_report;
mod update;
mod warning;

use std::sync::Arc;

use contract::audit::wire::AuditService as _;
use contract::incident::wire::IncidentService as _;
use contract::maintenance::wire::MaintenanceService as _;
use contract::monitor::wire::MonitorService as _;
use contract::notification::wire::NotificationService as _;
use contract::region::wire::RegionService as _;
use contract::rpc;
use contract::status_page::wire::StatusPageService as _;
use contract::status_report::wire::StatusReportService as _;
use tokio_util::sync::CancellationToken;

use self::audit::AuditLog;
pub(crate) use self::body::whole;
pub(crate) use self::cache::{CacheEntries, ResponseCache};
use self::call_metrics::CallMetrics;
pub(crate) use self::headers::normalize_headers;
use self::incident::Incidents;
use self::maintenance::Maintenances;
use self::monitor::Monitors;
use self::notification::Notifications;
use self::region::Regions;
use self::status_page::StatusPages;
use self::status_report::StatusReports;
use crate::app::App;

/// Creates all services, with health and reflection, over every protocol. Health streams end at
/// `stop`, so that the server need not wait for them.
pub(crate) fn service(app: &App, stop: CancellationToken) -> rpc::Service {
    let routes = Arc::new(Monitors(app.clone())).register(rpc::Routes::new());
    let routes = Arc::new(AuditLog(app.clone())).register(routes);
    let routes = Arc::new(Incidents(app.clone())).register(routes);
    let routes = Arc::new(Maintenances(app.clone())).register(routes);
    let routes = Arc::new(Notifications(app.clone())).register(routes);
    let routes = Arc::new(Regions(app.clone())).register(routes);
    let routes = Arc::new(StatusPages(app.clone())).register(routes);
    let routes = Arc::new(StatusReports(app.clone())).register(routes);
    let routes = health::install(routes, stop);
    let routes = reflection::install(routes);
    rpc::serve_with(routes, CallMetrics(app.metrics.clone()))
}
