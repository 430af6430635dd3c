//! Stop signals. A host sends `StopProvider` to interrupt calls when a person presses Ctrl-C, and
//! `Shutdown` when it no longer needs the provider. Each call decides how to react: one that has
//! changed something must still return its result.

use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;

/// Stops calls under way. Later calls are not affected.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop {
    current: Arc<Mutex<CancellationToken>>,
}

impl Stop {
    /// Returns a token for a new call. It is cancelled if the host sends a stop during the call.
    pub(crate) fn begin(&self) -> CancellationToken {
        self.current.lock().expect("code that holds this lock does not panic").child_token()
    }

    /// Stops every call under way.
    pub(crate) fn now(&self) {
        let mut current = self.current.lock().expect("code that holds this lock does not panic");
        std::mem::take(&mut *current).cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_affects_only_calls_under_way() {
        let stop = Stop::default();
        let (first, second) = (stop.begin(), stop.clone().begin());
        assert!(!first.is_cancelled());
        stop.now();
        assert!(first.is_cancelled() && second.is_cancelled());
        let later = stop.begin();
        assert!(!later.is_cancelled());
        stop.now();
        assert!(later.is_cancelled());
    }
}
