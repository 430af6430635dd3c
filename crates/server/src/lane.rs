//! lane: what lies between the stages. Jobs go from cadence to those who check, reports from there
//! to the judge. In one process a lane is a bounded channel; a fleet's lane joins it here.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use domain::cadence::{Handle, Missed};
use domain::check::{CheckResult, Job};
use domain::judge::{Canaries, ProbeSlot};
use futures_util::future::select_all;
use rules::Region;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

/// Jobs that may wait to be started in one lane; cadence waits where there are more.
const JOBS_WAITING: usize = 1_024;
/// A lane with so many jobs waiting does not keep up, and the next one gets some.
const BEHIND: usize = 512;
/// Reports that may wait for the judge; checks wait with their result where there are more.
const REPORTS_WAITING: usize = 8_192;
/// Reports that come sooner after others wait so long, to be heard together: little beside the
/// 100 ms in which they are stored.
const PAUSE: Duration = Duration::from_millis(4);

/// A job on its way to a probe.
#[derive(Debug)]
pub(crate) struct Errand {
    pub(crate) job: Job,
    /// The slot's place on the timetable; `None` for what is run beside it.
    pub(crate) handle: Option<Handle>,
    /// Who waits for the result, once it is stored.
    pub(crate) reply: Option<oneshot::Sender<CheckResult>>,
    /// Whether what is to be checked still holds.
    pub(crate) validity: Validity,
    /// Dropped after it was reported.
    pub(crate) under_way: OneUnderWay,
}

/// The errands that are under way, from where they are sent until they are reported: while there is
/// none, the judge has nothing to wait for.
#[derive(Debug, Default)]
pub(crate) struct UnderWay {
    count: AtomicUsize,
    ended: Notify,
}

/// One errand that is under way until this is dropped.
#[derive(Debug)]
pub(crate) struct OneUnderWay(Arc<UnderWay>);

/// Whether a revision of a monitor still holds: not once it was edited, paused or deleted. Clones
/// are of the same revision.
#[derive(Clone, Debug, Default)]
pub(crate) struct Validity(Arc<AtomicBool>);

/// What the judge hears.
#[derive(Debug)]
pub(crate) enum Report {
    /// A check ended, or its slot was skipped.
    Result(CheckResult, Option<oneshot::Sender<CheckResult>>),
    /// Slots that nobody ran.
    Missed(Missed),
    /// A probe that doubts itself asked its canaries.
    Canaries(ProbeSlot, Canaries),
}

/// The checks that ended since cadence last looked. Cadence asks when it needs to know, so that an
/// ended check wakes nobody.
#[derive(Debug, Default)]
pub(crate) struct Finished(Mutex<Vec<(Handle, Region)>>);

/// The near end of the lanes for jobs. Cheap to clone.
pub(crate) type Jobs = Lanes<Errand>;

/// The near end of several lanes, one for each thread that works.
#[derive(Debug)]
pub(crate) struct Lanes<T>(Arc<[mpsc::Sender<T>]>);

/// Nobody takes what is sent any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended;

/// The judge's end of the lane for reports: under load it is woken for many at a time, since each
/// waking costs as much as a report.
pub(crate) struct Paced<T = Report> {
    reports: mpsc::Receiver<T>,
    under_way: Arc<UnderWay>,
    /// When some were taken last.
    taken_at: Instant,
}

/// What came of waiting for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// Some were taken.
    Some,
    /// The last errand ended, and had been reported before.
    NoneNow,
    /// Nobody reports any more.
    NoneAnyMore,
}

/// The two ends of the lanes for jobs, `count` of them.
pub(crate) fn jobs(count: usize) -> (Jobs, Vec<mpsc::Receiver<Errand>>) {
    let (near, far): (Vec<_>, Vec<_>) = (0..count).map(|_| mpsc::channel(JOBS_WAITING)).unzip();
    (Lanes(near.into()), far)
}

/// The two ends of the lane for reports.
pub(crate) fn reports() -> (mpsc::Sender<Report>, mpsc::Receiver<Report>) {
    mpsc::channel(REPORTS_WAITING)
}

impl<T> Lanes<T> {
    /// Hands it to the first lane that keeps up, and where none does, to the one with the most
    /// room; waits where there is none.
    pub(crate) async fn send(&self, job: T) -> Result<(), Ended> {
        let keeps_up = |lane: &&mpsc::Sender<T>| lane.max_capacity() - lane.capacity() < BEHIND;
        let roomiest = || self.0.iter().max_by_key(|lane| lane.capacity());
        let lane = self.0.iter().find(keeps_up).or_else(roomiest).ok_or(Ended)?;
        lane.send(job).await.map_err(|_| Ended)
    }

    /// Whether a lane has room.
    pub(crate) fn has_room(&self) -> bool {
        self.0.iter().any(|lane| lane.capacity() > 0)
    }

    /// Ends when a lane has room, or has ended.
    pub(crate) async fn room(&self) {
        if !self.has_room() {
            let _ = select_all(self.0.iter().map(|lane| Box::pin(lane.reserve()))).await;
        }
    }

    /// Whether nobody takes anything any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.iter().all(mpsc::Sender::is_closed)
    }
}

impl<T> Clone for Lanes<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Paced<T> {
    pub(crate) fn new(reports: mpsc::Receiver<T>, under_way: Arc<UnderWay>) -> Self {
        Self { reports, under_way, taken_at: Instant::now() }
    }

    /// Whether nothing was reported that was not taken, and nothing will be for now.
    pub(crate) fn is_quiet(&self) -> bool {
        self.under_way.is_none() && self.reports.is_empty()
    }

    /// Whether everything that was reported was taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.reports.is_empty()
    }

    /// Waits for reports and takes as many as there are, `limit` at most. Dropping the future loses
    /// none.
    pub(crate) async fn take(&mut self, reports: &mut Vec<T>, limit: usize) -> Taken {
        let again_at = self.taken_at + PAUSE;
        let has_time = Instant::now() < again_at && self.reports.len() < limit;
        if has_time && !self.under_way.is_none() {
            tokio::select! {
                () = sleep_until(again_at) => {}
                () = self.under_way.ended() => {}
            }
        }
        tokio::select! {
            biased;
            count = self.reports.recv_many(reports, limit) => {
                self.taken_at = Instant::now();
                if count == 0 { Taken::NoneAnyMore } else { Taken::Some }
            }
            () = self.under_way.ended() => Taken::NoneNow,
        }
    }
}

impl UnderWay {
    /// Counts one, until it is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> OneUnderWay {
        self.count.fetch_add(1, Ordering::Relaxed);
        OneUnderWay(Arc::clone(self))
    }

    /// Whether there is none. What those that were under way reported can be taken then.
    pub(crate) fn is_none(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// Ends when the last one has ended, perhaps one of before; for one who waits.
    pub(crate) async fn ended(&self) {
        self.ended.notified().await;
    }
}

impl Drop for OneUnderWay {
    fn drop(&mut self) {
        if self.0.count.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.ended.notify_one();
        }
    }
}

impl Validity {
    /// The revision holds no more.
    pub(crate) fn end(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it still holds.
    pub(crate) fn holds(&self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

impl Finished {
    /// Notes that a check ended.
    pub(crate) fn note(&self, handle: Handle, region: Region) {
        self.0.lock().expect("nothing panics while it holds this").push((handle, region));
    }

    /// Takes what was noted, leaving `empty` in its place.
    pub(crate) fn take(&self, empty: Vec<(Handle, Region)>) -> Vec<(Handle, Region)> {
        std::mem::replace(&mut *self.0.lock().expect("nothing panics while it holds this"), empty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_lane_that_does_not_keep_up_shares_with_the_next() {
        let (near, mut far): (Vec<_>, Vec<_>) = (0..2).map(|_| mpsc::channel(2 * BEHIND)).unzip();
        let lanes = Lanes(near.into());
        let waiting =
            |far: &[mpsc::Receiver<usize>]| far.iter().map(mpsc::Receiver::len).collect::<Vec<_>>();
        for job in 0..BEHIND {
            lanes.send(job).await.unwrap();
        }
        assert_eq!(waiting(&far), [BEHIND, 0]);
        lanes.send(BEHIND).await.unwrap();
        assert_eq!(waiting(&far), [BEHIND, 1]);
        assert_eq!(far[0].recv().await, Some(0));
        lanes.send(BEHIND).await.unwrap();
        assert_eq!(waiting(&far), [BEHIND, 1], "it keeps up again");
        for job in 0..=BEHIND {
            lanes.send(job).await.unwrap();
        }
        assert_eq!(waiting(&far), [BEHIND + 1, BEHIND + 1], "none keeps up");
        drop(far);
        assert!(lanes.is_closed());
        assert_eq!(lanes.send(0).await, Err(Ended));
    }

    #[tokio::test]
    async fn reports_that_come_soon_after_others_are_taken_together() {
        let (sender, receiver) = mpsc::channel(8);
        let begun = Instant::now();
        let under_way = Arc::<UnderWay>::default();
        let one = under_way.begin();
        let mut paced = Paced::new(receiver, under_way);
        let mut taken = Vec::new();
        for report in 0..3 {
            sender.send(report).await.unwrap();
        }
        assert_eq!(paced.take(&mut taken, 8).await, Taken::Some);
        assert!(begun.elapsed() >= PAUSE, "some were taken just before");
        sender.send(3).await.unwrap();
        assert_eq!(paced.take(&mut taken, 1).await, Taken::Some, "as many as it may are there");
        assert!(!paced.is_quiet(), "one is under way");
        drop(one);
        assert!(paced.is_quiet());
        assert_eq!(paced.take(&mut taken, 8).await, Taken::NoneNow);
        drop(sender);
        assert_eq!(paced.take(&mut taken, 8).await, Taken::NoneAnyMore);
        assert_eq!(taken, [0, 1, 2, 3]);
    }
}
