//! All Python of the services' pages as one program. `mypy` checks it in one run, and one process runs it.
//! The process reads the name of a block per line and prints the response.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::tools;

use super::blocks::Pages;
use super::pattern::Saved;
use super::player::Example;

/// Folder of the client's package.
const PACKAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/python/src");
/// Source of the main module: reads requests and prints a response per line.
const MAIN: &str = r#"import json
import os
import sys

from google.protobuf import json_format

from blocks import BLOCKS

for line in sys.stdin:
    asked = json.loads(line)
    os.environ["SERVICE_API_KEY"] = asked["key"]
    os.environ["SERVICE_API_URL"] = asked["url"]
    response = BLOCKS[asked["run"]](asked["saved"])
    whole = {"always_print_fields_with_no_presence": True}
    answer = {} if response is None else json_format.MessageToDict(response, **whole)
    print(json.dumps(answer), flush=True)
"#;
/// First lines of the module with the blocks.
const BLOCKS: &str = "from collections.abc import Callable, Mapping\n\n\
                      from google.protobuf.message import Message\n";

/// A running program.
pub(super) struct PythonProgram {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Keeps the program's folder.
    _folder: TempDir,
}

impl PythonProgram {
    /// Type-checks and starts the blocks of all examples.
    pub(super) fn check(pages: &Pages, scenarios: &[Value]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let code = blocks(pages, scenarios);
        fs::write(folder.path().join("main.py"), MAIN).unwrap();
        fs::write(folder.path().join("blocks.py"), &code).unwrap();
        let checked = Command::new(tools::python_of_client())
            .args(["-m", "mypy", "--strict", "--cache-dir", ".mypy", "blocks.py"])
            .current_dir(folder.path())
            .env("MYPYPATH", PACKAGE)
            .output()
            .expect("these tests start Python: run `cargo xtask setup`");
        let found = String::from_utf8_lossy(&checked.stdout);
        assert!(checked.status.success(), "{found}\n{code}");
        let mut child = Command::new(tools::python_of_client())
            .args(["-W", "ignore::ResourceWarning", "main.py"])
            .current_dir(folder.path())
            .env("PYTHONPATH", PACKAGE)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output, _folder: folder }
    }

    /// Runs the block of an example and returns its response.
    pub(super) fn ask(&mut self, example: &Example<'_>, key: &str, url: &str) -> Value {
        let asked = json!({ "run": example.call, "saved": example.saved, "key": key, "url": url });
        writeln!(self.input, "{asked}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "the program exited at {asked}: {:?}", self.child.wait());
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for PythonProgram {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Generates a function for each example, and a table of them by method. Its code is as printed, except
/// for placeholders, which become saved values.
fn blocks(pages: &Pages, scenarios: &[Value]) -> String {
    let (mut text, mut table) = (BLOCKS.to_owned(), String::new());
    let steps = scenarios.iter().flat_map(|scenario| scenario["steps"].as_array().unwrap());
    for (at, step) in steps.filter(|step| step["example"] == true).enumerate() {
        let call = step["call"].as_str().unwrap();
        let block = pages.of_method(call, "py").expect("the page has the example");
        let nothing = Saved::new();
        let request = with_texts_as_printed(&step["request"]);
        let filled = Example::new(call, &request, &nothing).filled(&block.text, in_format);
        let answer = if block.text.contains("response = ") { "response" } else { "None" };
        text += &format!("\n\ndef block_{at}(saved: Mapping[str, str]) -> Message | None:\n");
        for line in format!("{}\n{filled}return {answer}\n", pages.set_up("py")).lines() {
            text += &format!("    {line}\n");
        }
        table += &format!("    \"{call}\": block_{at},\n");
    }
    format!(
        "{text}\n\nBLOCKS: dict[str, Callable[[Mapping[str, str]], Message | None]] = {{\n{table}}}\n"
    )
}

/// Returns a request without the texts that Python writes in another form: masks and times.
fn with_texts_as_printed(request: &Value) -> Value {
    match request {
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| *name != "updateMask")
            .map(|(name, value)| (name.clone(), with_texts_as_printed(value)))
            .collect(),
        Value::Array(items) => items.iter().map(with_texts_as_printed).collect(),
        Value::String(text) if is_instant(text) => Value::Null,
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => request.clone(),
    }
}

fn is_instant(text: &str) -> bool {
    text.ends_with('Z') && text.starts_with("20") && text.contains('T')
}

/// Formats a text of a request as a formatted string.
fn in_format(raw: &str) -> String {
    let mut parts = raw.split("${");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').unwrap();
        text += &format!("{{saved['{name}']}}{rest}");
    }
    format!("f\"{text}\"")
}
