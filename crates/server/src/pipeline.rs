//! pipeline: the stages at work, `cadence → check → judge`, as tasks that fetch, call the pure
//! decisions of `domain`, and save. This file is the handle that the rest of the server holds.

use std::sync::Arc;

use domain::check::CheckResult;
use rules::monitor::Monitor;
use rules::{MonitorId, MonitorStatus, Region, Timestamp};

/// The running pipeline, for those who change monitors or ask about them. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Pipeline {
    _inner: Arc<()>,
}

/// What the judge knows of one monitor now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorView {
    /// Its verdict.
    pub status: MonitorStatus,
    /// Since when.
    pub since: Timestamp,
    /// Its regions, in the specification's order.
    pub regions: Vec<RegionView>,
}

/// What is known of a monitor in one region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionView {
    /// Which region.
    pub region: Region,
    /// What the region by itself says.
    pub status: MonitorStatus,
    /// When its latest check was finished.
    pub checked_at: Option<Timestamp>,
    /// Whole exchange of its latest check, in microseconds.
    pub latency_us: Option<u32>,
    /// Who serves the region.
    pub served_by: String,
}

/// Why a monitor cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// No such monitor is known.
    #[error("monitor `{0}` is not known to the pipeline")]
    NotFound(MonitorId),
    /// The server is stopping.
    #[error("the server is stopping; ask again when it is back")]
    Stopping,
}

impl Pipeline {
    /// Takes up a monitor that was just created or edited and is committed. Returns when cadence
    /// and judge hold the new revision.
    pub async fn changed(&self, monitor: Arc<Monitor>) -> Result<(), PipelineError> {
        let _ = monitor;
        std::future::ready(Err(PipelineError::Stopping)).await
    }

    /// Drops a monitor whose deletion is committed.
    pub async fn removed(&self, monitor: MonitorId) -> Result<(), PipelineError> {
        let _ = monitor;
        std::future::ready(Err(PipelineError::Stopping)).await
    }

    /// Checks a monitor now, in each of its regions, and answers the stored results by region.
    pub async fn trigger(&self, monitor: Arc<Monitor>) -> Result<Vec<CheckResult>, PipelineError> {
        let _ = monitor;
        std::future::ready(Err(PipelineError::Stopping)).await
    }

    /// What is known of a monitor now; inactive ones too.
    pub async fn view(&self, monitor: MonitorId) -> Result<MonitorView, PipelineError> {
        std::future::ready(Err(PipelineError::NotFound(monitor))).await
    }

    /// The present verdicts of many monitors, in their order; `Unknown` where one is not known.
    pub fn statuses(&self, monitors: &[MonitorId]) -> Vec<MonitorStatus> {
        vec![MonitorStatus::Unknown; monitors.len()]
    }
}
