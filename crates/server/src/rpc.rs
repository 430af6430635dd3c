//! rpc: the services of the contract, one file per service, and how they are put together. Who
//! calls was decided by the gate; what the wire looks like belongs to `contract`.

mod counted;
mod history;
mod list;
mod monitor;
mod region;
mod update;

use std::sync::Arc;

use connectrpc_reflection::Reflector;
use contract::monitor::wire::MonitorServiceExt as _;
use contract::region::wire::RegionServiceExt as _;
use contract::rpc;

use self::counted::Counted;
use self::monitor::Monitors;
use self::region::Regions;
use crate::app::App;

/// All services, with health and reflection, over every protocol.
pub(crate) fn service(app: &App) -> rpc::Service {
    let routes = Arc::new(Monitors(app.clone())).register(rpc::Routes::new());
    let routes = Arc::new(Regions(app.clone())).register(routes);
    let (routes, _health) = connectrpc_health::install_static(routes, rpc::service_names());
    let reflector = Reflector::from_descriptor_set_bytes(rpc::DESCRIPTORS)
        .expect("codegen wrote a whole description");
    let routes = connectrpc_reflection::install(routes, reflector);
    rpc::serve(routes).with_interceptor(Counted(app.metrics.clone()))
}
