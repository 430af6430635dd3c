//! The body of the final response: reads it to the last byte, because latency includes it, or until
//! 16 MiB, and decodes it while it is received. `sink` keeps the beginning and searches the rest.

use std::net::SocketAddr;

use ::http::HeaderMap;
use bytes::Bytes;
use domain::check::http::HttpPlan;
use domain::check::{Failure, FailureKind, ObservedBody};
use http_body_util::BodyExt;
use hyper::body::Incoming;

use super::connection::{self, HttpConnection};
use super::decode::{Decoder, codings};
use super::sink::{Decoded, Sink};
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
        let mut sink = Sink::new(plan, headers, held);
        let overflowed = !sink.reserve(decoders * DECODER_BYTES);
        Ok(Self { sink, decoder, overflowed, ended: false })
    }

    /// Returns the body as received so far.
    pub(crate) fn into_body(self) -> ObservedBody {
        self.sink.into_body(self.overflowed || !self.ended)
    }

    /// Adds the next piece.
    fn push(&mut self, piece: &Bytes) -> Result<(), Failure> {
        if self.overflowed || piece.is_empty() {
            return Ok(());
        }
        let decoded = match &mut self.decoder {
            Some(decoder) => decoder.push(piece, &mut self.sink)?,
            None => self.sink.append(piece),
        };
        self.overflowed = decoded == Decoded::LimitReached;
        Ok(())
    }

    /// Handles the end of the body.
    fn end(&mut self, is_empty: bool) -> Result<(), Failure> {
        if let Some(decoder) = &mut self.decoder
            && !self.overflowed
            && !is_empty
        {
            self.overflowed = decoder.finish(&mut self.sink)? == Decoded::LimitReached;
        }
        self.ended = true;
        Ok(())
    }
}

/// Reads `incoming` into `collector` until its end or [`BODY_READ`] bytes.
pub(super) async fn read(
    mut connection: HttpConnection,
    mut incoming: Incoming,
    collector: &mut Collector,
    peer: Option<SocketAddr>,
) -> Result<(), Failure> {
    let mut read = 0;
    while let Some(frame) = connection.drive(incoming.frame(), || {}).await {
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
