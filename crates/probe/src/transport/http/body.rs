//! The body of the final response: reads it to the last byte, because latency includes it. Keeps
//! the beginning of the decoded body and searches the rest while it is received.

use std::net::SocketAddr;

use ::http::HeaderMap;
use bytes::Bytes;
use domain::check::http::{HttpPlan, Search};
use domain::check::{Failure, FailureKind, ObservedBody};
use http_body_util::BodyExt;
use hyper::body::Incoming;

use super::connection::{self, HttpConnection};
use super::decode::{Decoder, Unfolded, codings};
use crate::limits::{BODY_READ, DECODER_BYTES};
use crate::memory::Reservation;

/// Collects a body while it is read.
pub(crate) struct Collector {
    sink: Sink,
    decoder: Option<Decoder>,
    /// Whether the body exceeded the limit.
    overflowed: bool,
    /// Whether the end was received.
    ended: bool,
}

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

impl Collector {
    /// Creates the collector for a body with these headers, as required by `plan`.
    pub(super) fn new(
        plan: &HttpPlan,
        headers: &HeaderMap,
        held: Reservation,
    ) -> Result<Self, Failure> {
        let (decoder, decoders) = match codings(headers) {
            Ok(codings) if codings.is_empty() => (None, 0),
            Ok(codings) => (Some(Decoder::new(&codings)), codings.len()),
            // Without body assertions, an unknown encoding does not matter.
            Err(_) if plan.body_assertions.is_empty() => (None, 0),
            Err(unknown) => {
                let detail = format!("unknown content-encoding `{unknown}`");
                return Err(Failure::new(FailureKind::BodyUndecodable, detail));
            }
        };
        let mut sink = Sink {
            beginning: Vec::new(),
            keep_bytes: plan.body_kept,
            room: plan.body_read.max(plan.body_kept),
            search: Search::new(plan, headers),
            goes_on: false,
            cut: false,
            reservation: held,
        };
        let overflowed = !sink.reserve(decoders * DECODER_BYTES);
        Ok(Self { sink, decoder, overflowed, ended: false })
    }

    /// Returns the body as received so far.
    pub(crate) fn into_body(self) -> ObservedBody {
        let Sink { mut beginning, search, goes_on, cut, reservation: mut held, .. } = self.sink;
        beginning.shrink_to_fit();
        held.shrink(beginning.len());
        let is_unread = self.overflowed || !self.ended;
        ObservedBody {
            bytes: held.into_bytes(beginning),
            truncated: is_unread || goes_on,
            cut,
            found: search.map(|search| search.finish(is_unread)),
        }
    }

    /// Adds the next piece.
    fn push(&mut self, piece: &Bytes) -> Result<(), Failure> {
        if self.overflowed || piece.is_empty() {
            return Ok(());
        }
        let unfolded = match &mut self.decoder {
            Some(decoder) => decoder.push(piece, &mut self.sink)?,
            None => self.sink.append(piece),
        };
        self.overflowed = unfolded == Unfolded::PastTheRoom;
        Ok(())
    }

    /// Handles the end of the body.
    fn end(&mut self, is_empty: bool) -> Result<(), Failure> {
        if let Some(decoder) = &mut self.decoder
            && !self.overflowed
            && !is_empty
        {
            self.overflowed = decoder.finish(&mut self.sink)? == Unfolded::PastTheRoom;
        }
        self.ended = true;
        Ok(())
    }
}

impl Sink {
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

/// Reads `incoming` into `collector` until its end or [`BODY_READ`] bytes.
pub(super) async fn read(
    mut link: HttpConnection,
    mut incoming: Incoming,
    collector: &mut Collector,
    peer: Option<SocketAddr>,
) -> Result<(), Failure> {
    let mut read = 0;
    while let Some(frame) = link.drive(incoming.frame(), || {}).await {
        let frame = frame.map_err(|error| connection::broken(&error, peer))?;
        let Ok(piece) = frame.into_data() else { continue };
        read += piece.len();
        collector.push(&piece)?;
        if read > BODY_READ {
            return Ok(());
        }
    }
    collector.end(read == 0)
}
