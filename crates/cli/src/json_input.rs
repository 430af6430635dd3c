//! Resources as JSON files: the resource itself, or a request or response of the contract that
//! contains it. Leaves validation to the service.

use std::fs::File;
use std::io::{Read, stdin};
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use rules::limits::MESSAGE_BYTES_MAX;
use serde_json::{Map, Value as Json};

/// Name of standard input.
const STDIN: &str = "-";
/// Field of responses that requests lack.
const WARNINGS: &str = "warnings";

/// Reads a file, or standard input for `-`, and returns a request with the resource in the field of
/// this name.
pub(crate) fn read_request(path: &Path, resource: &str) -> Result<Map<String, Json>> {
    let shown =
        if is_stdin(path) { "standard input".to_owned() } else { format!("`{}`", path.display()) };
    let text = read(path).with_context(|| format!("reading {shown}"))?;
    if text.len() > MESSAGE_BYTES_MAX {
        bail!("{shown} is larger than {MESSAGE_BYTES_MAX} bytes, the maximum of a request");
    }
    let json =
        serde_json::from_slice(&text).map_err(|why| anyhow!("{shown} is not JSON: {why}"))?;
    request(json, resource).map_err(|why| anyhow!("{shown} {why}"))
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new(STDIN)
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let most = MESSAGE_BYTES_MAX as u64 + 1;
    if is_stdin(path) {
        stdin().lock().take(most).read_to_end(&mut text)?;
    } else {
        File::open(path)?.take(most).read_to_end(&mut text)?;
    }
    Ok(text)
}

/// Returns the request for a resource, which may be in a request or response already.
fn request(json: Json, resource: &str) -> Result<Map<String, Json>> {
    let Json::Object(mut fields) = json else {
        bail!("is not an object; write the fields of the {resource}");
    };
    match fields.get(resource) {
        Some(Json::Object(_)) => {
            fields.remove(WARNINGS);
            Ok(fields)
        }
        Some(_) => bail!("has a `{resource}` that is not an object"),
        None => Ok(Map::from_iter([(resource.to_owned(), Json::Object(fields))])),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn resource_and_its_messages_become_a_request() {
        for (given, expected) in [
            (json!({ "name": "a" }), json!({ "monitor": { "name": "a" } })),
            (
                json!({ "monitor": { "name": "a" }, "warnings": [] }),
                json!({ "monitor": { "name": "a" } }),
            ),
            (
                json!({ "monitor": {}, "updateMask": "name" }),
                json!({ "monitor": {}, "updateMask": "name" }),
            ),
        ] {
            assert_eq!(Json::Object(request(given, "monitor").unwrap()), expected);
        }
        for given in [json!([]), json!("a"), json!({ "monitor": "a" })] {
            assert!(request(given, "monitor").is_err());
        }
    }
}
