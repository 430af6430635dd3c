//! `grpc.health.v1.Health`. Watches of unknown services stay open, as the protocol asks
//! (<https://github.com/grpc/grpc/blob/master/doc/health-checking.md>); the library would end them. It has no
//! status for `SERVICE_UNKNOWN`, so they receive `UNKNOWN`.

use std::sync::Arc;

use connectrpc_health::{
    Checker, HealthExt as _, HealthService, StaticChecker, Status, StatusStream,
    apply_request_limits, request_limits,
};
use contract::rpc::{Code, Error, Routes};
use futures_util::{FutureExt as _, StreamExt as _, stream};
use tokio_util::sync::CancellationToken;

/// Checker whose watches end with the server.
struct Watched {
    known: Arc<StaticChecker>,
    stop: CancellationToken,
}

/// Adds health to the routes and returns the checker that sets it. Watches end at `stop`.
pub(super) fn install(
    routes: Routes,
    services: impl IntoIterator<Item = impl Into<String>>,
    stop: CancellationToken,
) -> (Routes, Arc<StaticChecker>) {
    let known = Arc::new(StaticChecker::with_services(services));
    let watched = Watched { known: Arc::clone(&known), stop };
    let routes = Arc::new(HealthService::new(watched)).register(routes);
    (apply_request_limits(routes, request_limits()), known)
}

impl Checker for Watched {
    async fn check(&self, service: &str) -> Result<Status, Error> {
        self.known.check(service).await
    }

    async fn watch(&self, service: &str) -> Result<StatusStream, Error> {
        match self.known.watch(service).await {
            Err(error) if error.code == Code::NotFound => {
                let end = self.stop.clone().cancelled_owned().into_stream();
                let first = stream::iter([Status::Unknown]);
                Ok(StatusStream::new(first.chain(end.filter_map(async |()| None))))
            }
            watched => watched,
        }
    }
}
