//! Runs the examples of the reference as printed on its pages, in the order of their scenarios,
//! against a real server. Compares each response with the scenario (decision 0038).
//! `cargo xtask docs` generates the pages.

#![expect(
    clippy::format_push_string,
    reason = "a program is built once, and this is easier to read"
)]
#![expect(clippy::unwrap_used, reason = "clippy takes helpers of tests for product code")]

mod blocks;
#[path = "../client/build.rs"]
mod build;
mod fixture;
mod go;
mod openapi;
mod pattern;
mod player;
#[path = "../it/process.rs"]
#[expect(dead_code, reason = "the tests of the binary use more of it")]
mod process;
mod program;
mod python;
mod responses;

use std::fs;
use std::path::Path;

use contract::rpc::methods;
use rules::person_role;
use serde_json::{Value, json};

use self::blocks::{Block, Pages};
use self::fixture::Stage;
use self::go::GoProgram;
use self::player::{Example, Taken, play};
use self::program::Program;
use self::python::PythonProgram;
use self::responses::RecordedResponses;

/// Folder of the scenarios with the examples.
const SCENARIOS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/scenarios");
/// Code of an error that a page shows on purpose, and the page.
const SHOWN_ERROR: (&str, &str) = ("errors.md", "not_found");

/// Returns every scenario that has an example.
fn scenarios() -> Vec<Value> {
    let entries = fs::read_dir(SCENARIOS).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect();
    paths.sort();
    let read = |path: &Path| -> Value {
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    };
    let mut found: Vec<Value> = paths.iter().map(|path| read(path)).collect();
    let is_example = |step: &Value| step["example"] == true;
    found.retain(|scenario| scenario["steps"].as_array().unwrap().iter().any(is_example));
    found
}

#[test]
fn every_method_has_an_example_per_language() {
    // issue 8, point 3: "per method a runnable example as curl, TypeScript and, where it applies, Terraform"
    let pages = Pages::read();
    let for_keys = methods().iter().filter(|method| person_role(&method.path).is_none());
    for method in for_keys {
        for language in ["sh", "ts", "go", "py"] {
            let block = pages.of_method(&method.path[1..], language);
            assert!(block.is_some(), "{} has no block of `{language}`", method.path);
        }
    }
}

#[test]
fn curl_examples_match_their_scenarios() {
    let stage = Stage::set();
    let pages = Pages::read();
    let mut answers = RecordedResponses::default();
    for scenario in scenarios() {
        let workspace = stage.workspace_of(&scenario);
        play(&stage, &workspace, &scenario, &mut |example: &Example<'_>| {
            let block = pages.of_method(example.call, "sh").expect("the page has the example");
            let command =
                example.filled(&block.text, |raw| Value::from(example.value(raw)).to_string());
            let answer = stage.shell(&command, &workspace, example.key);
            answers.record(&stage, example.call, &answer);
            Taken::Whole(answer)
        });
    }
    answers.finish();
}

#[test]
fn typescript_examples_compile_and_match_their_scenarios() {
    let stage = Stage::set();
    let pages = Pages::read();
    let scenarios = scenarios();
    let mut program = Program::compile(&pages, &scenarios);
    for scenario in &scenarios {
        let workspace = stage.workspace_of(scenario);
        play(&stage, &workspace, scenario, &mut |example: &Example<'_>| {
            let key = workspace.key(example.key).expect("an example has a key");
            Taken::Some(program.ask(&json!({
                "run": example.call, "saved": example.saved, "key": key, "url": stage.url(),
            })))
        });
    }
    let workspace = stage.workspace("pages");
    let key = workspace.key("write").expect("every workspace has a write key");
    let id = workspace.spare_key.as_str();
    for page in program.modules() {
        let asked =
            json!({ "run": page, "saved": {}, "key": key, "url": stage.url(), "keyId": id });
        let answer = program.ask(&asked);
        assert_eq!(answer, json!({}), "{page}");
    }
}

#[test]
fn go_examples_compile_and_match_their_scenarios() {
    let stage = Stage::set();
    let scenarios = scenarios();
    let mut program = GoProgram::compile(&Pages::read(), &scenarios);
    for scenario in &scenarios {
        let workspace = stage.workspace_of(scenario);
        play(&stage, &workspace, scenario, &mut |example: &Example<'_>| {
            let key = workspace.key(example.key).expect("an example has a key");
            Taken::Whole(program.ask(&json!({
                "run": example.call, "saved": example.saved, "key": key, "url": stage.url(),
            })))
        });
    }
}

#[test]
fn python_examples_type_check_and_match_their_scenarios() {
    let stage = Stage::set();
    let scenarios = scenarios();
    let mut program = PythonProgram::check(&Pages::read(), &scenarios);
    for scenario in &scenarios {
        let workspace = stage.workspace_of(scenario);
        play(&stage, &workspace, scenario, &mut |example: &Example<'_>| {
            let key = workspace.key(example.key).expect("an example has a key");
            Taken::Whole(program.ask(example, key, &stage.url()))
        });
    }
}

#[test]
fn other_printed_calls_succeed() {
    let stage = Stage::set();
    let workspace = stage.workspace("pages");
    let mut shown = 0;
    for Block { page, text, .. } in Pages::read().beside_methods("sh") {
        let answer = stage.shell(&text, &workspace, "write");
        let expected = if page == SHOWN_ERROR.0 { json!(SHOWN_ERROR.1) } else { Value::Null };
        assert_eq!(answer["code"], expected, "{page}: {text}: {answer}");
        assert!(answer["reason"].is_null(), "{page}: {text}: {answer}");
        // Only deletions return nothing.
        let is_quiet = text.contains("DELETE");
        assert_eq!(answer.is_null(), is_quiet, "{page}: {text}");
        shown += 1;
    }
    assert!(shown > 5, "only {shown} blocks were found");
}
