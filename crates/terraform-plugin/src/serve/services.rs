//! What go-plugin expects of every plugin beside its own service: ending it, its output, and a way to
//! open further connections. Providers have no output of their own and open none.

use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;
use tonic::codegen::BoxStream;
use tonic::{Request, Response, Status, Streaming};

use crate::proto::plugin::conn_info::Knock;
use crate::proto::plugin::grpc_broker_server::GrpcBroker;
use crate::proto::plugin::grpc_controller_server::GrpcController;
use crate::proto::plugin::grpc_stdio_server::GrpcStdio;
use crate::proto::plugin::{ConnInfo, Empty, StdioData};

/// Ends the process when the host is done with it.
pub(super) struct Controller {
    pub(super) shutdown: CancellationToken,
}

#[tonic::async_trait]
impl GrpcController for Controller {
    async fn shutdown(&self, _: Request<Empty>) -> Result<Response<Empty>, Status> {
        tracing::debug!("the host is done with this provider");
        self.shutdown.cancel();
        Ok(Response::new(Empty {}))
    }
}

/// A stream of the provider's output that stays empty until the end: stdout belongs to the
/// handshake, and logs go to stderr, which the host reads by itself.
pub(super) struct Stdio {
    pub(super) shutdown: CancellationToken,
}

#[tonic::async_trait]
impl GrpcStdio for Stdio {
    async fn stream_stdio(&self, _: Request<()>) -> Result<Response<BoxStream<StdioData>>, Status> {
        Ok(Response::new(silent_until(self.shutdown.clone())))
    }
}

/// Hears of connections that the host offers, and offers none. A host that knocks is answered, so
/// that it does not wait.
pub(super) struct Broker {
    pub(super) shutdown: CancellationToken,
}

#[tonic::async_trait]
impl GrpcBroker for Broker {
    async fn start_stream(
        &self,
        request: Request<Streaming<ConnInfo>>,
    ) -> Result<Response<BoxStream<ConnInfo>>, Status> {
        let offers = request.into_inner().filter_map(async |offer| declined(offer));
        let offers = offers.take_until(self.shutdown.clone().cancelled_owned());
        Ok(Response::new(Box::pin(offers)))
    }
}

/// The answer to an offer, for those that wait for one. A broken stream ends by itself.
fn declined(offer: Result<ConnInfo, Status>) -> Option<Result<ConnInfo, Status>> {
    let offer = offer.ok().filter(|offer| offer.knock.as_ref().is_some_and(|knock| knock.knock))?;
    let error = "this provider has one service and no other connections".into();
    let knock = Knock { knock: true, ack: false, error };
    Some(Ok(ConnInfo { knock: Some(knock), ..offer }))
}

fn silent_until<T: Send + 'static>(end: CancellationToken) -> BoxStream<T> {
    Box::pin(futures_util::stream::pending().take_until(end.cancelled_owned()))
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn a_host_that_knocks_is_answered_and_other_offers_are_heard() {
        let knock = |knock| Some(Knock { knock, ..Knock::default() });
        let offer = ConnInfo { service_id: 7, knock: knock(true), ..ConnInfo::default() };
        let answer = declined(Ok(offer)).unwrap().unwrap();
        let said = answer.knock.unwrap();
        assert_eq!((answer.service_id, said.knock, said.ack), (7, true, false));
        assert!(!said.error.is_empty());
        assert!(declined(Ok(ConnInfo { knock: knock(false), ..ConnInfo::default() })).is_none());
        assert!(declined(Ok(ConnInfo::default())).is_none());
        assert!(declined(Err(Status::cancelled("gone"))).is_none());
    }

    #[tokio::test]
    async fn the_output_is_silent_until_the_end() {
        let end = CancellationToken::new();
        let mut stream = silent_until::<StdioData>(end.clone());
        assert!(stream.next().now_or_never().is_none());
        end.cancel();
        assert!(stream.next().await.is_none());
    }
}
