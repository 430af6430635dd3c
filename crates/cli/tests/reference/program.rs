//! All TypeScript of the reference as one program. `tsc` checks it in one run, and one Node.js
//! process runs it. The process reads the name of a block or module per line and prints the result.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::blocks::Pages;
use super::build::{self, CLIENT};
use super::pattern::Saved;
use super::player::Example;

/// Source of the main module: reads requests and prints a result per line.
const MAIN: &str = r#"import { createInterface } from "node:readline";
import { blocks } from "./blocks.js";

console.log = () => undefined;
process.env["WEBHOOK_SECRET"] = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
for await (const line of createInterface({ input: process.stdin })) {
  const { run, saved, key, url, keyId } = JSON.parse(line) as Record<string, string> & { saved: Record<string, string> };
  process.env["SERVICE_API_KEY"] = key;
  process.env["SERVICE_API_URL"] = url;
  process.env["KEY_ID"] = keyId;
  const block = blocks[run ?? ""];
  const answer = block ? await block((name) => saved[name] ?? "") : void (await import(`./${run}.js`));
  process.stdout.write(JSON.stringify(answer ?? {}) + "\n");
}
"#;

/// A running program.
pub(super) struct Program {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    modules: Vec<String>,
    /// Keeps the program's folder.
    _folder: TempDir,
}

impl Program {
    /// Type-checks and starts the blocks of all examples and the modules of all other pages.
    pub(super) fn compile(pages: &Pages, scenarios: &[Value]) -> Self {
        build::assert_new();
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("main.ts", MAIN);
        write("blocks.ts", &blocks(pages, scenarios));
        let mut modules = Vec::new();
        for (at, block) in pages.beside_methods("ts").iter().enumerate() {
            let name = format!("{}-{at}", block.page.trim_end_matches(".md"));
            // Port 0 selects a free port instead of the reader's.
            write(&format!("{name}.ts"), &block.text.replace("listen(9000", "listen(0"));
            modules.push(name);
        }
        write("package.json", r#"{ "type": "module" }"#);
        write("tsconfig.json", &options().to_string());
        let packages = Path::new(CLIENT).join("node_modules");
        fs::create_dir_all(folder.path().join("node_modules/@aloft")).unwrap();
        symlink(CLIENT, folder.path().join("node_modules/@aloft/client")).unwrap();
        symlink(packages.join("@types"), folder.path().join("node_modules/@types")).unwrap();
        let checked = Command::new("node")
            .arg(packages.join("typescript/bin/tsc"))
            .current_dir(folder.path())
            .output()
            .expect("these tests start Node.js: run `cargo xtask setup`");
        let check_output = String::from_utf8_lossy(&checked.stdout);
        assert!(
            checked.status.success(),
            "{check_output}\n{}",
            with_numbers(&blocks(pages, scenarios))
        );
        Self::start(folder, modules)
    }

    /// Returns the names of the pages' own modules.
    pub(super) fn modules(&self) -> Vec<String> {
        self.modules.clone()
    }

    /// Runs a block or a module and returns its result.
    pub(super) fn ask(&mut self, asked: &Value) -> Value {
        writeln!(self.input, "{asked}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "the program exited at {asked}: {:?}", self.child.wait());
        serde_json::from_str(&line).unwrap()
    }

    fn start(folder: TempDir, modules: Vec<String>) -> Self {
        let mut child = Command::new("node")
            .arg(folder.path().join("out/main.js"))
            .env_remove("NODE_OPTIONS")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output, modules, _folder: folder }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Generates a function for each example, keyed by method. Its code is as printed, except for
/// placeholders, which become calls of `saved`.
fn blocks(pages: &Pages, scenarios: &[Value]) -> String {
    let set_up = pages.set_up("ts");
    let (import, client) = set_up.split_once("\n\n").expect("the block has an import and a client");
    let mut text = format!(
        "{import}\n\nexport const blocks: Record<string, (saved: (name: string) => string) => Promise<unknown>> = {{\n"
    );
    for step in scenarios.iter().flat_map(|scenario| scenario["steps"].as_array().unwrap()) {
        if step["example"] != true {
            continue;
        }
        let call = step["call"].as_str().unwrap();
        let block = pages.of_method(call, "ts").expect("the page has the example");
        let nothing = Saved::new();
        let example = Example::new(call, &step["request"], &nothing);
        let filled = example.filled(&block.text, in_template);
        text += &format!(
            "\"{call}\": async (saved) => {{\n{client}{filled}{}}},\n",
            answered(&block.text)
        );
    }
    text + "};\n"
}

/// Formats a text of a request as a TypeScript template.
fn in_template(raw: &str) -> String {
    let mut parts = raw.split("${");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').unwrap();
        text += &format!("${{saved(\"{name}\")}}{rest}");
    }
    format!("`{text}`")
}

/// Generates code that returns the names that a block destructures from its response.
fn answered(block: &str) -> String {
    let names = block.strip_prefix("const ").and_then(|rest| rest.split_once(" = "));
    let names = names.map_or("{}", |(names, _)| names);
    format!("return {names};\n")
}

fn options() -> Value {
    json!({
        "compilerOptions": {
            "target": "es2022", "module": "nodenext", "moduleResolution": "nodenext",
            "strict": true, "noUncheckedIndexedAccess": true, "exactOptionalPropertyTypes": true,
            "skipLibCheck": false, "noEmitOnError": true, "outDir": "out", "types": ["node"],
        },
        "include": ["*.ts"],
    })
}

fn with_numbers(text: &str) -> String {
    let lines = text.lines().enumerate().map(|(at, line)| format!("{:5} {line}\n", at + 1));
    lines.collect()
}
