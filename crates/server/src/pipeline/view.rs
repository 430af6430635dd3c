//! What the judge knows, for those who ask from outside, and how long they wait for its answer. What
//! it knows is `judge`'s.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rules::{MonitorId, Timestamp};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::judge::Command;
use super::{MonitorView, Pipeline, PipelineError, RegionHealth};

/// How long somebody waits for an answer: while the judge stores what it heard it answers nobody, and
/// where the database takes nothing that may be for good.
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);

impl Pipeline {
    /// What is known of a monitor that runs; of one that does not, that it is not found. Where one
    /// of the stages has ended, nothing is known any more: no monitor is shown as fine that is not
    /// looked at.
    pub async fn view(&self, monitor: MonitorId) -> Result<MonitorView, PipelineError> {
        if self.orders.is_closed() || self.jobs.is_closed() {
            return Err(PipelineError::Stopping);
        }
        self.asked(|answer| Command::View { monitor, answer }).await?
    }

    /// Whether nothing could be stored the last time, and it is tried again: the judge answers nobody until then.
    pub fn is_stuck(&self) -> bool {
        self.is_stuck.load(Ordering::Relaxed)
    }

    /// When the last check of each of these monitors was finished, in whichever region; of those of
    /// which that is known. One question, however many they are.
    pub(crate) async fn checked(
        &self,
        monitors: Vec<MonitorId>,
    ) -> Result<HashMap<MonitorId, Timestamp>, PipelineError> {
        if self.orders.is_closed() || self.jobs.is_closed() {
            return Err(PipelineError::Stopping);
        }
        self.asked(|answer| Command::Checked { monitors, answer }).await
    }

    /// How the regions are, as far as the checks that ended tell.
    pub async fn health(&self) -> Result<Vec<RegionHealth>, PipelineError> {
        self.asked(|answer| Command::Regions { answer }).await
    }

    async fn asked<T>(
        &self,
        question: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, PipelineError> {
        let (answer, answered) = oneshot::channel();
        let asked = async {
            let sent = self.commands.send(question(answer)).await;
            sent.map_err(|_| PipelineError::Stopping)?;
            answered.await.map_err(|_| PipelineError::Stopping)
        };
        timeout(ANSWERED_WITHIN, asked).await.map_err(|_| PipelineError::Busy)?
    }
}
