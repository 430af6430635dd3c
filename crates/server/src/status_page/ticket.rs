//! What subscribers are sent to come back with: their identifier, signed for one purpose with a key that
//! follows from the master key. It carries no address, and ends with the subscription.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rules::{Secret, SubscriberId};

use super::signer::Signer;

/// Bytes of the identifier.
const ID_BYTES: usize = 8;
/// Longest ticket that is looked at, in characters: all of ours are shorter.
const CHARS_MAX: usize = 64;

/// What a ticket is good for, and what stands before it in an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To say that the address is theirs.
    Confirm,
    /// To choose what is heard of.
    Manage,
    /// To end it.
    Unsubscribe,
}

/// Issues tickets and reads them.
#[derive(Clone, Debug)]
pub(crate) struct Tickets(Signer);

impl Purpose {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Confirm => "confirm",
            Self::Manage => "manage",
            Self::Unsubscribe => "unsubscribe",
        }
    }

    /// What is signed of a ticket.
    const fn parts(self, id: &[u8]) -> [&[u8]; 3] {
        [b"ticket", self.as_str().as_bytes(), id]
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Tickets {
    /// Tickets that are signed with this key.
    pub(crate) const fn new(key: Secret<[u8; 32]>) -> Self {
        Self(Signer::new(key))
    }

    /// A ticket of letters, digits, `_` and `-`.
    pub(crate) fn issue(&self, purpose: Purpose, subscriber: SubscriberId) -> String {
        let id = subscriber.bits().to_be_bytes();
        let mut ticket = id.to_vec();
        ticket.extend(self.0.sign(&purpose.parts(&id)));
        URL_SAFE_NO_PAD.encode(ticket)
    }

    /// Whose ticket it is; `None` where it is none of ours for this purpose.
    pub(crate) fn read(&self, purpose: Purpose, ticket: &str) -> Option<SubscriberId> {
        if ticket.len() > CHARS_MAX {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(ticket).ok()?;
        let (id, signature) = bytes.split_first_chunk::<ID_BYTES>()?;
        let is_ours = self.0.holds(&purpose.parts(id), signature);
        is_ours.then(|| SubscriberId::from_bits(u64::from_be_bytes(*id)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::signer::SIGNATURE_BYTES;
    use super::*;

    const ALL: [Purpose; 3] = [Purpose::Confirm, Purpose::Manage, Purpose::Unsubscribe];

    fn tickets(byte: u8) -> Tickets {
        Tickets::new(Secret::new([byte; 32]))
    }

    #[test]
    fn a_ticket_is_good_for_its_purpose_and_by_its_key_alone() {
        let id = SubscriberId::from_bits(7);
        for purpose in ALL {
            let ticket = tickets(1).issue(purpose, id);
            assert_eq!(tickets(1).read(purpose, &ticket), Some(id));
            assert_eq!(tickets(2).read(purpose, &ticket), None);
            for other in ALL.into_iter().filter(|other| *other != purpose) {
                assert_eq!(tickets(1).read(other, &ticket), None, "{purpose} as {other}");
            }
        }
    }

    proptest! {
        // issue 7: tokens cannot be forged
        #[test]
        fn whatever_is_changed_of_a_ticket_makes_it_none(
            bits: u64, place in 0..ID_BYTES + SIGNATURE_BYTES, flip in 1_u8..,
        ) {
            let id = SubscriberId::from_bits(bits);
            let ticket = tickets(1).issue(Purpose::Unsubscribe, id);
            let mut bytes = URL_SAFE_NO_PAD.decode(&ticket).unwrap();
            bytes[place] ^= flip;
            let forged = URL_SAFE_NO_PAD.encode(&bytes);
            prop_assert_eq!(tickets(1).read(Purpose::Unsubscribe, &forged), None);
            bytes.truncate(place);
            let cut = URL_SAFE_NO_PAD.encode(&bytes);
            prop_assert_eq!(tickets(1).read(Purpose::Unsubscribe, &cut), None);
        }

        #[test]
        fn no_text_is_a_ticket_by_chance(text in "\\PC{0,80}") {
            prop_assert_eq!(tickets(1).read(Purpose::Confirm, &text), None);
        }
    }
}
