//! Stopping: the host asks providers to let go of what they do (`StopProvider`, when a person presses
//! Ctrl-C), and ends them when it is done with them (`Shutdown`). What a call does about it belongs to
//! the call: one that has made something in the world must still say so.

use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;

/// Tells calls that are under way to stop. Calls that come later are not concerned.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop {
    current: Arc<Mutex<CancellationToken>>,
}

impl Stop {
    /// For a call that begins: cancelled when the host says stop while it is under way.
    pub(crate) fn begin(&self) -> CancellationToken {
        self.current.lock().expect("no holder of this lock panics").child_token()
    }

    /// Stops every call that is under way.
    pub(crate) fn now(&self) {
        let mut current = self.current.lock().expect("no holder of this lock panics");
        std::mem::take(&mut *current).cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_under_way_are_stopped_and_later_ones_are_not() {
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
