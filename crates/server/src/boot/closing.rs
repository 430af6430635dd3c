//! Last step of a stop: the last writes, and closing the database. Bounds the whole stop, so that
//! service managers do not kill the server (`docs/guides/run-it-for-real.md` gives it 30 seconds).

use std::time::Duration;

use store::{Store, StoreError};

use super::listen::DRAIN_WITHIN;
use crate::auth::Auth;
use crate::pipeline;

/// Maximum duration of the last step.
const CLOSE_WITHIN: Duration = Duration::from_secs(4);
/// Maximum duration of a stop.
const STOP_WITHIN: Duration = Duration::from_secs(26);

const _: () = assert!(
    DRAIN_WITHIN.as_secs() + pipeline::STOP_WITHIN.as_secs() + CLOSE_WITHIN.as_secs()
        <= STOP_WITHIN.as_secs()
);

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
