//! The list of what the files use of the program: command lines, environment variables and settings.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// First lines of the list.
const HEADER: &str = "\
# Command lines, variables and settings of the program in the other files of this folder. Written by
# `cargo xtask packaging`. `crates/cli/src/packaging.rs` tests that the program knows all of them.
";
/// Prefix of variables that are settings.
const VARIABLE: &str = "ALOFT_";

/// List of uses. Each line is a word and a value.
#[derive(Debug, Default)]
pub(super) struct Uses(BTreeSet<String>);

impl Uses {
    /// Returns the text of the list.
    pub(super) fn text(&self) -> String {
        let lines: Vec<&str> = self.0.iter().map(String::as_str).collect();
        format!("{HEADER}{}\n", lines.join("\n"))
    }

    /// Records a command line without the program, which a shell would split at spaces.
    pub(super) fn read_line(&mut self, line: &str) -> Result<()> {
        if line.contains(['$', '\'', '"', '\\']) {
            bail!("`{line}` has a character that this check does not understand");
        }
        self.0.insert(format!("command {line}"));
        Ok(())
    }

    /// Records a command line as a list of words.
    pub(super) fn read_words(&mut self, words: &Value) -> Result<()> {
        let words = words.as_array().context("a command is not a list of words")?;
        let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
        let words = words.context("a command has a word that is not a text")?;
        if let Some(word) = words.iter().find(|word| word.contains(' ') || word.is_empty()) {
            bail!("the word `{word}` of a command is empty or has a space");
        }
        self.read_line(&words.join(" "))
    }

    /// Records the command of a check of health: `["CMD", "aloft", …]`.
    pub(super) fn read_health(&mut self, test: &Value) -> Result<()> {
        let words = test.as_array().map(Vec::as_slice).unwrap_or_default();
        match words {
            [] => Ok(()),
            [cmd, aloft, rest @ ..] if cmd == "CMD" && aloft == "aloft" => {
                self.read_words(&Value::from(rest.to_vec()))
            }
            [none] if none == "NONE" => Ok(()),
            _ => bail!("the check of health does not start `aloft`: {test}"),
        }
    }

    /// Records variables that are settings.
    pub(super) fn read_environment<'a>(
        &mut self,
        variables: impl Iterator<Item = (&'a str, &'a Value)>,
    ) -> Result<()> {
        for (name, value) in variables.filter(|(name, _)| name.starts_with(VARIABLE)) {
            let value = value.as_str().with_context(|| format!("{name} is not a text"))?;
            self.0.insert(format!("variable {name}={value}"));
        }
        Ok(())
    }

    /// Records the settings of a file for the program.
    pub(super) fn read_settings(&mut self, file: &str) -> Result<()> {
        let table: toml::Table = toml::from_str(file).context("a file with settings is invalid")?;
        self.0.extend(table.keys().map(|name| format!("setting {name}")));
        Ok(())
    }

    /// Records the command lines and variables of a file for images.
    pub(super) fn read_containerfile(&mut self, text: &str) -> Result<()> {
        let whole = text.replace("\\\n", " ");
        for line in whole.lines().map(str::trim) {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "CMD" => self.read_words(&serde_json::from_str(rest)?)?,
                "HEALTHCHECK" => {
                    let (_, command) =
                        rest.split_once(" CMD ").context("HEALTHCHECK without CMD")?;
                    let words: Vec<Value> = serde_json::from_str(command)?;
                    let words = [vec![Value::from("CMD")], words].concat();
                    self.read_health(&Value::from(words))?;
                }
                "ENV" => {
                    let pairs = rest.split_whitespace().filter_map(|pair| pair.split_once('='));
                    let pairs: Vec<(&str, Value)> =
                        pairs.map(|(name, value)| (name, Value::from(value))).collect();
                    self.read_environment(pairs.iter().map(|(name, value)| (*name, value)))?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Returns the values of an object or of a list. Other values have none.
pub(super) fn members(value: &Value) -> Vec<&Value> {
    match value {
        Value::Object(object) => object.values().collect(),
        Value::Array(list) => list.iter().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// Returns the entries of an object. Other values have none.
pub(super) fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kind_of_use_is_listed_once() {
        let mut uses = Uses::default();
        let file = "FROM a\nENV ALOFT_DATA=/data PATH=/bin\nHEALTHCHECK --interval=1s \\\n  \
                    CMD [\"aloft\", \"check\"]\nCMD [\"serve\"]\n";
        uses.read_containerfile(file).unwrap();
        uses.read_words(&json!(["serve"])).unwrap();
        uses.read_settings("nats = \"nats://n\"\n").unwrap();
        let expected = "command check\ncommand serve\nsetting nats\nvariable ALOFT_DATA=/data\n";
        assert_eq!(uses.text(), format!("{HEADER}{expected}"));
    }

    #[test]
    fn ambiguous_commands_are_refused() {
        let mut uses = Uses::default();
        for words in [json!(["a b"]), json!([""]), json!([1]), json!("serve"), json!(["$A"])] {
            assert!(uses.read_words(&words).is_err(), "{words}");
        }
        assert!(uses.read_health(&json!(["CMD", "curl"])).is_err());
    }
}
