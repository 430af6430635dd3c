//! Writes the input schemas of the tools: the requests in the OpenAPI description of `docs/reference/`,
//! which `cargo xtask docs` makes from the contract, its comments and the tables of `rules`.

#[expect(dead_code, reason = "only the methods of the tools matter here")]
#[path = "src/tools.rs"]
mod tools;

use std::path::PathBuf;
use std::{env, fs};

use serde_json::{Map, Value};

/// Description of all methods, from the folder of this crate.
const DESCRIPTION: &str = "../../docs/reference/openapi.json";
/// Start of a reference to a schema.
const SCHEMAS: &str = "#/components/schemas/";
/// Maximum depth of a request.
const DEPTH_MAX: usize = 32;

fn main() {
    println!("cargo::rerun-if-changed={DESCRIPTION}");
    println!("cargo::rerun-if-changed=src/tools.rs");
    let text = fs::read(DESCRIPTION).expect("the repository has the description");
    let description: Value = serde_json::from_slice(&text).expect("the description is JSON");
    let mut schemas = Map::new();
    for tool in tools::TOOLS {
        let method = tool.action.input();
        let request = description
            .pointer(&format!("/paths/{}/post", format!("/rpc{method}").replace('/', "~1")))
            .and_then(|it| it.pointer("/requestBody/content/application~1json/schema"));
        let request = request.unwrap_or_else(|| panic!("`{method}` is not described"));
        schemas.insert(method.to_owned(), inlined(&description, request, 0));
    }
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets it"));
    let schemas = Value::Object(schemas).to_string();
    fs::write(folder.join("schemas.json"), schemas).expect("the folder is writable");
}

/// Returns a schema without references, outputs, and formats that only code generators need.
fn inlined(description: &Value, schema: &Value, depth: usize) -> Value {
    assert!(depth < DEPTH_MAX, "a request contains itself");
    match schema {
        Value::Object(given) => {
            let mut schema = Map::new();
            if let Some(name) = given.get("$ref").and_then(Value::as_str) {
                let name = name.strip_prefix(SCHEMAS).expect("references are to schemas");
                let target = &description["components"]["schemas"][name];
                let Value::Object(target) = inlined(description, target, depth + 1) else {
                    panic!("`{name}` is not described");
                };
                schema = target;
            }
            for (keyword, value) in given {
                if keyword == "$ref" || (keyword == "format" && value == "int32") {
                    continue;
                }
                schema.insert(keyword.clone(), inlined(description, value, depth + 1));
            }
            if let Some(Value::Object(properties)) = schema.get_mut("properties") {
                properties.retain(|_, property| property["readOnly"] != true);
            }
            Value::Object(schema)
        }
        Value::Array(items) => {
            items.iter().map(|item| inlined(description, item, depth + 1)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema.clone(),
    }
}
