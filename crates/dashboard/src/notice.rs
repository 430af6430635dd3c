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
pub(crate) fn read(headers: &HeaderMap) -> Option<String> {
    let value = read_cookie(headers, COOKIE_NAME).filter(|value| !value.is_empty())?;
    Some(percent_decode_str(value).decode_utf8_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use http::header::COOKIE;

    use super::*;

    #[test]
    fn notice_survives_the_redirect() {
        let set = cookie("“API; v=2” was deleted");
        let sent = set.to_str().unwrap().split(';').next().unwrap().to_owned();
        let headers = HeaderMap::from_iter([(COOKIE, HeaderValue::try_from(sent).unwrap())]);
        assert_eq!(read(&headers).as_deref(), Some("“API; v=2” was deleted"));
    }
}
