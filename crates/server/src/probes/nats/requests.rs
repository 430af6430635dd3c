//! Answers the requests of probes: they open and end streams, and show that they live.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use async_nats::{Client, Message, Subscriber};
use futures_util::StreamExt as _;
use http::StatusCode;
use remote::nats::{self, NatsCall};
use remote::{Message as _, wire};
use rules::ProbeId;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tracing::warn;

use super::super::calls::Verification;
use super::super::refused::RefusedProbe;
use super::{NatsLane, streams};

/// Requests that are answered at a time.
const REQUESTS_AT_A_TIME: usize = 64;
/// Time limit for the queues of a stream's regions. The probe waits a little longer for its answer.
const QUEUES_WITHIN: Duration = Duration::from_secs(8);

impl NatsLane {
    /// Answers requests until the subscription ends, and returns the reason.
    pub(super) async fn answer(&self, client: Client, mut requests: Subscriber) -> String {
        let permits = Arc::new(Semaphore::new(REQUESTS_AT_A_TIME));
        while let Some(request) = requests.next().await {
            let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { break };
            let (this, client) = (self.clone(), client.clone());
            tokio::spawn(async move {
                let _permit = permit;
                this.answer_one(&client, request).await;
            });
        }
        "the subscription to requests of probes ended".to_owned()
    }

    async fn answer_one(&self, client: &Client, request: Message) {
        let Some((probe, call)) = NatsCall::of_subject(&request.subject) else { return };
        let Some(to) = request.reply.clone() else { return };
        // The sender chose the subject of the answer, and the server may publish more than a probe may.
        if !to.starts_with(&format!("{}.", nats::probe_inbox(probe))) {
            return;
        }
        let sent = match self.handle(probe, call, &request).await {
            Ok(answer) => client.publish(to, answer.into()).await,
            Err(refused) => {
                let RefusedProbe(status, reason) = self.0.calls.counted(refused);
                let headers = nats::refusal(status.as_u16());
                client.publish_with_headers(to, headers, reason.into()).await
            }
        };
        if let Err(why) = sent {
            // The probe asks again.
            warn!("a request of a probe is not answered: {why}");
        }
    }

    async fn handle(
        &self,
        probe: ProbeId,
        call: NatsCall,
        request: &Message,
    ) -> Result<Vec<u8>, RefusedProbe> {
        let verified = self.verify(probe, request).await?;
        match call {
            NatsCall::Open => self.open(verified, &request.payload).await,
            NatsCall::Report => self.report(verified, &request.payload).await,
            NatsCall::Close => {
                let session = decoded(&request.payload)?.session;
                let index = self.0.calls.index_of(&verified.probe)?;
                self.0.calls.lane.close_stream(index, session);
                Ok(Vec::new())
            }
        }
    }

    /// Verifies the token of a request.
    async fn verify(
        &self,
        probe: ProbeId,
        request: &Message,
    ) -> Result<Verification, RefusedProbe> {
        let token = nats::bearer(request.headers.as_ref()).map(str::as_bytes);
        let (stored, token) = self.0.calls.tokens.verify(token, origin(probe)).await?;
        if stored.id != probe {
            let reason = "the token belongs to another probe than the NATS credentials".to_owned();
            return Err(RefusedProbe(StatusCode::FORBIDDEN, reason));
        }
        Ok(Verification { probe: stored, token, address: None })
    }

    /// Opens a stream of jobs, once the queues of its regions exist.
    async fn open(&self, verified: Verification, payload: &[u8]) -> Result<Vec<u8>, RefusedProbe> {
        let unavailable = |why| RefusedProbe(StatusCode::SERVICE_UNAVAILABLE, why);
        let jetstream = self.jetstream();
        let jetstream = jetstream.ok_or_else(|| unavailable("NATS is not ready".to_owned()))?;
        let creating = async {
            for region in &verified.probe.regions {
                streams::jobs(&jetstream, verified.probe.id, *region).await?;
            }
            Ok(())
        };
        let created = timeout(QUEUES_WITHIN, creating).await;
        created.unwrap_or_else(|_| Err("NATS does not answer".to_owned())).map_err(|why| {
            warn!("probe `{}` gets no jobs: {why}", verified.probe.name);
            unavailable(why)
        })?;
        let index = self.0.calls.index_of(&verified.probe)?;
        let probe = verified.probe.id;
        let (stream, first) = self.0.calls.open(verified, payload)?;
        self.0.streams.spawn(self.clone().publish_jobs((probe, index), stream));
        Ok(first.encode_to_vec())
    }

    /// Takes the state of a probe whose stream is open.
    async fn report(
        &self,
        verified: Verification,
        payload: &[u8],
    ) -> Result<Vec<u8>, RefusedProbe> {
        let report = decoded(payload)?;
        let index = self.0.calls.index_of(&verified.probe)?;
        if !self.0.calls.lane.has_stream(index, report.session) {
            let reason = "the server does not know the stream, for example after a restart";
            return Err(RefusedProbe(StatusCode::GONE, reason.to_owned()));
        }
        Ok(self.0.calls.report(&verified.probe, report).await?.encode_to_vec())
    }
}

/// Returns what limits wrong tokens instead of an address: the probe of the subject, to which NATS lets only
/// its own user publish.
fn origin(probe: ProbeId) -> IpAddr {
    IpAddr::V6(Ipv6Addr::from_bits(u128::from(probe.bits())))
}

fn decoded(payload: &[u8]) -> Result<wire::ReportRequest, RefusedProbe> {
    wire::ReportRequest::decode_from_slice(payload).map_err(|_| RefusedProbe::malformed())
}
