//! Runs a scenario: examples as their pages print them, and all other steps directly, because
//! examples depend on them. Leaves out steps that must fail, which change nothing and belong to the
//! client's tests.

use serde_json::Value;
use tokio::time::Instant;

use super::fixture::{Stage, Workspace};
use super::pattern::{Saved, at, difference, filled};
use crate::process::PATIENCE;

/// Placeholders in printed examples: for a given value, and for a saved value, which may show the
/// prefix of its id.
const PRINTED: [(&str, &str); 2] =
    [("target", "https://example.com"), ("receiver", "https://hooks.example.com")];
const PREFIXES: [&str; 17] = [
    "mon_", "chn_", "page_", "cmp_", "grp_", "dlv_", "inc_", "mnt_", "log_", "sgn_", "sub_",
    "key_", "rpt_", "upd_", "tpl_", "prb_", "",
];

/// A step whose request is printed.
pub(super) struct Example<'a> {
    /// Path of its method.
    pub(super) call: &'a str,
    /// Kind of its key.
    pub(super) key: &'a str,
    /// Saved values by name.
    pub(super) saved: &'a Saved,
    request: &'a Value,
}

/// The part of a response that an example uses.
pub(super) enum Taken {
    /// The whole response.
    Whole(Value),
    /// The named fields. Another run of the same example compares the whole response.
    Some(Value),
}

/// Runs all steps. `run` runs an example and returns the response.
pub(super) fn play(
    stage: &Stage,
    workspace: &Workspace,
    scenario: &Value,
    run: &mut dyn FnMut(&Example<'_>) -> Taken,
) {
    let mut saved = Saved::new();
    saved.extend(stage.places().map(|(name, place)| (name.to_owned(), place)));
    saved.insert("now".to_owned(), now());
    for step in scenario["steps"].as_array().unwrap() {
        let call = step["call"].as_str().unwrap();
        if !step["answer"].is_object() || call.contains(" /v1/") {
            continue;
        }
        let request = filled(&step["request"], &saved);
        let mut ask = || stage.call(workspace, step, &request);
        let is_example = step["example"] == true;
        if is_example {
            // Wait first, so that the example runs only once.
            if step["until"] == true {
                until(step, &saved, &mut ask);
            }
            let key = step["key"].as_str().unwrap_or("write");
            let example = Example { call, key, saved: &saved, request: &step["request"] };
            let taken = run(&example);
            check(step, &saved, &taken);
            let (Taken::Whole(answer) | Taken::Some(answer)) = taken;
            save(step, &answer, &mut saved);
        } else {
            let answer = until(step, &saved, &mut ask);
            save(step, &answer, &mut saved);
        }
    }
}

impl<'a> Example<'a> {
    /// Creates an example of a method with this request.
    pub(super) const fn new(call: &'a str, request: &'a Value, saved: &'a Saved) -> Self {
        Self { call, key: "write", saved, request }
    }

    /// Replaces placeholders in a printed text by the request's values, formatted by `quoted`. They
    /// occur in the same order in both.
    pub(super) fn filled(&self, text: &str, quoted: impl Fn(&str) -> String) -> String {
        let mut result = String::new();
        let mut rest = text;
        for raw in texts(self.request) {
            let forms: Vec<String> =
                forms(raw).iter().map(|form| Value::from(form.as_str()).to_string()).collect();
            let found =
                forms.iter().filter_map(|form| Some((rest.find(form.as_str())?, form.len())));
            let (start, length) =
                found.min().unwrap_or_else(|| panic!("{}: {forms:?} is not printed", self.call));
            result.push_str(&rest[..start]);
            if raw.contains("${") {
                result += &quoted(raw);
            } else {
                result += &rest[start..start + length];
            }
            rest = &rest[start + length..];
        }
        result + rest
    }

    /// Returns the value of a text of the request.
    pub(super) fn value(&self, raw: &str) -> String {
        filled(&Value::from(raw), self.saved).as_str().unwrap().to_owned()
    }
}

/// Repeats the call until the response matches, if the step says that this takes a while.
pub(super) fn until(step: &Value, saved: &Saved, ask: &mut dyn FnMut() -> Value) -> Value {
    let end = Instant::now() + PATIENCE;
    let pattern = filled(&step["answer"], saved);
    loop {
        let answer = ask();
        let Some(wrong) = difference(Some(&answer), &pattern, "answer") else { return answer };
        let again = step["until"] == true && Instant::now() < end;
        assert!(again, "{} ({}): {wrong}\n{answer}", step["name"], step["call"]);
    }
}

/// Compares the used part of a response with the step.
fn check(step: &Value, saved: &Saved, taken: &Taken) {
    let pattern = filled(&step["answer"], saved);
    let wrong = match taken {
        Taken::Whole(answer) => difference(Some(answer), &pattern, "answer"),
        Taken::Some(answer) => {
            let mut fields = pattern.as_object().unwrap().iter();
            fields.find_map(|(name, pattern)| {
                answer.get(name).and_then(|value| difference(Some(value), pattern, name))
            })
        }
    };
    let (Taken::Whole(answer) | Taken::Some(answer)) = taken;
    assert_eq!(wrong, None, "{} ({}): {answer}", step["name"], step["call"]);
    assert!(answer["code"].is_null(), "{}: {answer}", step["call"]);
}

pub(super) fn save(step: &Value, answer: &Value, saved: &mut Saved) {
    for (name, path) in step["save"].as_object().into_iter().flatten() {
        saved.insert(name.clone(), at(answer, path.as_str().unwrap()));
    }
}

/// Returns all texts of a value in order.
pub(super) fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// Returns the possible printed forms of a text.
fn forms(raw: &str) -> Vec<String> {
    let Some((before, rest)) = raw.split_once("${") else { return vec![raw.to_owned()] };
    let (name, after) = rest.split_once('}').unwrap();
    let printed: Vec<String> = match PRINTED.iter().find(|(given, _)| *given == name) {
        Some((_, printed)) => vec![(*printed).to_owned()],
        None => PREFIXES.iter().map(|prefix| format!("{prefix}…")).collect(),
    };
    let tails = forms(after);
    let mut forms = Vec::new();
    for head in &printed {
        forms.extend(tails.iter().map(|tail| format!("{before}{head}{tail}")));
    }
    forms
}

/// Returns the current time in UTC.
pub(super) fn now() -> String {
    in_hours(0)
}

/// Returns the time after so many hours, without fractions of a second.
pub(super) fn in_hours(hours: u64) -> String {
    #[expect(clippy::disallowed_methods, reason = "the called server uses this clock")]
    let seconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let millis = i64::try_from(seconds.as_secs() + hours * 3_600).unwrap() * 1000;
    rules::Timestamp::from_millis(millis).to_string()
}
