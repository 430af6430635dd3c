//! Proxy of a connection, from environment variables, and failures to connect through it.
//! Connecting belongs to `transport`.

use std::error::Error as StdError;
use std::fmt;

use http::{HeaderValue, Uri, uri};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use rules::Secret;

use super::bypass::Bypass;
use crate::rpc::{Error, UnusableClient};

const HTTPS_VARIABLES: [&str; 2] = ["HTTPS_PROXY", "https_proxy"];
const HTTP_VARIABLES: [&str; 2] = ["HTTP_PROXY", "http_proxy"];
const BYPASS_VARIABLES: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// Way out if a proxy rejects the credentials.
const CREDENTIALS: &str = "it requires credentials, as in http://USER:PASSWORD@HOST:PORT";

/// Proxies of the environment.
#[derive(Clone, Debug, Default)]
pub(super) struct Proxies {
    https: Option<Setting>,
    http: Option<Setting>,
    bypass: Bypass,
}

/// Variable with the URL of a proxy, which may contain a password.
#[derive(Clone, Debug)]
struct Setting {
    variable: &'static str,
    url: Secret<String>,
}

/// Proxy that a client uses.
#[derive(Clone, Debug)]
pub(super) struct Proxy {
    variable: &'static str,
    intercept: Intercept,
}

impl Proxies {
    /// Reads the variables. The first of each pair that is set wins.
    pub(super) fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let setting = |names: [&'static str; 2]| {
            names.into_iter().find_map(|name| {
                let url = Secret::new(variable(name)?.trim().to_owned());
                Some(Setting { variable: name, url })
            })
        };
        let bypass = BYPASS_VARIABLES.into_iter().find_map(&variable).unwrap_or_default();
        Self {
            https: setting(HTTPS_VARIABLES),
            http: setting(HTTP_VARIABLES),
            bypass: Bypass::parse(&bypass),
        }
    }

    /// Returns the proxy for a base URL, or `None` for a direct connection.
    ///
    /// # Errors
    ///
    /// Fails if the variable does not contain the URL of an HTTP proxy.
    pub(super) fn proxy_for(&self, base: &Uri) -> Result<Option<Proxy>, UnusableClient> {
        let is_https = base.scheme() == Some(&uri::Scheme::HTTPS);
        let setting = if is_https { &self.https } else { &self.http };
        let port = base.port_u16().unwrap_or(if is_https { 443 } else { 80 });
        match setting {
            Some(setting) if !self.bypass.matches(base.host().unwrap_or_default(), port) => {
                setting.proxy(base).map(Some)
            }
            _ => Ok(None),
        }
    }
}

impl Setting {
    fn proxy(&self, base: &Uri) -> Result<Proxy, UnusableClient> {
        let variable = self.variable;
        let matcher = Matcher::builder().all(self.url.expose().as_str()).build();
        let intercept = matcher.intercept(base).filter(|it| {
            // The matcher accepts SOCKS too, which is a different protocol.
            let scheme = it.uri().scheme();
            scheme == Some(&uri::Scheme::HTTP) || scheme == Some(&uri::Scheme::HTTPS)
        });
        let intercept = intercept.ok_or(UnusableClient::Proxy { variable })?;
        Ok(Proxy { variable, intercept })
    }
}

impl Proxy {
    /// Returns the URL of the proxy.
    pub(super) fn uri(&self) -> &Uri {
        self.intercept.uri()
    }

    /// Returns the value of `proxy-authorization` if the URL has a user.
    pub(super) fn authorization(&self) -> Option<&HeaderValue> {
        self.intercept.basic_auth()
    }

    /// Returns the failure to connect through this proxy. Its cause is the innermost one, which is
    /// the most specific.
    pub(super) fn failure(&self, error: &(dyn StdError + 'static)) -> ProxyFailure {
        let mut cause = error;
        while let Some(deeper) = cause.source() {
            cause = deeper;
        }
        let text = cause.to_string();
        let why = text.strip_prefix("tunnel error: ").unwrap_or(&text);
        let why = match why {
            "proxy authorization required" => CREDENTIALS,
            "unsuccessful" => "it refused the tunnel",
            why => why,
        };
        let authority = self.uri().authority().map_or("", uri::Authority::as_str);
        ProxyFailure {
            proxy: format!("{}://{authority}", self.uri().scheme_str().unwrap_or("http")),
            variable: self.variable,
            why: why.to_owned(),
        }
    }
}

/// Failure to connect through a proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyFailure {
    /// URL of the proxy, without credentials.
    pub proxy: String,
    /// Name of the variable with the proxy.
    pub variable: &'static str,
    /// Cause of the failure.
    pub why: String,
}

impl ProxyFailure {
    /// Returns whether the proxy requires credentials or rejected those given.
    pub fn needs_credentials(&self) -> bool {
        self.why == CREDENTIALS
    }
}

impl fmt::Display for ProxyFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { proxy, variable, why } = self;
        write!(f, "failed to connect through the proxy {proxy} (from {variable}): {why}")
    }
}

impl StdError for ProxyFailure {}

/// Returns the proxy failure that caused a failed call.
pub fn proxy_failure(error: &Error) -> Option<&ProxyFailure> {
    let mut cause = error.source();
    while let Some(it) = cause {
        if let Some(failure) = it.downcast_ref() {
            return Some(failure);
        }
        cause = it.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the proxy for a base URL with these variables.
    fn proxy(variables: &[(&str, &str)], base: &str) -> Result<Option<Proxy>, UnusableClient> {
        let value = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Proxies::from_variables(value).proxy_for(&base.parse().unwrap())
    }

    fn format_proxy(variables: &[(&str, &str)], base: &str) -> String {
        match proxy(variables, base) {
            Ok(Some(proxy)) => {
                let authorization = proxy.authorization().map(|it| it.to_str().unwrap());
                let credentials = authorization.map(|it| format!(" {it}")).unwrap_or_default();
                format!("{} {}{credentials}", proxy.variable, proxy.uri())
            }
            Ok(None) => "direct".to_owned(),
            Err(unusable) => unusable.to_string(),
        }
    }

    #[test]
    fn scheme_of_the_base_chooses_the_variable() {
        let both = [("HTTPS_PROXY", "http://a.test:3128"), ("HTTP_PROXY", "b.test:8080")];
        assert_eq!(
            format_proxy(&both, "https://example.com/rpc"),
            "HTTPS_PROXY http://a.test:3128/"
        );
        assert_eq!(format_proxy(&both, "http://example.com/rpc"), "HTTP_PROXY http://b.test:8080/");
        assert_eq!(format_proxy(&both[..1], "http://example.com"), "direct");
        assert_eq!(format_proxy(&both, "http://127.0.0.1:8080/rpc"), "direct");
    }

    #[test]
    fn upper_case_wins_over_lower_case() {
        let both = [("https_proxy", "http://lower.test"), ("HTTPS_PROXY", "http://upper.test")];
        let base = "https://example.com";
        assert_eq!(format_proxy(&both, base), "HTTPS_PROXY http://upper.test/");
        assert_eq!(format_proxy(&both[..1], base), "https_proxy http://lower.test/");
    }

    #[test]
    fn bypassed_hosts_are_reached_directly() {
        for (name, base, expected) in [
            ("NO_PROXY", "https://api.example.com", "direct"),
            ("no_proxy", "https://api.example.com", "direct"),
            ("NO_PROXY", "https://example.org", "HTTPS_PROXY http://a.test:3128/"),
            ("NO_PROXY", "https://internal.test:8443", "direct"),
            ("NO_PROXY", "https://internal.test", "HTTPS_PROXY http://a.test:3128/"),
        ] {
            let set =
                [("HTTPS_PROXY", "http://a.test:3128"), (name, "example.com,internal.test:8443")];
            assert_eq!(format_proxy(&set, base), expected, "{name} {base}");
        }
    }

    #[test]
    fn credentials_are_decoded_and_hidden() {
        let set = [("HTTPS_PROXY", "http://ada:p%40ss@a.test:3128")];
        let base = "https://example.com";
        // ada:p@ss
        assert_eq!(format_proxy(&set, base), "HTTPS_PROXY http://a.test:3128/ Basic YWRhOnBAc3M=");
        let known = proxy(&set, base).unwrap().unwrap();
        let text = format!("{known:?} {}", known.failure(&std::io::Error::other("reset")));
        assert!(!text.contains("ada") && !text.contains("ss@"), "{text}");
    }

    #[test]
    fn malformed_proxy_is_refused_without_its_value() {
        for url in ["http://", "socks5://ada:hunter2@a.test", "ftp://a.test", "http://a b"] {
            let text = format_proxy(&[("HTTP_PROXY", url)], "http://example.com");
            assert!(text.starts_with("`HTTP_PROXY` is not the URL of an HTTP proxy"), "{text}");
            assert!(!text.contains("hunter2"), "{text}");
        }
    }
}
