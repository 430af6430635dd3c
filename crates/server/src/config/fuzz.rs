//! Invariants of every configuration: the entry point of the fuzz target `configuration` and of the
//! test that replays its corpus.

use std::path::PathBuf;

use super::{Layers, Origin, SETTINGS, Settings, Value, Values};

/// Separator between the file and lines `name=value` of the environment.
const ENVIRONMENT: &str = "\n---\n";
/// Master key that output must not contain: 32 bytes in base64.
const KEY: &str = "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0ISE=";

/// Resolves a file and an environment.
///
/// # Panics
/// Panics if a weaker source overrides a stronger one, or if the output contains the master key. Also
/// panics if the values change when written to a file and read again.
pub fn configuration(input: &[u8]) {
    let input = String::from_utf8_lossy(input);
    let (file, environment) = input.split_once(ENVIRONMENT).unwrap_or((&input, ""));
    let pairs = environment.lines().filter_map(|line| line.split_once('='));
    let environment = pairs.map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
    let file = Some((PathBuf::from("aloft.toml"), file.to_owned()));
    let mut layers = Layers { environment, file, ..Layers::default() };
    layers.environment.entry("master_key".to_owned()).or_insert_with(|| KEY.to_owned());
    let Ok(values) = layers.resolve() else { return };
    assert_eq!(values.0.len(), SETTINGS.len());
    the_environment_beats_the_file(&layers, &values);
    the_values_as_a_file_mean_the_same(&values);
    let settings = Settings::parse(&values);
    if let Ok(settings) = &settings {
        let regions = &settings.default_regions;
        assert!(!regions.is_empty() && regions.is_sorted(), "{regions:?}");
        assert!(settings.max_checks_in_flight != Some(0));
    }
    if !input.contains(KEY) {
        let shown = format!("{values:?} {settings:?}");
        assert!(!shown.contains(KEY), "the master key is shown");
    }
}

fn the_environment_beats_the_file(layers: &Layers, values: &Values) {
    for value in &values.0 {
        let given = layers.environment.get(value.setting.name);
        assert_eq!(value.origin == Origin::Environment, given.is_some());
        assert!(given.is_none_or(|given| *given == value.text), "{value:?}");
    }
}

fn the_values_as_a_file_mean_the_same(values: &Values) {
    let open = values.0.iter().filter(|value| !value.setting.secret);
    let line = |value: &Value| format!("{} = {}", value.setting.name, quoted(&value.text));
    let lines: Vec<String> = open.clone().map(line).collect();
    let file = Some((PathBuf::from("again.toml"), lines.join("\n")));
    let again = Layers { file, ..Layers::default() }.resolve().expect("what we wrote is TOML");
    for value in open {
        assert_eq!(again.get(value.setting.name).text, value.text, "{}", value.setting.name);
    }
}

/// Returns a basic string of TOML: a JSON string, with the one control character escaped that only JSON
/// allows.
fn quoted(text: &str) -> String {
    let json = serde_json::to_string(text).expect("a text is JSON");
    json.replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod corpus;

#[cfg(test)]
mod tests {
    #[test]
    fn configuration_corpus_passes() {
        super::corpus::replay("configuration", super::configuration);
    }
}
