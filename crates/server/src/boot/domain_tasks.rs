//! Host names of a server: custom domains, their certificates, and the tasks that renew both.

use std::sync::Arc;

use store::{Store, StoreError};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use web::context::Context;

use crate::config::{Settings, TlsSettings};
use crate::domains::{self, CertificateRenewer, Certificates, Domains, RenewerParts};

/// Custom domains and their certificates.
pub(super) struct DomainTasks {
    pub(super) domains: Arc<Domains>,
    pub(super) certificates: Arc<Certificates>,
    tls: Option<TlsSettings>,
    network: probe::Settings,
}

impl DomainTasks {
    /// Creates an empty set. The operator chooses the ACME server, as with the mail server, so the
    /// egress policy does not apply to it.
    pub(super) fn new(settings: &Settings, network: &probe::Settings) -> Self {
        let certificates = Arc::<Certificates>::default();
        let dns_lookup = probe::DnsLookup::new(network);
        let domains = Domains::new(settings.domains.clone(), dns_lookup, Arc::clone(&certificates));
        let network = probe::Settings { egress: probe::Egress::new(true, []), ..network.clone() };
        let tls = settings.domains.tls.clone();
        Self { domains: Arc::new(domains), certificates, tls, network }
    }

    /// Loads the stored certificates, and starts the tasks that renew them and check the domains
    /// until `stop`.
    pub(super) async fn start(
        &self,
        ctx: &Context,
        store: &Store,
        stop: &CancellationToken,
    ) -> Result<Vec<JoinHandle<()>>, StoreError> {
        let domains = Arc::clone(&self.domains);
        let follow = domains::follow(domains, store.clone(), stop.clone());
        let mut tasks = vec![tokio::spawn(follow)];
        if let Some(tls) = self.tls.clone() {
            let parts = RenewerParts {
                ctx: ctx.clone(),
                store: store.clone(),
                domains: Arc::clone(&self.domains),
                certificates: Arc::clone(&self.certificates),
                tls,
                client: probe::Client::new(self.network.clone()),
            };
            tasks.push(tokio::spawn(CertificateRenewer::load(parts).await?.run(stop.clone())));
        }
        Ok(tasks)
    }
}
