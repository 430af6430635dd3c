//! Formats of HTTP header names and values (RFC 9110 §5).

use super::FormatError;

/// Headers of the connection or of message framing, in lower case, which a user cannot set (design
/// §5; RFC 9110 §7.6.1, RFC 2616 §13.5.1).
pub const CONNECTION_HEADERS: [&str; 12] = [
    "connection",
    "content-length",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "trailers",
    "transfer-encoding",
    "upgrade",
];

/// Checks the name of a header that a user may set.
pub(crate) fn settable_name(text: &str) -> Result<(), FormatError> {
    name(text)?;
    if CONNECTION_HEADERS.iter().any(|refused| refused.eq_ignore_ascii_case(text)) {
        let all = CONNECTION_HEADERS.join(", ");
        return Err(format!("must not be a header of the connection's own: {all}").into());
    }
    Ok(())
}

/// Checks the name of any header: a token.
pub(crate) fn name(text: &str) -> Result<(), FormatError> {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if !text.is_empty() && text.bytes().all(token) {
        return Ok(());
    }
    Err("must be a header name: letters, digits and !#$%&'*+-.^_`|~".into())
}

/// Checks the value of a header: no control characters except tab, so neither CR nor LF.
pub(crate) fn value(text: &str) -> Result<(), FormatError> {
    if text.chars().any(|character| character.is_control() && character != '\t') {
        return Err("must not contain CR, LF or other control characters but the tab".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_and_authorization_may_be_set() {
        // design: §5 HTTP
        for fine in ["Host", "Authorization", "X-Team", "accept", "a_b.c~"] {
            assert_eq!(settable_name(fine), Ok(()), "{fine}");
        }
    }

    #[test]
    fn connection_headers_may_be_asserted_but_not_set() {
        // design: §5 HTTP
        for own in CONNECTION_HEADERS {
            assert!(settable_name(own).is_err(), "{own}");
            assert!(settable_name(&own.to_uppercase()).is_err(), "{own}");
            assert_eq!(name(own), Ok(()), "{own}");
        }
    }

    #[test]
    fn header_name_must_be_a_token() {
        for bad in ["", "a b", "a:", ":authority", "ä", "a\r\nb", "a\0", "a(b)", "a/b"] {
            assert!(name(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn values_contain_no_line_breaks() {
        // design: §5 HTTP
        for fine in ["", "a b\tc", "größe", "\u{a0}"] {
            assert_eq!(value(fine), Ok(()), "{fine:?}");
        }
        for bad in ["a\rb", "a\nb", "\0", "\u{7f}", "\u{85}"] {
            assert!(value(bad).is_err(), "{bad:?}");
        }
    }
}
