//! Origins of browsers that may send requests. Pages of other sites may not, so that a name which an attacker
//! points to this server (DNS rebinding) opens nothing. Programs send no `Origin`.
//!
//! The host is not compared with a list: browsers always send their origin with a POST, other methods are
//! refused, and proxies often replace the host.

use std::net::IpAddr;

use http::header::ORIGIN;
use http::{HeaderMap, HeaderValue, Uri};

/// Origins that may send requests: those of this machine, and the server's own.
#[derive(Clone, Debug)]
pub(crate) struct Origins {
    own: Option<Uri>,
}

impl Origins {
    /// Creates the list for a server with this public URL.
    pub(crate) fn new(public_url: Option<&str>) -> Self {
        Self { own: public_url.and_then(|url| url.parse().ok()) }
    }

    /// Returns the refused origin of a request.
    pub(crate) fn refused<'h>(&self, headers: &'h HeaderMap) -> Option<&'h HeaderValue> {
        headers.get_all(ORIGIN).iter().find(|origin| !self.includes(origin))
    }

    fn includes(&self, origin: &HeaderValue) -> bool {
        let origin = origin.to_str().ok().and_then(|text| text.parse::<Uri>().ok());
        let Some(origin) = origin else { return false };
        let is_own = self.own.as_ref().is_some_and(|own| place(own) == place(&origin));
        is_own || (origin.scheme().is_some() && origin.host().is_some_and(is_loopback))
    }
}

/// Returns what distinguishes origins (RFC 6454 §4).
fn place(uri: &Uri) -> (Option<&str>, Option<String>, Option<u16>) {
    let scheme = uri.scheme_str();
    let usual = match scheme {
        Some("http") => Some(80),
        Some("https") => Some(443),
        Some(_) | None => None,
    };
    (scheme, uri.host().map(str::to_ascii_lowercase), uri.port_u16().or(usual))
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_and_local_origins_are_accepted() {
        let origins = Origins::new(Some("https://Aloft.example.com/base"));
        for (origin, expected) in [
            ("https://aloft.example.com", true),
            ("https://aloft.example.com:443", true),
            ("http://localhost:6274", true),
            ("http://127.0.0.1:8080", true),
            ("http://[::1]:8080", true),
            ("http://aloft.example.com", false),
            ("https://aloft.example.com:8443", false),
            ("https://aloft.example.com.evil.example", false),
            ("https://evil.example", false),
            ("http://localhost.evil.example", false),
            ("localhost", false),
            ("null", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(ORIGIN, HeaderValue::from_static(origin))]);
            assert_eq!(origins.refused(&headers).is_none(), expected, "{origin}");
        }
        assert!(origins.refused(&HeaderMap::new()).is_none());
    }

    #[test]
    fn server_without_public_url_accepts_local_origins_only() {
        let origins = Origins::new(None);
        let headers = |origin| HeaderMap::from_iter([(ORIGIN, HeaderValue::from_static(origin))]);
        assert!(origins.refused(&headers("http://localhost")).is_none());
        assert!(origins.refused(&headers("https://aloft.example.com")).is_some());
    }
}
