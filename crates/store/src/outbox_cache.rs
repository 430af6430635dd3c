//! The writer's cache of the outbox: recipients to wake after the commit, the current digest window
//! of each recipient, and the fan-out progress of each page. A restart may lose all of it.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use domain::notify::GroupWindow;
use rules::PageId;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::recipient::Recipient;

/// Maximum number of cached windows. Beyond it, all are dropped, and some events are sent singly.
const WINDOWS_MAX: usize = 65_536;
/// Maximum number of pages with cached progress. Beyond it, all are dropped, and pages start over.
const CURSORS_MAX: usize = 4_096;

/// Sender of wake-ups to the delivery workers: recipients with something due, now or later.
#[derive(Debug, Default)]
pub(crate) struct Listener(Mutex<Option<UnboundedSender<Recipient>>>);

/// The writer's cache of the outbox.
pub(crate) struct OutboxCache {
    listener: Arc<Listener>,
    windows: HashMap<Recipient, GroupWindow>,
    cursors: HashMap<PageId, FanOutCursor>,
    /// Changes of the current transaction, without those of the current task.
    transaction: Changes,
    /// Changes of the current task.
    task: Changes,
}

/// Changes that a rollback undoes.
#[derive(Default)]
struct Changes {
    /// Recipients to wake after the commit.
    wakeups: BTreeSet<Recipient>,
    /// Windows before the first change.
    windows_before: HashMap<Recipient, Option<GroupWindow>>,
}

/// Fan-out progress of a page: all subscribers up to this identifier have been checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FanOutCursor {
    /// Row ID of the delivery to the page.
    pub(crate) delivery: i64,
    /// Identifier of the last checked subscriber.
    pub(crate) after: String,
}

impl Listener {
    pub(crate) fn listen(&self) -> UnboundedReceiver<Recipient> {
        let (sender, receiver) = unbounded_channel();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        receiver
    }

    fn notify(&self, wakeups: &BTreeSet<Recipient>) {
        let mut listener = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(sender) = &*listener else { return };
        if wakeups.iter().any(|recipient| sender.send(*recipient).is_err()) {
            // The receiver is gone. The next one finds the rows in the database.
            *listener = None;
        }
    }
}

impl OutboxCache {
    pub(crate) fn new(listener: Arc<Listener>) -> Self {
        let (windows, cursors, transaction, task) = <_>::default();
        Self { listener, windows, cursors, transaction, task }
    }

    /// Schedules a wake-up of a recipient after the commit.
    pub(crate) fn wake(&mut self, recipient: impl Into<Recipient>) {
        self.task.wakeups.insert(recipient.into());
    }

    /// Returns the current window of a recipient.
    pub(crate) fn window(&self, recipient: impl Into<Recipient>) -> Option<GroupWindow> {
        self.windows.get(&recipient.into()).copied()
    }

    /// Sets the current window of a recipient.
    pub(crate) fn set_window(
        &mut self,
        recipient: impl Into<Recipient>,
        window: Option<GroupWindow>,
    ) {
        let Some(window) = window else { return };
        let recipient = recipient.into();
        let before = self.windows.insert(recipient, window);
        self.task.windows_before.entry(recipient).or_insert(before);
    }

    /// Returns the progress of a page for this delivery, if it is cached.
    pub(crate) fn cursor(&self, page: PageId, delivery: i64) -> Option<&FanOutCursor> {
        self.cursors.get(&page).filter(|cursor| cursor.delivery == delivery)
    }

    /// Sets the progress of a page, or removes it after the last step. Call it last in a piece of
    /// work: if a later step failed, subscribers would be skipped.
    pub(crate) fn set_cursor(&mut self, page: PageId, cursor: Option<FanOutCursor>) {
        match cursor {
            Some(cursor) => self.cursors.insert(page, cursor),
            None => self.cursors.remove(&page),
        };
    }

    /// Drops all progress, because the fan-out of the current transaction may not be stored. Pages
    /// start over, and no subscriber gets an event twice.
    pub(crate) fn clear_progress(&mut self) {
        self.cursors.clear();
    }

    /// Adds the changes of a successful task to those of its transaction.
    pub(crate) fn end_task(&mut self) {
        self.transaction.wakeups.append(&mut self.task.wakeups);
        for (recipient, before) in self.task.windows_before.drain() {
            self.transaction.windows_before.entry(recipient).or_insert(before);
        }
    }

    /// Discards the changes of a task that was rolled back to its savepoint.
    pub(crate) fn roll_back_task(&mut self) {
        self.task.undo(&mut self.windows);
    }

    /// Applies the changes after a commit, or a possible commit. An unnecessary wake-up does no
    /// harm.
    pub(crate) fn commit(&mut self) {
        self.end_task();
        if !self.transaction.wakeups.is_empty() {
            self.listener.notify(&self.transaction.wakeups);
            self.transaction.wakeups.clear();
        }
        self.transaction.windows_before.clear();
        if self.windows.len() > WINDOWS_MAX {
            self.windows.clear();
        }
        if self.cursors.len() > CURSORS_MAX {
            self.cursors.clear();
        }
    }

    /// Discards the changes after a rollback.
    pub(crate) fn roll_back(&mut self) {
        self.task.undo(&mut self.windows);
        self.transaction.undo(&mut self.windows);
    }
}

impl Changes {
    /// Drops the wake-ups and restores the windows.
    fn undo(&mut self, windows: &mut HashMap<Recipient, GroupWindow>) {
        self.wakeups.clear();
        for (recipient, before) in self.windows_before.drain() {
            match before {
                Some(window) => windows.insert(recipient, window),
                None => windows.remove(&recipient),
            };
        }
    }
}
