//! Status of a custom domain for its owner: whether it has a certificate, and the reason if not.

use rules::{DomainName, Timestamp};
use store::{DomainCertificate, Store, StoreError};

use super::Domains;

/// The state of the certificate of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DomainState {
    /// Being obtained.
    Pending,
    /// Valid.
    Active,
    /// None is valid, and the last attempt failed.
    Failed,
    /// Not managed by this server, but by a proxy in front of it.
    Unmanaged,
}

/// The status of a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DomainStatus {
    /// Domain in A-labels.
    pub(crate) domain: String,
    pub(crate) state: DomainState,
    /// Reason of the last failed attempt.
    pub(crate) reason: Option<String>,
    /// Expiry of the certificate.
    pub(crate) expires_at: Option<Timestamp>,
    /// Time of the next attempt after a failure.
    pub(crate) next_attempt_at: Option<Timestamp>,
}

impl DomainState {
    /// Returns the name of the state.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Active => "active",
            Self::Failed => "failed",
            Self::Unmanaged => "unmanaged",
        }
    }
}

impl Domains {
    /// Returns the status of this domain.
    pub(crate) async fn status(
        &self,
        store: &Store,
        domain: &DomainName,
        now: Timestamp,
    ) -> Result<DomainStatus, StoreError> {
        if self.settings.tls.is_none() {
            return Ok(DomainStatus {
                domain: domain.to_string(),
                state: DomainState::Unmanaged,
                reason: None,
                expires_at: None,
                next_attempt_at: None,
            });
        }
        let known = store.certificates().get(domain).await?;
        Ok(status(domain, known.as_ref(), now))
    }
}

fn status(domain: &DomainName, known: Option<&DomainCertificate>, now: Timestamp) -> DomainStatus {
    let issued = known.and_then(|known| known.issued.as_ref());
    let reason = known.and_then(|known| known.last_error.clone());
    let state = match (issued, &reason) {
        (Some(issued), _) if now < issued.expires_at => DomainState::Active,
        (_, Some(_)) => DomainState::Failed,
        (_, None) => DomainState::Pending,
    };
    DomainStatus {
        domain: domain.to_string(),
        state,
        next_attempt_at: known.and_then(|known| known.next_attempt_at).filter(|_| reason.is_some()),
        reason,
        expires_at: issued.map(|issued| issued.expires_at),
    }
}

#[cfg(test)]
mod tests {
    use rules::Secret;
    use store::IssuedCertificate;

    use super::*;

    #[test]
    fn domain_with_valid_certificate_stays_active() {
        let domain = DomainName::parse("a.example").unwrap();
        let at = Timestamp::from_millis;
        let issued = IssuedCertificate {
            chain: String::new(),
            key: Secret::new(String::new()),
            issued_at: at(1),
            expires_at: at(90),
            renew_at: at(60),
        };
        let known = |issued: Option<&IssuedCertificate>, error: Option<&str>| DomainCertificate {
            domain: domain.clone(),
            issued: issued.cloned(),
            attempts: 1,
            last_error: error.map(str::to_owned),
            next_attempt_at: Some(at(70)),
        };
        let describe = |known: Option<DomainCertificate>, now| {
            let status = status(&domain, known.as_ref(), at(now));
            format!("{} {}", status.state.as_str(), status.reason.unwrap_or_default())
        };
        assert_eq!(describe(None, 5), "pending ");
        assert_eq!(describe(Some(known(None, None)), 5), "pending ");
        assert_eq!(describe(Some(known(None, Some("no way"))), 5), "failed no way");
        assert_eq!(describe(Some(known(Some(&issued), None)), 5), "active ");
        assert_eq!(describe(Some(known(Some(&issued), Some("no way"))), 65), "active no way");
        assert_eq!(describe(Some(known(Some(&issued), Some("no way"))), 90), "failed no way");
    }
}
