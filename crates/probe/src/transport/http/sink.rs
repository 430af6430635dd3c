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
    remaining: usize,
    search: Option<Search>,
    /// Whether there was data that is not in `beginning`.
    has_more: bool,
    /// Whether the memory budget was used up.
    memory_exhausted: bool,
    reservation: Reservation,
}

/// Whether all decoded data fit within the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decoded {
    Complete,
    LimitReached,
}

impl Sink {
    /// Creates the sink for a body with these headers, as required by `plan`.
    pub(super) fn new(plan: &HttpPlan, headers: &HeaderMap, reservation: Reservation) -> Self {
        Self {
            beginning: Vec::new(),
            keep_bytes: plan.body_kept,
            remaining: plan.body_read.max(plan.body_kept),
            search: Search::new(plan, headers),
            has_more: false,
            memory_exhausted: false,
            reservation,
        }
    }

    /// Returns the number of bytes that it still accepts.
    pub(super) const fn remaining(&self) -> usize {
        self.remaining
    }

    /// Reserves memory for a decoder or kept bytes; nothing more is decoded if this fails.
    pub(super) fn reserve(&mut self, bytes: usize) -> bool {
        let holds = self.reservation.grow(bytes);
        self.memory_exhausted |= !holds;
        holds
    }

    /// Adds a piece of the decoded body.
    pub(super) fn append(&mut self, piece: &[u8]) -> Decoded {
        let fits = piece.len().min(self.remaining);
        self.remaining -= fits;
        let is_whole = fits == piece.len();
        let piece = &piece[..fits];
        if let Some(search) = &mut self.search {
            search.push(piece);
        }
        let kept = if self.has_more { 0 } else { fits.min(self.keep_bytes - self.beginning.len()) };
        if kept > 0 && self.reserve(kept) {
            self.beginning.extend_from_slice(&piece[..kept]);
            self.has_more = kept < fits;
        } else {
            self.has_more |= fits > 0;
        }
        if is_whole { Decoded::Complete } else { Decoded::LimitReached }
    }

    /// Returns the body as received so far. `is_unread` says whether its end is missing.
    pub(super) fn into_body(self, is_unread: bool) -> ObservedBody {
        let Self {
            mut beginning, search, has_more, memory_exhausted, reservation: mut held, ..
        } = self;
        beginning.shrink_to_fit();
        held.shrink(beginning.len());
        ObservedBody {
            bytes: held.into_bytes(beginning),
            truncated: is_unread || has_more,
            memory_exhausted,
            found: search.map(|search| search.finish(is_unread)),
        }
    }

    #[cfg(test)]
    pub(super) fn with_limit(remaining: usize) -> Self {
        let (keep_bytes, reservation) = (remaining, crate::memory::Reservation::unlimited());
        let (beginning, search) = (Vec::new(), None);
        Self {
            beginning,
            keep_bytes,
            remaining,
            search,
            has_more: false,
            memory_exhausted: false,
            reservation,
        }
    }

    #[cfg(test)]
    pub(super) fn beginning(&self) -> &[u8] {
        &self.beginning
    }
}
