//! Signatures of cookies, links and tokens. The callers decide what is signed.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use rules::Secret;
use sha2::Sha256;

/// Size of a signature in bytes.
pub(super) const SIGNATURE_BYTES: usize = 32;

/// Signer with one key (HMAC-SHA-256).
#[derive(Clone, Debug)]
pub(super) struct Signer {
    key: Secret<[u8; 32]>,
}

impl Signer {
    pub(super) const fn new(key: Secret<[u8; 32]>) -> Self {
        Self { key }
    }

    /// Signs these parts, which may have any length. The first part names the purpose, so that a
    /// signature is invalid for any other.
    pub(super) fn sign(&self, parts: &[&[u8]]) -> [u8; SIGNATURE_BYTES] {
        self.mac(parts).finalize().into_bytes().into()
    }

    /// Signs these parts and encodes the signature for a URL or a cookie.
    pub(super) fn sign_text(&self, parts: &[&[u8]]) -> String {
        URL_SAFE_NO_PAD.encode(self.sign(parts))
    }

    /// Verifies a signature in constant time.
    pub(super) fn verify(&self, parts: &[&[u8]], signature: &[u8]) -> bool {
        self.mac(parts).verify_slice(signature).is_ok()
    }

    /// Compares two texts in constant time.
    pub(super) fn is_same(&self, one: &str, other: &str) -> bool {
        let parts = |text| [b"same".as_slice(), text];
        self.verify(&parts(one.as_bytes()), &self.sign(&parts(other.as_bytes())))
    }

    /// Each part is preceded by its length.
    fn mac(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac = Hmac::new_from_slice(self.key.expose()).expect("any key will do");
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac
    }
}
