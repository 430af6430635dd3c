//! Fan-out worker of one page: passes page events to its subscribers in steps, so that no verdict
//! waits for it. It sleeps while all events are for later, and ends when none wait. The domain
//! decides who is notified; the outbox finds them.

use std::sync::Arc;

use rules::PageId;
use store::FanOutProgress;
use tracing::warn;

use super::worker::BACKOFF;
use super::worker_context::{WakeSignal, WorkerContext};

/// Fan-out worker of one page.
pub(super) struct FanOutWorker {
    pub(super) context: Arc<WorkerContext>,
    pub(super) page: PageId,
    pub(super) wake_signal: Arc<WakeSignal>,
}

impl FanOutWorker {
    /// Runs until nothing waits or the server stops.
    pub(super) async fn run(self) {
        let context = &*self.context;
        let mut pauses = BACKOFF.pauses();
        while !context.stop.is_cancelled() {
            self.wake_signal.clear();
            let now = context.sender.ctx.now();
            match context.store.outbox().fan_out(self.page, now).await {
                Ok(FanOutProgress::More) => pauses = BACKOFF.pauses(),
                Ok(FanOutProgress::Done)
                    if context.remove_if_idle(self.page.into(), &self.wake_signal) =>
                {
                    return;
                }
                Ok(FanOutProgress::Done) => {}
                Ok(FanOutProgress::Later(at)) => tokio::select! {
                    () = context.stop.cancelled() => return,
                    () = self.wake_signal.wait() => {}
                    () = context.sender.ctx.sleep_until(at) => {}
                },
                Err(why) if why.has_ended() => return,
                Err(error) => {
                    let page = self.page;
                    warn!(page.id = %page, %error, "failed to fan out events of {page}, retrying: {error}");
                    tokio::select! {
                        () = context.stop.cancelled() => return,
                        () = tokio::time::sleep(pauses.next_pause()) => {}
                    }
                }
            }
        }
    }
}
