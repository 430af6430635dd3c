//! Redacts the secrets configured in a monitor. A server may echo its request, in a debug page or
//! an error message for example, and would reveal them to every reader of evidence.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::HIDDEN;
use crate::check::Plan;
use crate::check::http::HttpPlan;
use crate::check::plan::PlannedCheck;

/// Minimum length of a secret in bytes: shorter ones would hide half of every text and are easily
/// guessed.
const SHORTEST: usize = 4;
/// Values of other headers are secrets from this length on.
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
const WHOLE_NAMES: [&str; 5] = ["code", "jwt", "key", "pass", "sig"];
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

/// The configured secrets of a check in all forms to hide, longest first.
#[derive(Debug, Default)]
pub(in crate::check) struct Configured(Vec<String>);

impl Configured {
    /// Collects the secrets of this plan.
    pub(in crate::check) fn of(plan: &Plan) -> Self {
        match &plan.check {
            PlannedCheck::Http(plan) => Self::in_forms(&of_http(plan)),
            PlannedCheck::Tcp(_) | PlannedCheck::Dns(_) => Self::default(),
        }
    }

    fn in_forms(secrets: &[String]) -> Self {
        let mut forms: Vec<String> = secrets.iter().flat_map(|secret| forms(secret)).collect();
        forms.retain(|form| form.len() >= SHORTEST);
        forms.sort_unstable_by(|one, other| other.len().cmp(&one.len()).then(one.cmp(other)));
        forms.dedup();
        Self(forms)
    }

    /// Returns whether there are no secrets.
    pub(in crate::check) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Replaces the secrets in a text, including a cut-off secret at its end.
    pub(in crate::check) fn hide(&self, text: &mut String) {
        for form in &self.0 {
            if text.contains(form.as_str()) {
                *text = text.replace(form.as_str(), HIDDEN);
            }
        }
        let begun_in = |part: &str| self.0.iter().filter_map(|form| begun_at_end(part, form)).max();
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

/// Returns the length of the longest beginning of `secret` at the end of `text`.
fn begun_at_end(text: &str, secret: &str) -> Option<usize> {
    let longest = secret.len().min(text.len());
    (SHORTEST..=longest)
        .rev()
        .find(|length| secret.get(..*length).is_some_and(|beginning| text.ends_with(beginning)))
}

/// Returns whether a header, parameter or field of this name holds a secret.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    super::is_credential(&name)
        || NAMES.iter().any(|part| name.contains(part))
        || WHOLE_NAMES.contains(&name.as_str())
}

fn of_http(plan: &HttpPlan) -> Vec<String> {
    let mut secrets = Vec::new();
    for (name, value) in &plan.headers {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        let is_plain = PLAIN_HEADERS.contains(&name.as_str());
        if is_secret(name.as_str()) || (!is_plain && value.len() >= SHORTEST_OTHER) {
            secrets.extend(credentials(&value));
            secrets.push(value);
        }
    }
    for (name, value) in plan.url.query_pairs() {
        if is_secret(&name) {
            secrets.push(value.into_owned());
        }
    }
    if let Ok(body) = str::from_utf8(&plan.body) {
        if let Ok(value) = serde_json::from_str::<Value>(body) {
            of_json(&value, false, &mut secrets);
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

/// Returns the secret parts of a header value: the text after the scheme, and the password of
/// Basic.
fn credentials(value: &str) -> Vec<String> {
    let Some((scheme, rest)) = value.split_once(' ') else { return Vec::new() };
    let rest = rest.trim();
    let mut found = vec![rest.to_owned()];
    if scheme.eq_ignore_ascii_case("basic")
        && let Ok(decoded) = STANDARD.decode(rest)
        && let Ok(pair) = String::from_utf8(decoded)
    {
        found.extend(pair.split_once(':').map(|(_, password)| password.to_owned()));
        found.push(pair);
    }
    found
}

/// Collects the texts below fields that hold secrets.
fn of_json(value: &Value, is_below: bool, secrets: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                of_json(value, is_below || is_secret(name), secrets);
            }
        }
        Value::Array(values) => values.iter().for_each(|it| of_json(it, is_below, secrets)),
        Value::String(text) if is_below => secrets.push(text.clone()),
        Value::Number(number) if is_below => secrets.push(number.to_string()),
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {}
    }
}

/// Returns the forms of a secret: verbatim, in a JSON string, percent-encoded, and in base64, alone
/// or within a longer text.
fn forms(secret: &str) -> Vec<String> {
    if secret.len() < SHORTEST {
        return Vec::new();
    }
    let quoted = serde_json::to_string(secret).unwrap_or_default();
    let percent = utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string();
    let form: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    let mut forms = vec![
        secret.to_owned(),
        quoted.trim_matches('"').to_owned(),
        quoted.trim_matches('"').replace('/', "\\/"),
        percent.to_ascii_lowercase(),
        percent,
        form.replace('+', "%20"),
        form,
    ];
    for before in 0..3 {
        forms.extend(in_base64(secret.as_bytes(), before));
    }
    forms
}

/// Returns the base64 digits of a secret after `before` other bytes (modulo 3): those that do not
/// depend on neighbouring bytes.
fn in_base64(secret: &[u8], before: usize) -> [String; 2] {
    let mut bytes = vec![0; before];
    bytes.extend_from_slice(secret);
    let (first, end) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
    let own = |text: String| text.get(first..end).unwrap_or_default().to_owned();
    [own(STANDARD_NO_PAD.encode(&bytes)), own(URL_SAFE_NO_PAD.encode(&bytes))]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hidden(secrets: &[&str], text: &str) -> String {
        let secrets: Vec<String> = secrets.iter().map(|it| (*it).to_owned()).collect();
        let mut text = text.to_owned();
        Configured::in_forms(&secrets).hide(&mut text);
        text
    }

    // issue 16: "Redact configured secret values in stored evidence (also their base64 and
    // percent-encoded forms)"
    #[test]
    fn secret_is_hidden_in_every_form() {
        let secret = "s3cr/t +\"x";
        let form: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
        for text in [
            secret.to_owned(),
            serde_json::to_string(&serde_json::json!({ "a": secret })).unwrap(),
            utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string(),
            form,
            STANDARD.encode(secret),
            STANDARD.encode(format!("a:{secret}:b")),
            URL_SAFE_NO_PAD.encode(format!("ab{secret}bcd")),
        ] {
            let shown = hidden(&[secret], &format!("you sent {text}!"));
            assert!(shown.starts_with("you sent ") && shown.contains('…'), "{text}: {shown}");
            assert!(!shown.contains(&text), "{shown}");
        }
        assert_eq!(hidden(&[secret], "nothing here"), "nothing here");
    }

    #[test]
    fn cut_off_secret_is_hidden() {
        assert_eq!(hidden(&["abcdefgh"], "x abcde"), "x …");
        assert_eq!(hidden(&["abcdefgh"], "x abcde…"), "x …");
        assert_eq!(hidden(&["abcdefgh"], "body `abcde…` is … not it"), "body `…` is … not it");
        assert_eq!(hidden(&["abcdefgh"], "x abc"), "x abc");
        assert_eq!(hidden(&["ab"], "x ab"), "x ab");
    }

    #[test]
    fn parts_of_credentials_are_secrets() {
        let basic = format!("Basic {}", STANDARD.encode("ada:hunter22"));
        assert_eq!(credentials(&basic)[1..], ["hunter22", "ada:hunter22"]);
        assert_eq!(credentials("Bearer abc"), ["abc"]);
        assert!(credentials("abc").is_empty());
        let mut found = Vec::new();
        let body = serde_json::json!({ "user": "ada", "login": { "password": ["p1", 2] } });
        of_json(&body, false, &mut found);
        assert_eq!(found, ["p1", "2"]);
    }

    proptest! {
        #[test]
        fn secret_within_base64_is_hidden(
            secret in "[a-zA-Z0-9]{8,24}",
            before in "[a-z]{0,9}",
            after in "[a-z]{0,9}",
        ) {
            let text = STANDARD.encode(format!("{before}{secret}{after}"));
            let shown = hidden(&[&secret], &text);
            prop_assert!(shown.contains('…'), "{shown}");
        }
    }
}
