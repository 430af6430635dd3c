//! Text of a key: `aloft_<id>_<256 bits><checksum>`, in the alphabet of IDs. The checksum
//! distinguishes a damaged key from an unknown one without a lookup. Only the SHA-256 of the text
//! is stored; the text is shown once.

use rules::{KeyId, Secret};
use sha2::{Digest as _, Sha256};
use store::KeyHash;

/// Crockford's base 32 in lower case, as in IDs.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const PREFIX: &str = "aloft_";
/// 13 digits of an ID.
const ID_CHARS: usize = 13;
/// 52 digits of 5 bits hold 256 bits.
const SECRET_CHARS: usize = 52;
/// 6 digits: one damaged key in 2³⁰ passes the checksum.
const CHECKSUM_CHARS: usize = 6;
const KEY_CHARS: usize = PREFIX.len() + ID_CHARS + 1 + SECRET_CHARS + CHECKSUM_CHARS;

/// Well-formed key: its ID, and the hash to compare with the stored one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresentedKey {
    pub id: KeyId,
    /// Hash of its text.
    pub hash: KeyHash,
}

/// Returns the text of a new key with this ID and random secret.
pub fn compose(id: KeyId, secret: &[u8; 32]) -> Secret<String> {
    let id = id.to_string();
    let digits = id.strip_prefix(KeyId::PREFIX).expect("an identifier begins with its prefix");
    let mut text = String::with_capacity(KEY_CHARS);
    text.push_str(PREFIX);
    text.push_str(digits);
    text.push('_');
    push_digits(&mut text, secret, SECRET_CHARS);
    let checksum = Sha256::digest(&text);
    push_digits(&mut text, &checksum, CHECKSUM_CHARS);
    Secret::new(text)
}

/// Parses a key. Returns `None` if it is damaged or not a key of this format. Does not query the
/// store.
pub fn read(text: &[u8]) -> Option<PresentedKey> {
    if text.len() != KEY_CHARS || !text.is_ascii() {
        return None;
    }
    let text = str::from_utf8(text).ok()?;
    let (body, checksum) = text.split_at(KEY_CHARS - CHECKSUM_CHARS);
    let mut due = String::with_capacity(CHECKSUM_CHARS);
    push_digits(&mut due, &Sha256::digest(body), CHECKSUM_CHARS);
    if due != checksum {
        return None;
    }
    let (id, secret) = body.strip_prefix(PREFIX)?.split_once('_')?;
    if id.len() != ID_CHARS || secret.len() != SECRET_CHARS {
        return None;
    }
    let id = KeyId::parse(&format!("{}{id}", KeyId::PREFIX)).ok()?;
    Some(PresentedKey { id, hash: KeyHash::new(text) })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn a_key() -> (KeyId, String) {
        let id = KeyId::from_bits(0x0123_4567_89AB_CDEF);
        (id, compose(id, &[0xA5; 32]).expose().clone())
    }

    #[test]
    fn composed_key_parses_back() {
        let (id, text) = a_key();
        insta::assert_snapshot!(text, @"aloft_028t5cy4tqkff_mpjtb9d5mpjtb9d5mpjtb9d5mpjtb9d5mpjtb9d5mpjtb9d5mpjgf9wkat");
        assert_eq!(read(text.as_bytes()), Some(PresentedKey { id, hash: KeyHash::new(&text) }));
    }

    #[test]
    fn altered_or_truncated_key_is_rejected() {
        let (_, text) = a_key();
        for position in 0..text.len() {
            let mut damaged = text.clone().into_bytes();
            damaged[position] = if damaged[position] == b'x' { b'y' } else { b'x' };
            assert_eq!(read(&damaged), None, "changed at {position}");
            damaged.remove(position);
            assert_eq!(read(&damaged), None, "lost at {position}");
        }
        assert_eq!(read(format!("{text}0").as_bytes()), None);
        assert_eq!(read(b""), None);
        assert_eq!(read(&[0xFF; KEY_CHARS]), None);
    }

    #[test]
    fn key_encodes_every_secret_bit() {
        let id = KeyId::from_bits(1);
        let plain = compose(id, &[0; 32]);
        for bit in 0..256 {
            let mut secret = [0; 32];
            secret[bit / 8] = 1 << (bit % 8);
            assert_ne!(compose(id, &secret).expose(), plain.expose(), "bit {bit}");
        }
    }
}
