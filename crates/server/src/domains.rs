//! Custom domains of status pages: whether one leads here before it is accepted, whose page a request
//! is for by the name it was sent to, and the certificates of these names. What is on a page belongs to
//! `status_page`, listening and handshakes to `boot`.

mod acme;
mod by_host;
mod certificates;
mod host;
mod keeper;
mod leads;
mod ownership;
mod schedule;
mod status;
mod table;

use std::sync::Arc;

use rules::{DomainName, Violation};
use tokio::sync::watch;

pub(crate) use self::by_host::{ByHost, Entrance};
pub(crate) use self::certificates::{ACME_TLS, Certificates};
pub(crate) use self::keeper::{Keeper, KeeperParts};
use self::leads::Wanted;
pub(crate) use self::ownership::Claim;
pub(crate) use self::status::DomainStatus;
use self::table::Table;
pub(crate) use self::table::follow;
use crate::config::DomainSettings;

/// Why a server without names of its own accepts no domain.
const NOT_OFFERED: &str = "needs a server that knows its own names: ask its operator to set `public_url` or `pages_hosts`";

/// What is known of custom domains.
#[derive(Debug)]
pub(crate) struct Domains {
    settings: DomainSettings,
    wanted: Wanted,
    names: probe::Names,
    table: watch::Sender<Arc<Table>>,
    certificates: Arc<Certificates>,
}

impl Domains {
    /// Nothing is known of any domain yet.
    pub(crate) fn new(
        settings: DomainSettings,
        names: probe::Names,
        certificates: Arc<Certificates>,
    ) -> Self {
        let wanted = Wanted::of(&settings);
        Self { settings, wanted, names, table: watch::Sender::default(), certificates }
    }

    /// Refuses a domain that does not point to this server, is a name of this server itself, or has no
    /// record that names the page that claims it. `written` is what the user wrote.
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
        if !self.are_offered() {
            return Err(refused(NOT_OFFERED.to_owned()));
        }
        leads::lead_here(&self.names, &self.wanted, domain).await.map_err(refused)?;
        ownership::verify(&self.names, domain, claim).await.map_err(refused)
    }

    /// Whether custom domains work. A server that does not know its own names cannot tell them from the
    /// domain of a page, which would then answer in its place.
    fn are_offered(&self) -> bool {
        !self.settings.hosts.is_empty()
    }

    /// Whether this service is reached by the name itself: a page that had it would stand before all that
    /// the service answers there. Names without a dot are those of machines, `localhost` among them.
    fn is_own(&self, domain: &DomainName) -> bool {
        let name = domain.as_str();
        self.settings.own.as_ref() == Some(domain) || self.wanted.names(name) || !name.contains('.')
    }

    /// The table as it is now.
    fn table(&self) -> Arc<Table> {
        Arc::clone(&self.table.borrow())
    }
}
