//! Resolves names to addresses, without a cache: every check measures a real lookup. Respects the
//! hosts file and the search list of the system, like its other programs.

mod lookup;
mod query;
mod system;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use domain::check::{Failure, FailureKind};
use futures_util::future::{Either, select};
use hickory_proto::op::ResponseCode;
use hickory_proto::rr::{Name, RecordType};
use rules::IpVersion;
use tokio::time::timeout;

#[cfg(any(test, aloft_fuzz))]
pub(crate) use lookup::follow;
pub(crate) use lookup::{Lookup, look_up};
#[cfg(any(test, aloft_fuzz))]
pub(crate) use query::decode_response;

use self::system::SystemFiles;
use crate::limits::DNS_FAMILY_GRACE;
use crate::settings::Nameservers;

/// Resolves names.
pub(crate) struct Resolver {
    nameservers: Nameservers,
    zones: Vec<(String, SocketAddr)>,
    system: SystemFiles,
}

impl Resolver {
    /// Creates a resolver. Does no I/O yet.
    pub(crate) fn new(nameservers: Nameservers, zones: Vec<(String, SocketAddr)>) -> Self {
        Self { nameservers, zones, system: SystemFiles::default() }
    }

    /// Returns the nameservers for a name, in order.
    pub(crate) fn servers(&self, name: &str) -> Vec<SocketAddr> {
        if let Some((_, server)) = self.zones.iter().find(|(zone, _)| is_within(name, zone)) {
            return vec![*server];
        }
        match &self.nameservers {
            Nameservers::Given(given) => given.clone(),
            Nameservers::System => self.system.read().nameservers.clone(),
        }
    }

    /// Returns the addresses of a host (as A-label) that a check may use, alternating IPv6 and IPv4; at
    /// least one.
    pub(crate) async fn addresses(
        &self,
        host: &str,
        version: IpVersion,
    ) -> Result<Vec<IpAddr>, Failure> {
        let bare = host.strip_suffix('.').unwrap_or(host);
        if let Some(known) = self.known_addresses(host) {
            let known = of_version(known, version, host);
            // A hosts file often has one version of a name only.
            if known.is_ok() || is_localhost(bare) {
                return known;
            }
        }
        let system = self.system.read();
        let servers: Arc<[SocketAddr]> = self.servers(bare).into();
        let mut outcome = Err(Failure::new(FailureKind::NameUnresolved, "name not found"));
        for name in self.candidate_names(host, &system) {
            outcome = addresses_of(&servers, (&name, bare), version).await;
            // Only a name that does not exist may be a short form of another.
            if !matches!(&outcome, Err(failure) if failure.kind == FailureKind::NameNotFound) {
                break;
            }
        }
        outcome
    }

    /// Returns addresses that are known without a query.
    pub(crate) fn known_addresses(&self, host: &str) -> Option<Vec<IpAddr>> {
        let bare = host.strip_suffix('.').unwrap_or(host);
        let known = self.system.read().hosts.get(&bare.to_ascii_lowercase()).cloned();
        let here = || vec![IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
        known.or_else(|| is_localhost(bare).then(here))
    }

    /// Returns the full names that `host` may abbreviate. A name with a dot is tried unchanged
    /// first: otherwise each check within a cluster would send useless queries.
    fn candidate_names(&self, host: &str, system: &system::System) -> Vec<String> {
        let dots = host.matches('.').count();
        if host.ends_with('.') || self.nameservers != Nameservers::System || dots >= system.ndots {
            return vec![host.to_owned()];
        }
        let mut names: Vec<_> =
            system.search.iter().map(|suffix| format!("{host}.{suffix}")).collect();
        if dots == 0 {
            names.push(host.to_owned());
        } else {
            names.insert(0, host.to_owned());
        }
        names
    }
}

/// Parses the name as an absolute DNS name.
pub(crate) fn absolute(name: &str) -> Result<Name, Failure> {
    let unreadable = |why: &dyn std::fmt::Display| {
        Failure::new(
            FailureKind::NameUnresolved,
            format!("`{name}` is not a valid DNS name: {why}"),
        )
    };
    let mut name = Name::from_ascii(name).map_err(|error| unreadable(&error))?;
    name.set_fqdn(true);
    Ok(name)
}

/// Returns whether `name` is `zone` or a subdomain of it.
fn is_within(name: &str, zone: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let Some(above) = name.len().checked_sub(zone.len()) else { return false };
    name.get(above..).is_some_and(|end| end.eq_ignore_ascii_case(zone))
        && (above == 0 || name.as_bytes()[above - 1] == b'.')
}

/// Returns whether the name is local to this machine (RFC 6761 §6.3).
fn is_localhost(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    last.eq_ignore_ascii_case("localhost")
}

/// Returns the addresses that have this version. Fails if there is none.
pub(crate) fn of_version(
    mut addresses: Vec<IpAddr>,
    version: IpVersion,
    host: &str,
) -> Result<Vec<IpAddr>, Failure> {
    let name = match version {
        IpVersion::Any => return Ok(addresses),
        IpVersion::V4 => "IPv4",
        IpVersion::V6 => "IPv6",
    };
    addresses.retain(|address| address.is_ipv4() == (version == IpVersion::V4));
    if addresses.is_empty() {
        let detail = format!("`{host}` has no {name} address, and the monitor uses no other");
        return Err(Failure::new(FailureKind::NameUnresolved, detail));
    }
    Ok(addresses)
}

/// Looks up a name, which errors show in its other form.
async fn addresses_of(
    servers: &[SocketAddr],
    (name, shown): (&str, &str),
    version: IpVersion,
) -> Result<Vec<IpAddr>, Failure> {
    let name = absolute(name)?;
    let record = match version {
        IpVersion::Any => return addresses_of_both(servers, (&name, shown)).await,
        IpVersion::V4 => RecordType::A,
        IpVersion::V6 => RecordType::AAAA,
    };
    let found = look_up(servers, &name, record).await;
    let addresses = found_addresses(Some(&found));
    if addresses.is_empty() && found.as_ref().is_ok_and(|it| it.rcode == ResponseCode::NoError) {
        return of_version(addresses, version, shown);
    }
    if addresses.is_empty() { Err(unresolved(shown, Some(found), None)) } else { Ok(addresses) }
}

async fn addresses_of_both(
    servers: &[SocketAddr],
    (name, shown): (&Name, &str),
) -> Result<Vec<IpAddr>, Failure> {
    let v6 = std::pin::pin!(look_up(servers, name, RecordType::AAAA));
    let v4 = std::pin::pin!(look_up(servers, name, RecordType::A));
    // If the first family to respond has addresses, wait only briefly for the other.
    let (v6, v4) = match select(v6, v4).await {
        Either::Left((v6, v4)) => {
            let v4 = if has_addresses(&v6) {
                timeout(DNS_FAMILY_GRACE, v4).await.ok()
            } else {
                Some(v4.await)
            };
            (Some(v6), v4)
        }
        Either::Right((v4, v6)) => {
            let v6 = if has_addresses(&v4) {
                timeout(DNS_FAMILY_GRACE, v6).await.ok()
            } else {
                Some(v6.await)
            };
            (v6, Some(v4))
        }
    };
    let addresses = interleave(found_addresses(v6.as_ref()), found_addresses(v4.as_ref()));
    if addresses.is_empty() { Err(unresolved(shown, v4, v6)) } else { Ok(addresses) }
}

type Found = Result<Lookup, Failure>;

fn has_addresses(found: &Found) -> bool {
    found.as_ref().is_ok_and(|lookup| !lookup.records.is_empty())
}

fn found_addresses(lookup: Option<&Found>) -> Vec<IpAddr> {
    let Some(Ok(lookup)) = lookup else { return Vec::new() };
    lookup.records.iter().filter_map(|record| record.data.ip_addr()).collect()
}

fn interleave(first: Vec<IpAddr>, second: Vec<IpAddr>) -> Vec<IpAddr> {
    let mut mixed = Vec::with_capacity(first.len() + second.len());
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    loop {
        let pair = (first.next(), second.next());
        mixed.extend(pair.0);
        mixed.extend(pair.1);
        if pair == (None, None) {
            return mixed;
        }
    }
}

/// Returns why there is no address: a nameserver's response outweighs an unreachable nameserver.
pub(crate) fn unresolved(name: &str, v4: Option<Found>, v6: Option<Found>) -> Failure {
    let mut failure = None;
    for found in [v4, v6].into_iter().flatten() {
        let lookup = match found {
            Ok(lookup) => lookup,
            Err(why) => {
                failure = failure.or(Some(why));
                continue;
            }
        };
        let server = lookup.server;
        if lookup.rcode == ResponseCode::NXDomain {
            let detail = format!("`{name}` does not exist (NXDOMAIN from {server})");
            return Failure::new(FailureKind::NameNotFound, detail);
        }
        if lookup.rcode != ResponseCode::NoError {
            let code = query::code_name(lookup.rcode);
            let detail = format!("failed to look up `{name}`: {server} responded with {code}");
            failure = failure.or(Some(Failure::new(FailureKind::NameUnresolved, detail)));
        }
    }
    failure.unwrap_or_else(|| {
        Failure::new(FailureKind::NameUnresolved, format!("`{name}` has no address"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(host: &str, ndots: usize) -> Vec<String> {
        let system = system::System {
            search: vec!["ns.cluster".to_owned(), "cluster".to_owned()],
            ndots,
            ..system::System::default()
        };
        Resolver::new(Nameservers::System, Vec::new()).candidate_names(host, &system)
    }

    #[test]
    fn dotted_names_are_tried_before_the_search_list() {
        assert_eq!(names("db", 1), ["db.ns.cluster", "db.cluster", "db"]);
        assert_eq!(names("db.other", 5), ["db.other", "db.other.ns.cluster", "db.other.cluster"]);
        assert_eq!(names("example.com", 1), ["example.com"]);
        assert_eq!(names("db.", 5), ["db."]);
    }

    #[test]
    fn address_families_alternate() {
        let (a, b, c) =
            ("::1".parse().unwrap(), "::2".parse().unwrap(), "1.1.1.1".parse().unwrap());
        assert_eq!(interleave(vec![a, b], vec![c]), vec![a, c, b]);
    }

    #[test]
    fn zone_contains_its_name_and_subdomains_only() {
        let own = "127.0.0.1:5353".parse().unwrap();
        let usual = "9.9.9.9:53".parse().unwrap();
        let resolver =
            Resolver::new(Nameservers::Given(vec![usual]), vec![("corp.example".to_owned(), own)]);
        for inside in ["corp.example", "a.b.CORP.example", "corp.example."] {
            assert_eq!(resolver.servers(inside), [own], "{inside}");
        }
        for outside in ["notcorp.example", "example", "corp.example.org", "é"] {
            assert_eq!(resolver.servers(outside), [usual], "{outside}");
        }
    }

    #[test]
    fn localhost_and_its_subdomains_are_local() {
        assert!(is_localhost("localhost") && is_localhost("api.LOCALHOST"));
        assert!(!is_localhost("localhost.example.com"));
    }
}
