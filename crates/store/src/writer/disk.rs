//! When the log of the embedded database is synced to the disk, and copied into the database; and who may wait
//! for that. What a commit
//! answers survives the end of the process in any case; syncing is for the end of the machine. PostgreSQL
//! decides by itself.

use std::time::Duration;

use tokio::time::Instant;

/// What may wait for a sync waits no longer than this.
const SYNCED_WITHIN: Duration = Duration::from_secs(1);
/// The log is copied into the database this often while checks are stored, so that it is a few pages that are
/// used again and again, which are in memory.
const FOLDED_EVERY: Duration = Duration::from_secs(5);
/// A thread that has something else to do waits for commits that take less than this.
const QUICK: Duration = Duration::from_millis(5);

/// When what a piece of work wrote is on the disk, whatever happens to the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durable {
    /// Before it is answered.
    AtOnce,
    /// With the next commit that may not wait, or within a second. For what is many and of which each says
    /// little: checks that found nothing.
    Soon,
}

/// What the connection does at commits now, what waits for a sync, and how long commits take.
#[derive(Debug, Default)]
pub(super) struct Disk {
    /// Whether the connection was told not to sync.
    is_eased: bool,
    /// Whether something is committed that is not synced.
    waits: bool,
    /// When somebody looks whether something waits; `None` where nobody does.
    looks_at: Option<Instant>,
    /// When the log was copied into the database last, and whether something was written since.
    folded_at: Option<Instant>,
    has_grown: bool,
    /// How long the last commit took that was synced.
    synced_took: Duration,
    /// How long the last one took that was not.
    eased_took: Duration,
}

/// What is to be done of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Due {
    /// It is to be synced.
    pub(super) sync: bool,
    /// It is to be copied into the database.
    pub(super) fold: bool,
}

impl Durable {
    /// When a commit that holds `all` is to be on the disk.
    pub(super) fn of(mut all: impl Iterator<Item = Self>) -> Self {
        if all.any(|durable| durable == Self::AtOnce) { Self::AtOnce } else { Self::Soon }
    }
}

impl Disk {
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

    /// Notes a commit that was made so and changed something: one that changes nothing is not written, and
    /// syncs nothing of what others wrote.
    pub(super) fn committed(&mut self, due: Durable, took: Duration) {
        self.has_grown = true;
        match due {
            Durable::AtOnce => (self.waits, self.synced_took) = (false, took),
            Durable::Soon => (self.waits, self.eased_took) = (true, took),
        }
    }

    /// Whether a commit like this was quick the last time.
    pub(super) fn is_quick(&self, durable: Durable) -> bool {
        let took = match durable {
            Durable::AtOnce => self.synced_took,
            Durable::Soon => self.eased_took,
        };
        took < QUICK
    }

    /// Has somebody look in time, where something waits, and says whether that is new.
    pub(super) fn watch(&mut self, now: Instant) -> bool {
        let is_new = self.waits && self.looks_at.is_none();
        if is_new {
            self.looks_at = Some(now + SYNCED_WITHIN);
        }
        is_new
    }

    /// When somebody looks whether something waits.
    pub(super) fn looks_at(&self) -> Option<Instant> {
        self.looks_at
    }

    /// Whether it is time to look, and what is to be done then. As long as something waited, somebody looks
    /// again: what comes before then waits no longer, and nobody has to be told of it.
    pub(super) fn look(&mut self, now: Instant) -> Option<Due> {
        if self.looks_at.is_none_or(|at| now < at) {
            return None;
        }
        let sync = std::mem::take(&mut self.waits);
        self.looks_at = sync.then(|| now + SYNCED_WITHIN);
        let fold = self.has_grown && self.folded_at.is_none_or(|at| at + FOLDED_EVERY <= now);
        if fold {
            self.has_grown = false;
            self.folded_at = Some(now);
            // The next commit begins the log anew, and SQLite syncs the beginning, in whichever mode.
            self.eased_took = QUICK;
        }
        (sync || fold).then_some(Due { sync, fold })
    }

    /// Whether something is committed that is not synced.
    #[cfg(test)]
    pub(super) fn waits(&self) -> bool {
        self.waits
    }

    /// What was to be synced was not.
    pub(super) fn still_waits(&mut self) {
        self.waits = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOK: Duration = Duration::from_millis(1);

    // design §2: what changes a verdict is synced; plain results are committed within 100 ms.
    #[test]
    fn a_commit_is_synced_where_something_in_it_may_not_wait() {
        let (soon, at_once) = (Durable::Soon, Durable::AtOnce);
        let mut disk = Disk::default();
        for (work, expected, statement) in [
            (&[soon][..], soon, Some("PRAGMA synchronous = NORMAL")),
            (&[soon, soon], soon, None),
            (&[soon, at_once], at_once, Some("PRAGMA synchronous = FULL")),
            (&[at_once], at_once, None),
            (&[soon], soon, Some("PRAGMA synchronous = NORMAL")),
        ] {
            let due = Durable::of(work.iter().copied());
            assert_eq!((due, disk.turns(due)), (expected, statement), "{work:?}");
            disk.turned(due);
        }
    }

    #[test]
    fn what_may_wait_is_synced_within_a_second_once_for_all_of_it() {
        let start = Instant::now();
        let after = |ms| start + Duration::from_millis(ms);
        let mut disk = Disk::default();
        assert!(!disk.watch(after(0)), "nothing waits");
        for ms in [100, 200, 900] {
            disk.committed(Durable::Soon, TOOK);
            assert_eq!(disk.watch(after(ms)), ms == 100, "only the first is told of");
            assert_eq!(disk.looks_at(), Some(after(1_100)));
        }
        assert_eq!(disk.look(after(1_099)), None);
        assert!(syncs(&mut disk, after(1_100)));
        disk.committed(Durable::Soon, TOOK);
        assert!(!disk.watch(after(1_150)), "somebody looks as it is");
        disk.committed(Durable::AtOnce, TOOK);
        assert!(!syncs(&mut disk, after(2_100)), "it was synced with another commit");
        assert_eq!(disk.looks_at(), None, "who looks for nothing rests");
        disk.committed(Durable::Soon, TOOK);
        assert!(disk.watch(after(5_000)));
        assert!(syncs(&mut disk, after(6_000)));
        disk.still_waits();
        assert!(syncs(&mut disk, after(7_000)), "what could not be synced is synced later");
    }

    fn syncs(disk: &mut Disk, now: Instant) -> bool {
        disk.look(now).is_some_and(|due| due.sync)
    }

    #[test]
    fn the_log_is_copied_every_five_seconds_where_it_grew() {
        let start = Instant::now();
        let mut disk = Disk::default();
        let mut folds = Vec::new();
        for second in 0..20 {
            let now = start + Duration::from_secs(second);
            if second < 13 {
                disk.committed(Durable::Soon, TOOK);
            }
            disk.watch(now);
            if disk.look(now).is_some_and(|due| due.fold) {
                folds.push(second);
                assert!(!disk.is_quick(Durable::Soon), "the next one waits for the disk");
            }
        }
        assert_eq!(folds, [1, 6, 11]);
        disk.committed(Durable::Soon, TOOK);
        assert!(disk.is_quick(Durable::Soon));
    }

    #[test]
    fn only_a_thread_of_its_own_waits_for_commits_of_a_kind_that_is_slow() {
        let quick = QUICK.checked_sub(Duration::from_nanos(1)).unwrap();
        for (synced, eased, at_once, soon) in [
            (Duration::ZERO, Duration::ZERO, true, true),
            (quick, quick, true, true),
            (QUICK, quick, false, true),
            (quick, QUICK, true, false),
            (QUICK, QUICK, false, false),
        ] {
            let mut disk = Disk::default();
            disk.committed(Durable::AtOnce, synced);
            disk.committed(Durable::Soon, eased);
            let is_quick = (disk.is_quick(Durable::AtOnce), disk.is_quick(Durable::Soon));
            assert_eq!(is_quick, (at_once, soon), "{synced:?} {eased:?}");
        }
        let mut disk = Disk::default();
        disk.committed(Durable::AtOnce, QUICK);
        disk.committed(Durable::AtOnce, quick);
        assert!(disk.is_quick(Durable::AtOnce), "a disk that is quick again is waited for again");
    }
}
