//! Probes that doubt themselves, at work: results are heard for what they say of the probe, and when
//! a doubt begins or ends, the log and the metrics say so and every monitor is judged anew. When
//! that is the case is decided by `domain::judge`.

use domain::check::CheckResult;
use domain::judge::DoubtChange;
use rules::MonitorId;
use tracing::{error, warn};

use super::Judge;
use crate::pipeline::EMBEDDED;

impl Judge {
    /// Hears a result for what it says of the probe that ran it.
    pub(super) fn doubt(&mut self, result: &CheckResult) {
        let watched = self.watched.get(&result.identity.monitor);
        let Some(report) = watched.and_then(|watched| watched.host_report(result)) else { return };
        if let Some(change) = self.doubts.hear(report, self.ctx.now()) {
            self.follow_doubt(change);
        }
    }

    /// Says that a doubt began or ended, and judges every monitor anew.
    pub(super) fn follow_doubt(&mut self, change: DoubtChange) {
        match change {
            DoubtChange::Doubts { failing, hosts, .. } => {
                error!(
                    probe.name = EMBEDDED,
                    "probe `{EMBEDDED}` doubts itself: {failing} of {hosts} hosts failed within a \
                     minute; its votes are void, look at its network"
                );
                self.metrics.doubts.inc();
                self.metrics.probes_doubting.inc();
            }
            DoubtChange::Recovered { since, relief, .. } => {
                warn!(
                    probe.name = EMBEDDED,
                    "probe `{EMBEDDED}` doubts itself no more, after {} s: {relief}",
                    self.ctx.now().since(since).as_secs()
                );
                self.metrics.probes_doubting.dec();
            }
        }
        let monitors: Vec<MonitorId> = self.watched.keys().copied().collect();
        for monitor in monitors {
            self.judge_again(monitor);
        }
    }
}
