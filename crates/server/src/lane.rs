//! lane: what lies between the stages. Jobs go from cadence to those who check, reports from there
//! to the judge. In one process a lane is a bounded channel; a fleet's lane joins it here.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use domain::cadence::{Handle, Missed};
use domain::check::{CheckResult, Job};
use domain::judge::{Canaries, ProbeSlot};
use rules::Region;
use tokio::sync::{mpsc, oneshot};

/// Jobs that may wait to be started; cadence waits where there are more.
const JOBS_WAITING: usize = 1_024;
/// Reports that may wait for the judge; checks wait with their result where there are more.
const REPORTS_WAITING: usize = 8_192;

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
}

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

/// The two ends of the lane for jobs.
pub(crate) fn jobs() -> (mpsc::Sender<Errand>, mpsc::Receiver<Errand>) {
    mpsc::channel(JOBS_WAITING)
}

/// The two ends of the lane for reports.
pub(crate) fn reports() -> (mpsc::Sender<Report>, mpsc::Receiver<Report>) {
    mpsc::channel(REPORTS_WAITING)
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
