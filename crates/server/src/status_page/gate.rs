//! Who may see a page: the one question that stands before every representation of it (design §6).
//! Passwords are compared in constant time; who has an address at one of the page's domains is sent a
//! link; whoever was let in gets a signed cookie. What strangers try is counted by address and page.

mod guesses;
mod link;
mod session;

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use rules::status_page::StatusPage;
use rules::{AccessType, DomainName, PageId, Secret, Timestamp};

use self::guesses::Guesses;
use self::link::{GOOD_FOR, Link, Used};
use self::session::Proof;
use super::signer::Signer;
use crate::auth::{Tries, network};
use crate::context::Context;

/// Passwords that one address may try of one page, in a minute.
const GUESSES: NonZeroU32 = NonZeroU32::new(5).expect("it is not 0");
const GUESSES_IN: Duration = Duration::from_mins(1);
/// Links that one address may ask for at one page, and that one mailbox is sent, in [`GOOD_FOR`].
const LINKS: NonZeroU32 = NonZeroU32::new(5).expect("it is not 0");

/// What a visitor is let in for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// The page.
    Granted,
    /// The question for its password.
    Password,
    /// The question for an address at one of its domains.
    Email,
}

/// Who asks to be let in, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visitor<'v> {
    /// Where the visitor is.
    pub(super) address: IpAddr,
    /// The path of the page, and all that its cookie is sent with.
    pub(super) home: &'v str,
    /// Whether nobody can listen: the cookie is never sent where somebody could.
    pub(super) is_secure: bool,
}

/// What became of a password.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unlocked {
    /// It is right; this cookie lets the visitor in.
    Yes(HeaderValue),
    /// It is wrong.
    No,
    /// Too many came from this address, or for this page.
    TooOften,
}

/// What became of the wish for a link.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// The address is at one of the page's domains: this token belongs into the link.
    Yes(String),
    /// It is not; the visitor is told the same.
    No,
    /// Too many links were asked for from there, or sent to this mailbox.
    TooOften,
}

/// The gate of all pages.
#[derive(Debug)]
pub(crate) struct Gate {
    ctx: Context,
    signer: Signer,
    guesses: Tries<(IpAddr, PageId)>,
    /// Wrong passwords of each page, wherever they came from.
    of_page: Guesses,
    asked_from: Tries<(IpAddr, PageId)>,
    /// By a signature of page and mailbox, so that no mailbox is kept.
    sent_to: Tries<[u8; 32]>,
    used: Used,
}

impl Gate {
    /// A gate whose cookies and links are signed with this key.
    pub(crate) fn new(ctx: &Context, key: Secret<[u8; 32]>) -> Self {
        Self {
            ctx: ctx.clone(),
            signer: Signer::new(key),
            guesses: Tries::new(ctx, GUESSES, GUESSES_IN),
            of_page: Guesses::default(),
            asked_from: Tries::new(ctx, LINKS, GOOD_FOR),
            sent_to: Tries::new(ctx, LINKS, GOOD_FOR),
            used: Used::default(),
        }
    }

    /// What this visitor may see of the page.
    pub(super) fn entry(&self, page: &StatusPage, headers: &HeaderMap, now: Timestamp) -> Entry {
        let holds = |proof: Proof<'_>| session::holds(&self.signer, page.id, proof, headers, now);
        match page.settings.effective_access() {
            AccessType::Public => Entry::Granted,
            AccessType::Password => match &page.settings.password {
                Some(password) if holds(Proof::Password(password.expose())) => Entry::Granted,
                Some(_) | None => Entry::Password,
            },
            AccessType::EmailDomain => {
                let mut members = page.settings.member_domains();
                let is_in = members.any(|domain| holds(Proof::Domain(&domain)));
                if is_in { Entry::Granted } else { Entry::Email }
            }
        }
    }

    /// Holds what a visitor gave against the page's password.
    pub(super) fn unlock(&self, page: &StatusPage, given: &str, visitor: &Visitor<'_>) -> Unlocked {
        let now = self.ctx.now();
        if !self.of_page.may(page.id, now)
            || !self.guesses.may(&(network(visitor.address), page.id))
        {
            return Unlocked::TooOften;
        }
        match &page.settings.password {
            Some(password) if self.signer.is_same(given, password.expose()) => {
                Unlocked::Yes(self.let_in(page.id, Proof::Password(password.expose()), visitor))
            }
            Some(_) | None => {
                self.of_page.failed(page.id, now);
                Unlocked::No
            }
        }
    }

    /// A link for the one whose mailbox this is, an address that keeps the rules.
    pub(super) fn ask(&self, page: &StatusPage, mailbox: &str, visitor: &Visitor<'_>) -> Asked {
        let mailbox = mailbox.to_lowercase();
        let receiver =
            self.signer.sign(&[b"mailbox", page.id.to_string().as_bytes(), mailbox.as_bytes()]);
        let is_first = self.asked_from.may(&(network(visitor.address), page.id));
        if !is_first || !self.sent_to.may(&receiver) {
            return Asked::TooOften;
        }
        let is_member =
            |domain: &DomainName| page.settings.member_domains().any(|member| member == *domain);
        match DomainName::of_mailbox(&mailbox).filter(is_member) {
            Some(domain) => {
                let link = Link::new(domain, self.ctx.chance(), self.ctx.now());
                Asked::Yes(link.token(&self.signer, page.id))
            }
            None => Asked::No,
        }
    }

    /// Whether a link with this token would let somebody in.
    pub(super) fn is_good(&self, page: &StatusPage, token: &str) -> bool {
        self.link(page, token).is_some_and(|link| !self.used.has(&link))
    }

    /// Uses a link, once; the cookie that lets the visitor in.
    pub(super) fn enter(
        &self,
        page: &StatusPage,
        token: &str,
        visitor: &Visitor<'_>,
    ) -> Option<HeaderValue> {
        let link = self.link(page, token).filter(|link| self.used.is_first(link))?;
        Some(self.let_in(page.id, Proof::Domain(&link.domain), visitor))
    }

    /// Forgets whom nothing is held against any more, and links that are over.
    pub(crate) fn tidy(&self) {
        self.guesses.tidy();
        self.of_page.tidy(self.ctx.now());
        self.asked_from.tidy();
        self.sent_to.tidy();
        self.used.tidy(self.ctx.now());
    }

    /// The link of this token, where the page still lets in whom it was sent to.
    fn link(&self, page: &StatusPage, token: &str) -> Option<Link> {
        let link = Link::read(token, &self.signer, page.id, self.ctx.now())?;
        let is_asked_for = page.settings.effective_access() == AccessType::EmailDomain;
        let is_member = page.settings.member_domains().any(|domain| domain == link.domain);
        (is_asked_for && is_member).then_some(link)
    }

    fn let_in(&self, page: PageId, proof: Proof<'_>, visitor: &Visitor<'_>) -> HeaderValue {
        session::cookie(&self.signer, page, proof, visitor, self.ctx.now())
    }
}
