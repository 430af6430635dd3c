//! Resolves the source of each setting: flags override the environment, which overrides the file,
//! which overrides the defaults. Pure: the caller reads the sources.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use rules::nearest;
use toml::Spanned;

use super::origin::{FilePosition, Origin};
use super::{ConfigError, SETTINGS, Setting};

/// Form of a value in the file.
const FORM: &str = "must be a text, a number, true or false, or a list of them";

/// The given values, by source. Keys are names of settings.
#[derive(Debug, Default)]
pub struct Layers {
    pub flags: BTreeMap<String, String>,
    /// Environment variables, in lower case and without `ALOFT_`.
    pub environment: BTreeMap<String, String>,
    /// Path and text of the file.
    pub file: Option<(PathBuf, String)>,
}

/// A value of the file.
#[derive(Debug)]
struct FileValue {
    text: String,
    origin: Origin,
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
        self.flags.keys().try_for_each(|name| require_known(name, &Origin::Flag).map(drop))?;
        self.environment
            .keys()
            .try_for_each(|name| require_known(name, &Origin::Environment).map(drop))?;
        let value = |setting: &'static Setting| {
            let (text, origin) = if let Some(text) = self.flags.get(setting.name) {
                (text.clone(), Origin::Flag)
            } else if let Some(text) = self.environment.get(setting.name) {
                (text.clone(), Origin::Environment)
            } else if let Some(value) = from_file.get(setting.name) {
                (value.text.clone(), value.origin.clone())
            } else {
                (setting.default.to_owned(), Origin::Default)
            };
            Value { setting, text, origin }
        };
        Ok(Values(SETTINGS.iter().map(value).collect()))
    }

    /// Reads the file from top to bottom. Returns the first error, with its position.
    fn read_file(&self) -> Result<BTreeMap<&'static str, FileValue>, ConfigError> {
        let Some((path, text)) = &self.file else { return Ok(BTreeMap::new()) };
        let table: BTreeMap<Spanned<String>, Spanned<toml::Value>> =
            toml::from_str(text).map_err(|error| ConfigError::Syntax {
                path: path.display().to_string(),
                position: error.span().map(|span| FilePosition::of_byte(text, span.start)),
                why: error.message().to_owned(),
            })?;
        let mut entries: Vec<_> = table.into_iter().collect();
        entries.sort_by_key(|(name, _)| name.span().start);
        let mut values = BTreeMap::new();
        for (name, value) in entries {
            let origin = |at: usize| Origin::File {
                path: path.clone(),
                position: FilePosition::of_byte(text, at),
            };
            let at_name = origin(name.span().start);
            let setting = require_known(name.get_ref(), &at_name)?;
            let invalid = |why, origin| ConfigError::Invalid { name: setting.name, why, origin };
            if setting.secret {
                let why = format!("is a secret and is taken from {} only", setting.variable());
                return Err(invalid(why, at_name));
            }
            let Some(text) = as_text(value.get_ref()) else {
                return Err(invalid(FORM.to_owned(), at_name));
            };
            let origin = origin(value.span().start);
            values.insert(setting.name, FileValue { text, origin });
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

/// Returns whether a value is a URL with a password: `scheme://user:password@host` or `?password=`.
fn has_password(text: &str) -> bool {
    let Some((_, address)) = text.split_once("://") else { return false };
    let authority = address.split(['/', '?']).next().unwrap_or_default();
    authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
        || address.contains("password=")
}

/// Returns the setting with this name, or the error that there is none.
fn require_known(name: &str, origin: &Origin) -> Result<&'static Setting, ConfigError> {
    Setting::find(name).ok_or_else(|| {
        let known: Vec<&str> = SETTINGS.iter().map(|setting| setting.name).collect();
        let expected = match nearest(name, &known) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("expected one of {}", known.join(", ")),
        };
        ConfigError::Unknown { given: name.to_owned(), origin: origin.clone(), expected }
    })
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
    use super::super::Settings;
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
        log_format = json (from `aloft.toml` at line 3, column 14)
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
            "`master_key` is a secret and is taken from ALOFT_MASTER_KEY only (from `aloft.toml` \
             at line 1, column 1)"
        );
    }

    #[test]
    fn invalid_toml_is_rejected_with_its_path() {
        let layers = Layers { file: Some(file("data = 'ä'\nlisten = [1")), ..Layers::default() };
        let refusal = layers.resolve().unwrap_err().to_string();
        let place = "`aloft.toml` is not valid TOML at line 2, column ";
        assert!(refusal.contains(place), "{refusal}");
    }

    // issue 16, point 27: "Give line and column for TOML errors"
    #[test]
    fn errors_in_the_file_name_their_position() {
        let refusals = [
            "# ä\nlisten = '127.0.0.1:3'\n  colour = 'x'",
            "'ä' = 1",
            "log_level = 'warn'\n\n[listen]\nport = 1",
            "log_level = 'warn'\nlisten.port = 1",
            "retention_days = 7.5",
            "nameservers = ['9.9.9.9:53', 1979-05-27]",
            "log_format = 'json'\noperator = 'ops@example.com'",
            "log_format = 'json'\nretention_days =   0",
            "default_regions = [\n  'fly-ams',\n  'mars',\n]",
            "\tlisten = '8080'",
            "smtp_from = 'aloft@example.com'",
            "public_url = 'https://example.com'\nhttps_listen = '0.0.0.0:443'",
            "data = '/one'\ndata = '/two'",
        ]
        .map(|text| {
            let layers = Layers { file: Some(file(text)), ..Layers::default() };
            let parsed = layers.resolve().and_then(|values| Settings::parse(&values));
            let refusal = parsed.unwrap_err().to_string();
            match refusal.split_once("; expected one of ") {
                Some((before, names)) => {
                    format!("{before} …{}", names.trim_start_matches(|c| c != '('))
                }
                None => refusal,
            }
        });
        insta::assert_snapshot!(refusals.join("\n"), @"
        unknown setting `colour` (from `aloft.toml` at line 3, column 3) …
        unknown setting `ä` (from `aloft.toml` at line 1, column 1) …
        `listen` must be a text, a number, true or false, or a list of them (from `aloft.toml` at line 3, column 2)
        `listen` must be a text, a number, true or false, or a list of them (from `aloft.toml` at line 2, column 1)
        `retention_days` must be a text, a number, true or false, or a list of them (from `aloft.toml` at line 1, column 1)
        `nameservers` must be a text, a number, true or false, or a list of them (from `aloft.toml` at line 1, column 1)
        `operator` is a secret and is taken from ALOFT_OPERATOR only (from `aloft.toml` at line 2, column 1)
        `retention_days` must be 1 to 3650, not `0` (from `aloft.toml` at line 2, column 20)
        `default_regions` is wrong: unknown region `mars` …(from `aloft.toml` at line 1, column 19)
        `listen` must be an address such as 127.0.0.1:8080, not `8080` (from `aloft.toml` at line 1, column 11)
        `smtp_url` must also be set if `smtp_from` is (from `aloft.toml` at line 1, column 13)
        `acme_terms_agreed` must also be set if `https_listen` is (from `aloft.toml` at line 2, column 16)
        the configuration file `aloft.toml` is not valid TOML at line 2, column 1: duplicate key
        ");
    }
}
