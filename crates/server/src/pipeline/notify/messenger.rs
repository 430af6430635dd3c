//! One page's messenger: passes on to its subscribers what the page was told, step by step, so that no
//! verdict waits for it. It ends when nothing waits, and sleeps while what waits is for later. Whom
//! something concerns is decided by the domain and found by the outbox.

use std::sync::Arc;
use std::time::Duration;

use rules::PageId;
use store::{Spread, StoreError};
use tracing::warn;

use super::rounds::{Bell, Rounds};

/// First pause after the database did not answer; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// Longest such pause.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// One page's messenger.
pub(super) struct Messenger {
    pub(super) rounds: Arc<Rounds>,
    pub(super) page: PageId,
    pub(super) bell: Arc<Bell>,
}

impl Messenger {
    /// Works until nothing waits, or the server stops.
    pub(super) async fn run(self) {
        let rounds = &*self.rounds;
        let mut pause = FIRST_PAUSE;
        while !rounds.stop.is_cancelled() {
            self.bell.hush();
            let now = rounds.sender.ctx.now();
            match rounds.store.outbox().spread(self.page, now).await {
                Ok(Spread::More) => pause = FIRST_PAUSE,
                Ok(Spread::Done) if rounds.retire(self.page.into(), &self.bell) => return,
                Ok(Spread::Done) => {}
                Ok(Spread::Later(at)) => tokio::select! {
                    () = rounds.stop.cancelled() => return,
                    () = self.bell.heard() => {}
                    () = rounds.sender.ctx.sleep_until(at) => {}
                },
                Err(StoreError::Closed) => return,
                Err(error) => {
                    let page = self.page;
                    warn!(page.id = %page, %error, "news of {page} could not be fanned out, retrying: {error}");
                    tokio::select! {
                        () = rounds.stop.cancelled() => return,
                        () = tokio::time::sleep(pause) => pause = (pause * 2).min(PAUSE_MAX),
                    }
                }
            }
        }
    }
}
