//! All custom domains in memory, so that requests need no query. Changes of pages update the table
//! at once.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use rules::DomainName;
use store::{Store, StoreError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::Domains;

/// Pause before a retry after a failure of the store.
const RETRY_AFTER_FAILURE: Duration = Duration::from_millis(500);

/// All custom domains.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DomainTable(HashSet<String>);

impl DomainTable {
    /// Returns whether a page has this domain, in A-labels.
    pub(super) fn has(&self, domain: &str) -> bool {
        self.0.contains(domain)
    }

    /// Returns whether there are no custom domains.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all custom domains.
    pub(super) fn all(&self) -> impl Iterator<Item = DomainName> {
        self.0.iter().filter_map(|domain| DomainName::parse(domain).ok())
    }
}

impl Domains {
    /// Reads the domains from the store.
    pub(crate) async fn read(&self, store: &Store) -> Result<(), StoreError> {
        let domains = store.pages().domains().await?;
        // Domains set before this server got its names may be names of the server itself.
        let table = domains
            .into_iter()
            .filter(|page| self.is_supported() && !self.is_own(&page.domain))
            .map(|page| page.domain.to_string())
            .collect();
        let table = DomainTable(table);
        self.table.send_if_modified(|known| {
            let is_new = **known != table;
            *known = Arc::new(table);
            is_new
        });
        Ok(())
    }

    /// Subscribes to new tables.
    pub(super) fn subscribe(&self) -> watch::Receiver<Arc<DomainTable>> {
        self.table.subscribe()
    }
}

/// Updates the table after changes in the store, until `stop`.
pub(crate) async fn follow(domains: Arc<Domains>, store: Store, stop: CancellationToken) {
    let mut changes = store.page_changes();
    loop {
        changes.mark_unchanged();
        let read = domains.read(&store).await;
        let next = async {
            match read {
                Ok(()) => {
                    // The sender lives as long as the store, so this does not fail.
                    let _ = changes.changed().await;
                }
                Err(error) => {
                    tracing::warn!(%error, "the domains of pages could not be read: {error}");
                    tokio::time::sleep(RETRY_AFTER_FAILURE).await;
                }
            }
        };
        tokio::select! {
            () = stop.cancelled() => return,
            () = next => {}
        }
    }
}
