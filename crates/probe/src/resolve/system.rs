//! The system's DNS configuration: `/etc/resolv.conf` and `/etc/hosts`, read on demand and cached
//! for some seconds.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;

use crate::limits::{DNS_SERVERS, SYSTEM_FILES_KEPT};

const RESOLV_CONF: &str = "/etc/resolv.conf";
const HOSTS: &str = "/etc/hosts";
const DNS_PORT: u16 = 53;

/// The files as last read.
#[derive(Default)]
pub(super) struct SystemFiles {
    last: Mutex<Option<(Instant, Arc<System>)>>,
}

/// Contents of the files.
#[derive(Debug, Default)]
pub(super) struct System {
    /// Nameservers in order.
    pub(super) nameservers: Vec<SocketAddr>,
    /// Suffixes for short names.
    pub(super) search: Vec<String>,
    /// A name with at least this many dots is not short.
    pub(super) ndots: usize,
    /// Addresses by name in lower case.
    pub(super) hosts: HashMap<String, Vec<IpAddr>>,
}

impl SystemFiles {
    /// Returns the contents, at most a few seconds old.
    pub(super) fn read(&self) -> Arc<System> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, system)) = &*last
            && at.elapsed() < SYSTEM_FILES_KEPT
        {
            return Arc::clone(system);
        }
        // Two small cached files every few seconds: not worth a blocking thread.
        let system = Arc::new(System::parse(
            &std::fs::read(RESOLV_CONF).unwrap_or_default(),
            &std::fs::read_to_string(HOSTS).unwrap_or_default(),
        ));
        *last = Some((Instant::now(), Arc::clone(&system)));
        system
    }
}

impl System {
    fn parse(resolv_conf: &[u8], hosts: &str) -> Self {
        let (config, _) = resolv_conf::Config::parse_with_errors(resolv_conf);
        let nameservers = config.get_nameservers_or_local().into_iter().take(DNS_SERVERS);
        Self {
            nameservers: nameservers.map(|ip| SocketAddr::new(ip.into(), DNS_PORT)).collect(),
            search: config.get_last_search_or_domain().cloned().collect(),
            ndots: config.ndots as usize,
            hosts: parse_hosts(hosts),
        }
    }
}

fn parse_hosts(text: &str) -> HashMap<String, Vec<IpAddr>> {
    let mut hosts: HashMap<String, Vec<IpAddr>> = HashMap::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or(line);
        let mut words = line.split_whitespace();
        let Some(address) = words.next().and_then(|word| word.parse().ok()) else { continue };
        for name in words {
            let known = hosts.entry(name.to_ascii_lowercase()).or_default();
            if !known.contains(&address) {
                known.push(address);
            }
        }
    }
    hosts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_files_are_parsed() {
        let system = System::parse(
            b"nameserver 10.0.0.2\nnameserver fd00::2\nsearch a.test b.test\noptions ndots:5\n",
            "127.0.0.1 localhost Me # the machine\n::1 localhost\nbad line\n",
        );
        insta::assert_debug_snapshot!((system.nameservers, system.search, system.ndots), @r#"
        (
            [
                10.0.0.2:53,
                [fd00::2]:53,
            ],
            [
                "a.test",
                "b.test",
            ],
            5,
        )
        "#);
        let local: Vec<IpAddr> = vec!["127.0.0.1".parse().unwrap(), "::1".parse().unwrap()];
        assert_eq!(system.hosts["localhost"], local);
        assert_eq!(system.hosts["me"], local[..1]);
    }

    #[test]
    fn missing_nameserver_defaults_to_localhost() {
        let system = System::parse(b"", "");
        let local: Vec<SocketAddr> =
            ["127.0.0.1:53", "[::1]:53"].map(|address| address.parse().unwrap()).into();
        assert_eq!(system.nameservers, local);
    }
}
