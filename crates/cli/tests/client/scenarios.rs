//! The scenarios of `clients/scenarios/` as files: each has the required form, and together they
//! cover every method and every reason. Clients run them.

use rules::person_role;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use contract::rpc::{Reason, methods};
use serde_json::Value;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/scenarios");
/// Default key of a step.
const KEY: &str = "write";
/// Kind of a step without a key.
const NO_KEY: &str = "none";
/// Names with given values. Earlier steps save all others.
const GIVEN: [&str; 3] = ["target", "receiver", "now"];

/// One file.
pub(crate) struct Scenario {
    pub(crate) name: String,
    whole: Value,
}

impl Scenario {
    /// Returns all files, sorted by name.
    pub(crate) fn all() -> Vec<Self> {
        let entries = fs::read_dir(FOLDER).unwrap().map(|entry| entry.unwrap().path());
        let mut paths: Vec<_> =
            entries.filter(|path| path.extension().is_some_and(|it| it == "json")).collect();
        paths.sort();
        paths.iter().map(|path| Self::read(path)).collect()
    }

    fn read(path: &Path) -> Self {
        let whole = json(path);
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        assert_eq!(whole["name"], name, "a scenario has the name of its file");
        Self { name, whole }
    }

    /// Returns the kinds of keys in its steps.
    pub(crate) fn keys(&self) -> BTreeSet<&str> {
        let keys = self.steps().map(|step| step["key"].as_str().unwrap_or(KEY));
        keys.filter(|key| *key != NO_KEY).collect()
    }

    /// Returns its settings as flags of `aloft serve`.
    pub(crate) fn flags(&self) -> Vec<String> {
        let settings = self.whole["settings"].as_object().into_iter().flatten();
        let flag = |(name, value): (&String, &Value)| {
            [format!("--{}", name.replace('_', "-")), value.to_string()]
        };
        settings.flat_map(flag).collect()
    }

    /// Returns whether its workspace is one of the operator's.
    pub(crate) fn is_operator(&self) -> bool {
        self.whole["operator"] == true
    }

    fn steps(&self) -> impl Iterator<Item = &Value> {
        self.whole["steps"].as_array().unwrap().iter()
    }
}

fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// Returns all texts in a value, at any depth.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// Returns the names used as `${name}` in a value.
fn names(value: &Value) -> BTreeSet<&str> {
    let parts = texts(value).into_iter().flat_map(|text| text.split("${").skip(1));
    parts.filter_map(|part| part.split_once('}')).map(|(name, _)| name).collect()
}

#[test]
fn scenarios_match_their_schema() {
    let schema = json(&Path::new(FOLDER).join("schema/scenario.json"));
    let schema = jsonschema::validator_for(&schema).unwrap();
    for Scenario { name, whole } in Scenario::all() {
        let wrong: Vec<_> = schema.iter_errors(&whole).map(|it| format!("{it}")).collect();
        assert!(wrong.is_empty(), "{name}: {wrong:#?}");
    }
}

#[test]
fn each_method_has_success_step_and_one_example() {
    // issue 8, point 2: "every method of every service"
    let scenarios = Scenario::all();
    let steps: Vec<&Value> = scenarios.iter().flat_map(Scenario::steps).collect();
    let mut examples: BTreeMap<String, usize> =
        methods().iter().map(|method| (method.path[1..].to_owned(), 0)).collect();
    // Clients have keys, which may not call these. Each has a step that is rejected.
    for method in methods().iter().filter(|method| person_role(&method.path).is_some()) {
        let call = &method.path[1..];
        let is_rejected =
            |step: &&&Value| step["call"] == call && step["error"]["reason"] == "ROLE_REQUIRED";
        assert!(steps.iter().any(|step| is_rejected(&step)), "{call} has no rejected step");
        examples.insert(call.to_owned(), 1);
    }
    for step in &steps {
        let call = step["call"].as_str().unwrap();
        let is_plain = call.contains(" /v1/");
        assert!(is_plain || examples.contains_key(call), "unknown method {call}");
        if step["example"] == true {
            assert!(step["answer"].is_object(), "{call}: an example succeeds");
            *examples.get_mut(call).unwrap() += 1;
        }
    }
    examples.retain(|_, count| *count != 1);
    assert!(examples.is_empty(), "methods without exactly one example: {examples:?}");
}

#[test]
fn examples_use_only_values_that_people_write() {
    for scenario in Scenario::all() {
        for step in scenario.steps().filter(|step| step["example"] == true) {
            let name = &step["name"];
            let asked = &step["request"];
            assert!(
                !asked.to_string().contains("$repeat"),
                "{name}: people do not write `$repeat`"
            );
            assert!(!names(asked).contains("now"), "{name}: `now` differs in each run");
            for unusual in ["altered", "instead", "idempotencyKey"] {
                assert!(step[unusual].is_null(), "{name}: an example is a plain call");
            }
            let key = step["key"].as_str().unwrap_or(KEY);
            assert!(
                ["write", "read"].contains(&key),
                "{name}: an example uses a key of the workspace"
            );
        }
    }
}

#[test]
fn every_name_is_given_or_saved_earlier() {
    for scenario in Scenario::all() {
        let mut known = BTreeSet::from(GIVEN);
        for step in scenario.steps() {
            let used: BTreeSet<&str> = ["request", "answer", "error"]
                .iter()
                .flat_map(|part| names(&step[*part]))
                .collect();
            let unknown: Vec<_> = used.difference(&known).collect();
            assert!(unknown.is_empty(), "{}: {}: {unknown:?}", scenario.name, step["name"]);
            let saved = step["save"].as_object().into_iter().flat_map(|saved| saved.keys());
            known.extend(saved.map(String::as_str));
        }
    }
}

#[test]
fn every_reason_occurs_in_a_scenario() {
    // issue 8, point 2: "every error class"
    let scenarios = Scenario::all();
    let steps = scenarios.iter().flat_map(Scenario::steps);
    let used_reasons: BTreeSet<&str> =
        steps.filter_map(|step| step["error"]["reason"].as_str()).collect();
    let known: BTreeSet<&str> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
    assert_eq!(used_reasons, known);
}
