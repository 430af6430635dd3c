//! Lookups of sessions in the database. Anybody can send cookies, so unknown ones are looked up one at a
//! time: a flood of invented cookies must not use all connections to the database. Sessions that were
//! valid before are looked up immediately, and the server has capacity of its own for them.

use std::collections::HashSet;
use std::mem;
use std::sync::{Mutex, PoisonError};

use store::SessionHash;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Maximum number of concurrent lookups of unknown sessions.
const UNKNOWN_MAX: usize = 1;
/// Maximum number of sessions in `recent`. When it is full, it becomes `older`, and the previous `older`
/// is forgotten.
pub(crate) const KNOWN_MAX: usize = 10_000;

/// Limits of lookups.
#[derive(Debug)]
pub struct SessionLookups {
    unknown: Semaphore,
    known: Mutex<KnownSessions>,
}

#[derive(Debug, Default)]
struct KnownSessions {
    recent: HashSet<SessionHash>,
    older: HashSet<SessionHash>,
}

impl Default for SessionLookups {
    fn default() -> Self {
        Self { unknown: Semaphore::new(UNKNOWN_MAX), known: Mutex::default() }
    }
}

impl SessionLookups {
    /// Waits until a session may be looked up. The lookup holds the result until it ends.
    pub(crate) async fn begin(&self, session: SessionHash) -> Option<SemaphorePermit<'_>> {
        if self.is_known(session) {
            return None;
        }
        Some(self.unknown.acquire().await.expect("the semaphore is never closed"))
    }

    /// Remembers a valid session.
    pub(crate) fn remember(&self, session: SessionHash) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.recent.contains(&session) {
            return;
        }
        if known.recent.len() >= KNOWN_MAX {
            known.older = mem::take(&mut known.recent);
        }
        known.recent.insert(session);
    }

    /// Forgets a session that is no longer valid.
    pub(crate) fn forget(&self, session: SessionHash) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.recent.remove(&session);
        known.older.remove(&session);
    }

    pub(crate) fn is_known(&self, session: SessionHash) -> bool {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.recent.contains(&session) || known.older.contains(&session)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn session(number: usize) -> SessionHash {
        SessionHash::new(&number.to_le_bytes())
    }

    // 4,000 requests with invented cookies made everybody else wait 2 s for the database
    #[tokio::test]
    async fn known_session_passes_waiting_unknown_ones() {
        let lookups = SessionLookups::default();
        lookups.remember(session(0));
        let first = lookups.begin(session(1)).await;
        assert!(first.is_some());
        let mut second = Box::pin(lookups.begin(session(2)));
        assert!(second.as_mut().now_or_never().is_none());
        assert!(lookups.begin(session(0)).await.is_none());
        drop(first);
        assert!(second.await.is_some());
    }

    #[tokio::test]
    async fn remembered_sessions_are_bounded() {
        let lookups = SessionLookups::default();
        (0..=2 * KNOWN_MAX).for_each(|number| lookups.remember(session(number)));
        assert!(lookups.begin(session(0)).await.is_some());
        assert!(lookups.begin(session(KNOWN_MAX)).await.is_none());
        let known = lookups.known.lock().unwrap();
        assert!(known.recent.len() <= KNOWN_MAX && known.older.len() <= KNOWN_MAX);
    }
}
