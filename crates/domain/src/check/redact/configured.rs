//! Redacts the secrets configured in a monitor or a channel. A server may echo its request, in a debug page or
//! an error message for example, and would reveal them to every reader of evidence.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use url::Url;

use super::{HIDDEN, forms};
use crate::check::http::HttpPlan;
use crate::check::plan::PlannedCheck;

/// Minimum length of a secret in bytes: shorter ones would hide half of every text and are easily
/// guessed.
const SHORTEST: usize = 4;
/// Bytes of all forms together that stay in memory.
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
    /// Returns the secrets of a check.
    pub(in crate::check) fn from_check(check: &PlannedCheck) -> Self {
        match check {
            PlannedCheck::Http(plan) => Self::in_forms(http_secrets(plan)),
            PlannedCheck::Tcp(_) | PlannedCheck::Dns(_) => Self::default(),
        }
    }

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

    /// Whether the forms may stay in memory with the plan.
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

/// Returns the secrets of a request to a webhook.
pub(crate) fn of_request<'h>(
    url: &str,
    headers: impl Iterator<Item = (&'h str, &'h str)>,
) -> Vec<String> {
    let mut secrets = Url::parse(url).map(|url| of_webhook(&url)).unwrap_or_default();
    for (name, value) in headers {
        secrets.extend(of_header(name, value.to_owned()));
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

fn http_secrets(plan: &HttpPlan) -> Vec<String> {
    let mut secrets = Vec::new();
    for (name, value) in &plan.headers {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        secrets.extend(header_secrets(name.as_str(), value));
    }
    for (name, value) in plan.url.query_pairs() {
        if is_secret(&name) || value.len() >= SHORTEST_OTHER {
            secrets.push(value.into_owned());
        }
    }
    if let Ok(body) = str::from_utf8(&plan.body) {
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
            values.iter().for_each(|it| collect_json_secrets(it, is_below, secrets))
        }
        Value::String(text) if is_below => secrets.push(text.clone()),
        Value::Number(number) if is_below => secrets.push(number.to_string()),
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {}
    }
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
    use proptest::prelude::*;
    use rules::monitor::HttpCheck;

    use super::*;

    fn hidden(secrets: &[&str], text: &str) -> String {
        let secrets: Vec<String> = secrets.iter().map(|it| (*it).to_owned()).collect();
        let mut text = text.to_owned();
        Configured::in_forms(secrets).redact(&mut text);
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
            "s3cr%2ft%20%2B\"x".to_owned(),
            "s3cr/t++%22x".to_owned().replace("++", "+%2B"),
            "%733cr%252Ft%2520%252b%2522x".to_owned(),
            STANDARD.encode(secret),
            STANDARD.encode(format!("a:{secret}:b")),
            URL_SAFE_NO_PAD.encode(format!("ab{secret}bcd")),
            "s3cr/t +&quot;x".to_owned(),
            "s3cr&#47;t&#x20;&#43;&#34;x".to_owned(),
            "s3cr\\u002Ft +\\u0022x".to_owned(),
            "s3cr\\/t&#32;+\\&quot;x".to_owned(),
            hex(secret),
            hex(secret).to_uppercase(),
        ] {
            let shown = hidden(&[secret], &format!("you sent {text}!"));
            assert!(shown.starts_with("you sent ") && shown.contains('…'), "{text}: {shown}");
            assert!(!shown.contains(&text), "{shown}");
        }
        assert_eq!(hidden(&[secret], "nothing here"), "nothing here");
    }

    fn hex(secret: &str) -> String {
        secret.bytes().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn escaped_secret_of_any_language_is_hidden() {
        let secret = "gr\u{fc}\u{df}e <&> \u{1f600}'";
        for text in [
            "gr&#252;&#xdf;e &lt;&amp;&gt; &#x1F600;&#39;".to_owned(),
            "gr\u{fc}\u{df}e &lt;&amp;&gt; \u{1f600}&#x27;".to_owned(),
            "gr\\u00fc\\u00dfe <&> \\ud83d\\ude00'".to_owned(),
            "gr\\u00FC\\u00DFe \\u003C\\u0026\\u003E \\uD83D\\uDE00\\u0027".to_owned(),
        ] {
            assert_eq!(hidden(&[secret], &format!("sent {text}!")), "sent …!", "{text}");
        }
    }

    #[test]
    fn cut_off_secret_is_hidden() {
        assert_eq!(hidden(&["abcdefgh"], "x abcde"), "x …");
        assert_eq!(hidden(&["abcdefgh"], "x abcde…"), "x …");
        assert_eq!(hidden(&["abcdefgh"], "body `abcde…` is … not it"), "body `…` is … not it");
        assert_eq!(hidden(&["abcdefgh"], "x abc"), "x abc");
        assert_eq!(hidden(&["ab"], "x ab"), "x ab");
        assert_eq!(hidden(&["a<b>c&d"], "x a&lt;b&g"), "x …");
        assert_eq!(hidden(&["a<b>cd"], "x a\\u003cb\\u0"), "x …");
        assert_eq!(hidden(&["\u{fc}abcd"], "x \\u00fcab"), "x …");
        assert_eq!(hidden(&["secret-1"], "x 736563726"), "x …");
        assert_eq!(hidden(&["0123456789abcdef"], "6789abcdef."), "….");
        assert_eq!(hidden(&["0123456789abcdef"], "bcdef."), "bcdef.");
    }

    #[test]
    fn parts_of_credentials_are_secrets() {
        let basic = format!("Basic {}", STANDARD.encode("ada:hunter22"));
        assert_eq!(credentials(&basic)[1..], ["hunter22", "ada:hunter22"]);
        for (pair, user) in [
            ("t0ken:", "t0ken"),
            ("t0ken:X", "t0ken"),
            ("t0ken:x-oauth-basic", "t0ken"),
            ("t0ken:api_token", "t0ken"),
        ] {
            let basic = format!("Basic {}", STANDARD.encode(pair));
            assert!(credentials(&basic).contains(&user.to_owned()), "{pair}");
        }
        assert_eq!(credentials("Bearer abc"), ["abc"]);
        assert!(credentials("abc").is_empty());
        let mut found = Vec::new();
        let body = serde_json::json!({ "user": "ada", "login": { "password": ["p1", 2] } });
        collect_json_secrets(&body, false, &mut found);
        assert_eq!(found, ["p1", "2"]);
    }

    fn secrets_of(url: &str) -> Vec<String> {
        let check = HttpCheck {
            url: url.to_owned(),
            method: rules::Method::Get,
            body: String::new(),
            follow_redirects: true,
            headers: Vec::new(),
            status_code_assertions: Vec::new(),
            body_assertions: Vec::new(),
            header_assertions: Vec::new(),
        };
        of_http(&HttpPlan::of(&check).unwrap())
    }

    #[test]
    fn tokens_in_urls_are_secrets() {
        let token = |url| secrets_of(url).contains(&"t0ken-4711".to_owned());
        assert!(token("https://t0ken-4711@example.com/"));
        assert!(token("https://t0ken-4711:X@example.com/"));
        assert!(!token("https://t0ken-4711:correct-horse@example.com/"));
        assert_eq!(secrets_of("https://example.com/?q=t0ken-4711&page=2"), ["t0ken-4711"]);
    }

    #[test]
    fn names_of_secrets_match_in_any_style() {
        for name in [
            "access_key",
            "subscription_key",
            "license_key",
            "accessKey",
            "Ocp-Apim-Subscription-Key",
            "AccountKey",
            "k",
            "pin",
            "OTP",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["keyboard", "monkey", "kind", "spin", "page", "q"] {
            assert!(!is_secret(name), "{name}");
        }
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
