//! How a custom domain is, for those who set it: whether there is a certificate, and why not.

use rules::{DomainName, Timestamp};
use store::{DomainCertificate, StoreError};

use super::Domains;
use crate::app::App;

/// How a domain is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DomainState {
    /// A certificate is being asked for.
    Pending,
    /// It has a certificate that holds.
    Active,
    /// It has none that holds, and the last try to get one failed.
    Failed,
    /// This server makes no certificates: whoever stands before it does.
    Unmanaged,
}

/// How a domain is, and since what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DomainStatus {
    /// The domain, in A-labels.
    pub(crate) domain: String,
    /// How it is.
    pub(crate) state: DomainState,
    /// Why the last try to get a certificate failed.
    pub(crate) reason: Option<String>,
    /// When the certificate ends.
    pub(crate) expires_at: Option<Timestamp>,
    /// When one is asked for again, after a try that failed.
    pub(crate) next_try_at: Option<Timestamp>,
}

impl DomainState {
    /// The word for it.
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
    /// How this domain is.
    pub(crate) async fn status(
        &self,
        app: &App,
        domain: &DomainName,
    ) -> Result<DomainStatus, StoreError> {
        if self.settings.tls.is_none() {
            return Ok(DomainStatus {
                domain: domain.to_string(),
                state: DomainState::Unmanaged,
                reason: None,
                expires_at: None,
                next_try_at: None,
            });
        }
        let known = app.store.certificates().get(domain).await?;
        Ok(status(domain, known.as_ref(), app.ctx.now()))
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
        next_try_at: known.and_then(|known| known.next_try_at).filter(|_| reason.is_some()),
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
    fn a_domain_is_active_as_long_as_its_certificate_holds_whatever_fails_meanwhile() {
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
            tries: 1,
            last_error: error.map(str::to_owned),
            next_try_at: Some(at(70)),
        };
        let said = |known: Option<DomainCertificate>, now| {
            let status = status(&domain, known.as_ref(), at(now));
            format!("{} {}", status.state.as_str(), status.reason.unwrap_or_default())
        };
        assert_eq!(said(None, 5), "pending ");
        assert_eq!(said(Some(known(None, None)), 5), "pending ");
        assert_eq!(said(Some(known(None, Some("no way"))), 5), "failed no way");
        assert_eq!(said(Some(known(Some(&issued), None)), 5), "active ");
        assert_eq!(said(Some(known(Some(&issued), Some("no way"))), 65), "active no way");
        assert_eq!(said(Some(known(Some(&issued), Some("no way"))), 90), "failed no way");
    }
}
