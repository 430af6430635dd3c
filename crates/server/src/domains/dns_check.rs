//! Checks whether a domain points to this service (spec §2.5: "DNS must already point to the
//! service"). The domain must be an alias of one of the service's names, or have only its
//! addresses.
//!
//! An error states the records that were found and those that are needed.

use std::net::IpAddr;
use std::time::Duration;

use domain::check::FailureKind;
use probe::{DnsLookup, Resolution};
use rules::DomainName;

use crate::config::{DomainSettings, PageHost};

/// Time limit of a DNS query.
const LOOK_UP_WITHIN: Duration = Duration::from_secs(10);
/// Maximum number of names, and of addresses, in an error.
const LISTED_MAX: usize = 4;

/// The valid targets of domains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ExpectedTargets {
    /// Targets of aliases, in A-labels.
    names: Vec<String>,
    /// Valid addresses besides those of the names.
    addresses: Vec<IpAddr>,
}

/// A record to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequiredRecord {
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    pub(crate) value: String,
}

impl ExpectedTargets {
    /// Returns the targets in the settings.
    pub(super) fn from_settings(settings: &DomainSettings) -> Self {
        let mut wanted = Self::default();
        for host in &settings.hosts {
            match host {
                PageHost::Name(name) => wanted.names.push(name.to_string()),
                PageHost::Address(address) => wanted.addresses.push(*address),
            }
        }
        wanted
    }

    /// Returns whether domains may be aliases of this name.
    pub(super) fn has_name(&self, name: &str) -> bool {
        self.names.iter().any(|ours| ours == name)
    }

    /// Returns the records that make a domain point to the service. One of them is enough.
    pub(super) fn records(&self, domain: &DomainName) -> Vec<RequiredRecord> {
        let record = |kind, value: String| RequiredRecord { kind, name: domain.to_string(), value };
        let aliases = self.names.iter().map(|name| record("CNAME", name.clone()));
        let addresses = self.addresses.iter().map(|address| {
            let kind = if address.is_ipv4() { "A" } else { "AAAA" };
            record(kind, address.to_string())
        });
        aliases.chain(addresses).collect()
    }

    /// Returns whether this is an address of the service. If it has a loopback address, every loopback
    /// address is.
    fn has_address(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let same = |ours: &IpAddr| *ours == address || ours.is_loopback() && address.is_loopback();
        self.addresses.iter().any(same)
    }
}

/// Resolves a domain. If it does not point to the service, returns the end of an error sentence.
pub(super) async fn check_target(
    names: &DnsLookup,
    wanted: &ExpectedTargets,
    domain: &DomainName,
) -> Result<(), String> {
    let found = match names.resolve(domain.as_str(), LOOK_UP_WITHIN).await {
        Ok(found) => Ok(found),
        Err(failure) if failure.kind == FailureKind::NameNotFound => Err(failure.detail),
        Err(failure) => return Err(format!("could not be looked up: {}", failure.detail)),
    };
    if found.as_ref().is_ok_and(|found| is_alias(wanted, found)) {
        return Ok(());
    }
    // Skip a name of ours without addresses and compare with the others.
    let mut whole = wanted.clone();
    for name in &wanted.names {
        let leads = names.resolve(name, LOOK_UP_WITHIN).await;
        whole.addresses.extend(leads.map(|leads| leads.addresses).unwrap_or_default());
    }
    let found =
        found.map_err(|why| format!("{}; found nothing: {why}", required_records(&whole)))?;
    judge(&whole, &found)
}

/// Returns the end of an error sentence with the found and the needed records, unless the domain points
/// to this service.
fn judge(wanted: &ExpectedTargets, found: &Resolution) -> Result<(), String> {
    if is_alias(wanted, found) {
        return Ok(());
    }
    let (ours, others): (Vec<IpAddr>, Vec<IpAddr>) =
        found.addresses.iter().partition(|address| wanted.has_address(**address));
    match (ours.is_empty(), others.is_empty()) {
        (false, true) => Ok(()),
        // Clients choose one of the addresses, and the foreign ones would fail.
        (false, false) => Err(format!(
            "{}; found {} too, which is not this service",
            required_records(wanted),
            listed(&others)
        )),
        (true, _) => Err(format!("{}; found {}", required_records(wanted), found_records(found))),
    }
}

fn is_alias(wanted: &ExpectedTargets, found: &Resolution) -> bool {
    found.aliases.iter().any(|alias| wanted.names.contains(alias))
}

/// Describes the DNS records that a domain needs.
fn required_records(wanted: &ExpectedTargets) -> String {
    let alias = match wanted.names.as_slice() {
        [] => None,
        [name] => Some(format!("a CNAME to `{name}`")),
        names => Some(format!("a CNAME to one of {}", listed(&quoted(names)))),
    };
    let addresses = match wanted.addresses.as_slice() {
        [] => None,
        [only] => Some(format!("the address {only}")),
        more => Some(format!("addresses among {}", listed(more))),
    };
    let records = [alias, addresses].into_iter().flatten().collect::<Vec<_>>().join(" or ");
    let records = if records.is_empty() { "a record of it".to_owned() } else { records };
    format!("must point to this service in DNS already, by {records}")
}

fn found_records(found: &Resolution) -> String {
    let aliases = (!found.aliases.is_empty())
        .then(|| format!("a CNAME to {}", listed(&quoted(&found.aliases))));
    let addresses = match found.addresses.as_slice() {
        [] => None,
        [only] => Some(format!("the address {only}")),
        more => Some(format!("the addresses {}", listed(more))),
    };
    [aliases, addresses].into_iter().flatten().collect::<Vec<_>>().join(" with ")
}

fn quoted(names: &[String]) -> Vec<String> {
    names.iter().map(|name| format!("`{name}`")).collect()
}

fn listed(items: &[impl ToString]) -> String {
    let mut shown: Vec<String> = items.iter().take(LISTED_MAX).map(ToString::to_string).collect();
    if items.len() > LISTED_MAX {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(names: &[&str], addresses: &[&str]) -> ExpectedTargets {
        ExpectedTargets {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            addresses: addresses.iter().map(|address| address.parse().unwrap()).collect(),
        }
    }

    fn leads(aliases: &[&str], addresses: &[&str]) -> Resolution {
        Resolution {
            aliases: aliases.iter().map(|name| (*name).to_owned()).collect(),
            addresses: addresses.iter().map(|address| address.parse().unwrap()).collect(),
        }
    }

    // issue 7: "CNAME or address of the configured host, with a message that says what was found and
    // what is needed"
    #[test]
    fn alias_or_only_our_addresses_pass() {
        let ours = wanted(&["pages.example.com"], &["192.0.2.7", "2001:db8::7"]);
        for found in [
            leads(&["pages.example.com"], &[]),
            leads(&["a.example.net", "pages.example.com"], &["198.51.100.1"]),
            leads(&[], &["192.0.2.7"]),
            leads(&["a.example.net"], &["2001:db8::7", "192.0.2.7"]),
            leads(&[], &["::ffff:192.0.2.7"]),
        ] {
            assert_eq!(judge(&ours, &found), Ok(()), "{found:?}");
        }
        let loopback = wanted(&[], &["127.0.0.1"]);
        assert_eq!(judge(&loopback, &leads(&[], &["127.0.0.1", "::1"])), Ok(()));
    }

    #[test]
    fn error_lists_found_and_required_records() {
        let ours = wanted(&["pages.example.com"], &["192.0.2.7"]);
        let two = wanted(&[], &["192.0.2.7", "2001:db8::7"]);
        let many: Vec<String> = (1..=6).map(|last| format!("198.51.100.{last}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let errors = [
            judge(&ours, &leads(&[], &["198.51.100.1"])),
            judge(&ours, &leads(&["elsewhere.example"], &["198.51.100.1", "2001:db8::9"])),
            judge(&ours, &leads(&["elsewhere.example"], &[])),
            judge(&ours, &leads(&[], &["192.0.2.7", "2001:db8::9"])),
            judge(&two, &leads(&[], &many)),
            judge(&wanted(&["a.example", "b.example"], &[]), &leads(&[], &["::1"])),
        ]
        .map(|judged| judged.unwrap_err());
        insta::assert_snapshot!(errors.join("\n"), @"
        must point to this service in DNS already, by a CNAME to `pages.example.com` or the address 192.0.2.7; found the address 198.51.100.1
        must point to this service in DNS already, by a CNAME to `pages.example.com` or the address 192.0.2.7; found a CNAME to `elsewhere.example` with the addresses 198.51.100.1, 2001:db8::9
        must point to this service in DNS already, by a CNAME to `pages.example.com` or the address 192.0.2.7; found a CNAME to `elsewhere.example`
        must point to this service in DNS already, by a CNAME to `pages.example.com` or the address 192.0.2.7; found 2001:db8::9 too, which is not this service
        must point to this service in DNS already, by addresses among 192.0.2.7, 2001:db8::7; found the addresses 198.51.100.1, 198.51.100.2, 198.51.100.3, 198.51.100.4, …
        must point to this service in DNS already, by a CNAME to one of `a.example`, `b.example`; found the address ::1
        ");
    }
}
