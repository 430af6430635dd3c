//! The end of a month: freezes the figures of uptime reports, and then sends the summaries that members
//! asked for. Runs beside `housekeeping`, because a mail server may be slow.

use std::collections::HashSet;
use std::time::Duration;

use dashboard::Dashboard;
use store::{FreezableMonth, Store, StoreError};
use tokio_util::sync::CancellationToken;
use web::context::Context;

/// Interval between two rounds. A summary that could not be sent is tried again after it.
const EVERY: Duration = Duration::from_hours(1);
/// Time after the end of a month for its last results to be stored.
const GRACE: Duration = Duration::from_hours(1);

/// Parts of a running server that end a month.
#[derive(Clone, Debug)]
pub(crate) struct MonthEnd {
    pub(crate) ctx: Context,
    pub(crate) store: Store,
    pub(crate) dashboard: Dashboard,
}

impl MonthEnd {
    /// Runs until `stop` is cancelled.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let mut open = HashSet::new();
        while !stop.is_cancelled() {
            if let Err(error) = self.round(&mut open, &stop).await {
                tracing::error!(%error, "failed to end a month, retrying in an hour: {error}");
            }
            let next = self.ctx.now() + EVERY;
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.ctx.sleep_until(next) => {}
            }
        }
    }

    /// Freezes and sends what is due. `open` has the months that were reported as open.
    async fn round(
        &self,
        open: &mut HashSet<FreezableMonth>,
        stop: &CancellationToken,
    ) -> Result<(), StoreError> {
        let settled = self.ctx.now() - GRACE;
        for which in self.store.uptime_reports().freezable(settled).await? {
            if stop.is_cancelled() {
                return Ok(());
            }
            // Other workspaces do not wait for one whose figures cannot be stored.
            match self.store.uptime_reports().freeze(which, self.ctx.now()).await {
                Ok(true) => {}
                Ok(false) if !open.insert(which) => {}
                Ok(false) => tracing::warn!(
                    workspace.id = %which.workspace,
                    "keeping {} of `{}` open for a week, because rows of it are unreadable; run `aloft doctor`",
                    which.month, which.workspace
                ),
                Err(error) => tracing::error!(
                    workspace.id = %which.workspace, %error,
                    "failed to store {} of `{}`, retrying in an hour: {error}",
                    which.month, which.workspace
                ),
            }
        }
        let sent = self.dashboard.send_summaries(settled, stop).await?;
        if sent > 0 {
            tracing::info!("sent {sent} monthly summaries");
        }
        Ok(())
    }
}
