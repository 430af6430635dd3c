//! Redacts credentials in requests and responses, and shortens texts to one line. `store` encrypts
//! the evidence.

mod configured;
mod forms;

use std::borrow::Cow;

pub(super) use configured::of_check;
pub(crate) use configured::{Configured, request_secrets};

/// Replacement for a credential.
const HIDDEN: &str = "…";
/// Characters of a value shown in a reason or an assertion result (our choice: one line of a page).
pub(super) const EXCERPT_CHARS: usize = 128;

/// Headers whose value is a credential.
const CREDENTIALS: [&str; 9] = [
    "apikey",
    "authorization",
    "cookie",
    "key",
    "proxy-authorization",
    "secret",
    "set-cookie",
    "set-cookie2",
    "token",
];
/// Endings of header names whose value is a credential: `x-service-key`, `x-auth-token`.
const CREDENTIAL_ENDS: [&str; 6] = ["-key", "-secret", "-token", "_key", "_secret", "_token"];

/// Returns whether the value of the header `name`, in any case, is a credential.
fn is_credential(name: &str) -> bool {
    let ends_with = |end: &str| {
        name.len()
            .checked_sub(end.len())
            .and_then(|start| name.get(start..))
            .is_some_and(|tail| tail.eq_ignore_ascii_case(end))
    };
    CREDENTIALS.iter().any(|known| name.eq_ignore_ascii_case(known))
        || CREDENTIAL_ENDS.into_iter().any(ends_with)
}

/// Returns the redacted `value` of the header `name`.
pub(super) fn header_value<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    if is_credential(name) {
        Cow::Borrowed(HIDDEN)
    } else if name.eq_ignore_ascii_case("location") {
        without_userinfo(value)
    } else {
        Cow::Borrowed(value)
    }
}

/// Shortens `text` to [`EXCERPT_CHARS`] characters on one line, ending with `…` if cut.
pub(super) fn excerpt(text: &str) -> String {
    shorten(text, EXCERPT_CHARS)
}

/// Shortens `text` to `chars` characters including a final `…` if cut. Replaces control characters
/// by spaces.
pub(super) fn shorten(text: &str, chars: usize) -> String {
    // Most texts are short and on one line.
    if text.len() <= chars && !text.chars().any(char::is_control) {
        return text.to_owned();
    }
    let one_line = |text: &str| -> String {
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
    };
    if text.char_indices().nth(chars).is_none() {
        return one_line(text);
    }
    let end = text.char_indices().nth(chars.saturating_sub(1)).map_or(0, |(end, _)| end);
    one_line(&text[..end]) + HIDDEN
}

/// Removes user and password from a URL or relative reference, otherwise unchanged. If the text
/// does not parse, the end of the host is unknown: hides everything up to the last `@`.
pub(super) fn without_userinfo(reference: &str) -> Cow<'_, str> {
    let names_no_host =
        reference.starts_with(['/', '?', '#']) && !reference[1..].starts_with(['/', '\\']);
    match (url::Url::parse(reference), reference.rfind('@')) {
        (_, None) => Cow::Borrowed(reference),
        _ if names_no_host => Cow::Borrowed(reference),
        (Ok(url), Some(_)) if url.has_host() => match without_credentials(&url) {
            Cow::Borrowed(_) => Cow::Borrowed(reference),
            Cow::Owned(url) => Cow::Owned(url.into()),
        },
        (Ok(_) | Err(_), Some(at)) => Cow::Owned(format!("{HIDDEN}{}", &reference[at..])),
    }
}

/// Returns `url` without user and password.
pub(super) fn without_credentials(url: &url::Url) -> Cow<'_, url::Url> {
    if url.username().is_empty() && url.password().is_none() {
        return Cow::Borrowed(url);
    }
    let mut url = url.clone();
    remove_credentials(&mut url);
    Cow::Owned(url)
}

/// Removes user and password from `url`.
pub(super) fn remove_credentials(url: &mut url::Url) {
    // Both fail only for URLs without a host, which have no credentials.
    let _ = url.set_username("");
    let _ = url.set_password(None);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credential_headers_match_in_any_case() {
        for name in [
            "set-cookie",
            "Cookie",
            "AUTHORIZATION",
            "Proxy-Authorization",
            "x-service-key",
            "X-Auth-Token",
            "client-secret",
            "access_key",
            "token",
        ] {
            assert!(is_credential(name), "{name}");
        }
        for name in ["server", "etag", "x-keyboard", "monkey", "content-type", "", "é-key-x"] {
            assert!(!is_credential(name), "{name}");
        }
    }

    #[test]
    fn long_text_is_shortened_to_one_line() {
        for (text, expected) in
            [("", ""), ("abcd", "abcd"), ("abcde", "abc…"), ("ä\r\nöüß", "ä  …"), ("a\nb", "a b")]
        {
            assert_eq!(shorten(text, 4), expected, "{text:?}");
        }
    }

    #[test]
    fn user_info_before_at_is_hidden() {
        for (written, expected) in [
            ("http://user:pass@[::", "…@[::"),
            ("http://user:pa/ss@host/", "…@host/"),
            ("http://user:pass@host/a@b", "http://host/a@b"),
            ("//a:b@c/d@e", "…@e"),
            ("/\\a:b@c/d", "…@c/d"),
            ("/path?to=a@b", "/path?to=a@b"),
            ("https://host/a@b", "https://host/a@b"),
            ("u:p@host:99999/x", "…@host:99999/x"),
            ("", ""),
        ] {
            assert_eq!(without_userinfo(written), expected);
        }
    }
}
