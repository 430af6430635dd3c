//! What people may see of what was sent and received: credentials hidden, texts shortened to one
//! line. Encrypting what is kept belongs to `store`.

mod configured;

use std::borrow::Cow;

pub(super) use configured::Configured;

/// Stands where a credential stood.
const HIDDEN: &str = "…";
/// Characters of a value that a reason or an assertion's result shows (ours: one line of a page).
pub(super) const SHOWN_CHARS: usize = 128;

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
/// Ends of names of headers whose value is a credential: `x-service-key`, `x-auth-token`.
const CREDENTIAL_ENDS: [&str; 3] = ["-key", "-secret", "-token"];

/// Whether the value of the header `name`, in any case, is a credential.
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

/// What may be seen of the `value` of the header `name`.
pub(super) fn header_value<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    if is_credential(name) {
        Cow::Borrowed(HIDDEN)
    } else if name.eq_ignore_ascii_case("location") {
        without_user(value)
    } else {
        Cow::Borrowed(value)
    }
}

/// At most [`SHOWN_CHARS`] characters of `text` on one line; `…` says that it goes on.
pub(super) fn shown(text: &str) -> String {
    shorten(text, SHOWN_CHARS)
}

/// At most `chars` characters of `text`, control characters as spaces; `…` is the last of them
/// where `text` goes on.
pub(super) fn shorten(text: &str, chars: usize) -> String {
    let one_line = |text: &str| -> String {
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
    };
    if text.char_indices().nth(chars).is_none() {
        return one_line(text);
    }
    let end = text.char_indices().nth(chars.saturating_sub(1)).map_or(0, |(end, _)| end);
    one_line(&text[..end]) + HIDDEN
}

/// A URL or a reference to one as it was written, without user and password. In a text that cannot
/// be read nobody knows where its host ends: there, all up to the last `@` is hidden.
pub(super) fn without_user(reference: &str) -> Cow<'_, str> {
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

/// `url` without user and password.
pub(super) fn without_credentials(url: &url::Url) -> Cow<'_, url::Url> {
    if url.username().is_empty() && url.password().is_none() {
        return Cow::Borrowed(url);
    }
    let mut url = url.clone();
    take_credentials(&mut url);
    Cow::Owned(url)
}

/// Takes user and password out of `url`.
pub(super) fn take_credentials(url: &mut url::Url) {
    // Both fail only for URLs without a host, which have no credentials either.
    let _ = url.set_username("");
    let _ = url.set_password(None);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_that_carry_credentials_are_known_in_any_case() {
        for name in [
            "set-cookie",
            "Cookie",
            "AUTHORIZATION",
            "Proxy-Authorization",
            "x-service-key",
            "X-Auth-Token",
            "client-secret",
            "token",
        ] {
            assert!(is_credential(name), "{name}");
        }
        for name in ["server", "etag", "x-keyboard", "monkey", "content-type", "", "é-key-x"] {
            assert!(!is_credential(name), "{name}");
        }
    }

    #[test]
    fn long_texts_are_shortened_to_whole_characters_on_one_line() {
        for (text, expected) in
            [("", ""), ("abcd", "abcd"), ("abcde", "abc…"), ("ä\r\nöüß", "ä  …"), ("a\nb", "a b")]
        {
            assert_eq!(shorten(text, 4), expected, "{text:?}");
        }
    }

    #[test]
    fn what_stands_before_an_at_is_not_shown() {
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
            assert_eq!(without_user(written), expected);
        }
    }
}
