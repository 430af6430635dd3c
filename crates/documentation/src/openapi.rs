//! The OpenAPI description, which `cargo xtask docs` compresses and embeds. It is decompressed for each
//! requested encoding; `cache` caches the result.

use std::io::Read as _;

/// `docs/reference/openapi.json`, compressed by brotli.
const COMPRESSED: &[u8] = include_bytes!("openapi.json.br");
/// Buffer of brotli's reader, in bytes.
const BUFFER: usize = 4_096;

/// Returns the description as JSON.
pub(super) fn description() -> Vec<u8> {
    let mut plain = Vec::new();
    brotli::Decompressor::new(COMPRESSED, BUFFER)
        .read_to_end(&mut plain)
        .expect("`cargo xtask docs` compressed it");
    plain
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_reference_resolves() {
        let text = String::from_utf8(description()).unwrap();
        let description: Value = serde_json::from_str(&text).unwrap();
        let references = text.split("\"$ref\": \"#").skip(1);
        let pointers: Vec<&str> = references.filter_map(|rest| rest.split('"').next()).collect();
        assert!(pointers.len() > 100, "{} references", pointers.len());
        for pointer in pointers {
            assert!(description.pointer(pointer).is_some(), "{pointer}");
        }
    }
}
