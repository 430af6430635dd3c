//! The number of header lines to read of a response. With an explicit limit, hyper initialises that
//! many lines before it parses, which takes longer than parsing a usual response. Without one it
//! uses its own default.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use url::{Position, Url};

use crate::limits::{HEAD_LINES, HEAD_LINES_USUAL, LARGE_HEADER_HOSTS};

/// Limit of header lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeaderLimit {
    /// [`HEAD_LINES_USUAL`].
    Usual,
    /// [`HEAD_LINES`].
    Large,
}

/// Hosts that sent more than the usual number of lines.
#[derive(Default)]
pub(crate) struct LargeHeaderHosts {
    are_any: AtomicBool,
    hosts: Mutex<HashSet<String>>,
}

impl HeaderLimit {
    /// Returns the limit as a number.
    pub(crate) const fn lines(self) -> usize {
        match self {
            Self::Usual => HEAD_LINES_USUAL,
            Self::Large => HEAD_LINES,
        }
    }
}

impl LargeHeaderHosts {
    /// Returns the limit for this URL's host.
    pub(crate) fn limit(&self, url: &Url) -> HeaderLimit {
        if !self.are_any.load(Ordering::Relaxed) {
            return HeaderLimit::Usual;
        }
        let hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if hosts.contains(host(url)) { HeaderLimit::Large } else { HeaderLimit::Usual }
    }

    /// Remembers that this URL's host needs more. Clears the set when it is full.
    pub(crate) fn insert(&self, url: &Url) {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if hosts.len() >= LARGE_HEADER_HOSTS {
            hosts.clear();
        }
        hosts.insert(host(url).to_owned());
        self.are_any.store(true, Ordering::Relaxed);
    }
}

fn host(url: &Url) -> &str {
    &url[Position::BeforeHost..Position::AfterPort]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(host: &str) -> Url {
        Url::parse(&format!("https://{host}/")).unwrap()
    }

    #[test]
    fn only_learned_host_gets_larger_limit() {
        let heads = LargeHeaderHosts::default();
        assert_eq!(heads.limit(&url("long.example.com")), HeaderLimit::Usual);
        heads.insert(&url("long.example.com"));
        assert_eq!(heads.limit(&url("long.example.com")), HeaderLimit::Large);
        assert_eq!(heads.limit(&url("example.com")), HeaderLimit::Usual);
        assert_eq!(heads.limit(&url("long.example.com:8443")), HeaderLimit::Usual);
    }

    #[test]
    fn full_set_of_hosts_is_cleared() {
        let heads = LargeHeaderHosts::default();
        for number in 0..=LARGE_HEADER_HOSTS {
            heads.insert(&url(&format!("h{number}.example.com")));
        }
        assert_eq!(heads.hosts.lock().unwrap().len(), 1);
        let latest = url(&format!("h{LARGE_HEADER_HOSTS}.example.com"));
        assert_eq!(heads.limit(&latest), HeaderLimit::Large);
    }
}
