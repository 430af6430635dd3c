//! Text of a credential: `<prefix><id>_<256 bits><checksum>`, in the alphabet of IDs. The checksum
//! distinguishes a damaged credential from an unknown one without a lookup, and covers the prefix,
//! so that no kind passes as another one. Only the SHA-256 of the text is stored; the text is shown
//! once. `key` and `probe_token` are the kinds.

use rules::Secret;
use sha2::{Digest as _, Sha256};
use store::KeyHash;

/// Crockford's base 32 in lower case, as in IDs.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 13 digits of an ID.
const ID_CHARS: usize = 13;
/// 52 digits of 5 bits hold 256 bits.
const SECRET_CHARS: usize = 52;
/// 6 digits: one damaged credential in 2³⁰ passes the checksum.
const CHECKSUM_CHARS: usize = 6;

/// Kind of credential.
#[derive(Clone, Copy, Debug)]
pub(super) struct CredentialKind {
    /// Beginning of its text, which no other kind has.
    pub(super) prefix: &'static str,
    /// Prefix of its ID.
    pub(super) id_prefix: &'static str,
}

impl CredentialKind {
    /// Returns the length of the text.
    pub(super) const fn chars(self) -> usize {
        self.prefix.len() + ID_CHARS + 1 + SECRET_CHARS + CHECKSUM_CHARS
    }

    /// Returns the first characters of the credential with this ID, by which people recognise it.
    pub(super) fn beginning(self, id: &str) -> String {
        let digits = id.strip_prefix(self.id_prefix);
        let digits = digits.expect("an identifier begins with its prefix");
        format!("{}{digits}", self.prefix)
    }

    /// Returns the text of a new credential with this ID and random secret.
    pub(super) fn compose(self, id: &str, secret: &[u8; 32]) -> Secret<String> {
        let mut text = String::with_capacity(self.chars());
        text.push_str(&self.beginning(id));
        text.push('_');
        push_digits(&mut text, secret, SECRET_CHARS);
        let checksum = Sha256::digest(&text);
        push_digits(&mut text, &checksum, CHECKSUM_CHARS);
        Secret::new(text)
    }

    /// Returns the ID and the hash of a credential, or `None` if it is damaged or not of this kind.
    /// Does not query the store.
    pub(super) fn read(self, text: &[u8]) -> Option<(String, KeyHash)> {
        if text.len() != self.chars() || !text.is_ascii() {
            return None;
        }
        let text = str::from_utf8(text).ok()?;
        let (body, checksum) = text.split_at(text.len() - CHECKSUM_CHARS);
        let mut due = String::with_capacity(CHECKSUM_CHARS);
        push_digits(&mut due, &Sha256::digest(body), CHECKSUM_CHARS);
        if due != checksum {
            return None;
        }
        let (id, secret) = body.strip_prefix(self.prefix)?.split_once('_')?;
        if id.len() != ID_CHARS || secret.len() != SECRET_CHARS {
            return None;
        }
        Some((format!("{}{id}", self.id_prefix), KeyHash::new(text)))
    }
}

/// Appends the first `count` digits of 5 bits of `bytes`, padded with zeros.
fn push_digits(text: &mut String, bytes: &[u8], count: usize) {
    for digit in 0..count {
        let (byte, offset) = (digit * 5 / 8, digit * 5 % 8);
        let high = u16::from(bytes[byte]) << 8;
        let low = bytes.get(byte + 1).copied().map_or(0, u16::from);
        let value = ((high | low) >> (11 - offset)) & 31;
        text.push(char::from(ALPHABET[usize::from(value)]));
    }
}
