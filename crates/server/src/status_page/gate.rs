//! Who may see a page: the one question that stands before every representation of it (design §6).
//! Passwords are compared in constant time, wrong ones are counted by address and page, and who knew
//! one gets a signed cookie that ends when the password changes.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};
use rules::status_page::StatusPage;
use rules::{AccessType, PageId, Secret, Timestamp};
use sha2::Sha256;

/// How long a visitor who knew the password need not say it again.
const SESSION: Duration = Duration::from_hours(12);
/// Wrong passwords that one address may try in a minute, of one page.
const TRIES: u32 = 5;
const TRIES_IN: Duration = Duration::from_mins(1);
/// Addresses that are counted at a time; beyond them the oldest are forgotten.
const COUNTED_MAX: usize = 10_000;

/// What a visitor is let in for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// The page.
    Granted,
    /// The question for its password.
    Password,
    /// The word that it is for members.
    Members,
}

/// What became of a password.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unlocked {
    /// It is right; this cookie lets the visitor in.
    Yes(HeaderValue),
    /// It is wrong.
    No,
    /// Too many wrong ones came from this address.
    TooOften,
}

/// The gate of all pages.
#[derive(Debug)]
pub(crate) struct Gate {
    key: Secret<[u8; 32]>,
    wrong: Mutex<HashMap<(IpAddr, PageId), Wrong>>,
}

#[derive(Clone, Copy, Debug)]
struct Wrong {
    since: Timestamp,
    count: u32,
}

impl Gate {
    /// A gate whose cookies are signed with this key.
    pub(crate) fn new(key: Secret<[u8; 32]>) -> Self {
        Self { key, wrong: Mutex::default() }
    }

    /// What this visitor may see of the page.
    pub(super) fn entry(&self, page: &StatusPage, headers: &HeaderMap, now: Timestamp) -> Entry {
        match page.settings.effective_access() {
            AccessType::Public => Entry::Granted,
            AccessType::Password if self.knows(page, headers, now) => Entry::Granted,
            AccessType::Password => Entry::Password,
            // Whose address it is must be shown by a link that is sent there.
            AccessType::EmailDomain => Entry::Members,
        }
    }

    /// Holds what a visitor at this address gave against the page's password.
    pub(super) fn unlock(
        &self,
        page: &StatusPage,
        given: &str,
        address: IpAddr,
        now: Timestamp,
    ) -> Unlocked {
        if !self.may_try((address, page.id), now) {
            return Unlocked::TooOften;
        }
        let Some(password) = &page.settings.password else { return Unlocked::No };
        // Equal digests are equal texts, and how much of one is equal takes no time to tell.
        let wanted = self.digest(&[b"password", password.expose().as_bytes()]);
        let is_right = self.mac(&[b"password", given.as_bytes()]).verify_slice(&wanted).is_ok();
        if !is_right {
            return Unlocked::No;
        }
        self.lock().remove(&(address, page.id));
        let until = now + SESSION;
        let value = format!("{}.{}", until.as_millis(), self.signature(page, until));
        let (name, path) = (cookie_name(page.id), &page.settings.slug);
        let seconds = SESSION.as_secs();
        let cookie = format!(
            "{name}={value}; Path=/status/{path}; Max-Age={seconds}; HttpOnly; SameSite=Lax"
        );
        Unlocked::Yes(HeaderValue::try_from(cookie).expect("a slug and digits are a header"))
    }

    /// Counts a try; whether it may be made.
    fn may_try(&self, who: (IpAddr, PageId), now: Timestamp) -> bool {
        let mut wrong = self.lock();
        if wrong.len() >= COUNTED_MAX {
            wrong.retain(|_, wrong| now.since(wrong.since) < TRIES_IN);
        }
        let counted = wrong.entry(who).or_insert(Wrong { since: now, count: 0 });
        if now.since(counted.since) >= TRIES_IN {
            *counted = Wrong { since: now, count: 0 };
        }
        counted.count = counted.count.saturating_add(1);
        counted.count <= TRIES
    }

    fn knows(&self, page: &StatusPage, headers: &HeaderMap, now: Timestamp) -> bool {
        let name = cookie_name(page.id);
        let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut cookies = lines.flat_map(|line| line.split(';'));
        cookies.any(|cookie| {
            let Some((key, value)) = cookie.trim().split_once('=') else { return false };
            let Some((until, signature)) = value.split_once('.') else { return false };
            let Ok(until) = until.parse().map(Timestamp::from_millis) else { return false };
            let Ok(signature) = URL_SAFE_NO_PAD.decode(signature) else { return false };
            key == name && now < until && self.signed(page, until).verify_slice(&signature).is_ok()
        })
    }

    fn signature(&self, page: &StatusPage, until: Timestamp) -> String {
        URL_SAFE_NO_PAD.encode(self.signed(page, until).finalize().into_bytes())
    }

    /// A page, its password and an end of time.
    fn signed(&self, page: &StatusPage, until: Timestamp) -> Hmac<Sha256> {
        let password = page.settings.password.as_ref().map(Secret::expose);
        let password = password.map(String::as_str).unwrap_or_default();
        let until = until.as_millis().to_be_bytes();
        self.mac(&[b"session", page.id.to_string().as_bytes(), &until, password.as_bytes()])
    }

    fn digest(&self, parts: &[&[u8]]) -> Vec<u8> {
        self.mac(parts).finalize().into_bytes().to_vec()
    }

    /// Parts of any length, each behind how long it is.
    fn mac(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac = Hmac::new_from_slice(self.key.expose()).expect("any key will do");
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<(IpAddr, PageId), Wrong>> {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn cookie_name(page: PageId) -> String {
    format!("aloft_{page}")
}
