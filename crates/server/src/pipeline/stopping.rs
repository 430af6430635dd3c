//! Stops the stages in the order of the flow.

use rules::counted;
use tracing::warn;

use super::{CHECKS_STOP_WITHIN, RunningPipeline, STOP_WITHIN};

impl RunningPipeline {
    /// Stops the stages in the order of the flow, so that no recorded result is lost. First the
    /// slots stop, then the checks, then the last commit is made.
    ///
    /// Slots whose check did not start or end by then are recorded as missed. Calls of a
    /// [`Pipeline`] fail with [`PipelineError::Stopping`] from now on.
    ///
    /// If the store accepts no commit, its results are abandoned after a while, so that the process
    /// does stop.
    pub async fn stop(self) {
        let abandon = self.abandon.clone();
        let stop_timeout = async {
            tokio::time::sleep(STOP_WITHIN).await;
            abandon.cancel();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = self.stop_stages() => {}
            () = stop_timeout => {}
        }
    }

    async fn stop_stages(self) {
        self.cadence.abort();
        // An aborted task returns an error, which is expected.
        let _ = self.cadence.await;
        self.stop.cancel();
        for task in self.remote {
            let _ = task.await;
        }
        for checkers in self.checkers {
            let _ = checkers.await;
        }
        self.checks.close();
        if tokio::time::timeout(CHECKS_STOP_WITHIN, self.checks.wait()).await.is_err() {
            warn!("cancelled {} in progress", counted(self.checks.len(), "check"));
            self.give_up.cancel();
            self.checks.wait().await;
        }
        if let Err(why) = self.judge.await {
            warn!("the judge failed: {why}");
        }
    }
}
