//! Session cookie of a visitor: the expiry time, the domain if the visitor logged in by email, and
//! a signature of both with the page. It becomes invalid when it expires, when the password
//! changes, or when the page loses the domain.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};
use rules::{DomainName, PageId, Timestamp};

use super::super::signer::Signer;
use super::Visitor;

/// Lifetime of a session.
pub(super) const SESSION: Duration = Duration::from_hours(12);

/// Proof by which a visitor logged in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof<'p> {
    Password(&'p str),
    /// An address at this domain.
    Domain(&'p DomainName),
}

impl Proof<'_> {
    /// Returns the part of the proof that the cookie contains. The password is signed but not
    /// contained.
    fn cookie_part(&self) -> &str {
        match self {
            Self::Password(_) => "",
            Self::Domain(domain) => domain.as_str(),
        }
    }

    fn parts<'s>(&'s self, page: &'s [u8], until: &'s [u8]) -> [&'s [u8]; 5] {
        match self {
            Self::Password(password) => [b"session", page, until, b"password", password.as_bytes()],
            Self::Domain(domain) => {
                [b"session", page, until, b"domain", domain.as_str().as_bytes()]
            }
        }
    }
}

/// Returns the `Set-Cookie` header of a new session.
pub(super) fn cookie(
    signer: &Signer,
    page: PageId,
    proof: Proof<'_>,
    visitor: &Visitor<'_>,
    now: Timestamp,
) -> HeaderValue {
    let until = now + SESSION;
    let signature = signer.sign_text(&proof.parts(page.to_string().as_bytes(), &bytes(until)));
    let value = format!("{}.{}.{signature}", until.as_millis(), proof.cookie_part());
    let (name, home, seconds) = (name(page), visitor.home, SESSION.as_secs());
    let secure = if visitor.is_secure { "; Secure" } else { "" };
    let cookie =
        format!("{name}={value}; Path={home}; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
    HeaderValue::try_from(cookie).expect("a slug, a domain name, digits and base64 are a header")
}

/// Returns whether the visitor has a session of this page with this proof.
pub(super) fn is_valid(
    signer: &Signer,
    page: PageId,
    proof: Proof<'_>,
    headers: &HeaderMap,
    now: Timestamp,
) -> bool {
    let (name, id) = (name(page), page.to_string());
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut cookies = lines.flat_map(|line| line.split(';'));
    cookies.any(|cookie| {
        let Some((key, value)) = cookie.trim().split_once('=') else { return false };
        let Some((until, rest)) = value.split_once('.') else { return false };
        let Some((cookie_part, signature)) = rest.rsplit_once('.') else { return false };
        let Ok(until) = until.parse().map(Timestamp::from_millis) else { return false };
        let Ok(signature) = URL_SAFE_NO_PAD.decode(signature) else { return false };
        let is_signed = || signer.verify(&proof.parts(id.as_bytes(), &bytes(until)), &signature);
        key == name && now < until && cookie_part == proof.cookie_part() && is_signed()
    })
}

fn name(page: PageId) -> String {
    format!("aloft_{page}")
}

fn bytes(at: Timestamp) -> [u8; 8] {
    at.as_millis().to_be_bytes()
}
