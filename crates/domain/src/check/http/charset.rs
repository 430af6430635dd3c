//! Decodes a body to text by its byte order mark, else by the charset of `Content-Type`, else as
//! UTF-8. The mark takes precedence, as in browsers (WHATWG Encoding, "decode").

use std::borrow::Cow;

use ::http::HeaderMap;
use ::http::header::CONTENT_TYPE;
use encoding_rs::{Encoding, UTF_8};

/// Decodes `bytes` by their `headers`. If the body continues after `bytes`, an incomplete character
/// at the end is dropped. Malformed input becomes `U+FFFD`.
pub(in crate::check) fn decode<'a>(
    headers: &HeaderMap,
    bytes: &'a [u8],
    has_more: bool,
) -> Cow<'a, str> {
    let encoding = for_headers(headers);
    if !has_more {
        return encoding.decode(bytes).0;
    }
    let mut decoder = encoding.new_decoder();
    let room = decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(0);
    let mut text = String::with_capacity(room);
    // The buffer is large enough for any input of this length, so one call decodes it all.
    let _ = decoder.decode_to_string(bytes, &mut text, false);
    // The buffer has three bytes per input byte, which is rarely needed, and evidence lives long.
    text.shrink_to_fit();
    Cow::Owned(text)
}

/// Returns the encoding that `Content-Type` names, or UTF-8.
pub(super) fn for_headers(headers: &HeaderMap) -> &'static Encoding {
    headers
        .get(CONTENT_TYPE)
        .and_then(|value| charset(value.as_bytes()))
        .and_then(Encoding::for_label_no_replacement)
        .unwrap_or(UTF_8)
}

/// Returns the parameter `charset` of a `Content-Type`, without quotes.
fn charset(content_type: &[u8]) -> Option<&[u8]> {
    content_type.split(|byte| *byte == b';').skip(1).find_map(|parameter| {
        let equals = parameter.iter().position(|byte| *byte == b'=')?;
        let (name, value) =
            (parameter[..equals].trim_ascii(), parameter[equals + 1..].trim_ascii());
        let value = value.strip_prefix(b"\"").unwrap_or(value);
        let value = value.strip_suffix(b"\"").unwrap_or(value);
        name.eq_ignore_ascii_case(b"charset").then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(content_type: &str, bytes: &[u8], has_more: bool) -> String {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, content_type.parse().unwrap());
        decode(&headers, bytes, has_more).into_owned()
    }

    // design: §5 "text by its charset"
    #[test]
    fn body_is_decoded_by_its_charset() {
        for (content_type, bytes, expected) in [
            ("text/plain", "grün".as_bytes(), "grün"),
            ("text/plain; charset=iso-8859-1", b"gr\xFCn", "grün"),
            ("text/plain; x=y; Charset=\"ISO-8859-1\"", b"gr\xFCn", "grün"),
            ("text/plain; charset=shift_jis", b"\x83e", "テ"),
            ("text/plain; charset=utf-16le", b"o\0k\0", "ok"),
            ("text/plain; charset=klingon", b"ok", "ok"),
            ("text/plain; charset=iso-2022-kr", b"ok", "ok"),
            ("text/plain; charset=", b"ok", "ok"),
            // A byte order mark takes precedence over the header and is not part of the text.
            ("text/plain; charset=iso-8859-1", b"\xEF\xBB\xBFok", "ok"),
            ("text/plain", b"\xFF\xFEo\0k\0", "ok"),
            ("text/plain", b"a\xFFb", "a\u{FFFD}b"),
        ] {
            assert_eq!(text(content_type, bytes, false), expected, "{content_type} {bytes:?}");
        }
    }

    #[test]
    fn incomplete_last_character_is_dropped_if_body_continues() {
        for (content_type, bytes, has_more, expected) in [
            ("text/plain", &b"a\xC3"[..], true, "a"),
            ("text/plain", b"a\xC3", false, "a\u{FFFD}"),
            ("text/plain; charset=utf-16le", b"a\0b", true, "a"),
            ("text/plain", b"\xEF\xBB", true, ""),
            ("text/plain", b"a\xFFb\xF0\x9F", true, "a\u{FFFD}b"),
        ] {
            assert_eq!(text(content_type, bytes, has_more), expected, "{bytes:?}");
        }
    }
}
