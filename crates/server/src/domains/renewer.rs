//! Maintains a certificate for every name of the server and its pages. It obtains certificates one
//! at a time, renews them and retries failures. It deletes those of removed names.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use rules::{DomainName, Timestamp};
use store::{DomainCertificate, IssuedCertificate, Store, StoreError};
use tokio_util::sync::CancellationToken;
use web::context::Context;

use super::acme::{Acme, Failed, IssuedChain};
use super::certificates::{Certificates, lifetime};
use super::schedule::{
    FailureScope, Refusals, default_renewal, due, next_attempt, next_refresh, renewal_time,
};
use super::{Domains, dns_check};
use crate::config::TlsSettings;

/// Time limit of one attempt.
const ATTEMPT_WITHIN: Duration = Duration::from_mins(6);
/// Time limit for the request of a renewal suggestion.
const SUGGESTED_WITHIN: Duration = Duration::from_mins(1);
/// Pause before a retry after a failure of the store.
const RETRY_AFTER_FAILURE: Duration = Duration::from_secs(5);

/// The dependencies of a [`CertificateRenewer`].
pub(crate) struct RenewerParts {
    pub(crate) ctx: Context,
    pub(crate) store: Store,
    pub(crate) domains: Arc<Domains>,
    pub(crate) certificates: Arc<Certificates>,
    pub(crate) tls: TlsSettings,
    pub(crate) client: probe::Client,
}

/// Maintains certificates.
pub(crate) struct CertificateRenewer {
    ctx: Context,
    store: Store,
    domains: Arc<Domains>,
    certificates: Arc<Certificates>,
    acme: Acme,
    covers_own: bool,
    /// Stored certificates, by name.
    known: HashMap<DomainName, DomainCertificate>,
    /// End of the pause that the ACME server requests.
    paused_until: Option<Timestamp>,
    /// Consecutive refusals of the server.
    refusals: Refusals,
    /// Time of the next request for a renewal suggestion. Names without an entry are requested at once.
    renewal_info_at: HashMap<DomainName, Timestamp>,
}

/// The next action.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    /// Obtain a certificate for this name.
    Obtain(DomainName),
    /// Request the renewal suggestion for this name.
    RequestRenewalInfo(DomainName),
    /// Wait until this time, or until the names change.
    Wait(Option<Timestamp>),
}

impl CertificateRenewer {
    /// Loads the stored certificates. Those that cannot be used are obtained again.
    pub(crate) async fn load(parts: RenewerParts) -> Result<Self, StoreError> {
        let RenewerParts { ctx, store, domains, certificates, tls, client } = parts;
        let acme = Acme::new(tls.acme, client, store.clone(), Arc::clone(&certificates));
        let (known, covers_own) = (HashMap::new(), tls.covers_own);
        let mut renewer = Self {
            ctx,
            store,
            domains,
            certificates,
            acme,
            covers_own,
            known,
            paused_until: None,
            refusals: Refusals::default(),
            renewal_info_at: HashMap::new(),
        };
        for mut found in renewer.store.certificates().all().await? {
            if let Some(issued) = &found.issued
                && let Err(why) =
                    renewer.certificates.insert(&found.domain, &issued.chain, &issued.key)
            {
                tracing::error!(
                    domain = %found.domain,
                    "the stored certificate of `{}` is unusable, requesting another: {why}", found.domain
                );
                found.issued = None;
            }
            renewer.known.insert(found.domain.clone(), found);
        }
        Ok(renewer)
    }

    /// Runs until `stop`, which aborts a running request.
    pub(crate) async fn run(mut self, stop: CancellationToken) {
        let mut tables = self.domains.subscribe();
        loop {
            tables.mark_unchanged();
            let step = async {
                let wanted = self.required_names();
                if let Err(error) = self.remove_others(&wanted).await {
                    tracing::warn!(%error, "certificates could not be read: {error}");
                    return Some(self.ctx.now() + RETRY_AFTER_FAILURE);
                }
                match self.next(&wanted) {
                    Next::Obtain(domain) => {
                        self.renew(domain).await;
                        Some(self.ctx.now())
                    }
                    Next::RequestRenewalInfo(domain) => {
                        self.update_renewal_time(domain).await;
                        Some(self.ctx.now())
                    }
                    Next::Wait(until) => until,
                }
            };
            let until = tokio::select! {
                () = stop.cancelled() => return,
                until = step => until,
            };
            let ctx = self.ctx.clone();
            let time = async {
                match until {
                    Some(until) => ctx.sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = stop.cancelled() => return,
                changed = tables.changed() => if changed.is_err() { return },
                () = time => {}
            }
        }
    }

    /// Returns the names that need a certificate, this server's own first.
    fn required_names(&self) -> Vec<DomainName> {
        let own = self.domains.settings.own.clone().filter(|_| self.covers_own);
        let mut pages: Vec<_> = self.domains.table().all().collect();
        pages.sort_by(|one, other| one.as_str().cmp(other.as_str()));
        own.into_iter().chain(pages).collect()
    }

    fn next(&self, wanted: &[DomainName]) -> Next {
        let now = self.ctx.now();
        let mut soonest: Option<Timestamp> = None;
        for domain in wanted {
            let due = self.known.get(domain).and_then(due).max(self.paused_until);
            match due {
                Some(due) if due > now => {
                    soonest = Some(soonest.map_or(due, |soonest| soonest.min(due)));
                }
                Some(_) | None => return Next::Obtain(domain.clone()),
            }
        }
        let issued = |domain: &&DomainName| {
            self.known.get(*domain).is_some_and(|known| known.issued.is_some())
        };
        for domain in wanted.iter().filter(issued) {
            match self.renewal_info_at.get(domain) {
                Some(at) if *at > now => {
                    soonest = Some(soonest.map_or(*at, |soonest| soonest.min(*at)));
                }
                Some(_) | None => return Next::RequestRenewalInfo(domain.clone()),
            }
        }
        Next::Wait(soonest)
    }

    /// Deletes the certificates of names that no page uses.
    async fn remove_others(&mut self, wanted: &[DomainName]) -> Result<(), StoreError> {
        let gone: Vec<DomainName> =
            self.known.keys().filter(|known| !wanted.contains(known)).cloned().collect();
        for domain in gone {
            self.certificates.remove(&domain);
            self.store.certificates().remove(domain.clone()).await?;
            tracing::info!(domain = %domain, "the certificate of `{domain}` is forgotten");
            self.known.remove(&domain);
            self.renewal_info_at.remove(&domain);
        }
        Ok(())
    }

    /// Requests the renewal suggestion for a certificate, so that one that will be revoked is renewed
    /// in time. Without a suggestion the planned time remains.
    async fn update_renewal_time(&mut self, domain: DomainName) {
        let now = self.ctx.now();
        let Some(known) = self.known.get_mut(&domain) else { return };
        let Some(issued) = &mut known.issued else { return };
        let renewal_request = self.acme.renewal_info(&domain, &issued.chain);
        let renewal_info = match tokio::time::timeout(SUGGESTED_WITHIN, renewal_request).await {
            Ok(Ok(renewal_info)) => renewal_info,
            Ok(Err(why)) => {
                tracing::debug!(domain = %domain, "when to renew `{domain}` is not known: {why}");
                None
            }
            Err(_) => None,
        };
        let again = next_refresh(now, renewal_info.map(|renewal_info| renewal_info.refresh_after));
        self.renewal_info_at.insert(domain.clone(), again);
        let Some(renewal_info) = renewal_info else { return };
        let planned = (issued.renew_at, issued.expires_at);
        let renew_at = renewal_time(planned, renewal_info.window, now, self.ctx.random());
        if renew_at == issued.renew_at {
            return;
        }
        issued.renew_at = renew_at;
        tracing::info!(domain = %domain, "the certificate of `{domain}` is renewed at {renew_at}");
        if let Err(error) = self.store.certificates().set_renewal_time(domain, renew_at).await {
            tracing::warn!(%error, "failed to store the renewal time of a certificate: {error}");
        }
    }

    /// Obtains a certificate and stores the result.
    async fn renew(&mut self, domain: DomainName) {
        let now = self.ctx.now();
        let known = self.known.entry(domain.clone()).or_insert_with(|| DomainCertificate {
            domain: domain.clone(),
            issued: None,
            attempts: 0,
            last_error: None,
            next_attempt_at: None,
        });
        known.attempts = known.attempts.saturating_add(1);
        let attempts = known.attempts;
        let then = next_attempt(attempts, now, None);
        known.next_attempt_at = Some(then);
        if let Err(error) = self.store.certificates().begin(domain.clone(), attempts, then).await {
            tracing::warn!(%error, "failed to record the attempt for a certificate: {error}");
            return;
        }
        let issued_certificate =
            match tokio::time::timeout(ATTEMPT_WITHIN, self.obtain(&domain, now)).await {
                Ok(issued_certificate) => issued_certificate,
                Err(_) => Err(Failed {
                    why: format!(
                        "the ACME server did not come to an end within {ATTEMPT_WITHIN:?}"
                    ),
                    retry_after: None,
                    scope: FailureScope::ThisName,
                }),
            };
        let outcome = match issued_certificate {
            Ok(issued_certificate) => self.store_certificate(&domain, issued_certificate).await,
            Err(failed) => Err(failed),
        };
        if let Err(failed) = outcome {
            self.store_failure(&domain, attempts, failed).await;
        }
    }

    /// Check DNS first, because ACME servers count failed orders.
    async fn obtain(&self, domain: &DomainName, now: Timestamp) -> Result<IssuedChain, Failed> {
        let Domains { dns: names, targets: wanted, settings, .. } = &*self.domains;
        if settings.own.as_ref() != Some(domain) {
            let led = dns_check::check_target(names, wanted, domain).await;
            led.map_err(|why| Failed {
                why: format!("`{domain}` {why}"),
                retry_after: None,
                scope: FailureScope::ThisName,
            })?;
        }
        self.acme.obtain(domain, now).await
    }

    async fn store_certificate(
        &mut self,
        domain: &DomainName,
        issued_certificate: IssuedChain,
    ) -> Result<(), Failed> {
        let IssuedChain { chain, key } = issued_certificate;
        let unusable = |why: &dyn std::fmt::Display| Failed {
            why: why.to_string(),
            retry_after: None,
            scope: FailureScope::OrderAccepted,
        };
        self.refusals.record_accepted_order();
        let (now, life) = (self.ctx.now(), lifetime(domain, &chain).map_err(|why| unusable(&why))?);
        self.certificates.insert(domain, &chain, &key).map_err(|why| unusable(&why))?;
        let (expires_at, renew_at) = (life.1, default_renewal(now, life));
        let issued = IssuedCertificate { chain, key, issued_at: now, expires_at, renew_at };
        let stored = self.store.certificates().store_issued(domain.clone(), issued.clone()).await;
        stored.map_err(|why| unusable(&why))?;
        tracing::info!(domain = %domain, "obtained a certificate of `{domain}`, valid until {expires_at}");
        let known = DomainCertificate {
            domain: domain.clone(),
            issued: Some(issued),
            attempts: 0,
            last_error: None,
            next_attempt_at: None,
        };
        self.known.insert(domain.clone(), known);
        self.renewal_info_at.remove(domain);
        Ok(())
    }

    async fn store_failure(&mut self, domain: &DomainName, attempts: u32, failed: Failed) {
        let Failed { why, retry_after, scope } = failed;
        let now = self.ctx.now();
        let then = next_attempt(attempts, now, retry_after);
        let quiet_until = self.refusals.pause_until(domain, scope, (now, then));
        self.paused_until = quiet_until.or(self.paused_until);
        tracing::warn!(domain = %domain, "no certificate of `{domain}` until {then}: {why}");
        if let Some(known) = self.known.get_mut(domain) {
            known.last_error = Some(why.clone());
            known.next_attempt_at = Some(then);
        }
        let stored = self.store.certificates().failed(domain.clone(), why, then).await;
        if let Err(error) = stored {
            tracing::warn!(%error, "failed to store the reason for a missing certificate: {error}");
        }
    }
}
