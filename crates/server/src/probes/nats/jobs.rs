//! Publishes the jobs of an open stream to the queues of their regions. A job expires there when its next
//! slot is due. A job that NATS does not take is given up, and its slot is missed.

use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::jetstream::message::PublishMessage;
use domain::judge::ProbeIndex;
use futures_util::{StreamExt as _, stream};
use remote::nats::{self, with_causes};
use remote::{Message as _, wire};
use rules::{ProbeId, Region, Timestamp};
use tokio::time::Instant;
use tracing::warn;

use super::NatsLane;
use crate::lane::remote::OpenedStream;

/// Jobs whose confirmation is awaited at a time.
const JOBS_AT_A_TIME: usize = 256;
/// Time in which a job must be published.
const PUBLISHED_WITHIN: Duration = Duration::from_secs(5);
/// Pause before another attempt.
const PAUSE: Duration = Duration::from_millis(500);
/// Shortest life of a message in NATS.
const LIFE_MIN: Duration = Duration::from_secs(1);

impl NatsLane {
    /// Publishes jobs until the stream or the server ends.
    pub(super) async fn publish_jobs(
        self,
        (probe, index): (ProbeId, ProbeIndex),
        stream: OpenedStream,
    ) {
        let OpenedStream { mut jobs, bytes, closed, guard, .. } = stream;
        let taken = stream::poll_fn(|task| jobs.poll_recv(task));
        let publishing = taken.for_each_concurrent(JOBS_AT_A_TIME, |job| {
            bytes.fetch_sub(job.monitor.len(), Ordering::Relaxed);
            self.publish_job(probe, index, job)
        });
        tokio::select! {
            biased;
            () = self.0.stop.cancelled() => {}
            () = closed.cancelled() => {}
            () = publishing => {}
        }
        drop(guard);
    }

    /// Publishes a job, or gives it up.
    async fn publish_job(&self, probe: ProbeId, index: ProbeIndex, mut job: wire::Job) {
        let (begun, mut failure) = (Instant::now(), None);
        while begun.elapsed() < PUBLISHED_WITHIN {
            let next_slot = Timestamp::from_millis(job.next_slot_ms);
            let now = self.0.calls.ctx.now();
            job.sent_at_ms = now.as_millis();
            let life = next_slot.since(now);
            if life.is_zero() {
                break;
            }
            match self.try_publish(probe, &job, life.max(LIFE_MIN)).await {
                Ok(()) => return,
                Err(why) => failure = Some(why),
            }
            tokio::time::sleep(PAUSE).await;
        }
        if let Some(why) = failure {
            warn!(
                "a job for region {} is not published, and its slot is missed: {why}",
                job.region
            );
        }
        self.0.calls.lane.give_up_unsent(index, &job.ticket).await;
    }

    async fn try_publish(
        &self,
        probe: ProbeId,
        job: &wire::Job,
        life: Duration,
    ) -> Result<(), String> {
        let jetstream = self.jetstream().ok_or("NATS is not connected")?;
        let region: Region = job.region.parse().map_err(|_| "unknown region")?;
        let id = remote::message_id(&job.ticket).ok_or("malformed ticket")?;
        let message =
            PublishMessage::build().payload(job.encode_to_vec().into()).message_id(id).ttl(life);
        let sent = jetstream.send_publish(nats::jobs_subject(probe, region), message).await;
        let stored = sent.map_err(|error| with_causes(&error))?.await;
        stored.map(|_| ()).map_err(|error| with_causes(&error))
    }
}
