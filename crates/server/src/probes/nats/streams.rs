//! The work queues in JetStream. Each is created with limits if it does not exist. An operator may change
//! the limits, the storage and the number of replicas; they stay.

use std::time::Duration;

use async_nats::jetstream::Context as JetStream;
use async_nats::jetstream::consumer::pull::Config as PullConfig;
use async_nats::jetstream::consumer::{AckPolicy, Consumer};
use async_nats::jetstream::context::CreateStreamError;
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType};
use futures_util::TryStreamExt as _;
use remote::nats::{self, with_causes};
use rules::{ProbeId, Region};

use crate::probes::ProbeTokens;

/// Size of the jobs of a region that no probe has taken, in bytes.
const JOBS_BYTES: i64 = 32 * 1024 * 1024;
/// Maximum age of a job. Each also expires when its next slot is due.
const JOBS_AGE: Duration = Duration::from_hours(2);
/// Size of the results that the server has not taken, in bytes.
const RESULTS_BYTES: i64 = 256 * 1024 * 1024;
/// Time in which a repeated message is dropped.
const DUPLICATE_WINDOW: Duration = Duration::from_mins(2);
/// Time after which an unconfirmed message is sent again.
const ACK_WAIT: Duration = Duration::from_secs(30);
/// Results that wait for their confirmation.
const RESULTS_PENDING: i64 = 4_096;
/// Jobs that wait for their confirmation, which a probe sends when it takes them.
const JOBS_PENDING: i64 = 16_384;

/// Returns the consumer of all results.
pub(super) async fn results(jetstream: &JetStream) -> Result<Consumer<PullConfig>, String> {
    let config = queue(
        nats::RESULTS_STREAM.to_owned(),
        nats::RESULTS_SUBJECTS.to_owned(),
        (RESULTS_BYTES, remote::RESULT_AGE_MAX),
    );
    consumer(jetstream, config, RESULTS_PENDING).await
}

/// Creates the queue of the jobs of a region for this probe.
pub(super) async fn jobs(
    jetstream: &JetStream,
    probe: ProbeId,
    region: Region,
) -> Result<(), String> {
    let limits = (JOBS_BYTES, JOBS_AGE);
    let config = queue(nats::jobs_stream(probe, region), nats::jobs_subject(probe, region), limits);
    let config = Config { allow_message_ttl: true, ..config };
    consumer(jetstream, config, JOBS_PENDING).await.map(|_| ())
}

/// Deletes the queues of probes that are no longer stored.
pub(super) async fn delete_unused(
    jetstream: &JetStream,
    tokens: &ProbeTokens,
) -> Result<(), String> {
    let names: Vec<String> =
        jetstream.stream_names().try_collect().await.map_err(|error| with_causes(&error))?;
    for name in names {
        let Some(probe) = nats::probe_of_stream(&name) else { continue };
        if !tokens.is_stored(probe).await.map_err(|error| error.to_string())? {
            jetstream.delete_stream(&name).await.map_err(|error| with_causes(&error))?;
        }
    }
    Ok(())
}

/// Returns the settings of a queue with these limits of bytes and age. A full one takes no more messages,
/// so that their sender keeps them.
fn queue(name: String, subject: String, (max_bytes, max_age): (i64, Duration)) -> Config {
    Config {
        name,
        subjects: vec![subject],
        retention: RetentionPolicy::WorkQueue,
        discard: DiscardPolicy::New,
        storage: StorageType::File,
        max_bytes,
        max_age,
        duplicate_window: DUPLICATE_WINDOW,
        num_replicas: 1,
        ..Config::default()
    }
}

/// Returns the only consumer of a queue. Creates both if they do not exist.
async fn consumer(
    jetstream: &JetStream,
    config: Config,
    max_ack_pending: i64,
) -> Result<Consumer<PullConfig>, String> {
    let (name, max_bytes) = (config.name.clone(), config.max_bytes);
    let cannot = |why: String| format!("the stream {name} cannot be used: {why}");
    let stream = jetstream.get_or_create_stream(config).await;
    let stream = stream.map_err(|error| cannot(with_hint(&error, max_bytes)))?;
    if stream.cached_info().config.retention != RetentionPolicy::WorkQueue {
        return Err(cannot("it is no work queue; delete it".to_owned()));
    }
    let pull = PullConfig {
        durable_name: Some(nats::CONSUMER.to_owned()),
        ack_policy: AckPolicy::Explicit,
        ack_wait: ACK_WAIT,
        max_ack_pending,
        ..PullConfig::default()
    };
    let consumer = stream.get_or_create_consumer(nats::CONSUMER, pull).await;
    consumer.map_err(|error| cannot(with_causes(&error)))
}

/// Returns the text of an error with the way out if JetStream has no room for a stream of this size.
fn with_hint(error: &CreateStreamError, max_bytes: i64) -> String {
    let text = with_causes(error);
    let mebibytes = max_bytes / (1024 * 1024);
    if text.contains("insufficient") {
        format!("{text}; it needs {mebibytes} MiB of `max_file_store` of JetStream")
    } else {
        text
    }
}
