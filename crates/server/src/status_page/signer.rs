//! Signatures of what people bring back: cookies, links and tickets. What is signed is decided by who asks.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use rules::Secret;
use sha2::Sha256;

/// Bytes of a signature.
pub(super) const SIGNATURE_BYTES: usize = 32;

/// Signs with one key (HMAC-SHA-256).
#[derive(Clone, Debug)]
pub(super) struct Signer {
    key: Secret<[u8; 32]>,
}

impl Signer {
    pub(super) const fn new(key: Secret<[u8; 32]>) -> Self {
        Self { key }
    }

    /// The signature of these parts, which may have any length. The first says what they are, so that
    /// nothing signed for one purpose is good for another.
    pub(super) fn sign(&self, parts: &[&[u8]]) -> [u8; SIGNATURE_BYTES] {
        self.mac(parts).finalize().into_bytes().into()
    }

    /// The same as text of a URL or a cookie.
    pub(super) fn sign_text(&self, parts: &[&[u8]]) -> String {
        URL_SAFE_NO_PAD.encode(self.sign(parts))
    }

    /// Whether this is the signature of these parts; how much of it is right takes no time to tell.
    pub(super) fn holds(&self, parts: &[&[u8]], signature: &[u8]) -> bool {
        self.mac(parts).verify_slice(signature).is_ok()
    }

    /// Whether two texts are equal, told in a time that depends on neither.
    pub(super) fn is_same(&self, one: &str, other: &str) -> bool {
        let parts = |text| [b"same".as_slice(), text];
        self.holds(&parts(one.as_bytes()), &self.sign(&parts(other.as_bytes())))
    }

    /// Each part stands behind how long it is.
    fn mac(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac = Hmac::new_from_slice(self.key.expose()).expect("any key will do");
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac
    }
}
