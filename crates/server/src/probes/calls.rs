//! The calls of probes in other places, whatever carries them: opens streams of jobs, and takes reports.

use std::net::IpAddr;
use std::sync::Arc;

use domain::judge::ProbeIndex;
use http::StatusCode;
use remote::{Message as _, wire};
use rules::Timestamp;
use store::{KeyHash, StoredProbe};
use tracing::info;
use web::context::Context;

use super::refused::RefusedProbe;
use super::tokens::ProbeTokens;
use crate::lane::remote::{
    LaneStopped, OpenedStream, RemoteLane, ReportHead, SILENCE_MAX, StreamOrigin,
};
use crate::observe::Metrics;

/// Maximum number of results in a report.
const RESULTS_MAX: usize = 4_096;
/// Maximum length of a version, in characters.
const VERSION_CHARS_MAX: usize = 40;

/// Parts that the calls need. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct ProbeCalls {
    pub(crate) ctx: Context,
    pub(crate) lane: RemoteLane,
    pub(crate) tokens: Arc<ProbeTokens>,
    pub(crate) metrics: Metrics,
}

/// A probe that showed a valid token.
pub(super) struct Verification {
    pub(super) probe: StoredProbe,
    pub(super) token: KeyHash,
    /// Address that it connects from, if it is known.
    pub(super) address: Option<IpAddr>,
}

impl ProbeCalls {
    /// Counts a refusal, and returns it.
    pub(super) fn counted(&self, refused: RefusedProbe) -> RefusedProbe {
        if let Some(reason) = refused.reason() {
            self.metrics.probes.count_refused(reason);
        }
        refused
    }

    /// Opens a stream of jobs. Also returns its first frame.
    pub(super) fn open(
        &self,
        verified: Verification,
        body: &[u8],
    ) -> Result<(OpenedStream, wire::Frame), RefusedProbe> {
        let opened =
            wire::OpenRequest::decode_from_slice(body).map_err(|_| RefusedProbe::malformed())?;
        if opened.protocol != remote::PROTOCOL {
            let reason = format!(
                "this probe speaks version {} of the protocol, and this server version {}; \
                 run the same version of aloft on both",
                opened.protocol,
                remote::PROTOCOL
            );
            return Err(RefusedProbe(StatusCode::PRECONDITION_FAILED, reason));
        }
        let Verification { probe, token, address } = verified;
        let index = self.index_of(&probe)?;
        let version = shortened(&opened.version);
        let from = address.map_or_else(|| "NATS".to_owned(), |address| address.to_string());
        info!(probe.name = probe.name, "probe `{}` {version} connects from {from}", probe.name);
        let stream =
            self.lane.open(index, StreamOrigin { probe: probe.id, token, version, address });
        let welcome = wire::Welcome {
            probe: probe.name.clone(),
            regions: probe.regions.iter().map(ToString::to_string).collect(),
            spool_key: self.lane.spool_key(probe.id).to_vec(),
            silence_max_seconds: SILENCE_MAX.as_secs() as i32,
            session: stream.number,
        };
        let first = wire::Frame {
            sent_at_ms: self.ctx.now().as_millis(),
            jobs: Vec::new(),
            welcome: welcome.into(),
        };
        Ok((stream, first))
    }

    /// Takes a report of results. Answers when they are stored.
    pub(super) async fn report(
        &self,
        probe: &StoredProbe,
        report: wire::ReportRequest,
    ) -> Result<wire::ReportResponse, RefusedProbe> {
        if report.results.len() > RESULTS_MAX {
            let reason = format!("a report has at most {RESULTS_MAX} results");
            return Err(RefusedProbe(StatusCode::PAYLOAD_TOO_LARGE, reason));
        }
        let index = self.index_of(probe)?;
        let number = |given: i32| u32::try_from(given).unwrap_or(0);
        let head = ReportHead {
            session: report.session,
            sent_at: Timestamp::from_millis(report.sent_at_ms),
            version: shortened(&report.version),
            running: number(report.running),
            waiting: number(report.waiting),
            dropped: number(report.dropped),
        };
        let refused = self.receive(index, Some(head), report.results).await.map_err(|_| {
            let reason = "the server is stopping; retry when it is back".to_owned();
            RefusedProbe(StatusCode::SERVICE_UNAVAILABLE, reason)
        })?;
        let refusal = |(index, reason)| wire::Refusal { index: index as i32, reason };
        Ok(wire::ReportResponse {
            sent_at_ms: self.ctx.now().as_millis(),
            refusals: refused.into_iter().map(refusal).collect(),
        })
    }

    /// Takes results. Returns when they are stored, with the refused ones: their index and the reason.
    pub(super) async fn receive(
        &self,
        index: ProbeIndex,
        head: Option<ReportHead>,
        results: Vec<wire::JobResult>,
    ) -> Result<Vec<(usize, String)>, LaneStopped> {
        let lane = self.lane.clone();
        // A task of its own, because a caller that gives up must not stop it half-way.
        let received = async move { lane.receive(index, head.as_ref(), results).await };
        tokio::spawn(received).await.unwrap_or(Err(LaneStopped))
    }

    /// Returns the index of a probe. A probe that was created a moment ago may have none yet.
    pub(super) fn index_of(&self, probe: &StoredProbe) -> Result<ProbeIndex, RefusedProbe> {
        self.lane.index_of(probe.id).ok_or_else(|| {
            let reason = "the server does not know this probe yet; it retries".to_owned();
            RefusedProbe(StatusCode::SERVICE_UNAVAILABLE, reason)
        })
    }
}

fn shortened(version: &str) -> String {
    version.chars().filter(|it| !it.is_control()).take(VERSION_CHARS_MAX).collect()
}
