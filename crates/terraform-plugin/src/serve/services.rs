//! Services that go-plugin requires next to the plugin's own: shutdown, output, and a broker for
//! further connections. Providers send no output and open no further connections.

use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;
use tonic::codegen::BoxStream;
use tonic::{Request, Response, Status, Streaming};

use crate::proto::plugin::conn_info::Knock;
use crate::proto::plugin::grpc_broker_server::GrpcBroker;
use crate::proto::plugin::grpc_controller_server::GrpcController;
use crate::proto::plugin::grpc_stdio_server::GrpcStdio;
use crate::proto::plugin::{ConnInfo, Empty, StdioData};

/// Ends the process when the host no longer needs it.
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

/// A stream of the provider's output that stays empty until the end. Stdout carries the handshake,
/// and the host reads logs from stderr.
pub(super) struct Stdio {
    pub(super) shutdown: CancellationToken,
}

#[tonic::async_trait]
impl GrpcStdio for Stdio {
    async fn stream_stdio(&self, _: Request<()>) -> Result<Response<BoxStream<StdioData>>, Status> {
        Ok(Response::new(silent_until(self.shutdown.clone())))
    }
}

/// Receives connection offers of the host and makes none. Declines a host that asks first, so that
/// it does not wait.
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

/// Returns the reply to an offer that expects one. A broken stream ends by itself.
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
    fn connection_offer_is_declined_if_reply_is_expected() {
        let knock = |knock| Some(Knock { knock, ..Knock::default() });
        let offer = ConnInfo { service_id: 7, knock: knock(true), ..ConnInfo::default() };
        let answer = declined(Ok(offer)).unwrap().unwrap();
        let reply = answer.knock.unwrap();
        assert_eq!((answer.service_id, reply.knock, reply.ack), (7, true, false));
        assert!(!reply.error.is_empty());
        assert!(declined(Ok(ConnInfo { knock: knock(false), ..ConnInfo::default() })).is_none());
        assert!(declined(Ok(ConnInfo::default())).is_none());
        assert!(declined(Err(Status::cancelled("gone"))).is_none());
    }

    #[tokio::test]
    async fn output_stays_empty_until_shutdown() {
        let end = CancellationToken::new();
        let mut stream = silent_until::<StdioData>(end.clone());
        assert!(stream.next().now_or_never().is_none());
        end.cancel();
        assert!(stream.next().await.is_none());
    }
}
