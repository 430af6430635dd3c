//! Decodes content encodings piece by piece, up to the limit: a decompression bomb costs no more
//! than any other body.

use std::io::{self, Write};

use ::http::HeaderMap;
use ::http::header::CONTENT_ENCODING;
use brotli_decompressor::DecompressorWriter;
use domain::check::{Failure, FailureKind};
use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use super::sink::{Decoded, Sink};
use crate::limits::{CODINGS, DECODE_STEP, DECODE_STEP_UNFOLDS};

/// Size of the output buffer of brotli's decoder.
const BROTLI_BUFFER: usize = 16 * 1024;
/// First bits of a stream with the large-window extension, which RFC 7932 §9.1 reserves.
const BROTLI_LARGE_WINDOW: u8 = 0b001_0001;

/// A supported content encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    /// RFC 1952.
    Gzip,
    /// RFC 1950; some servers send RFC 1951 under this name.
    Deflate,
    /// RFC 7932.
    Brotli,
}

/// Decodes nested encodings.
pub(super) struct Decoder {
    stages: Vec<DecoderState>,
}

enum DecoderState {
    Gzip(MultiGzDecoder<Outlet>),
    /// No data received yet.
    NotStarted(Coding),
    Zlib(ZlibDecoder<Outlet>),
    Deflate(DeflateDecoder<Outlet>),
    Brotli(Box<DecompressorWriter<Outlet>>),
}

/// Collects the output of a stage up to its limit.
#[derive(Default)]
struct Outlet {
    bytes: Vec<u8>,
    remaining: usize,
    overflowed: bool,
}

/// Returns the encodings of a body with these headers in the order of application, or the name of
/// an unknown one.
pub(super) fn codings(headers: &HeaderMap) -> Result<Vec<Coding>, String> {
    let mut codings = Vec::new();
    for line in headers.get_all(CONTENT_ENCODING) {
        let line = String::from_utf8_lossy(line.as_bytes());
        for name in line.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match name.to_ascii_lowercase().as_str() {
                "gzip" | "x-gzip" => codings.push(Coding::Gzip),
                "deflate" => codings.push(Coding::Deflate),
                "br" => codings.push(Coding::Brotli),
                "identity" => {}
                _ => return Err(name.chars().take(64).collect()),
            }
        }
    }
    if codings.len() > CODINGS {
        return Err(format!("{} nested encodings", codings.len()));
    }
    Ok(codings)
}

impl Decoder {
    /// Creates a decoder for `codings`, applied in reverse.
    pub(super) fn new(codings: &[Coding]) -> Self {
        let stages = codings.iter().rev().map(|coding| DecoderState::NotStarted(*coding)).collect();
        Self { stages }
    }

    /// Decodes `piece` into `sink`.
    pub(super) fn push(&mut self, piece: &[u8], sink: &mut Sink) -> Result<Decoded, Failure> {
        push(&mut self.stages, piece, sink).map_err(|why| undecodable(&why))
    }

    /// Handles the end of the data.
    pub(super) fn finish(&mut self, sink: &mut Sink) -> Result<Decoded, Failure> {
        for stage in 0..self.stages.len() {
            let (done, rest) = self.stages[stage..].split_at_mut(1);
            let last = rest.is_empty();
            let outlet_limit = outlet_limit(last, sink);
            let (bytes, overflowed) =
                done[0].finish(outlet_limit).map_err(|why| undecodable(&why))?;
            let decoded = push(rest, &bytes, sink).map_err(|why| undecodable(&why))?;
            if overflowed || decoded == Decoded::LimitReached {
                return Ok(Decoded::LimitReached);
            }
        }
        Ok(Decoded::Complete)
    }
}

/// Passes `piece` through `stages` in small steps, so that the output of a stage is consumed before
/// more is produced.
fn push(stages: &mut [DecoderState], piece: &[u8], sink: &mut Sink) -> io::Result<Decoded> {
    let Some((stage, rest)) = stages.split_first_mut() else { return Ok(sink.append(piece)) };
    for step in piece.chunks(DECODE_STEP) {
        let (bytes, overflowed) = stage.decode(step, outlet_limit(rest.is_empty(), sink))?;
        // Its window grows with its output.
        if matches!(stage, DecoderState::Brotli(_)) && !sink.reserve(bytes.len()) {
            return Ok(Decoded::LimitReached);
        }
        let decoded = push(rest, &bytes, sink)?;
        if overflowed && !rest.is_empty() {
            return Err(io::Error::other("the compression ratio is too high"));
        }
        if overflowed || decoded == Decoded::LimitReached {
            return Ok(Decoded::LimitReached);
        }
    }
    Ok(Decoded::Complete)
}

fn outlet_limit(last: bool, sink: &Sink) -> usize {
    if last { sink.remaining() } else { DECODE_STEP_UNFOLDS }
}

impl DecoderState {
    /// Creates the decoder for data that begins with `first`.
    fn begin(coding: Coding, first: u8) -> io::Result<Self> {
        let outlet = Outlet::default();
        Ok(match coding {
            Coding::Gzip => Self::Gzip(MultiGzDecoder::new(outlet)),
            // Zlib has the method 8 in the low bits; encoders never begin a block of RFC 1951 like
            // this.
            Coding::Deflate if first & 0x0f == 8 => Self::Zlib(ZlibDecoder::new(outlet)),
            Coding::Deflate => Self::Deflate(DeflateDecoder::new(outlet)),
            // The decoder would accept it and allocate a gigabyte.
            Coding::Brotli if first & 0x7f == BROTLI_LARGE_WINDOW => {
                return Err(io::Error::other("its window is larger than `br` allows"));
            }
            Coding::Brotli => {
                Self::Brotli(Box::new(DecompressorWriter::new(outlet, BROTLI_BUFFER)))
            }
        })
    }

    /// Decodes `step`; returns the output and whether it exceeded `remaining`.
    fn decode(&mut self, step: &[u8], remaining: usize) -> io::Result<(Vec<u8>, bool)> {
        if let (Self::NotStarted(coding), Some(first)) = (&*self, step.first()) {
            *self = Self::begin(*coding, *first)?;
        }
        self.outlet(|outlet| outlet.remaining = remaining);
        let written = self.write(step);
        let mut taken = (Vec::new(), false);
        self.outlet(|outlet| taken = outlet.take());
        match written {
            Err(_) if taken.1 => Ok(taken),
            Err(error) => Err(error),
            Ok(()) => Ok(taken),
        }
    }

    fn write(&mut self, step: &[u8]) -> io::Result<()> {
        match self {
            Self::Gzip(decoder) => decoder.write_all(step).and_then(|()| decoder.flush()),
            Self::Zlib(decoder) => decoder.write_all(step).and_then(|()| decoder.flush()),
            Self::Deflate(decoder) => decoder.write_all(step).and_then(|()| decoder.flush()),
            Self::Brotli(decoder) => decoder.write_all(step).and_then(|()| decoder.flush()),
            Self::NotStarted(_) => Ok(()),
        }
    }

    fn finish(&mut self, remaining: usize) -> io::Result<(Vec<u8>, bool)> {
        self.outlet(|outlet| outlet.remaining = remaining);
        let finished = match self {
            Self::Gzip(decoder) => decoder.try_finish(),
            Self::Zlib(decoder) => decoder.try_finish(),
            Self::Deflate(decoder) => decoder.try_finish(),
            Self::Brotli(decoder) => decoder.close(),
            Self::NotStarted(Coding::Deflate) => Ok(()),
            Self::NotStarted(Coding::Gzip | Coding::Brotli) => {
                Err(io::Error::other("the body is empty"))
            }
        };
        let mut taken = (Vec::new(), false);
        self.outlet(|outlet| taken = outlet.take());
        match finished {
            Err(_) if taken.1 => Ok(taken),
            Err(error) => Err(error),
            Ok(()) => Ok(taken),
        }
    }

    fn outlet(&mut self, change: impl FnOnce(&mut Outlet)) {
        match self {
            Self::Gzip(decoder) => change(decoder.get_mut()),
            Self::Zlib(decoder) => change(decoder.get_mut()),
            Self::Deflate(decoder) => change(decoder.get_mut()),
            Self::Brotli(decoder) => change(decoder.get_mut()),
            Self::NotStarted(_) => {}
        }
    }
}

impl Outlet {
    fn take(&mut self) -> (Vec<u8>, bool) {
        (std::mem::take(&mut self.bytes), self.overflowed)
    }
}

impl Write for Outlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let fits = bytes.len().min(self.remaining);
        self.bytes.extend_from_slice(&bytes[..fits]);
        self.remaining -= fits;
        if fits < bytes.len() {
            self.overflowed = true;
            return Err(io::Error::other("output limit reached"));
        }
        Ok(fits)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn undecodable(why: &io::Error) -> Failure {
    let detail = format!("failed to decode the body: {why}");
    Failure::new(FailureKind::BodyUndecodable, detail)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const LIMIT: usize = 10_000;

    fn encoded(coding: Coding, text: &[u8]) -> Vec<u8> {
        let level = flate2::Compression::fast();
        match coding {
            Coding::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
                encoder.write_all(text).unwrap();
                encoder.finish().unwrap()
            }
            Coding::Deflate | Coding::Brotli => {
                let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
                encoder.write_all(text).unwrap();
                encoder.finish().unwrap()
            }
        }
    }

    fn a_coding() -> impl Strategy<Value = Coding> {
        prop_oneof![Just(Coding::Gzip), Just(Coding::Deflate), Just(Coding::Brotli)]
    }

    proptest! {
        #[test]
        fn decoding_any_bytes_stays_bounded(
            codings in vec(a_coding(), 1..=CODINGS),
            text in vec(any::<u8>(), 0..2_000),
            broken_at in any::<prop::sample::Index>(),
            with in any::<u8>(),
            pieces in 1_usize..700,
        ) {
            let mut bytes = encoded(codings[0], &text);
            let at = broken_at.index(bytes.len());
            bytes[at] = with;
            let mut decoder = Decoder::new(&codings);
            let mut sink = Sink::with_limit(LIMIT);
            let whole = bytes
                .chunks(pieces)
                .try_for_each(|piece| match decoder.push(piece, &mut sink) {
                    Ok(Decoded::Complete) => Ok(()),
                    Ok(Decoded::LimitReached) | Err(_) => Err(()),
                })
                .is_ok();
            if whole {
                let _ = decoder.finish(&mut sink);
            }
            prop_assert!(sink.beginning().len() <= LIMIT);
        }

        #[test]
        fn decoding_any_pieces_restores_the_text(
            coding in prop_oneof![Just(Coding::Gzip), Just(Coding::Deflate)],
            text in vec(0_u8..4, 0..2 * LIMIT),
            pieces in 1_usize..700,
        ) {
            let mut decoder = Decoder::new(&[coding]);
            let mut sink = Sink::with_limit(LIMIT);
            let mut decoded = Decoded::Complete;
            for piece in encoded(coding, &text).chunks(pieces) {
                if decoded == Decoded::Complete {
                    decoded = decoder.push(piece, &mut sink).unwrap();
                }
            }
            if decoded == Decoded::Complete {
                decoded = decoder.finish(&mut sink).unwrap();
            }
            prop_assert_eq!(decoded == Decoded::LimitReached, text.len() > LIMIT);
            prop_assert_eq!(sink.beginning(), &text[..text.len().min(LIMIT)]);
        }
    }
}
