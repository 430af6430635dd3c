//! Certificates by ACME (RFC 8555): an account of the server's own, an order for a name, the challenge
//! that shows the name is ours, and the certificate with its key; and when its maker would have it renewed
//! (RFC 9773). When to ask, and what to keep, belongs to `keeper`.

mod way;

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use instant_acme::{
    Account, AccountCredentials, AuthorizationStatus, CertificateIdentifier, ChallengeHandle,
    ChallengeType, Error, Identifier, NewAccount, NewOrder, Order, OrderStatus, Problem,
    RetryPolicy,
};
use rules::{DomainName, Secret, Timestamp};
use store::{Store, StoreError};

use self::way::{Told, Way};
use super::certificates::{Certificates, Named, Shown, Unusable, name};
use super::schedule::{Says, Window};
use crate::config::{AcmeSettings, ChallengeChoice};

/// The longest that the server may take to look at a challenge, or to make a certificate.
const ANSWER_WITHIN: Duration = Duration::from_mins(2);
/// Longest reason that is kept of a failure, in characters.
const REASON_CHARS_MAX: usize = 500;
/// Tries that begin anew because the server did not know a nonce that it gave out.
const NONCE_TRIES: u32 = 5;
/// What a server says of a nonce or an account that it does not know, or of too many questions (RFC 8555
/// §6.7).
const BAD_NONCE: &str = "urn:ietf:params:acme:error:badNonce";
const NO_ACCOUNT: &str = "urn:ietf:params:acme:error:accountDoesNotExist";
const TOO_MANY: &str = "urn:ietf:params:acme:error:rateLimited";

/// Asks one ACME server for certificates.
pub(super) struct Acme {
    settings: AcmeSettings,
    client: probe::Client,
    store: Store,
    certificates: Arc<Certificates>,
}

/// A certificate with its key, both in PEM.
pub(super) struct Obtained {
    pub(super) chain: String,
    pub(super) key: Secret<String>,
}

/// Why there is no certificate.
#[derive(Debug)]
pub(super) struct Failed {
    /// In words for people.
    pub(super) why: String,
    /// How long the server does not want to be asked again.
    pub(super) wished: Option<Duration>,
    /// What that says of other names.
    pub(super) says: Says,
}

/// What the maker of a certificate suggests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Suggested {
    /// When it should be renewed.
    pub(super) window: Window,
    /// How long that is to be believed, before it is asked again.
    pub(super) holds: Duration,
}

impl Acme {
    pub(super) const fn new(
        settings: AcmeSettings,
        client: probe::Client,
        store: Store,
        certificates: Arc<Certificates>,
    ) -> Self {
        Self { settings, client, store, certificates }
    }

    /// A certificate for this name, by the ways that the settings allow, one after the other.
    pub(super) async fn obtain(
        &self,
        domain: &DomainName,
        now: Timestamp,
    ) -> Result<Obtained, Failed> {
        let ways = ways(self.settings.challenge);
        let (mut at, mut nonces) = (0, NONCE_TRIES);
        loop {
            let told = Arc::new(Told::default());
            let trouble = match self.try_once(domain, &ways[at], now, &told).await {
                Ok(obtained) => return Ok(obtained),
                Err(trouble) => trouble,
            };
            let failed = Failed::of(&trouble, &told);
            match trouble {
                // The library tries thrice, and a busy server forgets more than that.
                Trouble::Account(Error::Api(problem))
                | Trouble::Order(Error::Api(problem))
                | Trouble::Acme(Error::Api(problem))
                    if is(&problem, BAD_NONCE) && nonces > 0 =>
                {
                    nonces -= 1;
                }
                // What was shown and not seen can be shown in another way.
                Trouble::Challenge(_) if at + 1 < ways.len() => {
                    tracing::debug!(domain = %domain, "another challenge: {}", failed.why);
                    at += 1;
                }
                Trouble::Challenge(_)
                | Trouble::Account(_)
                | Trouble::Order(_)
                | Trouble::Acme(_)
                | Trouble::Store(_)
                | Trouble::Unusable(_)
                | Trouble::Other(_) => return Err(failed),
            }
        }
    }

    /// When the maker of a certificate, the first of `chain`, would have it renewed; `None` where it does
    /// not say, or none of our accounts is there.
    pub(super) async fn suggested(
        &self,
        domain: &DomainName,
        chain: &str,
    ) -> Result<Option<Suggested>, String> {
        let told = Arc::new(Told::default());
        let account = self.saved_account(&told).await.map_err(|why| why.to_string())?;
        let Some(account) = account else { return Ok(None) };
        let Named { authority, serial } = name(domain, chain).map_err(|why| why.to_string())?;
        let id = CertificateIdentifier {
            authority_key_identifier: URL_SAFE_NO_PAD.encode(authority).into(),
            serial: URL_SAFE_NO_PAD.encode(serial).into(),
        };
        let (info, holds) = match account.renewal_info(&id).await {
            Ok(found) => found,
            Err(Error::Unsupported(_)) => return Ok(None),
            Err(why) => return Err(why.to_string()),
        };
        let seconds = |at: i64| Timestamp::from_millis(at.saturating_mul(1_000));
        let window = Window {
            from: seconds(info.suggested_window.start.unix_timestamp()),
            until: seconds(info.suggested_window.end.unix_timestamp()),
        };
        Ok(Some(Suggested { window, holds }))
    }

    async fn try_once(
        &self,
        domain: &DomainName,
        way: &ChallengeType,
        now: Timestamp,
        told: &Arc<Told>,
    ) -> Result<Obtained, Trouble> {
        let names = [Identifier::Dns(domain.to_string())];
        let account = self.account(now, told).await?;
        let order = match account.new_order(&NewOrder::new(&names)).await {
            // A server that lost its accounts gets another one.
            Err(Error::Api(problem)) if is(&problem, NO_ACCOUNT) => {
                self.new_account(now, told).await?.new_order(&NewOrder::new(&names)).await
            }
            order => order,
        };
        let mut order = order.map_err(Trouble::Order)?;
        // What is shown is taken back when this ends, however it ends.
        let _shown = self.show(&mut order, domain, way).await?;
        let patience = RetryPolicy::default().timeout(ANSWER_WITHIN);
        let ready = order.poll_ready(&patience).await;
        if !matches!(ready, Ok(OrderStatus::Ready | OrderStatus::Valid)) {
            return Err(refused(&mut order, ready.err()).await);
        }
        let key = Secret::new(order.finalize().await?);
        let chain = order.poll_certificate(&patience).await?;
        Ok(Obtained { chain, key })
    }

    /// Shows what the server looks for, and tells it so. Nothing where it knows already that the name is
    /// ours.
    async fn show(
        &self,
        order: &mut Order,
        domain: &DomainName,
        way: &ChallengeType,
    ) -> Result<Vec<Shown<'_>>, Trouble> {
        let mut shown = Vec::new();
        let mut authorizations = order.authorizations();
        while let Some(authorization) = authorizations.next().await {
            let mut authorization = authorization?;
            if authorization.status == AuthorizationStatus::Valid {
                continue;
            }
            let Some(mut challenge) = authorization.challenge(way.clone()) else {
                let why = format!("the ACME server offers no challenge {}", word(way));
                return Err(Trouble::Challenge(why));
            };
            shown.push(self.prepare(&challenge, domain, way)?);
            challenge.set_ready().await?;
        }
        Ok(shown)
    }

    fn prepare(
        &self,
        challenge: &ChallengeHandle<'_>,
        domain: &DomainName,
        way: &ChallengeType,
    ) -> Result<Shown<'_>, Trouble> {
        let authorization = challenge.key_authorization();
        if *way == ChallengeType::TlsAlpn01 {
            return Ok(self
                .certificates
                .show_challenge(domain, authorization.digest().as_ref())?);
        }
        Ok(self.certificates.answer(&challenge.token, authorization.as_str()))
    }

    /// The account at the server, made where there is none.
    async fn account(&self, now: Timestamp, told: &Arc<Told>) -> Result<Account, Trouble> {
        match self.saved_account(told).await? {
            Some(account) => Ok(account),
            None => self.new_account(now, told).await,
        }
    }

    async fn saved_account(&self, told: &Arc<Told>) -> Result<Option<Account>, Trouble> {
        let saved = self.store.certificates().account(&self.settings.directory).await?;
        let Some(saved) = saved else { return Ok(None) };
        let credentials: AccountCredentials = serde_json::from_str(saved.expose())
            .map_err(|why| Trouble::Other(format!("the saved account cannot be read: {why}")))?;
        let builder = Account::builder_with_http(Box::new(self.way(told)));
        builder.from_credentials(credentials).await.map(Some).map_err(Trouble::Account)
    }

    async fn new_account(&self, now: Timestamp, told: &Arc<Told>) -> Result<Account, Trouble> {
        let contact = self.settings.email.as_ref().map(|email| format!("mailto:{email}"));
        let contact: Vec<&str> = contact.iter().map(String::as_str).collect();
        // The settings are there only where the operator agreed.
        let new = NewAccount {
            contact: &contact,
            terms_of_service_agreed: true,
            only_return_existing: false,
        };
        let builder = Account::builder_with_http(Box::new(self.way(told)));
        let directory = self.settings.directory.clone();
        let created = builder.create(&new, directory.clone(), None).await;
        let (account, credentials) = created.map_err(Trouble::Account)?;
        let saved = serde_json::to_string(&credentials)
            .map_err(|why| Trouble::Other(format!("the account cannot be saved: {why}")))?;
        let account_id = account.id().to_owned();
        self.store.certificates().save_account(directory, Secret::new(saved), now).await?;
        tracing::info!("a new account at the ACME server: {account_id}");
        Ok(account)
    }

    fn way(&self, told: &Arc<Told>) -> Way {
        Way { client: self.client.clone(), told: Arc::clone(told) }
    }
}

/// What went wrong, by what can be done about it.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    /// The server did not see what was shown.
    #[error("{0}")]
    Challenge(String),
    /// The account.
    #[error(transparent)]
    Account(Error),
    /// An order that was not taken.
    #[error(transparent)]
    Order(Error),
    /// What follows an order, or the way to the server.
    #[error(transparent)]
    Acme(#[from] Error),
    /// Nothing can be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What came cannot be used.
    #[error(transparent)]
    Unusable(#[from] Unusable),
    /// What should not be.
    #[error("{0}")]
    Other(String),
}

impl Failed {
    fn of(trouble: &Trouble, told: &Told) -> Self {
        let why: String = trouble.to_string().chars().take(REASON_CHARS_MAX).collect();
        Self { why, wished: told.wished(), says: trouble.says() }
    }
}

impl Trouble {
    /// What it says of other names. Servers tell in words alone whether a limit is one of the name or of
    /// the account, unless they name the names (RFC 8555 §6.7.1).
    fn says(&self) -> Says {
        match self {
            Self::Account(Error::Api(problem)) if is(problem, TOO_MANY) => Says::TooBusy,
            Self::Order(Error::Api(problem)) if is(problem, TOO_MANY) => {
                let names = problem.subproblems.iter().any(|it| it.identifier.is_some());
                if names { Says::Nothing } else { Says::TooMany }
            }
            Self::Challenge(_) | Self::Acme(_) => Says::OrdersAreTaken,
            Self::Account(_)
            | Self::Order(_)
            | Self::Store(_)
            | Self::Unusable(_)
            | Self::Other(_) => Says::Nothing,
        }
    }
}

/// Why an order did not become ready: what the server says of the challenge says more than that it did
/// not.
async fn refused(order: &mut Order, error: Option<Error>) -> Trouble {
    let mut authorizations = order.authorizations();
    while let Some(Ok(mut authorization)) = authorizations.next().await {
        let now = match authorization.refresh().await {
            Ok(now) => now,
            Err(error) => return Trouble::Acme(error),
        };
        let said = now.challenges.iter().find_map(|challenge| challenge.error.as_ref());
        if let Some(problem) = said {
            return Trouble::Challenge(told_of(problem));
        }
    }
    match error {
        Some(Error::Api(problem)) if !is(&problem, BAD_NONCE) => {
            Trouble::Challenge(told_of(&problem))
        }
        Some(error) => Trouble::Acme(error),
        None => Trouble::Other("the ACME server rejected the order without a reason".to_owned()),
    }
}

/// What a server says, in its own words.
fn told_of(problem: &Problem) -> String {
    let kind = problem.r#type.as_deref().unwrap_or_default();
    let kind = kind.strip_prefix("urn:ietf:params:acme:error:").unwrap_or(kind);
    match &problem.detail {
        Some(detail) => format!("the ACME server says: {detail} ({kind})"),
        None => format!("the ACME server says: {kind}"),
    }
}

fn is(problem: &Problem, kind: &str) -> bool {
    problem.r#type.as_deref() == Some(kind)
}

/// How a name is shown to be ours, in the order in which that is tried.
fn ways(choice: ChallengeChoice) -> Vec<ChallengeType> {
    match choice {
        ChallengeChoice::Any => vec![ChallengeType::TlsAlpn01, ChallengeType::Http01],
        ChallengeChoice::Http => vec![ChallengeType::Http01],
        ChallengeChoice::TlsAlpn => vec![ChallengeType::TlsAlpn01],
    }
}

const fn word(way: &ChallengeType) -> &'static str {
    if matches!(way, ChallengeType::TlsAlpn01) { "tls-alpn-01" } else { "http-01" }
}
