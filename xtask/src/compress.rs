//! Compression of generated files that the programs have in them.

use std::io::Write as _;

use anyhow::Result;

/// Quality, of 0 to 11. Higher ones take seconds and save little.
const QUALITY: u32 = 9;
/// Bits of the window: larger than every generated file.
const WINDOW: u32 = 22;
/// Buffer of the writer, in bytes.
const BUFFER: usize = 4_096;

/// Compresses bytes with brotli. The same bytes always have the same result.
pub(crate) fn brotli(plain: &[u8]) -> Result<Vec<u8>> {
    let mut writer = brotli::CompressorWriter::new(Vec::new(), BUFFER, QUALITY, WINDOW);
    writer.write_all(plain)?;
    Ok(writer.into_inner())
}
