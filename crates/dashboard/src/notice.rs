//! Notices after a change: a short text that the next page shows once. A cookie carries it over the
//! redirect.

use http::HeaderMap;
use http::HeaderValue;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::session::read_cookie;

const COOKIE_NAME: &str = "aloft_notice";
/// Lifetime in seconds: the next page shows the notice.
const SECONDS: u32 = 60;
/// Maximum length of a notice, in bytes of the cookie.
const BYTES_MAX: usize = 1_024;

/// Beginning of a refusal in the cookie.
const REFUSAL: char = '!';

/// A notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) text: String,
    /// Whether nothing was changed. The page shows it until the person reads it.
    pub(crate) is_refusal: bool,
}

/// Returns the cookie for a refusal.
pub(crate) fn refusal_cookie(text: &str) -> HeaderValue {
    cookie(&format!("{REFUSAL}{text}"))
}

/// Returns the cookie for a notice.
pub(crate) fn cookie(text: &str) -> HeaderValue {
    let value = utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let value = if value.len() > BYTES_MAX { "Done" } else { &value };
    let cookie =
        format!("{COOKIE_NAME}={value}; Path=/; Max-Age={SECONDS}; HttpOnly; SameSite=Strict");
    HeaderValue::try_from(cookie).expect("percent-encoded text is a header")
}

/// Returns the cookie that removes a notice.
pub(crate) fn removal() -> HeaderValue {
    HeaderValue::from_static("aloft_notice=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict")
}

/// Returns the notice in a request.
pub(crate) fn read(headers: &HeaderMap) -> Option<Notice> {
    let value = read_cookie(headers, COOKIE_NAME).filter(|value| !value.is_empty())?;
    let decoded = percent_decode_str(value).decode_utf8_lossy();
    let refusal = decoded.strip_prefix(REFUSAL);
    Some(Notice { text: refusal.unwrap_or(&decoded).to_owned(), is_refusal: refusal.is_some() })
}

#[cfg(test)]
mod tests {
    use http::header::COOKIE;

    use super::*;

    #[test]
    fn notice_survives_the_redirect() {
        let text = "“API; v=2” was deleted".to_owned();
        for (set, is_refusal) in [(cookie(&text), false), (refusal_cookie(&text), true)] {
            let sent = set.to_str().unwrap().split(';').next().unwrap().to_owned();
            let headers = HeaderMap::from_iter([(COOKIE, HeaderValue::try_from(sent).unwrap())]);
            assert_eq!(read(&headers), Some(Notice { text: text.clone(), is_refusal }));
        }
    }
}
