//! Resolves the source of each setting: flags override the environment, which overrides the file,
//! which overrides the defaults. Pure: the caller reads the sources.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use rules::nearest;

use super::{ConfigError, SETTINGS, Setting};

/// The given values, by source. Keys are names of settings.
#[derive(Debug, Default)]
pub struct Layers {
    pub flags: BTreeMap<String, String>,
    /// Environment variables, in lower case and without `ALOFT_`.
    pub environment: BTreeMap<String, String>,
    /// Path and text of the file.
    pub file: Option<(PathBuf, String)>,
}

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Flag,
    Environment,
    File(PathBuf),
    Default,
}

/// The effective value of a setting.
#[derive(Clone)]
pub struct Value {
    pub setting: &'static Setting,
    /// Value as text. `Debug` and [`Value::shown`] hide secrets.
    pub text: String,
    pub origin: Origin,
}

/// The values of all settings, in the order of the table.
#[derive(Clone, Debug)]
pub struct Values(pub Vec<Value>);

impl Layers {
    /// Returns the effective values. Rejects unknown names in every source.
    pub fn resolve(&self) -> Result<Values, ConfigError> {
        let from_file = self.read_file()?;
        refuse_unknown(&self.flags, &Origin::Flag)?;
        refuse_unknown(&self.environment, &Origin::Environment)?;
        let value = |setting: &'static Setting| {
            let (text, origin) = if let Some(text) = self.flags.get(setting.name) {
                (text.clone(), Origin::Flag)
            } else if let Some(text) = self.environment.get(setting.name) {
                (text.clone(), Origin::Environment)
            } else if let (Some(text), Some((path, _))) = (from_file.get(setting.name), &self.file)
            {
                (text.clone(), Origin::File(path.clone()))
            } else {
                (setting.default.to_owned(), Origin::Default)
            };
            Value { setting, text, origin }
        };
        Ok(Values(SETTINGS.iter().map(value).collect()))
    }

    fn read_file(&self) -> Result<BTreeMap<String, String>, ConfigError> {
        let Some((path, text)) = &self.file else { return Ok(BTreeMap::new()) };
        let syntax = |place: String, why: String| {
            let path = path.display().to_string();
            ConfigError::Syntax { path, place, why }
        };
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let place = error.span().map(|span| position(text, span.start));
            syntax(place.unwrap_or_default(), error.message().to_owned())
        })?;
        let mut values = BTreeMap::new();
        for (name, value) in table {
            let text = as_text(&value).ok_or_else(|| {
                let must = "must be a text, a number, true or false, or a list of them";
                syntax(String::new(), format!("`{name}` {must}"))
            })?;
            values.insert(name, text);
        }
        let origin = Origin::File(path.clone());
        refuse_unknown(&values, &origin)?;
        if let Some(secret) = SETTINGS.iter().find(|it| it.secret && values.contains_key(it.name)) {
            let why = format!("is a secret and is taken from {} only", secret.variable());
            return Err(ConfigError::Invalid { name: secret.name, why, origin });
        }
        Ok(values)
    }
}

impl Values {
    /// Returns the value of the setting with this name, which must be in the table.
    pub fn get(&self, name: &str) -> &Value {
        self.0
            .iter()
            .find(|value| value.setting.name == name)
            .expect("callers name settings of the table")
    }
}

impl Value {
    /// Returns the value for display: `…` for a secret that is set and for a URL with a password.
    pub fn redacted(&self) -> &str {
        let is_secret = self.setting.secret && !self.text.is_empty();
        if is_secret || has_password(&self.text) { "…" } else { &self.text }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {} ({})", self.setting.name, self.redacted(), self.origin)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("from a flag"),
            Self::Environment => f.write_str("from the environment"),
            Self::File(path) => write!(f, "from `{}`", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// Returns whether a value is a URL with a password: `scheme://user:password@host` or `?password=`.
fn has_password(text: &str) -> bool {
    let Some((_, address)) = text.split_once("://") else { return false };
    let authority = address.split(['/', '?']).next().unwrap_or_default();
    authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
        || address.contains("password=")
}

fn refuse_unknown(given: &BTreeMap<String, String>, origin: &Origin) -> Result<(), ConfigError> {
    let Some(unknown) = given.keys().find(|name| Setting::find(name).is_none()) else {
        return Ok(());
    };
    let known: Vec<&str> = SETTINGS.iter().map(|setting| setting.name).collect();
    let expected = match nearest(unknown, &known) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("expected one of {}", known.join(", ")),
    };
    Err(ConfigError::Unknown { given: unknown.clone(), origin: origin.clone(), expected })
}

/// Describes the position of a byte in a text by line and column, which count from 1.
fn position(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!(" at line {line}, column {column}")
}

/// Returns a value of the file in the form of the environment, with lists joined by commas.
fn as_text(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Boolean(is_set) => Some(is_set.to_string()),
        toml::Value::Array(items) => {
            let texts: Option<Vec<String>> = items.iter().map(as_text).collect();
            Some(texts?.join(","))
        }
        toml::Value::Float(_) | toml::Value::Datetime(_) | toml::Value::Table(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    fn file(text: &str) -> (PathBuf, String) {
        (PathBuf::from("aloft.toml"), text.to_owned())
    }

    #[test]
    fn flags_override_environment_file_and_defaults() {
        // issue 3: flags before environment before file
        let mut layers = Layers {
            flags: given(&[("listen", "127.0.0.1:1")]),
            environment: given(&[("listen", "127.0.0.1:2"), ("data", "/environment")]),
            file: Some(file("listen = '127.0.0.1:3'\ndata = '/file'\nlog_format = 'json'")),
        };
        let shown = |layers: &Layers| {
            let values = layers.resolve().unwrap();
            ["listen", "data", "log_format", "log_level"]
                .map(|name| format!("{:?}", values.get(name)))
                .join("\n")
        };
        insta::assert_snapshot!(shown(&layers), @"
        listen = 127.0.0.1:1 (from a flag)
        data = /environment (from the environment)
        log_format = json (from `aloft.toml`)
        log_level = info (default)
        ");
        layers.flags.clear();
        layers.environment.clear();
        assert_eq!(layers.resolve().unwrap().get("listen").text, "127.0.0.1:3");
    }

    #[test]
    fn unknown_keys_are_rejected_with_their_position() {
        for layers in [
            Layers { file: Some(file("colour = 'x'")), ..Layers::default() },
            Layers { environment: given(&[("colour", "x")]), ..Layers::default() },
            Layers { flags: given(&[("colour", "x")]), ..Layers::default() },
        ] {
            let refusal = layers.resolve().unwrap_err().to_string();
            assert!(refusal.starts_with("unknown setting `colour` (from "), "{refusal}");
            assert!(refusal.contains("expected one of listen, data, "), "{refusal}");
        }
        let layers = Layers { file: Some(file("liste = 'x'")), ..Layers::default() };
        let refusal = layers.resolve().unwrap_err().to_string();
        assert!(refusal.ends_with("; did you mean `listen`?"), "{refusal}");
    }

    #[test]
    fn file_lists_and_numbers_read_as_text() {
        let layers = Layers {
            file: Some(file(
                "default_regions = ['fly-ams', 'fly-iad']\nretention_days = 7\nallow_private_networks = true",
            )),
            ..Layers::default()
        };
        let values = layers.resolve().unwrap();
        assert_eq!(values.get("default_regions").text, "fly-ams,fly-iad");
        assert_eq!(values.get("retention_days").text, "7");
        assert_eq!(values.get("allow_private_networks").text, "true");
    }

    #[test]
    fn secret_is_redacted_and_rejected_in_files() {
        let layers =
            Layers { environment: given(&[("master_key", "hunter2")]), ..Layers::default() };
        let values = layers.resolve().unwrap();
        assert_eq!(values.get("master_key").redacted(), "…");
        assert!(!format!("{values:?}").contains("hunter2"));
        let layers = Layers { file: Some(file("master_key = 'hunter2'")), ..Layers::default() };
        let refusal = layers.resolve().unwrap_err().to_string();
        assert_eq!(
            refusal,
            "`master_key` is a secret and is taken from ALOFT_MASTER_KEY only (from `aloft.toml`)"
        );
    }

    #[test]
    fn invalid_toml_is_rejected_with_its_path() {
        let layers = Layers { file: Some(file("data = 'ä'\nlisten = [1")), ..Layers::default() };
        let refusal = layers.resolve().unwrap_err().to_string();
        let place = "`aloft.toml` is not valid TOML at line 2, column ";
        assert!(refusal.contains(place), "{refusal}");
        let layers = Layers { file: Some(file("[listen]\nport = 1")), ..Layers::default() };
        assert!(layers.resolve().unwrap_err().to_string().contains("`listen` must be a text"));
    }
}
