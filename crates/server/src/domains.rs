//! Custom domains of status pages: checks DNS before it accepts a domain, finds the page of a
//! request by its host name, and manages certificates.
//!
//! The content of pages belongs to the crate `pages`, listeners and handshakes belong to `boot`.

mod acme;
mod certificates;
mod dns_check;
mod host;
mod host_router;
mod ownership;
mod renewer;
mod schedule;
mod setup;
mod status;
mod table;

use std::sync::Arc;

use rules::{DomainName, Violation};
use tokio::sync::watch;

pub(crate) use self::certificates::{ACME_TLS, Certificates};
use self::dns_check::ExpectedTargets;
pub(crate) use self::host_router::HostRouter;
pub(crate) use self::ownership::Claim;
pub(crate) use self::renewer::{CertificateRenewer, RenewerParts};
pub(crate) use self::setup::Requirement;
pub(crate) use self::status::DomainStatus;
use self::table::DomainTable;
pub(crate) use self::table::follow;
use crate::config::DomainSettings;

/// Error if the server does not know its own names and therefore accepts no domain.
const UNSUPPORTED: &str = "needs a server that knows its own names: ask its operator to set `public_url` or `pages_hosts`";

/// Custom domains and the settings that they need.
#[derive(Debug)]
pub(crate) struct Domains {
    settings: DomainSettings,
    targets: ExpectedTargets,
    dns: probe::DnsLookup,
    table: watch::Sender<Arc<DomainTable>>,
    certificates: Arc<Certificates>,
}

impl Domains {
    /// Creates an empty set of domains.
    pub(crate) fn new(
        settings: DomainSettings,
        dns: probe::DnsLookup,
        certificates: Arc<Certificates>,
    ) -> Self {
        let targets = ExpectedTargets::from_settings(&settings);
        Self { settings, targets, dns, table: watch::Sender::default(), certificates }
    }

    /// Returns the resolver with the DNS settings of checks.
    pub(crate) const fn dns(&self) -> &probe::DnsLookup {
        &self.dns
    }

    /// Accepts a domain that points to this server and has a TXT record that names the claiming page.
    /// Names of this server are rejected. `written` is the user's spelling.
    pub(crate) async fn accept(
        &self,
        domain: &DomainName,
        written: &str,
        claim: &Claim,
    ) -> Result<(), Violation> {
        let refused = |why: String| Violation::new("custom_domain", written, why);
        if self.is_own(domain) {
            return Err(refused("must not be a name of this service itself".to_owned()));
        }
        if !self.is_supported() {
            return Err(refused(UNSUPPORTED.to_owned()));
        }
        dns_check::check_target(&self.dns, &self.targets, domain).await.map_err(refused)?;
        ownership::verify(&self.dns, domain, claim).await.map_err(refused)
    }

    /// Returns whether custom domains work. A server that does not know its own names could not tell
    /// them from a page's domain, and the page would replace the server.
    fn is_supported(&self) -> bool {
        !self.settings.hosts.is_empty()
    }

    /// Returns whether this name reaches the service itself. A page with this domain would hide the
    /// service. Names without a dot, such as `localhost`, are names of machines.
    fn is_own(&self, domain: &DomainName) -> bool {
        let name = domain.as_str();
        self.settings.own.as_ref() == Some(domain)
            || self.targets.has_name(name)
            || !name.contains('.')
    }

    /// Returns the current table.
    fn table(&self) -> Arc<DomainTable> {
        Arc::clone(&self.table.borrow())
    }
}
