//! DNS lookups for the server itself: aliases, addresses of both families and TXT records, resolved
//! like those of checks. Callers compare them with their expectations.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use domain::check::{Failure, FailureKind};
use hickory_proto::op::ResponseCode;
use hickory_proto::rr::{RData, RecordType};
use tokio::time::timeout;

use crate::resolve::{Lookup, Resolver, absolute, look_up, unresolved};
use crate::settings::Settings;

/// Resolves names. Clones share all state; creating one does no I/O.
#[derive(Clone)]
pub struct DnsLookup(Arc<Resolver>);

/// Result of a lookup. At least one of the two lists is not empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolution {
    /// Names in the alias chain, in order, in lower case and without trailing dots.
    pub aliases: Vec<String>,
    /// Addresses at the end of the chain, IPv6 first.
    pub addresses: Vec<IpAddr>,
}

impl DnsLookup {
    /// Creates a resolver with the DNS settings of checks.
    pub fn new(settings: &Settings) -> Self {
        let (nameservers, zones) = (settings.nameservers.clone(), settings.zones.clone());
        Self(Arc::new(Resolver::new(nameservers, zones)))
    }

    /// Resolves `name` (as A-labels) without the search list. Fails with a human-readable reason if
    /// it cannot be resolved or does not exist.
    pub async fn resolve(&self, name: &str, limit: Duration) -> Result<Resolution, Failure> {
        if let Some(addresses) = self.0.known_addresses(name) {
            return Ok(Resolution { aliases: Vec::new(), addresses });
        }
        timeout(limit, self.query(name)).await.unwrap_or_else(|_| {
            let detail = format!("no nameserver responded within {limit:?} for `{name}`");
            Err(Failure::new(FailureKind::Timeout, detail))
        })
    }

    /// Returns the TXT records at `name` (as A-labels), each with its strings joined (RFC 7208
    /// §3.3). Returns an empty list if the name does not exist.
    pub async fn txt_records(&self, name: &str, limit: Duration) -> Result<Vec<String>, Failure> {
        let servers: Vec<SocketAddr> = self.0.servers(name);
        let asked = absolute(name)?;
        let looking = look_up(&servers, &asked, RecordType::TXT);
        let lookup = timeout(limit, looking).await.unwrap_or_else(|_| {
            let detail = format!("no nameserver responded within {limit:?} for `{name}`");
            Err(Failure::new(FailureKind::Timeout, detail))
        })?;
        let is_answer = [ResponseCode::NoError, ResponseCode::NXDomain].contains(&lookup.rcode);
        if !is_answer {
            return Err(unresolved(name, Some(Ok(lookup)), None));
        }
        Ok(lookup.records.iter().filter_map(|record| text(&record.data)).collect())
    }

    async fn query(&self, name: &str) -> Result<Resolution, Failure> {
        let servers: Vec<SocketAddr> = self.0.servers(name);
        let asked = absolute(name)?;
        let (v6, v4) = tokio::join!(
            look_up(&servers, &asked, RecordType::AAAA),
            look_up(&servers, &asked, RecordType::A)
        );
        let found = || [&v6, &v4].into_iter().filter_map(|found| found.as_ref().ok());
        let mut addresses: Vec<IpAddr> = found()
            .flat_map(|lookup| &lookup.records)
            .filter_map(|record| record.data.ip_addr())
            .collect();
        addresses.dedup();
        let aliases = found().map(aliases).max_by_key(Vec::len).unwrap_or_default();
        if addresses.is_empty() && aliases.is_empty() {
            return Err(unresolved(name, Some(v4), Some(v6)));
        }
        Ok(Resolution { aliases, addresses })
    }
}

impl std::fmt::Debug for DnsLookup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Names")
    }
}

/// Returns the text of a TXT record.
fn text(data: &RData) -> Option<String> {
    let RData::TXT(txt) = data else { return None };
    let joined = txt.txt_data.concat();
    Some(String::from_utf8_lossy(&joined).into_owned())
}

fn aliases(lookup: &Lookup) -> Vec<String> {
    let written = |name: &hickory_proto::rr::Name| {
        name.to_lowercase().to_ascii().trim_end_matches('.').to_owned()
    };
    lookup.aliases.iter().map(written).collect()
}

#[cfg(test)]
mod tests {
    use rules::RecordKind;
    use testkit::target::{Code, DnsReply, DnsTarget};

    use super::*;
    use crate::settings::Nameservers;

    const LIMIT: Duration = Duration::from_secs(30);

    fn names(dns: &DnsTarget) -> DnsLookup {
        let nameservers = Nameservers::Given(vec![dns.address()]);
        DnsLookup::new(&Settings { nameservers, ..Settings::default() })
    }

    #[tokio::test]
    async fn missing_name_has_no_texts() {
        let dns = DnsTarget::start().await;
        dns.record("_aloft.a.test", RecordKind::Txt, "one").record(
            "_aloft.a.test",
            RecordKind::Txt,
            "two",
        );
        dns.reply("_aloft.ill.test", RecordKind::Txt, DnsReply::Code(Code::ServFail));
        let names = names(&dns);
        let mut found = names.txt_records("_aloft.a.test", LIMIT).await.unwrap();
        found.sort();
        assert_eq!(found, ["one", "two"]);
        assert_eq!(names.txt_records("_aloft.b.test", LIMIT).await.unwrap(), Vec::<String>::new());
        assert!(names.txt_records("_aloft.ill.test", LIMIT).await.is_err());
    }

    #[tokio::test]
    async fn name_resolves_through_aliases_to_both_families() {
        let dns = DnsTarget::start().await;
        dns.record("status.acme.test", RecordKind::Cname, "Pages.Example.test")
            .address_of("pages.example.test", "192.0.2.7")
            .address_of("pages.example.test", "2001:db8::7");
        let leads = names(&dns).resolve("status.acme.test", LIMIT).await.unwrap();
        assert_eq!(leads.aliases, ["pages.example.test"]);
        let addresses: [IpAddr; 2] = ["2001:db8::7".parse().unwrap(), "192.0.2.7".parse().unwrap()];
        assert_eq!(leads.addresses, addresses);
    }

    #[tokio::test]
    async fn lookup_failures_are_distinguished() {
        let dns = DnsTarget::start().await;
        dns.record("alias.test", RecordKind::Cname, "nowhere.test");
        dns.reply_addresses("ill.test", &DnsReply::Code(Code::ServFail));
        dns.reply_addresses("mute.test", &DnsReply::Silence);
        let names = names(&dns);
        assert_eq!(names.resolve("alias.test", LIMIT).await.unwrap().aliases, ["nowhere.test"]);
        let refusal = async |name: &str, limit| names.resolve(name, limit).await.unwrap_err();
        assert_eq!(refusal("nowhere.test", LIMIT).await.kind, FailureKind::NameNotFound);
        assert_eq!(refusal("ill.test", LIMIT).await.kind, FailureKind::NameUnresolved);
        assert_eq!(refusal("mute.test", Duration::ZERO).await.kind, FailureKind::Timeout);
    }

    #[tokio::test]
    async fn localhost_resolves_without_a_query() {
        let dns = DnsTarget::start().await;
        let leads = names(&dns).resolve("status.localhost", LIMIT).await.unwrap();
        assert!(leads.addresses.iter().all(IpAddr::is_loopback) && leads.addresses.len() == 2);
        assert!(dns.asked().is_empty());
    }
}
