//! Receives a decoded body: keeps its beginning and searches the rest.

use ::http::HeaderMap;
use domain::check::ObservedBody;
use domain::check::http::{HttpPlan, Search};

use crate::memory::Reservation;

/// Receives the decoded body.
pub(super) struct Sink {
    beginning: Vec<u8>,
    /// Maximum length of `beginning`.
    keep_bytes: usize,
    /// Bytes still to be examined.
    room: usize,
    search: Option<Search>,
    /// Whether there was data that is not in `beginning`.
    goes_on: bool,
    /// Whether the memory budget was used up.
    cut: bool,
    reservation: Reservation,
}

/// Whether all decoded data fit within the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfolded {
    Whole,
    PastTheRoom,
}

impl Sink {
    /// Creates the sink for a body with these headers, as required by `plan`.
    pub(super) fn new(plan: &HttpPlan, headers: &HeaderMap, reservation: Reservation) -> Self {
        Self {
            beginning: Vec::new(),
            keep_bytes: plan.body_kept,
            room: plan.body_read.max(plan.body_kept),
            search: Search::new(plan, headers),
            goes_on: false,
            cut: false,
            reservation,
        }
    }

    /// Returns the number of bytes that it still accepts.
    pub(super) const fn room(&self) -> usize {
        self.room
    }

    /// Reserves memory for a decoder or kept bytes; nothing more is decoded if this fails.
    pub(super) fn reserve(&mut self, bytes: usize) -> bool {
        let holds = self.reservation.grow(bytes);
        self.cut |= !holds;
        holds
    }

    /// Adds a piece of the decoded body.
    pub(super) fn append(&mut self, piece: &[u8]) -> Unfolded {
        let fits = piece.len().min(self.room);
        self.room -= fits;
        let is_whole = fits == piece.len();
        let piece = &piece[..fits];
        if let Some(search) = &mut self.search {
            search.push(piece);
        }
        let kept = if self.goes_on { 0 } else { fits.min(self.keep_bytes - self.beginning.len()) };
        if kept > 0 && self.reserve(kept) {
            self.beginning.extend_from_slice(&piece[..kept]);
            self.goes_on = kept < fits;
        } else {
            self.goes_on |= fits > 0;
        }
        if is_whole { Unfolded::Whole } else { Unfolded::PastTheRoom }
    }

    /// Returns the body as received so far. `is_unread` says whether its end is missing.
    pub(super) fn into_body(self, is_unread: bool) -> ObservedBody {
        let Self { mut beginning, search, goes_on, cut, reservation: mut held, .. } = self;
        beginning.shrink_to_fit();
        held.shrink(beginning.len());
        ObservedBody {
            bytes: held.into_bytes(beginning),
            truncated: is_unread || goes_on,
            cut,
            found: search.map(|search| search.finish(is_unread)),
        }
    }

    #[cfg(test)]
    pub(super) fn with_room(room: usize) -> Self {
        let (keep_bytes, reservation) = (room, crate::memory::Memory::new(1 << 30).reserve());
        let (beginning, search) = (Vec::new(), None);
        Self { beginning, keep_bytes, room, search, goes_on: false, cut: false, reservation }
    }

    #[cfg(test)]
    pub(super) fn beginning(&self) -> &[u8] {
        &self.beginning
    }
}
