//! The forms in which a server may repeat a secret. Which texts are secrets is decided by
//! `configured`.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::HIDDEN;

/// How often a text may be percent-encoded: a URL in a parameter of a URL has its parameters encoded twice.
const LEVELS: usize = 3;
/// Maximum length in bytes of a secret that is looked for in hexadecimal. Tokens are shorter, and a body would take
/// four times its length more.
const HEX_MAX: usize = 256;

/// Returns the forms of a secret that are looked for: as it is, in JSON, in HTML, percent-encoded, in hexadecimal, and
/// in base64, alone or inside of a longer text. Many are equal if a secret has only letters and digits.
///
/// Any mixture of escapes is found by [`redact_encoded`]. These are the forms that libraries write, to detect those that
/// are cut off.
pub(super) fn encoded_forms(secret: &str) -> Vec<String> {
    let quoted = serde_json::to_string(secret).unwrap_or_default();
    let percent = utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string();
    let form: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    let mut forms = vec![
        secret.to_owned(),
        quoted.trim_matches('"').to_owned(),
        quoted.trim_matches('"').replace('/', "\\/"),
        percent,
        form.replace('+', "%20"),
        form,
    ];
    for before in 0..3 {
        forms.extend(in_base64(secret.as_bytes(), before));
    }
    forms.extend(
        [(&["&#34;", "&#39;"]), (&["&quot;", "&#x27;"]), (&["&quot;", "'"])]
            .map(|[quote, apostrophe]| in_html(secret, quote, apostrophe)),
    );
    let quoted = quoted.trim_matches('"');
    forms.push(in_ascii(quoted));
    forms.push(in_script(quoted));
    forms.push(in_ascii(&in_script(quoted)));
    if secret.len() <= HEX_MAX {
        let hexadecimal = in_hexadecimal(secret.as_bytes());
        forms.push(hexadecimal.to_ascii_uppercase());
        forms.push(hexadecimal);
    }
    forms
}

fn in_hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// Returns a text in HTML, with these entities for quotation marks.
fn in_html(text: &str, quote: &str, apostrophe: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', quote).replace('\'', apostrophe)
}

/// Returns the content of a JSON string as encoders write it that protect HTML, as in Go.
fn in_script(quoted: &str) -> String {
    quoted.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e")
}

/// Returns the content of a JSON string as encoders write it that use ASCII only, as in Python.
fn in_ascii(quoted: &str) -> String {
    let mut ascii = String::with_capacity(quoted.len());
    for character in quoted.chars() {
        if character.is_ascii() {
            ascii.push(character);
            continue;
        }
        let mut units = [0; 2];
        let units = character.encode_utf16(&mut units).iter();
        ascii.extend(units.map(|unit| format!("\\u{unit:04x}")));
    }
    ascii
}

/// Hides secrets that are percent-encoded or escaped in any way: encoders differ in the characters that they encode.
pub(super) fn redact_encoded(text: &mut String, secrets: &[String]) {
    for (plus, level) in
        [b'+', b' '].into_iter().flat_map(|plus| (1..=LEVELS).map(move |it| (plus, it)))
    {
        redact_decoded(text, secrets, plus, &[Encoding::Percent; LEVELS][..level]);
    }
    for encodings in [&[Encoding::Html][..], &[Encoding::Json], &[Encoding::Html, Encoding::Json]] {
        redact_decoded(text, secrets, b'+', encodings);
    }
}

/// Hides secrets in a text with these encodings, outermost first, and with this byte for each `+`.
fn redact_decoded(text: &mut String, secrets: &[String], plus: u8, encodings: &[Encoding]) {
    let outermost = encodings.first().map(|encoding| encoding.marker());
    if !outermost.is_some_and(|marker| text.as_bytes().contains(&marker)) {
        return;
    }
    let mut decoded = Decoded::new(text, plus);
    if !encodings.iter().all(|encoding| decoded.decode(*encoding)) {
        return;
    }
    for (start, end) in decoded.find(secrets).into_iter().rev() {
        text.replace_range(start..end, HIDDEN);
    }
}

/// A way to write a character with others.
#[derive(Clone, Copy)]
enum Encoding {
    /// `%2F`
    Percent,
    /// `&lt;`, `&#60;` or `&#x3c;`
    Html,
    /// `\u003c` or `\"`
    Json,
}

/// A decoded unit at the beginning of encoded bytes.
struct DecodedUnit {
    bytes: [u8; 4],
    length: usize,
    /// Encoded bytes of the unit, at least as many as decoded ones.
    taken: usize,
}

/// A text that is being decoded, with the place in the text that each byte is from.
struct Decoded {
    bytes: Vec<u8>,
    /// One more than there are bytes: the last is the end of the text.
    offsets: Vec<usize>,
}

impl Encoding {
    /// Returns the unit at the beginning of `bytes`.
    fn unit(self, bytes: &[u8]) -> Option<DecodedUnit> {
        match self {
            Self::Percent => percent(bytes),
            Self::Html => entity(bytes),
            Self::Json => escape(bytes),
        }
    }

    const fn marker(self) -> u8 {
        match self {
            Self::Percent => b'%',
            Self::Html => b'&',
            Self::Json => b'\\',
        }
    }
}

impl DecodedUnit {
    fn new(character: char, taken: usize) -> Self {
        let mut bytes = [0; 4];
        let length = character.encode_utf8(&mut bytes).len();
        Self { bytes, length, taken }
    }
}

impl Decoded {
    /// Returns the text as it is, with this byte for each `+`.
    fn new(text: &str, plus: u8) -> Self {
        let bytes = text.bytes().map(|byte| if byte == b'+' { plus } else { byte }).collect();
        Self { bytes, offsets: (0..=text.len()).collect() }
    }

    /// Decodes one level; returns false if there was nothing to decode.
    fn decode(&mut self, encoding: Encoding) -> bool {
        if !self.bytes.contains(&encoding.marker()) {
            return false;
        }
        let (mut kept, mut at, before) = (0, 0, self.bytes.len());
        while let Some(byte) = self.bytes.get(at).copied() {
            let unit = Some(&self.bytes[at..]).filter(|_| byte == encoding.marker());
            let unit = unit.and_then(|bytes| encoding.unit(bytes));
            let plain = DecodedUnit { bytes: [byte; 4], length: 1, taken: 1 };
            let DecodedUnit { bytes, length, taken } = unit.unwrap_or(plain);
            self.bytes[kept..kept + length].copy_from_slice(&bytes[..length]);
            let place = self.offsets[at];
            self.offsets[kept..kept + length].fill(place);
            (kept, at) = (kept + length, at + taken);
        }
        self.bytes.truncate(kept);
        self.offsets[kept] = self.offsets[before];
        self.offsets.truncate(kept + 1);
        kept < before
    }

    /// Returns the ranges of the text that these secrets are in, in order and apart.
    fn find(&self, secrets: &[String]) -> Vec<(usize, usize)> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        for secret in secrets {
            let windows = self.bytes.windows(secret.len()).enumerate();
            let starts = windows.filter(|(_, window)| *window == secret.as_bytes());
            found.extend(starts.map(|(at, _)| (self.offsets[at], self.offsets[at + secret.len()])));
        }
        found.sort_unstable();
        let mut apart: Vec<(usize, usize)> = Vec::with_capacity(found.len());
        for (start, end) in found {
            match apart.last_mut() {
                Some(last) if start < last.1 => last.1 = last.1.max(end),
                Some(_) | None => apart.push((start, end)),
            }
        }
        apart
    }
}

/// Decodes `%2F`.
fn percent(bytes: &[u8]) -> Option<DecodedUnit> {
    let byte = 16 * digit(*bytes.get(1)?)? + digit(*bytes.get(2)?)?;
    Some(DecodedUnit { bytes: [byte; 4], length: 1, taken: 3 })
}

/// Decodes a character reference of HTML: a number, or one of the names that escaping functions write.
fn entity(bytes: &[u8]) -> Option<DecodedUnit> {
    /// The longest one is `&#x10FFFF;`; some encoders add zeros.
    const LONGEST: usize = 12;
    let end = bytes.iter().take(LONGEST).position(|byte| *byte == b';')?;
    let name = str::from_utf8(bytes.get(1..end)?).ok()?;
    let number = name.strip_prefix('#').and_then(|number| {
        let hexadecimal = number.strip_prefix(['x', 'X']).map(|it| u32::from_str_radix(it, 16));
        hexadecimal.unwrap_or_else(|| number.parse()).ok().and_then(char::from_u32)
    });
    let character = number.or(match name {
        "amp" => Some('&'),
        "apos" => Some('\''),
        "gt" => Some('>'),
        "lt" => Some('<'),
        "quot" => Some('"'),
        _ => None,
    })?;
    Some(DecodedUnit::new(character, end + 1))
}

/// Decodes an escape of a JSON string.
fn escape(bytes: &[u8]) -> Option<DecodedUnit> {
    let character = match bytes.get(1)? {
        b'u' => {
            let first = utf16_unit(bytes)?;
            let pair = bytes.get(6..).and_then(utf16_unit);
            let mut characters = char::decode_utf16([first].into_iter().chain(pair));
            let character = characters.next()?.ok()?;
            return Some(DecodedUnit::new(character, 6 * character.len_utf16()));
        }
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        other @ (b'"' | b'/' | b'\\') => char::from(*other),
        _ => return None,
    };
    Some(DecodedUnit::new(character, 2))
}

/// Returns the number of an escape such as `\u003c` at the beginning of `bytes`.
fn utf16_unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    let number = digits.iter().map(|byte| digit(*byte).map(u16::from));
    number.reduce(|high, low| Some(16 * high? + low?))?
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// Returns the digits that a secret has in the base64 of a longer text, if so many bytes (modulo 3) are before it:
/// those that no neighbour changes.
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

    fn hidden(text: &str, secret: &str) -> String {
        let mut text = text.to_owned();
        redact_encoded(&mut text, &[secret.to_owned()]);
        text
    }

    #[test]
    fn only_the_encoded_secret_is_hidden() {
        assert_eq!(hidden("a=%41b%63d&b=%41b%63d%zz", "Abcd"), "a=…&b=…%zz");
        assert_eq!(hidden("100 % of ä%C3%A4abcd", "äab"), "100 % of ä…cd");
        assert_eq!(hidden("nothing % here", "Abcd"), "nothing % here");
        assert_eq!(hidden("<b>a&lt;bcd</b> &amp; &x;", "a<bcd"), "<b>…</b> &amp; &x;");
        assert_eq!(hidden(r#""ä\u003cbcd\n" \u12"#, "ä<bcd"), r#""…\n" \u12"#);
    }

    proptest! {
        #[test]
        fn any_text_is_decoded_without_a_panic(text in "([%0-9a-fA-Fä+ ]|&#|&#x|&lt;|;|\\\\u|\\\\ud83d\\\\ude00){0,60}", secret in "[0-9a-fA-Fä ]{4,6}") {
            hidden(&text, &secret);
        }
    }
}
