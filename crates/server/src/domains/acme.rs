//! Obtains certificates by ACME (RFC 8555): account, order, challenge and certificate with its key.
//! Also requests the suggested time of renewal (RFC 9773).
//!
//! The schedule and the storage belong to `renewer`.

mod transport;

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

use self::transport::{AcmeTransport, RetryAfter};
use super::certificates::{CertificateId, Certificates, ChallengeGuard, Unusable, certificate_id};
use super::schedule::{FailureScope, Window};
use crate::config::{AcmeSettings, ChallengeChoice};

/// Time limit for the server to validate a challenge or to issue a certificate.
const RESPONSE_WITHIN: Duration = Duration::from_mins(2);
/// Maximum length of a stored failure reason, in characters.
const REASON_CHARS_MAX: usize = 500;
/// Number of restarts after the server rejects its own nonce.
const NONCE_ATTEMPTS: u32 = 5;
/// Error types for a rejected nonce, an unknown account and too many requests (RFC 8555 §6.7).
const BAD_NONCE: &str = "urn:ietf:params:acme:error:badNonce";
const NO_ACCOUNT: &str = "urn:ietf:params:acme:error:accountDoesNotExist";
const TOO_MANY: &str = "urn:ietf:params:acme:error:rateLimited";

/// A client of one ACME server.
pub(super) struct Acme {
    settings: AcmeSettings,
    client: probe::Client,
    store: Store,
    certificates: Arc<Certificates>,
}

/// A certificate with its key, both in PEM.
pub(super) struct IssuedChain {
    pub(super) chain: String,
    pub(super) key: Secret<String>,
}

/// A failure to obtain a certificate.
#[derive(Debug)]
pub(super) struct Failed {
    /// Reason for people.
    pub(super) why: String,
    /// Time that the server asks to wait.
    pub(super) retry_after: Option<Duration>,
    /// Consequence for other names.
    pub(super) scope: FailureScope,
}

/// A renewal suggestion of the certificate authority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RenewalInfo {
    /// Suggested time of renewal.
    pub(super) window: Window,
    /// Time until the suggestion must be requested again.
    pub(super) refresh_after: Duration,
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

    /// Obtains a certificate for this name. It tries the challenge types that the settings allow, one
    /// after the other.
    pub(super) async fn obtain(
        &self,
        domain: &DomainName,
        now: Timestamp,
    ) -> Result<IssuedChain, Failed> {
        let ways = challenge_types(self.settings.challenge);
        let (mut at, mut nonces) = (0, NONCE_ATTEMPTS);
        loop {
            let retry_after = Arc::new(RetryAfter::default());
            let trouble = match self.attempt(domain, &ways[at], now, &retry_after).await {
                Ok(obtained) => return Ok(obtained),
                Err(trouble) => trouble,
            };
            let failed = Failed::new(&trouble, &retry_after);
            match trouble {
                // The library makes only three attempts, but a busy server rejects more nonces.
                AcmeFailure::Account(Error::Api(problem))
                | AcmeFailure::Order(Error::Api(problem))
                | AcmeFailure::Acme(Error::Api(problem))
                    if has_type(&problem, BAD_NONCE) && nonces > 0 =>
                {
                    nonces -= 1;
                }
                // Another type of challenge may succeed after a failed validation.
                AcmeFailure::Challenge(_) if at + 1 < ways.len() => {
                    tracing::debug!(domain = %domain, "another challenge: {}", failed.why);
                    at += 1;
                }
                AcmeFailure::Challenge(_)
                | AcmeFailure::Account(_)
                | AcmeFailure::Order(_)
                | AcmeFailure::Acme(_)
                | AcmeFailure::Store(_)
                | AcmeFailure::Unusable(_)
                | AcmeFailure::Other(_) => return Err(failed),
            }
        }
    }

    /// Returns the suggested renewal of a certificate, the first of `chain`. Returns `None` without a
    /// suggestion or an account.
    pub(super) async fn renewal_info(
        &self,
        domain: &DomainName,
        chain: &str,
    ) -> Result<Option<RenewalInfo>, String> {
        let retry_after = Arc::new(RetryAfter::default());
        let account = self.saved_account(&retry_after).await.map_err(|why| why.to_string())?;
        let Some(account) = account else { return Ok(None) };
        let CertificateId { authority, serial } =
            certificate_id(domain, chain).map_err(|why| why.to_string())?;
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
        Ok(Some(RenewalInfo { window, refresh_after: holds }))
    }

    async fn attempt(
        &self,
        domain: &DomainName,
        way: &ChallengeType,
        now: Timestamp,
        retry_after: &Arc<RetryAfter>,
    ) -> Result<IssuedChain, AcmeFailure> {
        let names = [Identifier::Dns(domain.to_string())];
        let account = self.account(now, retry_after).await?;
        let order = match account.new_order(&NewOrder::new(&names)).await {
            // A server that lost its accounts gets a new one.
            Err(Error::Api(problem)) if has_type(&problem, NO_ACCOUNT) => {
                self.new_account(now, retry_after).await?.new_order(&NewOrder::new(&names)).await
            }
            order => order,
        };
        let mut order = order.map_err(AcmeFailure::Order)?;
        // Dropping this removes the challenge, even after an error.
        let _shown = self.publish_challenges(&mut order, domain, way).await?;
        let patience = RetryPolicy::default().timeout(RESPONSE_WITHIN);
        let ready = order.poll_ready(&patience).await;
        if !matches!(ready, Ok(OrderStatus::Ready | OrderStatus::Valid)) {
            return Err(order_failure(&mut order, ready.err()).await);
        }
        let key = Secret::new(order.finalize().await?);
        let chain = order.poll_certificate(&patience).await?;
        Ok(IssuedChain { chain, key })
    }

    /// Publishes the challenge and tells the server that it is ready. Does nothing if the name is
    /// authorized already.
    async fn publish_challenges(
        &self,
        order: &mut Order,
        domain: &DomainName,
        way: &ChallengeType,
    ) -> Result<Vec<ChallengeGuard<'_>>, AcmeFailure> {
        let mut shown = Vec::new();
        let mut authorizations = order.authorizations();
        while let Some(authorization) = authorizations.next().await {
            let mut authorization = authorization?;
            if authorization.status == AuthorizationStatus::Valid {
                continue;
            }
            let Some(mut challenge) = authorization.challenge(way.clone()) else {
                let why = format!("the ACME server offers no challenge {}", challenge_name(way));
                return Err(AcmeFailure::Challenge(why));
            };
            shown.push(self.publish_challenge(&challenge, domain, way)?);
            challenge.set_ready().await?;
        }
        Ok(shown)
    }

    fn publish_challenge(
        &self,
        challenge: &ChallengeHandle<'_>,
        domain: &DomainName,
        way: &ChallengeType,
    ) -> Result<ChallengeGuard<'_>, AcmeFailure> {
        let authorization = challenge.key_authorization();
        if *way == ChallengeType::TlsAlpn01 {
            return Ok(self
                .certificates
                .publish_tls_challenge(domain, authorization.digest().as_ref())?);
        }
        Ok(self.certificates.publish_http_challenge(&challenge.token, authorization.as_str()))
    }

    /// Returns the account at the server, and creates it if necessary.
    async fn account(
        &self,
        now: Timestamp,
        retry_after: &Arc<RetryAfter>,
    ) -> Result<Account, AcmeFailure> {
        match self.saved_account(retry_after).await? {
            Some(account) => Ok(account),
            None => self.new_account(now, retry_after).await,
        }
    }

    async fn saved_account(
        &self,
        retry_after: &Arc<RetryAfter>,
    ) -> Result<Option<Account>, AcmeFailure> {
        let saved = self.store.certificates().account(&self.settings.directory).await?;
        let Some(saved) = saved else { return Ok(None) };
        let credentials: AccountCredentials =
            serde_json::from_str(saved.expose()).map_err(|why| {
                AcmeFailure::Other(format!("the saved account cannot be read: {why}"))
            })?;
        let builder = Account::builder_with_http(Box::new(self.transport(retry_after)));
        builder.from_credentials(credentials).await.map(Some).map_err(AcmeFailure::Account)
    }

    async fn new_account(
        &self,
        now: Timestamp,
        retry_after: &Arc<RetryAfter>,
    ) -> Result<Account, AcmeFailure> {
        let contact = self.settings.email.as_ref().map(|email| format!("mailto:{email}"));
        let contact: Vec<&str> = contact.iter().map(String::as_str).collect();
        // The settings exist only if the operator agreed to the terms.
        let new = NewAccount {
            contact: &contact,
            terms_of_service_agreed: true,
            only_return_existing: false,
        };
        let builder = Account::builder_with_http(Box::new(self.transport(retry_after)));
        let directory = self.settings.directory.clone();
        let created = builder.create(&new, directory.clone(), None).await;
        let (account, credentials) = created.map_err(AcmeFailure::Account)?;
        let saved = serde_json::to_string(&credentials)
            .map_err(|why| AcmeFailure::Other(format!("the account cannot be saved: {why}")))?;
        let account_id = account.id().to_owned();
        self.store.certificates().save_account(directory, Secret::new(saved), now).await?;
        tracing::info!("a new account at the ACME server: {account_id}");
        Ok(account)
    }

    fn transport(&self, retry_after: &Arc<RetryAfter>) -> AcmeTransport {
        AcmeTransport { client: self.client.clone(), retry_after: Arc::clone(retry_after) }
    }
}

/// A failure, by its remedy.
#[derive(Debug, thiserror::Error)]
enum AcmeFailure {
    /// The server did not accept the challenge.
    #[error("{0}")]
    Challenge(String),
    #[error(transparent)]
    Account(Error),
    /// The server rejected the order.
    #[error(transparent)]
    Order(Error),
    /// A later step of the order failed, or the connection.
    #[error(transparent)]
    Acme(#[from] Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The certificate or its key is invalid.
    #[error(transparent)]
    Unusable(#[from] Unusable),
    /// An unexpected state.
    #[error("{0}")]
    Other(String),
}

impl Failed {
    fn new(trouble: &AcmeFailure, retry_after: &RetryAfter) -> Self {
        let why: String = trouble.to_string().chars().take(REASON_CHARS_MAX).collect();
        Self { why, retry_after: retry_after.get(), scope: trouble.scope() }
    }
}

impl AcmeFailure {
    /// Returns the consequence for other names. Unless the server lists the affected names, only its
    /// text tells limits of one name from those of the account (RFC 8555 §6.7.1).
    fn scope(&self) -> FailureScope {
        match self {
            Self::Account(Error::Api(problem)) if has_type(problem, TOO_MANY) => {
                FailureScope::AllNames
            }
            Self::Order(Error::Api(problem)) if has_type(problem, TOO_MANY) => {
                let names = problem.subproblems.iter().any(|it| it.identifier.is_some());
                if names { FailureScope::ThisName } else { FailureScope::NameOrAccount }
            }
            Self::Challenge(_) | Self::Acme(_) => FailureScope::OrderAccepted,
            Self::Account(_)
            | Self::Order(_)
            | Self::Store(_)
            | Self::Unusable(_)
            | Self::Other(_) => FailureScope::ThisName,
        }
    }
}

/// Returns the reason that an order did not become ready. The error of the challenge is more precise
/// than that of the order.
async fn order_failure(order: &mut Order, error: Option<Error>) -> AcmeFailure {
    let mut authorizations = order.authorizations();
    while let Some(Ok(mut authorization)) = authorizations.next().await {
        let now = match authorization.refresh().await {
            Ok(now) => now,
            Err(error) => return AcmeFailure::Acme(error),
        };
        let challenge_error = now.challenges.iter().find_map(|challenge| challenge.error.as_ref());
        if let Some(problem) = challenge_error {
            return AcmeFailure::Challenge(problem_text(problem));
        }
    }
    match error {
        Some(Error::Api(problem)) if !has_type(&problem, BAD_NONCE) => {
            AcmeFailure::Challenge(problem_text(&problem))
        }
        Some(error) => AcmeFailure::Acme(error),
        None => {
            AcmeFailure::Other("the ACME server rejected the order without a reason".to_owned())
        }
    }
}

/// Returns the server's description of a problem.
fn problem_text(problem: &Problem) -> String {
    let kind = problem.r#type.as_deref().unwrap_or_default();
    let kind = kind.strip_prefix("urn:ietf:params:acme:error:").unwrap_or(kind);
    match &problem.detail {
        Some(detail) => format!("the ACME server says: {detail} ({kind})"),
        None => format!("the ACME server says: {kind}"),
    }
}

fn has_type(problem: &Problem, kind: &str) -> bool {
    problem.r#type.as_deref() == Some(kind)
}

/// Returns the challenge types to try, in order.
fn challenge_types(choice: ChallengeChoice) -> Vec<ChallengeType> {
    match choice {
        ChallengeChoice::Any => vec![ChallengeType::TlsAlpn01, ChallengeType::Http01],
        ChallengeChoice::Http => vec![ChallengeType::Http01],
        ChallengeChoice::TlsAlpn => vec![ChallengeType::TlsAlpn01],
    }
}

const fn challenge_name(way: &ChallengeType) -> &'static str {
    if matches!(way, ChallengeType::TlsAlpn01) { "tls-alpn-01" } else { "http-01" }
}
