//! Text of a key: `aloft_<id>_<256 bits><checksum>`. `credential` composes and reads it.

use rules::{KeyId, Secret};
use store::KeyHash;

use super::credential::CredentialKind;

const KEY: CredentialKind = CredentialKind { prefix: "aloft_", id_prefix: KeyId::PREFIX };

/// Well-formed key: its ID, and the hash to compare with the stored one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresentedKey {
    pub id: KeyId,
    /// Hash of its text.
    pub hash: KeyHash,
}

/// Returns the first characters of the key with this ID, by which people recognise it.
pub fn prefix(id: KeyId) -> String {
    KEY.beginning(&id.to_string())
}

/// Returns the text of a new key with this ID and random secret.
pub fn compose(id: KeyId, secret: &[u8; 32]) -> Secret<String> {
    KEY.compose(&id.to_string(), secret)
}

/// Parses a key. Returns `None` if it is damaged or not a key of this format. Does not query the
/// store.
pub fn read(text: &[u8]) -> Option<PresentedKey> {
    let (id, hash) = KEY.read(text)?;
    Some(PresentedKey { id: KeyId::parse(&id).ok()?, hash })
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
        assert_eq!(read(&vec![0xFF; KEY.chars()]), None);
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
