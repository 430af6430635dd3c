//! First and last step of a stop: the tasks, the last writes, and closing the database. Bounds the
//! whole stop, so that service managers do not kill the server (`docs/guides/run-it-for-real.md`
//! gives it 30 seconds).

use std::time::Duration;

use rules::counted;
use store::{Store, StoreError};
use tokio::task::JoinHandle;

use super::listen::DRAIN_WITHIN;
use crate::auth::Auth;
use crate::observe::traces::FINISHED_WITHIN;
use crate::pipeline;

/// Maximum duration of the first step: calls in progress end, and background tasks with them.
const TASKS_WITHIN: Duration = Duration::from_secs(DRAIN_WITHIN.as_secs() + 1);
/// Maximum duration of the last step.
const CLOSE_WITHIN: Duration = Duration::from_secs(3);
/// Maximum duration of a stop.
const STOP_WITHIN: Duration = Duration::from_secs(26);

const _: () = assert!(FINISHED_WITHIN.as_secs() <= CLOSE_WITHIN.as_secs(), "traces end meanwhile");
const _: () = assert!(
    TASKS_WITHIN.as_secs() + pipeline::STOP_WITHIN.as_secs() + CLOSE_WITHIN.as_secs()
        <= STOP_WITHIN.as_secs()
);

/// Waits for the tasks of a server that stops. A task that waits for a hanging database is cancelled.
pub(super) async fn end(mut tasks: Vec<JoinHandle<()>>) {
    let ending = async {
        for task in &mut tasks {
            if let Err(error) = task.await {
                tracing::error!(%error, "a task of the server failed: {error}");
            }
        }
    };
    if tokio::time::timeout(TASKS_WITHIN, ending).await.is_err() {
        let running = tasks.iter().filter(|task| !task.is_finished());
        tracing::warn!(
            "cancelled {} that did not end in {TASKS_WITHIN:?}",
            counted(running.count(), "task")
        );
        tasks.iter().for_each(JoinHandle::abort);
    }
}

/// Stores when keys were last used, and closes the store. A database that hangs is left open:
/// everything that was acknowledged is stored already.
pub(super) async fn close(auth: &Auth, store: Store) -> Result<(), StoreError> {
    let closing = async {
        if let Err(error) = auth.save_last_uses().await {
            tracing::warn!(%error, "failed to store when keys were last used: {error}");
        }
        store.close().await
    };
    tokio::time::timeout(CLOSE_WITHIN, closing).await.unwrap_or_else(|_| {
        tracing::warn!("the database did not close in {CLOSE_WITHIN:?}; exiting without it");
        Ok(())
    })
}
