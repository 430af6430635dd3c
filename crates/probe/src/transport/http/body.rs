//! The body of the final answer: read to its last byte, because latency is counted to it; kept,
//! decoded, as far as the plan wants it.

use std::net::SocketAddr;

use ::http::HeaderMap;
use bytes::{Bytes, BytesMut};
use domain::check::http::HttpPlan;
use domain::check::{Body, Failure, FailureKind};
use http_body_util::BodyExt;
use hyper::body::Incoming;

use super::decode::{Decoder, Unfolded, codings};
use super::link::{self, Link};
use crate::limits::BODY_READ;

/// What is kept of a body that is being read.
pub(crate) struct Collector {
    room: usize,
    kept: Kept,
    decoder: Option<Decoder>,
    /// Whether more came than there was room for, or the end did not come.
    truncated: bool,
}

/// Most bodies come in one piece, which then is kept without copying.
enum Kept {
    Nothing,
    Piece(Bytes),
    Pieces(BytesMut),
}

impl Collector {
    /// Keeps what `plan` wants of a body with these headers.
    pub(super) fn new(plan: &HttpPlan, headers: &HeaderMap) -> Result<Self, Failure> {
        let decoder = match codings(headers) {
            Ok(codings) if codings.is_empty() => None,
            Ok(codings) => Some(Decoder::new(&codings, plan.body_kept)),
            // Nothing is asserted of it, so nobody minds that it stays as it came.
            Err(_) if plan.body_assertions.is_empty() => None,
            Err(unknown) => {
                let detail =
                    format!("the body has content-encoding `{unknown}`, which is not known");
                return Err(Failure::new(FailureKind::BodyUndecodable, detail));
            }
        };
        Ok(Self { room: plan.body_kept, kept: Kept::Nothing, decoder, truncated: true })
    }

    /// The body as far as it came.
    pub(crate) fn into_body(self) -> Body {
        let bytes = match (self.decoder, self.kept) {
            (Some(decoder), _) => decoder.into_bytes(),
            (None, Kept::Nothing) => Bytes::new(),
            (None, Kept::Piece(piece)) => piece,
            (None, Kept::Pieces(pieces)) => pieces.freeze(),
        };
        Body { bytes, truncated: self.truncated }
    }

    /// Takes the next piece; `overflowed` becomes true where there was no room for all of it.
    fn push(&mut self, piece: &Bytes, overflowed: &mut bool) -> Result<(), Failure> {
        if *overflowed || piece.is_empty() {
            return Ok(());
        }
        if let Some(decoder) = &mut self.decoder {
            *overflowed = decoder.push(piece)? == Unfolded::PastTheRoom;
            return Ok(());
        }
        let fits = piece.len().min(self.room);
        *overflowed = fits < piece.len();
        self.room -= fits;
        self.kept = match std::mem::replace(&mut self.kept, Kept::Nothing) {
            Kept::Nothing => Kept::Piece(piece.slice(..fits)),
            Kept::Piece(first) => {
                let mut pieces = BytesMut::with_capacity((first.len() + fits) * 2);
                pieces.extend_from_slice(&first);
                pieces.extend_from_slice(&piece[..fits]);
                Kept::Pieces(pieces)
            }
            Kept::Pieces(mut pieces) => {
                pieces.extend_from_slice(&piece[..fits]);
                Kept::Pieces(pieces)
            }
        };
        Ok(())
    }
}

/// Reads `incoming` into `collector`: to its end, or until [`BODY_READ`] bytes came.
pub(super) async fn read(
    mut link: Link,
    mut incoming: Incoming,
    collector: &mut Collector,
    peer: Option<SocketAddr>,
) -> Result<(), Failure> {
    let mut read = 0;
    let mut overflowed = false;
    while let Some(frame) = link.drive(incoming.frame(), || {}).await {
        let frame = frame.map_err(|error| link::broken(&error, peer))?;
        let Ok(piece) = frame.into_data() else { continue };
        read += piece.len();
        collector.push(&piece, &mut overflowed)?;
        if read > BODY_READ {
            return Ok(());
        }
    }
    if let Some(decoder) = &mut collector.decoder
        && !overflowed
        && read > 0
    {
        overflowed = decoder.finish()? == Unfolded::PastTheRoom;
    }
    collector.truncated = overflowed;
    Ok(())
}
