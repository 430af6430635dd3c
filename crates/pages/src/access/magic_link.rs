//! Login links for visitors with an email address at one of the page's domains. A link is valid for
//! one page, for 15 minutes, and once. It contains the domain but not the address.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rules::{DomainName, PageId, Timestamp};

use super::super::signer::{SIGNATURE_BYTES, Signer};

/// Lifetime of a link.
pub(super) const VALID_FOR: Duration = Duration::from_mins(15);
/// Size of the expiry time, and of the number, before the domain.
const NUMBER_BYTES: usize = 8;
/// Maximum length of a token in characters, enough for the longest domain.
const TOKEN_CHARS_MAX: usize = 512;

/// Used links, until they expire. A restart forgets them, which permits reuse for up to 15 minutes.
#[derive(Debug, Default)]
pub(super) struct UsedLinks(Mutex<HashMap<u64, Timestamp>>);

/// Content of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MagicLink {
    until: Timestamp,
    number: u64,
    /// Domain of the recipient.
    pub(super) domain: DomainName,
}

impl MagicLink {
    /// Creates a link that is valid from `now`. `number` is random.
    pub(super) fn new(domain: DomainName, number: u64, now: Timestamp) -> Self {
        Self { until: now + VALID_FOR, number, domain }
    }

    /// Returns the token for the URL.
    pub(super) fn token(&self, signer: &Signer, page: PageId) -> String {
        let mut bytes = self.until.as_millis().to_be_bytes().to_vec();
        bytes.extend(self.number.to_be_bytes());
        bytes.extend(self.domain.as_str().as_bytes());
        let signature = signer.sign(&[b"link", page.to_string().as_bytes(), &bytes]);
        bytes.extend(signature);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Parses a token. Returns `None` if it is invalid, expired or of another page.
    pub(super) fn parse(
        token: &str,
        signer: &Signer,
        page: PageId,
        now: Timestamp,
    ) -> Option<Self> {
        if token.len() > TOKEN_CHARS_MAX {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (signed, signature) =
            bytes.split_at_checked(bytes.len().checked_sub(SIGNATURE_BYTES)?)?;
        if !signer.verify(&[b"link", page.to_string().as_bytes(), signed], signature) {
            return None;
        }
        let (until, rest) = signed.split_first_chunk::<NUMBER_BYTES>()?;
        let (number, domain) = rest.split_first_chunk::<NUMBER_BYTES>()?;
        let until = Timestamp::from_millis(i64::from_be_bytes(*until));
        let domain = DomainName::parse(std::str::from_utf8(domain).ok()?).ok()?;
        let link = Self { until, number: u64::from_be_bytes(*number), domain };
        (now < link.until).then_some(link)
    }
}

impl UsedLinks {
    /// Marks the link as used and returns whether it was unused.
    pub(super) fn mark_used(&self, link: &MagicLink) -> bool {
        self.lock().insert(link.number, link.until).is_none()
    }

    /// Returns whether the link was used.
    pub(super) fn contains(&self, link: &MagicLink) -> bool {
        self.lock().contains_key(&link.number)
    }

    /// Removes expired links.
    pub(super) fn evict_expired(&self, now: Timestamp) {
        self.lock().retain(|_, until| now < *until);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Timestamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rules::Secret;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);
    const PAGE: PageId = PageId::from_bits(1);

    fn signer(key: u8) -> Signer {
        Signer::new(Secret::new([key; 32]))
    }

    fn link() -> MagicLink {
        MagicLink::new(DomainName::parse("acme.example").unwrap(), 7, NOW)
    }

    #[test]
    fn link_is_valid_only_for_page_and_time() {
        // issue 7: "`email-domain` (magic link by email, domains matched exactly)"
        let token = link().token(&signer(1), PAGE);
        assert_eq!(MagicLink::parse(&token, &signer(1), PAGE, NOW), Some(link()));
        let last = NOW + VALID_FOR - Duration::from_millis(1);
        assert_eq!(MagicLink::parse(&token, &signer(1), PAGE, last), Some(link()));
        assert_eq!(MagicLink::parse(&token, &signer(1), PAGE, NOW + VALID_FOR), None, "too late");
        assert_eq!(
            MagicLink::parse(&token, &signer(1), PageId::from_bits(2), NOW),
            None,
            "another page"
        );
        assert_eq!(MagicLink::parse(&token, &signer(2), PAGE, NOW), None, "another key");
    }

    #[test]
    fn a_link_is_used_once() {
        let used = UsedLinks::default();
        assert!(!used.contains(&link()) && used.mark_used(&link()));
        assert!(used.contains(&link()) && !used.mark_used(&link()));
        used.evict_expired(NOW + VALID_FOR);
        assert!(!used.contains(&link()), "by then it is over by itself");
    }

    proptest! {
        #[test]
        fn tampered_token_is_rejected(place in 0_usize..1_000, bit in 0_u32..8) {
            let signed = link().token(&signer(1), PAGE);
            let mut bytes = URL_SAFE_NO_PAD.decode(signed).unwrap();
            let place = place % bytes.len();
            bytes[place] ^= 1_u8 << bit;
            let token = URL_SAFE_NO_PAD.encode(bytes);
            prop_assert_eq!(MagicLink::parse(&token, &signer(1), PAGE, NOW), None);
        }

        #[test]
        fn unsigned_token_is_rejected(token in "[A-Za-z0-9_-]{0,600}") {
            prop_assert_eq!(MagicLink::parse(&token, &signer(1), PAGE, NOW), None);
        }
    }
}
