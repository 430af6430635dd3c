//! Sources of the content of pages: the store, and the trait that the server implements for what
//! only it knows.

use std::collections::HashMap;
use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;

use domain::notify::Mail;
use rules::{MonitorId, Region, Timestamp, WorkspaceId};
use store::Store;
use web::context::Context;

/// Future that a method of [`Backend`] returns. It is boxed, because the state holds any backend.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Sources that the caches read from. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) ctx: Context,
    pub(crate) store: Store,
    pub(crate) backend: Arc<dyn Backend>,
}

/// The parts of the server that pages cannot read from the database: the latest checks, and the
/// login emails, which a visitor waits for. Other emails go through the outbox.
pub trait Backend: Debug + Send + Sync {
    /// Returns when the last check of each of these monitors ended. Unknown ones are absent.
    fn last_checks(&self, monitors: Vec<MonitorId>)
    -> BoxFuture<'_, HashMap<MonitorId, Timestamp>>;

    /// Returns the number of places that checks of these regions of a workspace come from. Regions that
    /// one probe serves are one place.
    fn places(&self, workspace: WorkspaceId, regions: &[Region]) -> usize;

    /// Returns whether emails can be sent.
    fn can_send_emails(&self) -> bool;

    /// Sends an email. Fails with the reason if it was not sent.
    fn send_email(
        &self,
        workspace: WorkspaceId,
        mail: Mail,
    ) -> BoxFuture<'static, Result<(), String>>;
}
