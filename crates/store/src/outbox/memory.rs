//! What the writer remembers of the outbox: whom to wake once the transaction at hand is committed, the
//! minute that each of them is in, for storms, and how far each page has passed on its news. None of it
//! is needed after a restart.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use domain::notify::Window;
use rules::{PageId, Timestamp};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{Addressee, Woken};

/// Minutes that are remembered; past it all are forgotten, which tells some events one by one.
const WINDOWS_MAX: usize = 65_536;
/// Pages on their way whose places are remembered; past it all begin anew.
const PLACES_MAX: usize = 4_096;

/// Where the sender listens.
#[derive(Debug, Default)]
pub(crate) struct Listener(Mutex<Option<UnboundedSender<Woken>>>);

/// What the writer remembers.
pub(crate) struct Memory {
    listener: Arc<Listener>,
    /// Of the transaction at hand: what is due earliest for each.
    news: BTreeMap<Addressee, Timestamp>,
    windows: HashMap<Addressee, Window>,
    /// The windows that the transaction at hand changed, as they were before it.
    before: HashMap<Addressee, Option<Window>>,
    places: HashMap<PageId, Place>,
}

/// How far a page has passed on something: in the order of their identifiers, these subscribers were
/// looked at and need not be again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The number of the delivery to the page.
    pub(super) delivery: i64,
    /// The last one.
    pub(super) after: String,
}

impl Listener {
    pub(super) fn listen(&self) -> UnboundedReceiver<Woken> {
        let (news, listening) = unbounded_channel();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(news);
        listening
    }

    fn tell(&self, news: &BTreeMap<Addressee, Timestamp>) {
        let mut listener = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(listening) = &*listener else { return };
        let mut woken = news.iter().map(|(&addressee, &due_at)| Woken { addressee, due_at });
        if woken.any(|woken| listening.send(woken).is_err()) {
            // Nobody listens any more; the rows are there for who comes next.
            *listener = None;
        }
    }
}

impl Memory {
    pub(crate) fn new(listener: Arc<Listener>) -> Self {
        let (news, windows, before, places) = <_>::default();
        Self { listener, news, windows, before, places }
    }

    /// Something is due for them, once the transaction is committed.
    pub(super) fn wake(&mut self, addressee: impl Into<Addressee>, due_at: Timestamp) {
        let earliest = self.news.entry(addressee.into()).or_insert(due_at);
        *earliest = due_at.min(*earliest);
    }

    /// The minute that they are in.
    pub(super) fn window(&self, addressee: impl Into<Addressee>) -> Option<Window> {
        self.windows.get(&addressee.into()).copied()
    }

    /// They are in this minute from now on.
    pub(super) fn set_window(&mut self, addressee: impl Into<Addressee>, window: Option<Window>) {
        let Some(window) = window else { return };
        let addressee = addressee.into();
        let before = self.windows.insert(addressee, window);
        self.before.entry(addressee).or_insert(before);
    }

    /// How far the page has passed on this delivery, where that is remembered.
    pub(super) fn place(&self, page: PageId, delivery: i64) -> Option<&Place> {
        self.places.get(&page).filter(|place| place.delivery == delivery)
    }

    /// How far the page has come; `None` once it is through. Said as the last thing of a piece of work: what
    /// fails after it would be passed over.
    pub(super) fn set_place(&mut self, page: PageId, place: Option<Place>) {
        match place {
            Some(place) => self.places.insert(page, place),
            None => self.places.remove(&page),
        };
    }

    /// What the transaction at hand passed on may not be stored: pages begin anew, and nobody is written
    /// to twice.
    pub(crate) fn begin_anew(&mut self) {
        self.places.clear();
    }

    /// The transaction is committed, or may be: a look for nothing does no harm.
    pub(crate) fn keep(&mut self) {
        if !self.news.is_empty() {
            self.listener.tell(&self.news);
            self.news.clear();
        }
        self.before.clear();
        if self.windows.len() > WINDOWS_MAX {
            self.windows.clear();
        }
        if self.places.len() > PLACES_MAX {
            self.places.clear();
        }
    }

    /// The transaction is undone.
    pub(crate) fn forget(&mut self) {
        self.news.clear();
        for (addressee, before) in self.before.drain() {
            match before {
                Some(window) => self.windows.insert(addressee, window),
                None => self.windows.remove(&addressee),
            };
        }
    }
}
