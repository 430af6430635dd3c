//! Sends emails in the background, so that no response waits for them or reveals that an account
//! exists. `emails` composes them.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::Semaphore;

/// Emails and look-ups that run at once. More are dropped, so that they do not fill memory.
const AT_ONCE: usize = 64;

/// Tasks that send emails.
#[derive(Clone, Debug)]
pub(crate) struct EmailQueue(Arc<Semaphore>);

impl Default for EmailQueue {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

impl EmailQueue {
    /// Runs a task in the background, unless too many run already. Returns whether it runs.
    pub(crate) fn run(&self, task: impl Future<Output = ()> + Send + 'static) -> bool {
        let Ok(permit) = Arc::clone(&self.0).try_acquire_owned() else {
            tracing::warn!("dropped an email, because {AT_ONCE} are being sent");
            return false;
        };
        tokio::spawn(async move {
            task.await;
            drop(permit);
        });
        true
    }
}
