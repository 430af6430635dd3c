//! Client of the services, for the CLI, the Terraform provider and tests. It uses Connect with
//! protobuf. Callers decide about retries.

use std::error::Error as _;
use std::time::Duration;

use http::{HeaderValue, Uri};
use rules::{Secret, limits};

use super::base_url::base_uri;
use super::{Error, Network, Transport, UnusableClient, Whoami, whoami};

/// Timeout of one call, including the connection: that of a trigger, which waits for its checks.
pub const CALL_TIMEOUT: Duration = limits::TRIGGER_ANSWERED_WITHIN;
/// Maximum size of a response, in bytes, before and after decompression. A page of a list has at
/// most `LIST_BYTES_MAX`, or one object that a message of `MESSAGE_BYTES_MAX` created. Escapes in
/// JSON make either up to six times as large. The rest is a reserve for outputs; the limit protects
/// callers from a server that is not the service.
pub const RESPONSE_BYTES_MAX: usize = 16 * limits::MESSAGE_BYTES_MAX;

/// Client of the services at one address, with one key. Cheap to clone; clones share connections.
///
/// A response is `client.send(request).await?`; the type of the request selects the method. An error
/// is the [`super::Error`] that the server sent, or `unavailable` if there was no response.
#[derive(Clone)]
pub struct Client {
    pub(super) transport: Transport,
    pub(super) base: Uri,
    pub(super) key: HeaderValue,
    pub(super) limits: CallLimits,
}

/// Limits of a call with messages. Only tests use others than the defaults.
#[derive(Clone, Copy)]
pub(super) struct CallLimits {
    pub(super) timeout: Duration,
    pub(super) response_bytes_max: usize,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self { timeout: CALL_TIMEOUT, response_bytes_max: RESPONSE_BYTES_MAX }
    }
}

impl Client {
    /// Creates a client of the services at `base_url` (http or https, usually with the path `/rpc`)
    /// that calls with `key`. Connects on the first call, without a proxy.
    pub fn new(base_url: &str, key: &Secret<String>) -> Result<Self, UnusableClient> {
        Self::with_network(&Network::default(), base_url, key)
    }

    /// Like [`Client::new`], with the proxies and trusted certificates of `network`.
    pub fn with_network(
        network: &Network,
        base_url: &str,
        key: &Secret<String>,
    ) -> Result<Self, UnusableClient> {
        let unusable = || UnusableClient::BaseUrl { given: base_url.to_owned() };
        let base = base_uri(base_url).ok_or_else(unusable)?;
        let transport = Transport::new(&base, network)?;
        if !is_sendable_key(key) {
            return Err(UnusableClient::Key);
        }
        let mut header = HeaderValue::from_str(key.expose()).map_err(|_| UnusableClient::Key)?;
        header.set_sensitive(true);
        Ok(Self { transport, base, key: header, limits: CallLimits::default() })
    }

    /// Returns the identity of the key: its owner and its scopes (spec §4.1).
    pub async fn whoami(&self) -> Result<Whoami, Error> {
        whoami::request(&self.transport, &self.base, &self.key).await
    }
}

/// Returns whether a key has only characters that every server reads alike in a header: visible
/// ASCII and spaces (RFC 9110 §5.5).
pub fn is_sendable_key(key: &Secret<String>) -> bool {
    key.expose().bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Returns whether a call failed before it was sent: connection refused, unknown host, or untrusted
/// certificate. Such a call had no effect.
pub fn is_unsent(error: &Error) -> bool {
    let mut cause = error.source();
    while let Some(it) = cause {
        if let Some(failed) = it.downcast_ref::<hyper_util::client::legacy::Error>() {
            return failed.is_connect();
        }
        cause = it.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(base_url: &str, key: &str) -> Option<UnusableClient> {
        Client::new(base_url, &Secret::new(key.to_owned())).err()
    }

    #[test]
    fn only_http_and_https_urls_are_accepted() {
        for usable in [
            super::super::DEFAULT_BASE_URL,
            "https://example.com",
            "http://[::1]:80/a/b",
            "HTTP://example.com",
        ] {
            assert_eq!(made(usable, "key"), None, "{usable}");
        }
        for given in ["", "example.com", "ftp://example.com", "/rpc", "http://", "http://a b"] {
            let unusable = UnusableClient::BaseUrl { given: given.to_owned() };
            assert_eq!(made(given, "key"), Some(unusable), "{given}");
        }
    }

    #[test]
    fn internationalised_host_name_is_encoded() {
        let client = Client::new("https://münchen.example/rpc/é", &Secret::new("key".to_owned()));
        assert_eq!(client.unwrap().base, "https://xn--mnchen-3ya.example/rpc/%C3%A9");
    }

    #[test]
    fn scheme_is_read_in_any_case() {
        for (given, base) in [
            ("HTTP://example.com/rpc", "http://example.com/rpc"),
            ("HttpS://EXAMPLE.com", "https://example.com"),
            ("HTTPS://münchen.example", "https://xn--mnchen-3ya.example"),
        ] {
            let read = base_uri(given).unwrap();
            assert_eq!(read, base, "{given}");
            assert_eq!(read.scheme_str(), base.split_once(':').map(|(scheme, _)| scheme));
        }
    }

    #[test]
    fn key_with_line_break_is_refused_and_hidden() {
        let unusable = made(super::super::DEFAULT_BASE_URL, "secret\nvalue").unwrap();
        assert_eq!(unusable, UnusableClient::Key);
        assert_eq!(made(super::super::DEFAULT_BASE_URL, "schlüssel"), Some(UnusableClient::Key));
        assert!(!unusable.to_string().contains("secret"));
    }
}
