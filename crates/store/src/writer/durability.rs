//! Decides when the write-ahead log of the embedded database is synced and checkpointed, and which
//! work may wait for that. Committed work always survives the end of the process. The sync protects
//! against a crash of the machine. PostgreSQL decides by itself.

use std::time::Duration;

use tokio::time::Instant;

/// Time within which deferred work is synced.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);
/// Interval of checkpoints while results are stored. Frequent checkpoints reuse the same few pages
/// of the log, which stay in memory.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(5);
/// Commit time below which a thread with other work waits for the commit.
const QUICK: Duration = Duration::from_millis(5);

/// Time at which the changes of a piece of work are on disk, even if the machine crashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Before the caller gets the reply.
    AtOnce,
    /// With the next `AtOnce` commit, or within a second. For frequent data of little value, such
    /// as successful checks.
    Soon,
}

/// Sync mode of the connection, state of deferred syncs, and durations of commits.
#[derive(Debug, Default)]
pub(super) struct Disk {
    /// Whether the connection currently skips syncs.
    is_eased: bool,
    /// Whether a commit is unsynced.
    is_unsynced: bool,
    /// Time of the next check for unsynced commits. `None` if no check is scheduled.
    next_check_at: Option<Instant>,
    /// Time of the last checkpoint.
    checkpointed_at: Option<Instant>,
    has_grown: bool,
    /// Duration of the last synced commit.
    synced_duration: Duration,
    /// Duration of the last unsynced commit.
    unsynced_duration: Duration,
}

/// Pending work on the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WalTask {
    pub(super) sync: bool,
    pub(super) checkpoint: bool,
}

impl Durability {
    /// Returns the durability of a commit that contains all of these.
    pub(super) fn combine(mut all: impl Iterator<Item = Self>) -> Self {
        if all.any(|durable| durable == Self::AtOnce) { Self::AtOnce } else { Self::Soon }
    }
}

impl Disk {
    /// Returns the statement that switches the connection's next commits to this mode, or `None` if
    /// it is already set. It only has an effect between transactions.
    pub(super) fn mode_statement(&self, due: Durability) -> Option<&'static str> {
        match (due, self.is_eased) {
            (Durability::Soon, false) => Some("PRAGMA synchronous = NORMAL"),
            (Durability::AtOnce, true) => Some("PRAGMA synchronous = FULL"),
            (Durability::Soon, true) | (Durability::AtOnce, false) => None,
        }
    }

    /// Records the new mode of the connection.
    pub(super) fn set_mode(&mut self, due: Durability) {
        self.is_eased = due == Durability::Soon;
    }

    /// Records a commit that changed something. A commit without changes writes nothing, so it does
    /// not sync earlier ones.
    pub(super) fn record_commit(&mut self, due: Durability, took: Duration) {
        self.has_grown = true;
        match due {
            Durability::AtOnce => (self.is_unsynced, self.synced_duration) = (false, took),
            Durability::Soon => (self.is_unsynced, self.unsynced_duration) = (true, took),
        }
    }

    /// Returns whether the last commit of this kind was quick.
    pub(super) fn is_quick(&self, durable: Durability) -> bool {
        let took = match durable {
            Durability::AtOnce => self.synced_duration,
            Durability::Soon => self.unsynced_duration,
        };
        took < QUICK
    }

    /// Schedules a check if a commit is unsynced and none is scheduled. Returns whether it did.
    pub(super) fn schedule_check(&mut self, now: Instant) -> bool {
        let is_new = self.is_unsynced && self.next_check_at.is_none();
        if is_new {
            self.next_check_at = Some(now + SYNC_INTERVAL);
        }
        is_new
    }

    /// Returns the time of the scheduled check.
    pub(super) fn next_check_at(&self) -> Option<Instant> {
        self.next_check_at
    }

    /// Returns the work that is due at a check. If a commit was unsynced, the next check is
    /// scheduled too, so that later commits need no wake-up and wait no longer than that.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<WalTask> {
        if self.next_check_at.is_none_or(|at| now < at) {
            return None;
        }
        let sync = std::mem::take(&mut self.is_unsynced);
        self.next_check_at = sync.then(|| now + SYNC_INTERVAL);
        let fold =
            self.has_grown && self.checkpointed_at.is_none_or(|at| at + CHECKPOINT_INTERVAL <= now);
        if fold {
            self.has_grown = false;
            self.checkpointed_at = Some(now);
            // The next commit restarts the log, and SQLite syncs its header in any mode.
            self.unsynced_duration = QUICK;
        }
        (sync || fold).then_some(WalTask { sync, checkpoint: fold })
    }

    /// Returns whether a commit is unsynced.
    #[cfg(test)]
    pub(super) fn is_unsynced(&self) -> bool {
        self.is_unsynced
    }

    /// Records that the sync failed.
    pub(super) fn record_sync_failure(&mut self) {
        self.is_unsynced = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOK: Duration = Duration::from_millis(1);

    // Design §2: changes of a verdict are synced; plain results are committed within 100 ms.
    #[test]
    fn group_with_urgent_work_is_synced_at_once() {
        let (soon, at_once) = (Durability::Soon, Durability::AtOnce);
        let mut disk = Disk::default();
        for (work, expected, statement) in [
            (&[soon][..], soon, Some("PRAGMA synchronous = NORMAL")),
            (&[soon, soon], soon, None),
            (&[soon, at_once], at_once, Some("PRAGMA synchronous = FULL")),
            (&[at_once], at_once, None),
            (&[soon], soon, Some("PRAGMA synchronous = NORMAL")),
        ] {
            let due = Durability::combine(work.iter().copied());
            assert_eq!((due, disk.mode_statement(due)), (expected, statement), "{work:?}");
            disk.set_mode(due);
        }
    }

    #[test]
    fn deferred_commits_share_one_sync_within_a_second() {
        let start = Instant::now();
        let after = |ms| start + Duration::from_millis(ms);
        let mut disk = Disk::default();
        assert!(!disk.schedule_check(after(0)), "nothing is unsynced");
        for ms in [100, 200, 900] {
            disk.record_commit(Durability::Soon, TOOK);
            assert_eq!(
                disk.schedule_check(after(ms)),
                ms == 100,
                "only the first schedules a check"
            );
            assert_eq!(disk.next_check_at(), Some(after(1_100)));
        }
        assert_eq!(disk.take_due(after(1_099)), None);
        assert!(syncs(&mut disk, after(1_100)));
        disk.record_commit(Durability::Soon, TOOK);
        assert!(!disk.schedule_check(after(1_150)), "a check is already scheduled");
        disk.record_commit(Durability::AtOnce, TOOK);
        assert!(!syncs(&mut disk, after(2_100)), "another commit synced it");
        assert_eq!(disk.next_check_at(), None, "no further check is scheduled");
        disk.record_commit(Durability::Soon, TOOK);
        assert!(disk.schedule_check(after(5_000)));
        assert!(syncs(&mut disk, after(6_000)));
        disk.record_sync_failure();
        assert!(syncs(&mut disk, after(7_000)), "a failed sync is retried");
    }

    fn syncs(disk: &mut Disk, now: Instant) -> bool {
        disk.take_due(now).is_some_and(|due| due.sync)
    }

    #[test]
    fn growing_log_is_checkpointed_every_five_seconds() {
        let start = Instant::now();
        let mut disk = Disk::default();
        let mut folds = Vec::new();
        for second in 0..20 {
            let now = start + Duration::from_secs(second);
            if second < 13 {
                disk.record_commit(Durability::Soon, TOOK);
            }
            disk.schedule_check(now);
            if disk.take_due(now).is_some_and(|due| due.checkpoint) {
                folds.push(second);
                assert!(!disk.is_quick(Durability::Soon), "the next commit waits for the disk");
            }
        }
        assert_eq!(folds, [1, 6, 11]);
        disk.record_commit(Durability::Soon, TOOK);
        assert!(disk.is_quick(Durability::Soon));
    }

    #[test]
    fn slow_kind_of_commit_is_not_quick() {
        let quick = QUICK.checked_sub(Duration::from_nanos(1)).unwrap();
        for (synced, eased, at_once, soon) in [
            (Duration::ZERO, Duration::ZERO, true, true),
            (quick, quick, true, true),
            (QUICK, quick, false, true),
            (quick, QUICK, true, false),
            (QUICK, QUICK, false, false),
        ] {
            let mut disk = Disk::default();
            disk.record_commit(Durability::AtOnce, synced);
            disk.record_commit(Durability::Soon, eased);
            let is_quick = (disk.is_quick(Durability::AtOnce), disk.is_quick(Durability::Soon));
            assert_eq!(is_quick, (at_once, soon), "{synced:?} {eased:?}");
        }
        let mut disk = Disk::default();
        disk.record_commit(Durability::AtOnce, QUICK);
        disk.record_commit(Durability::AtOnce, quick);
        assert!(disk.is_quick(Durability::AtOnce), "a disk that recovers counts as quick again");
    }
}
