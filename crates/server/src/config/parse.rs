//! Parses the value of one setting. The errors name the setting, its allowed values and its source,
//! and never show a secret.

use std::net::SocketAddr;

use super::{ConfigError, Value, Values};

/// Parses a value. The error says which values are `allowed`.
pub(super) fn read<T>(
    value: &Value,
    allowed: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, ConfigError> {
    parse(value.text.trim()).ok_or_else(|| {
        let why = if value.redacted() == value.text && !value.setting.secret {
            format!("{allowed}, not `{}`", value.text)
        } else {
            allowed.to_owned()
        };
        ConfigError::Invalid { name: value.setting.name, why, origin: value.origin.clone() }
    })
}

/// Parses a value that may be empty.
pub(super) fn optional<T>(
    value: &Value,
    allowed: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<Option<T>, ConfigError> {
    if value.text.trim().is_empty() {
        return Ok(None);
    }
    read(value, allowed, parse).map(Some)
}

/// Returns the error that `name` is missing, without which `given` has no effect.
pub(super) fn missing_setting(values: &Values, name: &'static str, given: &str) -> ConfigError {
    let why = format!("must also be set if `{given}` is");
    ConfigError::Invalid { name, why, origin: values.get(given).origin.clone() }
}

/// Returns the items of a list that is separated by commas.
pub(super) fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}

pub(super) fn address(text: &str) -> Option<SocketAddr> {
    text.parse().ok()
}
