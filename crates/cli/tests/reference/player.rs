//! Plays a scenario: an example as its page prints it, every other step as it is, so that what an example needs
//! is there. Steps that must fail are left to the tests of the client: they change nothing.

use serde_json::Value;
use tokio::time::Instant;

use super::pattern::{Saved, at, difference, filled};
use super::stage::{Stage, Workspace};
use crate::process::PATIENCE;

/// What stands in print for a value that is given, and for one that was saved: the beginning of its id, or
/// nothing but the sign.
const PRINTED: [(&str, &str); 2] =
    [("target", "https://example.com"), ("receiver", "https://hooks.example.com")];
const PREFIXES: [&str; 15] = [
    "mon_", "chn_", "page_", "cmp_", "grp_", "dlv_", "inc_", "mnt_", "log_", "sgn_", "sub_",
    "rpt_", "upd_", "tpl_", "",
];

/// A step whose request is printed.
pub(super) struct Example<'a> {
    /// The path of its method.
    pub(super) call: &'a str,
    /// Whose key it is called with.
    pub(super) key: &'a str,
    /// What its names stand for.
    pub(super) saved: &'a Saved,
    request: &'a Value,
}

/// What an example took of its answer.
pub(super) enum Taken {
    /// All of it.
    Whole(Value),
    /// The fields that it names; what it leaves is held where the same example takes all.
    Some(Value),
}

/// Plays all steps; `run` runs an example and says what was answered.
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
            // What it waits for comes first, so that the example is run once.
            if step["until"] == true {
                until(step, &saved, &mut ask);
            }
            let key = step["key"].as_str().unwrap_or("write");
            let example = Example { call, key, saved: &saved, request: &step["request"] };
            let taken = run(&example);
            hold(step, &saved, &taken);
            let (Taken::Whole(answer) | Taken::Some(answer)) = taken;
            save(step, &answer, &mut saved);
        } else {
            let answer = until(step, &saved, &mut ask);
            save(step, &answer, &mut saved);
        }
    }
}

impl<'a> Example<'a> {
    /// The example of a method with this request, whoever calls it.
    pub(super) const fn of(call: &'a str, request: &'a Value, saved: &'a Saved) -> Self {
        Self { call, key: "write", saved, request }
    }

    /// The printed text with what its placeholders stand for, as `quoted` writes it. Texts of the request stand
    /// in the print in their order.
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

    /// The value of a text of the request.
    pub(super) fn value(&self, raw: &str) -> String {
        filled(&Value::from(raw), self.saved).as_str().unwrap().to_owned()
    }
}

/// Asks until the answer is as the step says, where it says that this takes a while.
fn until(step: &Value, saved: &Saved, ask: &mut dyn FnMut() -> Value) -> Value {
    let end = Instant::now() + PATIENCE;
    let pattern = filled(&step["answer"], saved);
    loop {
        let answer = ask();
        let Some(wrong) = difference(Some(&answer), &pattern, "answer") else { return answer };
        let again = step["until"] == true && Instant::now() < end;
        assert!(again, "{} ({}): {wrong}\n{answer}", step["name"], step["call"]);
    }
}

/// Holds what was taken of an answer against the step.
fn hold(step: &Value, saved: &Saved, taken: &Taken) {
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

fn save(step: &Value, answer: &Value, saved: &mut Saved) {
    for (name, path) in step["save"].as_object().into_iter().flatten() {
        saved.insert(name.clone(), at(answer, path.as_str().unwrap()));
    }
}

/// All texts of a value in their order.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// How a text may be printed.
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

/// This moment, in UTC.
pub(super) fn now() -> String {
    #[expect(clippy::disallowed_methods, reason = "the server that is called goes by this clock")]
    let seconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let millis = i64::try_from(seconds.as_secs()).unwrap() * 1000;
    rules::Timestamp::from_millis(millis).to_string()
}
