//! Requirements of a custom domain for its owner: the DNS records, and whether each is as it must be.

use rules::DomainName;

use super::dns_check::RequiredRecord;
use super::{Claim, Domains, UNSUPPORTED, dns_check, ownership};

/// Requirements of a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DomainRequirements {
    /// A record that points to this server: one of these.
    pub(crate) target: Requirement,
    /// The record that names the page.
    pub(crate) ownership: Requirement,
}

/// A requirement that one of a few records fulfils.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Requirement {
    pub(crate) records: Vec<RequiredRecord>,
    /// End of a sentence with what is wrong. `None` if the requirement is fulfilled.
    pub(crate) problem: Option<String>,
}

impl Domains {
    /// Returns the records that a domain needs, and looks them up. Fails with the end of a sentence if
    /// the domain cannot show a page of this server.
    pub(crate) async fn requirements(
        &self,
        domain: &DomainName,
        claim: &Claim,
    ) -> Result<DomainRequirements, String> {
        if self.is_own(domain) {
            return Err("must not be a name of this service itself".to_owned());
        }
        if !self.is_supported() {
            return Err(UNSUPPORTED.to_owned());
        }
        let (target, owner) = tokio::join!(
            dns_check::check_target(&self.dns, &self.targets, domain),
            ownership::verify(&self.dns, domain, claim),
        );
        let (name, value) = (ownership::owner(domain), claim.value());
        Ok(DomainRequirements {
            target: Requirement { records: self.targets.records(domain), problem: target.err() },
            ownership: Requirement {
                records: vec![RequiredRecord { kind: "TXT", name, value }],
                problem: owner.err(),
            },
        })
    }
}
