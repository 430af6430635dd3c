//! All Go of the reference as one program, which the compiler checks. The program reads the name of
//! an example per line and prints the response.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::blocks::Pages;
use super::pattern::Saved;
use super::player::{Example, texts};

/// Folder of the client.
const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/go");
/// First line of its manifest.
const MODULE: &str = "module aloft.dev/client";
/// Source of the main program: reads requests and prints a response per line.
const MAIN: &str = r#"package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	aloft "aloft.dev/client"
)

type example func(context.Context, *aloft.Client, map[string]string) (proto.Message, error)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var asked struct {
			Run, Key, URL string
			Saved         map[string]string
		}
		check(json.Unmarshal(lines.Bytes(), &asked))
		client, err := aloft.New(aloft.WithAPIKey(asked.Key), aloft.WithBaseURL(asked.URL))
		check(err)
		response, err := examples[asked.Run](context.Background(), client, asked.Saved)
		check(err)
		text := []byte("{}")
		if response != nil {
			text, err = protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(response)
			check(err)
		}
		fmt.Println(string(text))
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
"#;
/// Packages that examples use under their own name.
const PACKAGES: [(&str, &str); 4] = [
    ("time.", "time"),
    ("proto.", "google.golang.org/protobuf/proto"),
    ("fieldmaskpb.", "google.golang.org/protobuf/types/known/fieldmaskpb"),
    ("timestamppb.", "google.golang.org/protobuf/types/known/timestamppb"),
];

/// A running program.
pub(super) struct GoProgram {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Keeps the program's folder.
    _folder: TempDir,
}

impl GoProgram {
    /// Compiles and starts the blocks of all examples.
    pub(super) fn compile(pages: &Pages, scenarios: &[Value]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("main.go", MAIN);
        let blocks = blocks(pages, scenarios);
        write("examples.go", &blocks);
        let manifest = fs::read_to_string(Path::new(CLIENT).join("go.mod")).unwrap();
        let manifest = manifest.replace(MODULE, "module example.com/reference");
        let client =
            format!("require aloft.dev/client v0.1.0\n\nreplace aloft.dev/client => {CLIENT}\n");
        write("go.mod", &(manifest + "\n" + &client));
        fs::copy(Path::new(CLIENT).join("go.sum"), folder.path().join("go.sum")).unwrap();
        let built = Command::new("go")
            .args(["build", "-o", "program", "."])
            .current_dir(folder.path())
            .env("GOFLAGS", "-mod=mod")
            .env("GOPROXY", "off")
            .env("GOSUMDB", "off")
            .env("GOWORK", "off")
            .output()
            .expect("these tests start Go: run `cargo xtask setup`");
        let errors = String::from_utf8_lossy(&built.stderr);
        assert!(built.status.success(), "{errors}\n{blocks}");
        Self::start(folder)
    }

    /// Runs an example and returns its response.
    pub(super) fn ask(&mut self, asked: &Value) -> Value {
        writeln!(self.input, "{asked}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "the program exited at {asked}: {:?}", self.child.wait());
        serde_json::from_str(&line).unwrap()
    }

    fn start(folder: TempDir) -> Self {
        let mut child = Command::new(folder.path().join("program"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output, _folder: folder }
    }
}

impl Drop for GoProgram {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Generates a function for each example, keyed by method. Its code is as printed, except for
/// placeholders, which become saved values.
fn blocks(pages: &Pages, scenarios: &[Value]) -> String {
    let mut functions = String::new();
    let mut packages: Vec<String> = Vec::new();
    for step in scenarios.iter().flat_map(|scenario| scenario["steps"].as_array().unwrap()) {
        if step["example"] != true {
            continue;
        }
        let call = step["call"].as_str().unwrap();
        let block = pages.of_method(call, "go").expect("the page has the example");
        // Masks and times have another form here, and never a placeholder.
        let saved: Value =
            texts(&step["request"]).into_iter().filter(|it| it.contains("${")).collect();
        let nothing = Saved::new();
        let code = Example::new(call, &saved, &nothing).filled(&block.text, in_expression);
        let response = if code.starts_with("_, ") { "nil" } else { "response" };
        functions += &format!(
            "\"{call}\": func(ctx context.Context, client *aloft.Client, saved map[string]string) (proto.Message, error) {{\n{code}return {response}, err\n}},\n"
        );
        packages.extend(call.split_once('.').map(|(package, _)| package.to_owned()));
    }
    packages.sort();
    packages.dedup();
    let own = packages.iter().map(|package| {
        let name = package.replace('_', "");
        format!("{name}v1 \"aloft.dev/client/gen/{package}/v1\"\n")
    });
    let others = PACKAGES.iter().filter(|(used, _)| functions.contains(used));
    let others = others.map(|(_, package)| format!("\"{package}\"\n"));
    let imports: String = own.chain(others).collect();
    format!(
        "package main\n\nimport (\n\"context\"\naloft \"aloft.dev/client\"\n{imports})\n\nvar examples = map[string]example{{\n{functions}}}\n"
    )
}

/// Formats a text of a request as an expression.
fn in_expression(raw: &str) -> String {
    let mut parts = raw.split("${");
    let mut terms = vec![Value::from(parts.next().unwrap_or_default()).to_string()];
    for part in parts {
        let (name, rest) = part.split_once('}').unwrap();
        terms.push(format!("saved[\"{name}\"]"));
        terms.push(Value::from(rest).to_string());
    }
    terms.join(" + ")
}
