//! `grpc.health.v1.Health`: every service of the contract serves until the server stops. Watches
//! end with the server, and those without a key earlier, by `connection`. Watches of unknown
//! services stay open until then, as the protocol requires
//! (<https://github.com/grpc/grpc/blob/master/doc/health-checking.md>). Readiness of the server
//! belongs to `observe::health`.

use std::sync::Arc;

use contract::health::wire::health_check_response::ServingStatus;
use contract::health::wire::{Health, HealthCheckRequest, HealthCheckResponse};
use contract::rpc::{self, RequestContext, Response, Routes, ServiceResult, ServiceStream};
use futures_util::future::OptionFuture;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use tokio_util::sync::CancellationToken;

use crate::connection::StreamLimit;

/// Paths of the methods.
const METHODS: [&str; 2] = ["/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch"];
/// Error of a watch that ends before the server.
const LIMITED: &str = "the watch reached the limit of streams without a key; open it again";

/// Health of all services of one server.
struct ServerHealth {
    stop: CancellationToken,
}

/// Adds health to the routes. It reports not serving after `stop`.
pub(super) fn install(routes: Routes, stop: CancellationToken) -> Routes {
    let routes = Arc::new(ServerHealth { stop }).register(routes);
    rpc::with_small_requests(routes, &METHODS)
}

impl Health for ServerHealth {
    async fn check(
        &self,
        _: RequestContext,
        request: HealthCheckRequest,
    ) -> ServiceResult<HealthCheckResponse> {
        if !is_known(&request.service) {
            return Err(rpc::not_found("service", &request.service));
        }
        Response::ok(response(self.status()))
    }

    async fn watch(
        &self,
        context: RequestContext,
        request: HealthCheckRequest,
    ) -> ServiceResult<ServiceStream<HealthCheckResponse>> {
        let is_known = is_known(&request.service);
        let first = if is_known { self.status() } else { ServingStatus::SERVICE_UNKNOWN };
        let last = (first == ServingStatus::SERVING).then_some(ServingStatus::NOT_SERVING);
        let stopped = self.stop.clone().cancelled_owned();
        let limit = context.extensions().get::<StreamLimit>().cloned();
        let limit = OptionFuture::from(limit.map(StreamLimit::reached));
        let rest = async move {
            tokio::select! {
                () = stopped => last.map(Ok),
                Some(()) = limit => Some(Err(rpc::deferred(LIMITED))),
            }
        };
        let statuses = stream::iter([Ok(first)]).chain(rest.map(stream::iter).flatten_stream());
        Response::stream_ok(statuses.map(|status| status.map(response)))
    }
}

impl ServerHealth {
    fn status(&self) -> ServingStatus {
        if self.stop.is_cancelled() { ServingStatus::NOT_SERVING } else { ServingStatus::SERVING }
    }
}

/// Returns whether the contract has a service with this name. The empty name is the whole server.
fn is_known(service: &str) -> bool {
    service.is_empty() || rpc::service_names().any(|name| name == service)
}

fn response(status: ServingStatus) -> HealthCheckResponse {
    HealthCheckResponse { status: status.into() }
}
