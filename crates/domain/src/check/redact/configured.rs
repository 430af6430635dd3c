//! Redacts the secrets configured in a monitor or a channel. A server may echo its request, in a
//! debug page or an error message for example, and would reveal them to every reader of evidence.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use url::Url;

use super::{HIDDEN, forms};

/// Minimum length of a secret in bytes: shorter ones would hide half of every text and are easily
/// guessed.
const SHORTEST: usize = 4;
/// Bytes of all forms together that stay in memory. A token of 40 letters and digits has about 400.
const KEPT_BYTES: usize = 4 * 1024;
/// Values of other headers and parameters are secrets from this length on.
const SHORTEST_OTHER: usize = 8;
/// Parts of names of headers, parameters and fields that hold secrets.
const NAMES: [&str; 14] = [
    "api_key",
    "api-key",
    "apikey",
    "auth",
    "cookie",
    "credential",
    "passphrase",
    "passw",
    "private",
    "pwd",
    "secret",
    "session",
    "signature",
    "token",
];
/// Full names of headers, parameters and fields that hold secrets.
const WHOLE_NAMES: [&str; 9] = ["code", "jwt", "k", "key", "otp", "pass", "pin", "pw", "sig"];
/// Passwords that vendors define for callers whose user name is the secret.
const PLACEHOLDERS: [&str; 2] = ["api_token", "x-oauth-basic"];
/// Headers for content negotiation and the like, whose values occur in many responses.
const PLAIN_HEADERS: [&str; 18] = [
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "content-language",
    "content-type",
    "dnt",
    "host",
    "if-modified-since",
    "origin",
    "pragma",
    "range",
    "referer",
    "te",
    "upgrade-insecure-requests",
    "user-agent",
];

/// The configured secrets of a check.
#[derive(Default)]
pub(crate) struct Configured {
    /// As they are.
    secrets: Vec<String>,
    /// In the forms that are looked for, longest first.
    forms: Vec<String>,
}

impl Configured {
    /// Returns these secrets in all their forms.
    pub(crate) fn in_forms(mut secrets: Vec<String>) -> Self {
        secrets.retain(|secret| secret.len() >= SHORTEST);
        let mut forms: Vec<String> =
            secrets.iter().flat_map(|secret| forms::encoded_forms(secret)).collect();
        forms.retain(|form| form.len() >= SHORTEST);
        forms.sort_unstable_by(|one, other| other.len().cmp(&one.len()).then(one.cmp(other)));
        forms.dedup();
        Self { secrets, forms }
    }

    /// Returns whether the forms may stay in memory with the plan.
    pub(in crate::check) fn is_small(&self) -> bool {
        self.forms.iter().map(String::len).sum::<usize>() <= KEPT_BYTES
    }

    /// Returns whether there are no secrets.
    pub(in crate::check) const fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// Replaces the secrets in a text. A text that was cut may end with the beginning of a secret, or begin with
    /// the end of one.
    pub(crate) fn redact(&self, text: &mut String) {
        forms::redact_encoded(text, &self.secrets);
        for form in &self.forms {
            if text.contains(form.as_str()) {
                *text = text.replace(form.as_str(), HIDDEN);
            }
        }
        let ended = self.forms.iter().filter_map(|form| suffix_at_start(text, form)).max();
        if let Some(ended) = ended {
            text.replace_range(..ended, HIDDEN);
        }
        let begun_in =
            |part: &str| self.forms.iter().filter_map(|form| prefix_at_end(part, form)).max();
        if text.split(HIDDEN).all(|part| begun_in(part).is_none()) {
            return;
        }
        let mut shown = String::with_capacity(text.len());
        for (place, part) in text.split(HIDDEN).enumerate() {
            let begun = begun_in(part);
            if place > 0 && !shown.ends_with(HIDDEN) {
                shown.push_str(HIDDEN);
            }
            shown.push_str(&part[..part.len() - begun.unwrap_or(0)]);
            if begun.is_some() {
                shown.push_str(HIDDEN);
            }
        }
        *text = shown;
    }
}

impl std::fmt::Debug for Configured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} forms of secrets", self.forms.len())
    }
}

/// Returns the length of the longest beginning of `secret` at the end of `text`.
fn prefix_at_end(text: &str, secret: &str) -> Option<usize> {
    let longest = secret.len().min(text.len());
    (SHORTEST..=longest)
        .rev()
        .find(|length| secret.get(..*length).is_some_and(|beginning| text.ends_with(beginning)))
}

/// Returns the bytes of the beginning of `text` that are the end of a secret.
fn suffix_at_start(text: &str, secret: &str) -> Option<usize> {
    let longest = secret.len().min(text.len());
    (SHORTEST_OTHER..=longest)
        .rev()
        .find(|length| secret.get(secret.len() - length..).is_some_and(|end| text.starts_with(end)))
}

/// Returns the secrets of a check's request.
pub(in crate::check) fn of_check(headers: &HeaderMap, url: &Url, body: &[u8]) -> Vec<String> {
    let mut secrets = Vec::new();
    for (name, value) in headers {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        secrets.extend(header_secrets(name.as_str(), value));
    }
    for (name, value) in url.query_pairs() {
        if is_secret(&name) || value.len() >= SHORTEST_OTHER {
            secrets.push(value.into_owned());
        }
    }
    if let Ok(body) = str::from_utf8(body) {
        if let Ok(value) = serde_json::from_str::<Value>(body) {
            collect_json_secrets(&value, false, &mut secrets);
        } else {
            let fields = url::form_urlencoded::parse(body.as_bytes());
            let secret = fields.filter(|(name, _)| is_secret(name));
            secrets.extend(secret.map(|(_, value)| value.into_owned()));
        }
        if body.len() >= SHORTEST_OTHER {
            secrets.push(body.to_owned());
        }
    }
    secrets
}

/// Returns the secrets of a request to a webhook.
pub(crate) fn request_secrets<'h>(
    url: &str,
    headers: impl Iterator<Item = (&'h str, &'h str)>,
) -> Vec<String> {
    let mut secrets = Url::parse(url).map(|url| webhook_secrets(&url)).unwrap_or_default();
    for (name, value) in headers {
        secrets.extend(header_secrets(name, value.to_owned()));
    }
    secrets
}

/// Returns whether a header, parameter or field of this name holds a secret.
fn is_secret(name: &str) -> bool {
    let is_camel_case_key = name.ends_with("Key");
    let name = name.to_ascii_lowercase();
    is_camel_case_key
        || super::is_credential(&name)
        || NAMES.iter().any(|part| name.contains(part))
        || WHOLE_NAMES.contains(&name.as_str())
}

/// Returns the secrets in a header.
fn header_secrets(name: &str, value: String) -> Vec<String> {
    let is_plain = PLAIN_HEADERS.contains(&name);
    if !is_secret(name) && (is_plain || value.len() < SHORTEST_OTHER) {
        return Vec::new();
    }
    let mut secrets = credentials(&value);
    secrets.push(value);
    secrets
}

/// Returns the secrets in the URL of a webhook: its credentials, the values of its query, and the long parts of its
/// path, which is what many vendors know their callers by.
fn webhook_secrets(url: &Url) -> Vec<String> {
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let parts = url.path_segments().into_iter().flatten().map(decoded);
    let mut secrets: Vec<String> = parts.filter(|part| part.len() >= SHORTEST_OTHER).collect();
    secrets.extend(url.query_pairs().map(|(_, value)| value.into_owned()));
    secrets.extend(url.password().map(decoded));
    secrets
}

/// Returns the secret parts of a header value: the text after the scheme, and the password of
/// Basic. Without a real password, the user name is the secret.
fn credentials(value: &str) -> Vec<String> {
    let Some((scheme, rest)) = value.split_once(' ') else { return Vec::new() };
    let rest = rest.trim();
    let mut found = vec![rest.to_owned()];
    if scheme.eq_ignore_ascii_case("basic")
        && let Ok(decoded) = STANDARD.decode(rest)
        && let Ok(pair) = String::from_utf8(decoded)
    {
        if let Some((user, password)) = pair.split_once(':') {
            if password.len() < SHORTEST_OTHER || PLACEHOLDERS.contains(&password) {
                found.push(user.to_owned());
            }
            found.push(password.to_owned());
        }
        found.push(pair);
    }
    found
}

/// Collects the texts below fields that hold secrets.
fn collect_json_secrets(value: &Value, is_below: bool, secrets: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                collect_json_secrets(value, is_below || is_secret(name), secrets);
            }
        }
        Value::Array(values) => {
            for value in values {
                collect_json_secrets(value, is_below, secrets);
            }
        }
        Value::String(text) if is_below => secrets.push(text.clone()),
        Value::Number(number) if is_below => secrets.push(number.to_string()),
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {}
    }
}

#[cfg(test)]
mod tests;
