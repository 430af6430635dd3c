//! What examples answered, for the pages to print: written to `docs/reference/answers/` when somebody asks for
//! it, with ids, times and addresses that are the same each time.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use super::player::now;
use super::stage::Stage;

/// Where answers are kept.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/answers");
/// Set to write them.
const WISH: &str = "ALOFT_RECORD_ANSWERS";
/// What a time of this hour becomes: when a call was made, or a moment before.
const TIME: &str = "2026-11-22T02:30:00Z";
/// The part of a time that says of which hour it is.
const HOUR: usize = "2026-11-22T02".len();
/// Fewest letters and digits behind the prefix of an id.
const ID_LETTERS: usize = 10;
/// Who checks and tells from loopback, in print.
const ADDRESS: &str = "192.0.2.10:443";

/// Answers by the paths of their methods.
#[derive(Default)]
pub(super) struct Answers(BTreeMap<String, Value>);

impl Answers {
    pub(super) fn keep(&mut self, stage: &Stage, call: &str, answer: &Value) {
        let [(_, target), (_, receiver)] = stage.places();
        let told = |text: &str| {
            let text = text.replace(&target, "https://example.com");
            let text = text.replace(&receiver, "https://hooks.example.com");
            let bare = target.trim_start_matches("http://");
            let text = text.replace(bare, ADDRESS);
            text.replace(receiver.trim_start_matches("http://"), ADDRESS)
        };
        self.0.insert(call.to_owned(), steady(answer, &told));
    }

    /// Writes them, a file a package, where that was asked for.
    pub(super) fn finish(self) {
        if std::env::var_os(WISH).is_none() {
            return;
        }
        let mut files: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
        for (call, answer) in self.0 {
            let package = call.split('/').next().unwrap().rsplit_once('.').unwrap().0.to_owned();
            files.entry(package).or_default().insert(call, answer);
        }
        fs::create_dir_all(FOLDER).unwrap();
        for (package, answers) in files {
            let text = serde_json::to_string_pretty(&answers).unwrap() + "\n";
            fs::write(Path::new(FOLDER).join(format!("{package}.json")), text).unwrap();
        }
    }
}

/// A value without what differs from one day to the next.
fn steady(value: &Value, told: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::from(steady_text(&told(text))),
        Value::Array(items) => items.iter().map(|item| steady(item, told)).collect(),
        Value::Object(fields) => {
            let steady = |(name, value): (&String, &Value)| (name.clone(), steady(value, told));
            Value::Object(fields.iter().map(steady).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn steady_text(text: &str) -> String {
    if text.ends_with('Z') && text.get(..HOUR) == now().get(..HOUR) {
        return TIME.to_owned();
    }
    match text.split_once('_') {
        Some((
            prefix @ ("mon" | "chn" | "page" | "cmp" | "grp" | "dlv" | "inc" | "mnt" | "sgn"
            | "sub" | "log" | "rpt" | "upd" | "tpl" | "key" | "whsec"),
            rest,
        )) if rest.len() >= ID_LETTERS => format!("{prefix}_…"),
        Some(_) | None => text.to_owned(),
    }
}
