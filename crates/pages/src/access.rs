//! Access control of pages, which every representation passes (design §6). Passwords are compared
//! in constant time. Visitors with an email address at one of the page's domains can request a
//! link. After a successful login, the visitor gets a signed cookie. Attempts are limited per
//! client address and page.

mod guesses;
mod magic_link;
mod session;

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use rules::status_page::StatusPage;
use rules::{AccessType, DomainName, PageId, Secret, Timestamp};
use web::context::Context;
use web::limits::AttemptLimiter;
use web::peer::rate_limit_address;

use self::guesses::Guesses;
use self::magic_link::{MagicLink, UsedLinks, VALID_FOR};
use self::session::Proof;
use super::signer::Signer;

/// Maximum number of passwords per minute that one client may try at one page.
const GUESSES: NonZeroU32 = NonZeroU32::new(5).expect("it is not 0");
const GUESSES_IN: Duration = Duration::from_mins(1);
/// Maximum number of links per [`VALID_FOR`] that a client may request at one page. Also limits the
/// links sent to one mailbox.
const LINKS: NonZeroU32 = NonZeroU32::new(5).expect("it is not 0");

/// Access decision for a visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccessDecision {
    /// Access to the page.
    Granted,
    /// The password form.
    Password,
    /// The form for an email address at one of the page's domains.
    Email,
}

/// A visitor who tries to log in to a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visitor<'v> {
    /// Client address.
    pub(super) address: IpAddr,
    /// Path of the page, which is also the path of its cookie.
    pub(super) home: &'v str,
    /// Whether the connection is encrypted. Otherwise the cookie is not marked as secure.
    pub(super) is_secure: bool,
}

/// Result of a password attempt.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum UnlockResult {
    /// Correct. This cookie grants access.
    Granted(HeaderValue),
    /// Wrong.
    WrongPassword,
    /// Too many attempts by this client or at this page. The next one is allowed after this time.
    TooManyAttempts(Duration),
}

/// Result of a request for a link.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LinkRequest {
    /// The address is at one of the page's domains. This token belongs in the link.
    Created(String),
    /// The address is not eligible. The visitor gets the same response.
    NotEligible,
    /// Too many requests by this client or for this mailbox.
    TooManyRequests,
}

/// Access control of all pages.
#[derive(Debug)]
pub(crate) struct AccessControl {
    ctx: Context,
    signer: Signer,
    guesses: AttemptLimiter<(IpAddr, PageId)>,
    /// Wrong passwords of each page, from all clients.
    page_guesses: Guesses,
    link_requests: AttemptLimiter<(IpAddr, PageId)>,
    /// By a signature of page and mailbox, so that no address is stored.
    links_sent: AttemptLimiter<[u8; 32]>,
    used: UsedLinks,
}

impl AccessControl {
    /// Creates an instance that signs cookies and links with this key.
    pub(crate) fn new(ctx: &Context, key: Secret<[u8; 32]>) -> Self {
        Self {
            ctx: ctx.clone(),
            signer: Signer::new(key),
            guesses: AttemptLimiter::new(ctx, GUESSES, GUESSES_IN),
            page_guesses: Guesses::default(),
            link_requests: AttemptLimiter::new(ctx, LINKS, VALID_FOR),
            links_sent: AttemptLimiter::new(ctx, LINKS, VALID_FOR),
            used: UsedLinks::default(),
        }
    }

    /// Returns the access decision for a visitor.
    pub(super) fn decide(
        &self,
        page: &StatusPage,
        headers: &HeaderMap,
        now: Timestamp,
    ) -> AccessDecision {
        let has_session =
            |proof: Proof<'_>| session::is_valid(&self.signer, page.id, proof, headers, now);
        match page.settings.effective_access() {
            AccessType::Public => AccessDecision::Granted,
            AccessType::Password => match &page.settings.password {
                Some(password) if has_session(Proof::Password(password.expose())) => {
                    AccessDecision::Granted
                }
                Some(_) | None => AccessDecision::Password,
            },
            AccessType::EmailDomain => {
                let mut members = page.settings.member_domains();
                let is_in = members.any(|domain| has_session(Proof::Domain(&domain)));
                if is_in { AccessDecision::Granted } else { AccessDecision::Email }
            }
        }
    }

    /// Checks a password.
    pub(super) fn unlock(
        &self,
        page: &StatusPage,
        given: &str,
        visitor: &Visitor<'_>,
    ) -> UnlockResult {
        let now = self.ctx.now();
        if let Some(wait) = self.page_guesses.closed_for(page.id, now) {
            return UnlockResult::TooManyAttempts(wait);
        }
        if let Err(wait) = self.guesses.acquire(&(rate_limit_address(visitor.address), page.id)) {
            return UnlockResult::TooManyAttempts(wait);
        }
        match &page.settings.password {
            Some(password) if self.signer.is_same(given, password.expose()) => {
                UnlockResult::Granted(self.session_cookie(
                    page.id,
                    Proof::Password(password.expose()),
                    visitor,
                ))
            }
            Some(_) | None => {
                self.page_guesses.record_failure(page.id, now);
                UnlockResult::WrongPassword
            }
        }
    }

    /// Creates a login link for a mailbox, whose address must be valid.
    pub(super) fn request_link(
        &self,
        page: &StatusPage,
        mailbox: &str,
        visitor: &Visitor<'_>,
    ) -> LinkRequest {
        let mailbox = mailbox.to_lowercase();
        let receiver =
            self.signer.sign(&[b"mailbox", page.id.to_string().as_bytes(), mailbox.as_bytes()]);
        let is_within_limit =
            self.link_requests.try_acquire(&(rate_limit_address(visitor.address), page.id));
        if !is_within_limit || !self.links_sent.try_acquire(&receiver) {
            return LinkRequest::TooManyRequests;
        }
        let is_member =
            |domain: &DomainName| page.settings.member_domains().any(|member| member == *domain);
        match DomainName::from_mailbox(&mailbox).filter(is_member) {
            Some(domain) => {
                let link = MagicLink::new(domain, self.ctx.random(), self.ctx.now());
                LinkRequest::Created(link.token(&self.signer, page.id))
            }
            None => LinkRequest::NotEligible,
        }
    }

    /// Returns whether a link with this token is valid and unused.
    pub(super) fn is_valid_link(&self, page: &StatusPage, token: &str) -> bool {
        self.link(page, token).is_some_and(|link| !self.used.contains(&link))
    }

    /// Uses a link, which works once. Returns the cookie that grants access.
    pub(super) fn use_link(
        &self,
        page: &StatusPage,
        token: &str,
        visitor: &Visitor<'_>,
    ) -> Option<HeaderValue> {
        let link = self.link(page, token).filter(|link| self.used.mark_used(link))?;
        Some(self.session_cookie(page.id, Proof::Domain(&link.domain), visitor))
    }

    /// Removes expired limits and links.
    pub(crate) fn evict_expired(&self) {
        self.guesses.evict_expired();
        self.page_guesses.evict_expired(self.ctx.now());
        self.link_requests.evict_expired();
        self.links_sent.evict_expired();
        self.used.evict_expired(self.ctx.now());
    }

    /// Returns the link of a token, if its domain still has access to the page.
    fn link(&self, page: &StatusPage, token: &str) -> Option<MagicLink> {
        let link = MagicLink::parse(token, &self.signer, page.id, self.ctx.now())?;
        let is_login_by_email = page.settings.effective_access() == AccessType::EmailDomain;
        let is_member = page.settings.member_domains().any(|domain| domain == link.domain);
        (is_login_by_email && is_member).then_some(link)
    }

    fn session_cookie(&self, page: PageId, proof: Proof<'_>, visitor: &Visitor<'_>) -> HeaderValue {
        session::cookie(&self.signer, page, proof, visitor, self.ctx.now())
    }
}
