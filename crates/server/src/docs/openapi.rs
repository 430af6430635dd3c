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

    /// Routes of `/v1` beside the description itself.
    const ROUTES: [(&str, &str); 2] = [("/v1/whoami", "get"), ("/v1/api-key/{id}", "delete")];

    #[test]
    fn description_has_every_method_and_route_once() {
        let description: Value = serde_json::from_slice(&description()).unwrap();
        let mut described: Vec<(String, String)> = Vec::new();
        for (path, item) in description["paths"].as_object().unwrap() {
            let verbs = item.as_object().unwrap().keys();
            described.extend(verbs.map(|verb| (path.clone(), verb.clone())));
        }
        let of = |path: &str, verb: &str| (path.to_owned(), verb.to_owned());
        let methods = contract::rpc::methods().iter();
        let mut expected: Vec<_> =
            methods.map(|method| of(&format!("/rpc{}", method.path), "post")).collect();
        expected.extend(ROUTES.iter().map(|(path, verb)| of(path, verb)));
        expected.push(of("/openapi.json", "get"));
        described.sort();
        expected.sort();
        assert_eq!(described, expected);
    }

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
