//! Tokens in emails to subscribers: the subscriber's ID, signed for one purpose with a key derived
//! from the master key. A token contains no address and ends with the subscription.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rules::{Secret, SubscriberId};

use super::signer::Signer;

/// Size of the ID in bytes.
const ID_BYTES: usize = 8;
/// Maximum length of a token in characters. Valid tokens are shorter.
const CHARS_MAX: usize = 64;

/// Purpose of a token, and its path segment in URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Confirms the address.
    Confirm,
    /// Changes the choice of topics and components.
    Manage,
    /// Ends the subscription.
    Unsubscribe,
}

/// Issuer and verifier of tokens.
#[derive(Clone, Debug)]
pub struct SubscriberTokens(Signer);

impl Purpose {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Confirm => "confirm",
            Self::Manage => "manage",
            Self::Unsubscribe => "unsubscribe",
        }
    }

    /// Returns the parts to sign.
    const fn parts(self, id: &[u8]) -> [&[u8]; 3] {
        [b"ticket", self.as_str().as_bytes(), id]
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl SubscriberTokens {
    /// Creates an instance that signs with this key.
    pub const fn new(key: Secret<[u8; 32]>) -> Self {
        Self(Signer::new(key))
    }

    /// Issues a token of letters, digits, `_` and `-`.
    pub fn issue(&self, purpose: Purpose, subscriber: SubscriberId) -> String {
        let id = subscriber.bits().to_be_bytes();
        let mut token = id.to_vec();
        token.extend(self.0.sign(&purpose.parts(&id)));
        URL_SAFE_NO_PAD.encode(token)
    }

    /// Returns the subscriber of a token, or `None` if it is invalid for this purpose.
    pub fn read(&self, purpose: Purpose, token: &str) -> Option<SubscriberId> {
        if token.len() > CHARS_MAX {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (id, signature) = bytes.split_first_chunk::<ID_BYTES>()?;
        let is_ours = self.0.verify(&purpose.parts(id), signature);
        is_ours.then(|| SubscriberId::from_bits(u64::from_be_bytes(*id)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::signer::SIGNATURE_BYTES;
    use super::*;

    const ALL: [Purpose; 3] = [Purpose::Confirm, Purpose::Manage, Purpose::Unsubscribe];

    fn tokens(byte: u8) -> SubscriberTokens {
        SubscriberTokens::new(Secret::new([byte; 32]))
    }

    #[test]
    fn token_is_valid_only_for_purpose_and_key() {
        let id = SubscriberId::from_bits(7);
        for purpose in ALL {
            let token = tokens(1).issue(purpose, id);
            assert_eq!(tokens(1).read(purpose, &token), Some(id));
            assert_eq!(tokens(2).read(purpose, &token), None);
            for other in ALL.into_iter().filter(|other| *other != purpose) {
                assert_eq!(tokens(1).read(other, &token), None, "{purpose} as {other}");
            }
        }
    }

    proptest! {
        // issue 7: tokens cannot be forged
        #[test]
        fn tampered_token_is_rejected(
            bits: u64, place in 0..ID_BYTES + SIGNATURE_BYTES, flip in 1_u8..,
        ) {
            let id = SubscriberId::from_bits(bits);
            let token = tokens(1).issue(Purpose::Unsubscribe, id);
            let mut bytes = URL_SAFE_NO_PAD.decode(&token).unwrap();
            bytes[place] ^= flip;
            let forged = URL_SAFE_NO_PAD.encode(&bytes);
            prop_assert_eq!(tokens(1).read(Purpose::Unsubscribe, &forged), None);
            bytes.truncate(place);
            let cut = URL_SAFE_NO_PAD.encode(&bytes);
            prop_assert_eq!(tokens(1).read(Purpose::Unsubscribe, &cut), None);
        }

        #[test]
        fn arbitrary_text_is_rejected(text in "\\PC{0,80}") {
            prop_assert_eq!(tokens(1).read(Purpose::Confirm, &text), None);
        }
    }
}
