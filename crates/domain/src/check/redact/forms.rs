//! The forms in which a server may repeat a secret. Which texts are secrets is decided by `configured`.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::HIDDEN;

/// How often a text may be percent-encoded: a URL in a parameter of a URL has its parameters encoded twice.
const LEVELS: usize = 3;

/// Returns the forms of a secret that are looked for: as it is, in a JSON string, percent-encoded, and in base64,
/// alone or inside of a longer text.
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
    forms
}

/// Hides secrets that are percent-encoded in any way: encoders differ in the characters that they encode.
pub(super) fn redact_encoded(text: &mut String, secrets: &[String]) {
    for (plus, level) in
        [b'+', b' '].into_iter().flat_map(|plus| (1..=LEVELS).map(move |it| (plus, it)))
    {
        let mut decoded = Decoded::new(text, plus);
        if !(0..level).all(|_| decoded.decode()) {
            continue;
        }
        for (start, end) in decoded.find(secrets).into_iter().rev() {
            text.replace_range(start..end, HIDDEN);
        }
    }
}

/// A text that is being decoded, with the place in the text that each byte is from.
struct Decoded {
    bytes: Vec<u8>,
    /// One more than there are bytes: the last is the end of the text.
    offsets: Vec<usize>,
}

impl Decoded {
    /// The text as it is, with this byte for each `+`.
    fn new(text: &str, plus: u8) -> Self {
        let bytes = text.bytes().map(|byte| if byte == b'+' { plus } else { byte }).collect();
        Self { bytes, offsets: (0..=text.len()).collect() }
    }

    /// Decodes one level; returns false if there was nothing to decode.
    fn decode(&mut self) -> bool {
        if !self.bytes.contains(&b'%') {
            return false;
        }
        let (mut kept, mut at, before) = (0, 0, self.bytes.len());
        while let Some(byte) = self.bytes.get(at).copied() {
            let pair = self.bytes.get(at + 1).zip(self.bytes.get(at + 2));
            let digits = pair.and_then(|(high, low)| Some((digit(*high)?, digit(*low)?)));
            let (byte, taken) = match digits {
                Some((high, low)) if byte == b'%' => (16 * high + low, 3),
                Some(_) | None => (byte, 1),
            };
            self.bytes[kept] = byte;
            self.offsets[kept] = self.offsets[at];
            (kept, at) = (kept + 1, at + taken);
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
    }

    proptest! {
        #[test]
        fn any_text_is_decoded_without_a_panic(text in "[%0-9a-fA-Fä+ ]{0,60}", secret in "[0-9a-fA-Fä ]{4,6}") {
            hidden(&text, &secret);
        }
    }
}
