//! Takes results from their queue. They are confirmed to NATS when they are stored, so a crash in between
//! loses none; a result that comes again is stored once, because its key is unique.

use std::collections::HashMap;
use std::time::Duration;

use async_nats::jetstream::consumer::Consumer;
use async_nats::jetstream::consumer::pull::Config as PullConfig;
use async_nats::jetstream::{AckKind, Message};
use futures_util::StreamExt as _;
use remote::nats::{self, with_causes};
use remote::{Message as _, wire};
use rules::{ProbeId, counted};
use tracing::warn;

use super::NatsLane;

/// Maximum number of results that are stored together.
const RESULTS_TOGETHER: usize = 512;
/// Pause before a result comes again whose probe is not mapped to its regions yet.
const AGAIN_AFTER: Duration = Duration::from_secs(2);

impl NatsLane {
    /// Takes results until something fails, and returns the reason.
    pub(super) async fn take_results(&self, consumer: Consumer<PullConfig>) -> String {
        let messages = consumer
            .stream()
            .max_messages_per_batch(RESULTS_TOGETHER)
            .expires(nats::PULL_EXPIRES)
            .heartbeat(nats::IDLE_HEARTBEAT)
            .messages();
        let mut messages = match messages.await {
            Ok(messages) => messages.ready_chunks(RESULTS_TOGETHER),
            Err(error) => return with_causes(&error),
        };
        while let Some(chunk) = messages.next().await {
            let mut of_probes = HashMap::<Option<ProbeId>, Vec<Message>>::new();
            let mut failure = None;
            for message in chunk {
                match message {
                    Ok(message) => {
                        let probe = nats::results_probe(&message.subject);
                        of_probes.entry(probe).or_default().push(message);
                    }
                    Err(error) => failure = Some(with_causes(&error)),
                }
            }
            for (probe, messages) in of_probes {
                if let Err(why) = self.take_from(probe, messages).await {
                    return why;
                }
            }
            if let Some(why) = failure {
                return why;
            }
        }
        "the subscription to results ended".to_owned()
    }

    /// Takes results of one probe.
    async fn take_from(
        &self,
        probe: Option<ProbeId>,
        messages: Vec<Message>,
    ) -> Result<(), String> {
        let calls = &self.0.calls;
        let is_stored = match probe {
            Some(probe) => calls.tokens.is_stored(probe).await.map_err(|why| why.to_string())?,
            None => false,
        };
        // A deleted probe keeps its index, and its user of NATS may still publish.
        if !is_stored {
            calls.metrics.probes.results_refused.inc_by(messages.len() as u64);
            warn!("{} of an unknown probe are dropped", counted(messages.len(), "result"));
            return confirm(&messages, AckKind::Term).await;
        }
        let Some(index) = probe.and_then(|probe| calls.lane.index_of(probe)) else {
            // Its regions are not mapped to it yet.
            return confirm(&messages, AckKind::Nak(Some(AGAIN_AFTER))).await;
        };
        let (mut results, mut read) = (Vec::new(), Vec::new());
        for message in messages {
            match wire::JobResult::decode_from_slice(&message.payload) {
                Ok(result) => {
                    results.push(result);
                    read.push(message);
                }
                Err(why) => {
                    calls.metrics.probes.results_refused.inc();
                    warn!("a result that is not a message is dropped: {why}");
                    confirm(&[message], AckKind::Term).await?;
                }
            }
        }
        if results.is_empty() {
            return Ok(());
        }
        // Refused ones are logged and counted, and must not come again.
        let received = calls.receive(index, None, results).await;
        received.map_err(|_| "results cannot be stored now".to_owned())?;
        confirm(&read, AckKind::Ack).await
    }
}

/// Tells NATS what became of messages.
async fn confirm(messages: &[Message], kind: AckKind) -> Result<(), String> {
    for message in messages {
        message.ack_with(kind).await.map_err(|why| why.to_string())?;
    }
    Ok(())
}
