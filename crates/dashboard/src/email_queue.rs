//! Sends emails in the background, so that no response waits for them or reveals that an account
//! exists. `emails` composes them.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

/// Emails and look-ups that run at once. More are dropped, so that they do not fill memory.
const AT_ONCE: usize = 64;

/// Time for emails in progress when the server stops.
const END_WITHIN: Duration = Duration::from_secs(10);

/// Tasks that send emails.
#[derive(Clone, Debug)]
pub(crate) struct EmailQueue {
    permits: Arc<Semaphore>,
    tasks: TaskTracker,
}

impl Default for EmailQueue {
    fn default() -> Self {
        Self { permits: Arc::new(Semaphore::new(AT_ONCE)), tasks: TaskTracker::new() }
    }
}

impl EmailQueue {
    /// Runs a task in the background, unless too many run already. Returns whether it runs.
    pub(crate) fn run(&self, task: impl Future<Output = ()> + Send + 'static) -> bool {
        let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() else {
            tracing::warn!("dropped an email, because {AT_ONCE} are being sent");
            return false;
        };
        self.tasks.spawn(async move {
            task.await;
            drop(permit);
        });
        true
    }

    /// Waits a while until all tasks have ended, when the server stops.
    pub(crate) async fn finish(&self) {
        self.tasks.close();
        if timeout(END_WITHIN, self.tasks.wait()).await.is_err() {
            let left = self.tasks.len();
            tracing::warn!("{left} emails were not sent before the server stopped");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use tokio::sync::oneshot;

    use super::*;

    // A stop of the server lost the emails in progress.
    #[tokio::test]
    async fn stop_waits_for_emails_in_progress() {
        let queue = EmailQueue::default();
        let (accept, accepted) = oneshot::channel::<()>();
        assert!(queue.run(async { accepted.await.unwrap() }));
        let mut end = pin!(queue.finish());
        assert!(futures_util::poll!(&mut end).is_pending());
        accept.send(()).unwrap();
        end.await;
    }
}
