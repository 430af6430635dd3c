//! Watches of single subjects: open views learn of data that changes too often for generations. A
//! signal follows the commit and says nothing about the data, which the view reads again.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rules::{ChannelId, MonitorId, UserId};
use tokio::sync::Notify;

/// Subject that a view can watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// Status of a monitor, with its open incident.
    Status(MonitorId),
    /// Results and missed slots of a monitor.
    Results(MonitorId),
    /// Deliveries of a channel.
    Deliveries(ChannelId),
    /// Ends of sessions of a user. An end that also changes an account is an edit of all workspaces.
    Sessions(UserId),
}

/// Subjects that are watched at the moment.
#[derive(Debug, Default)]
pub(crate) struct SubjectWatches {
    signals: Mutex<HashMap<Subject, Vec<Arc<Notify>>>>,
    /// Number of watched subjects, so that commits need no lock while nobody watches.
    watched: AtomicUsize,
}

/// Watch of some subjects, until it is dropped.
#[derive(Debug)]
pub struct SubjectWatch {
    watches: Arc<SubjectWatches>,
    subjects: Vec<Subject>,
    signal: Arc<Notify>,
}

impl SubjectWatches {
    pub(crate) fn watch(self: &Arc<Self>, subjects: Vec<Subject>) -> SubjectWatch {
        let signal = Arc::<Notify>::default();
        let mut signals = self.lock();
        for subject in &subjects {
            signals.entry(*subject).or_default().push(Arc::clone(&signal));
        }
        self.watched.store(signals.len(), Ordering::Release);
        drop(signals);
        SubjectWatch { watches: Arc::clone(self), subjects, signal }
    }

    /// Signals that these subjects changed.
    pub(crate) fn signal(&self, changed: impl IntoIterator<Item = Subject>) {
        if self.watched.load(Ordering::Acquire) == 0 {
            return;
        }
        let signals = self.lock();
        for subject in changed {
            for signal in signals.get(&subject).into_iter().flatten() {
                signal.notify_one();
            }
        }
    }

    fn end(&self, subjects: &[Subject], ended: &Arc<Notify>) {
        let mut signals = self.lock();
        for subject in subjects {
            if let Some(watching) = signals.get_mut(subject) {
                watching.retain(|signal| !Arc::ptr_eq(signal, ended));
                if watching.is_empty() {
                    signals.remove(subject);
                }
            }
        }
        self.watched.store(signals.len(), Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Subject, Vec<Arc<Notify>>>> {
        self.signals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SubjectWatch {
    /// Waits until a subject changes. A change between two calls ends the second one at once.
    pub async fn changed(&self) {
        self.signal.notified().await;
    }
}

impl Drop for SubjectWatch {
    fn drop(&mut self) {
        self.watches.end(&self.subjects, &self.signal);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    const STATUS: Subject = Subject::Status(MonitorId::from_bits(1));
    const RESULTS: Subject = Subject::Results(MonitorId::from_bits(1));
    const OTHER: Subject = Subject::Status(MonitorId::from_bits(2));

    fn has_changed(watch: &SubjectWatch) -> bool {
        watch.changed().now_or_never().is_some()
    }

    #[test]
    fn watch_gets_signals_of_its_subjects_only() {
        let watches = Arc::<SubjectWatches>::default();
        let (watch, other) = (watches.watch(vec![STATUS, RESULTS]), watches.watch(vec![OTHER]));
        assert!(!has_changed(&watch));
        watches.signal([RESULTS, STATUS, RESULTS]);
        assert!(has_changed(&watch), "a change before the call counts");
        assert!(!has_changed(&watch), "several changes are one signal");
        assert!(!has_changed(&other));
    }

    #[test]
    fn dropped_watch_is_forgotten() {
        let watches = Arc::<SubjectWatches>::default();
        let (first, second) = (watches.watch(vec![STATUS, STATUS]), watches.watch(vec![STATUS]));
        drop(first);
        watches.signal([STATUS]);
        assert!(has_changed(&second));
        drop(second);
        assert!(watches.lock().is_empty());
        assert_eq!(watches.watched.load(Ordering::Acquire), 0);
    }
}
