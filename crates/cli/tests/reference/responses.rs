//! Records the responses of examples for the reference in `docs/reference/responses/`, if requested.
//! Ids, times and addresses are replaced by constant ones.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use super::fixture::Stage;
use super::player::in_hours;

/// Folder of recorded responses.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/responses");
/// Variable that turns recording on.
const RECORD_VARIABLE: &str = "ALOFT_RECORD_ANSWERS";
/// Replacements for times of the current hour (the time of a call, or shortly before) and of the same hour
/// a day later.
const TIMES: [(u64, &str); 2] = [(0, "2026-11-22T02:30:00Z"), (24, "2026-11-23T02:30:00Z")];
/// Length of the prefix of a time that identifies its hour.
const HOUR: usize = "2026-11-22T02".len();
/// Minimum number of characters after the prefix of an id.
const ID_LETTERS: usize = 10;
/// Replacement for commands that start a probe.
const PROBE_COMMAND: &str = "aloft probe --server https://aloft.example.com --token aloftprobe_…";
/// Replacement for loopback addresses.
const ADDRESS: &str = "192.0.2.10:443";

/// Address of the client of the examples, and its replacement.
const LOOPBACK: &str = "127.0.0.1";
const CLIENT: &str = "192.0.2.10";

/// Responses by the paths of their methods.
#[derive(Default)]
pub(super) struct RecordedResponses(BTreeMap<String, Value>);

impl RecordedResponses {
    pub(super) fn record(&mut self, stage: &Stage, call: &str, answer: &Value) {
        let [(_, target), (_, receiver)] = stage.places();
        let replace = |text: &str| {
            let text = text.replace(&target, "https://example.com");
            let text = text.replace(&receiver, "https://hooks.example.com");
            let bare = target.trim_start_matches("http://");
            let text = text.replace(bare, ADDRESS);
            text.replace(receiver.trim_start_matches("http://"), ADDRESS)
        };
        self.0.insert(call.to_owned(), steady(answer, &replace));
    }

    /// Writes the responses to a file per package, if requested.
    pub(super) fn finish(self) {
        if std::env::var_os(RECORD_VARIABLE).is_none() {
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

/// Returns a value without everything that differs between days.
fn steady(value: &Value, replace: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::from(steady_text(&replace(text))),
        Value::Array(items) => items.iter().map(|item| steady(item, replace)).collect(),
        Value::Object(fields) => {
            let steady = |(name, value): (&String, &Value)| (name.clone(), steady(value, replace));
            Value::Object(fields.iter().map(steady).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn steady_text(text: &str) -> String {
    for (hours, time) in TIMES {
        if text.ends_with('Z') && text.get(..HOUR) == in_hours(hours).get(..HOUR) {
            return time.to_owned();
        }
    }
    if text.starts_with("aloft probe ") {
        return PROBE_COMMAND.to_owned();
    }
    if text == LOOPBACK {
        return CLIENT.to_owned();
    }
    match text.split_once('_') {
        Some((
            prefix @ ("mon" | "chn" | "page" | "cmp" | "grp" | "dlv" | "inc" | "mnt" | "sgn"
            | "sub" | "log" | "rpt" | "upd" | "tpl" | "key" | "ws" | "whsec" | "aloft"
            | "aloftprobe" | "prb"),
            rest,
        )) if rest.len() >= ID_LETTERS => format!("{prefix}_…"),
        Some(_) | None => text.to_owned(),
    }
}
