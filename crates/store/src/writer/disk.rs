//! When the log of the embedded database is synced to the disk. What a commit answers survives the end of
//! the process in any case; syncing is for the end of the machine. PostgreSQL decides by itself.

use std::time::Duration;

use tokio::time::Instant;

/// Commits that may wait for a sync wait no longer than the first one after this.
const SYNCED_EVERY: Duration = Duration::from_secs(1);

/// When what a piece of work wrote is on the disk, whatever happens to the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durable {
    /// Before it is answered.
    AtOnce,
    /// With the next commit that is synced: any that may not wait, or the first one a second after the
    /// last sync. For what is many and of which each says little: checks that found nothing.
    Soon,
}

/// What the connection does at commits now, and when it synced last.
#[derive(Debug, Default)]
pub(super) struct Disk {
    /// `None` before the first sync of this connection.
    synced_at: Option<Instant>,
    /// Whether the connection was told not to sync.
    is_eased: bool,
}

impl Disk {
    /// What a commit that holds `all` has to do, at `now`.
    pub(super) fn due(&self, all: impl Iterator<Item = Durable>, now: Instant) -> Durable {
        let mut all = all;
        let is_long_ago =
            self.synced_at.is_none_or(|synced_at| now.duration_since(synced_at) >= SYNCED_EVERY);
        if is_long_ago || all.any(|durable| durable == Durable::AtOnce) {
            Durable::AtOnce
        } else {
            Durable::Soon
        }
    }

    /// The statement that makes the connection's next commits so, where it does otherwise now. It is
    /// heard between transactions only.
    pub(super) fn turns(&self, due: Durable) -> Option<&'static str> {
        match (due, self.is_eased) {
            (Durable::Soon, false) => Some("PRAGMA synchronous = NORMAL"),
            (Durable::AtOnce, true) => Some("PRAGMA synchronous = FULL"),
            (Durable::Soon, true) | (Durable::AtOnce, false) => None,
        }
    }

    /// Notes that the connection does so now.
    pub(super) fn turned(&mut self, due: Durable) {
        self.is_eased = due == Durable::Soon;
    }

    /// Notes a commit that was made so.
    pub(super) fn committed(&mut self, due: Durable, now: Instant) {
        if due == Durable::AtOnce {
            self.synced_at = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // design §2: what changes a verdict is synced; plain results are committed within 100 ms.
    #[test]
    fn plain_commits_are_synced_once_a_second_and_with_all_that_may_not_wait() {
        let (soon, at_once) = (Durable::Soon, Durable::AtOnce);
        let start = Instant::now();
        let mut disk = Disk::default();
        for (after_ms, work, expected, statement) in [
            (0, &[soon][..], at_once, None),
            (100, &[soon, soon], soon, Some("PRAGMA synchronous = NORMAL")),
            (200, &[soon], soon, None),
            (300, &[soon, at_once], at_once, Some("PRAGMA synchronous = FULL")),
            (1_299, &[soon], soon, Some("PRAGMA synchronous = NORMAL")),
            (1_300, &[soon], at_once, Some("PRAGMA synchronous = FULL")),
            (1_400, &[at_once], at_once, None),
            (1_500, &[soon], soon, Some("PRAGMA synchronous = NORMAL")),
        ] {
            let now = start + Duration::from_millis(after_ms);
            let due = disk.due(work.iter().copied(), now);
            assert_eq!(due, expected, "after {after_ms} ms");
            assert_eq!(disk.turns(due), statement, "after {after_ms} ms");
            disk.turned(due);
            disk.committed(due, now);
        }
    }
}
