//! Compression of HTTP bodies. Measurements of pages determined the levels (decision 0030): at
//! higher ones a saved byte costs more than it is worth.

use std::io::Write as _;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Level, from 0 to 9.
const GZIP: u32 = 6;
/// Quality, from 0 to 11.
const BROTLI: u32 = 5;
/// Binary logarithm of brotli's window size.
const BROTLI_WINDOW: u32 = 20;
/// Buffer size of brotli's writer, in bytes.
const ROOM: usize = 4_096;

pub(super) fn gzip(plain: &[u8]) -> Bytes {
    let mut writer = GzEncoder::new(Vec::with_capacity(plain.len() / 8), Compression::new(GZIP));
    let written = writer.write_all(plain).and_then(|()| writer.finish());
    Bytes::from(written.expect("writing to memory does not fail"))
}

pub(super) fn brotli(plain: &[u8]) -> Bytes {
    let room = Vec::with_capacity(plain.len() / 8);
    let mut writer = brotli::CompressorWriter::new(room, ROOM, BROTLI, BROTLI_WINDOW);
    writer.write_all(plain).expect("writing to memory does not fail");
    Bytes::from(writer.into_inner())
}
