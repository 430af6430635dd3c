//! URLs of NATS servers. TLS is required unless a server is on loopback or `?tls=off` says that the
//! network is trusted, because jobs contain the secrets of monitors.

use std::fmt;
use std::net::IpAddr;

/// URLs of the servers of one NATS system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NatsUrls(Vec<ServerUrl>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct ServerUrl {
    given: String,
    /// As the client takes it: with `tls://` if TLS is required.
    used: String,
}

/// Error for a text that is not a list of URLs of NATS.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidNatsUrl {
    #[error("must be URLs such as nats://nats.example.com:4222, joined by commas")]
    Malformed,
    #[error("must contain no user and no password: put them into the credentials file")]
    Credentials,
}

impl NatsUrls {
    /// Parses URLs that commas separate.
    ///
    /// # Errors
    ///
    /// Fails if there is none, if one has another scheme, a path or a query other than `tls=off`, or if
    /// one contains a password. The errors do not repeat the text.
    pub fn parse(text: &str) -> Result<Self, InvalidNatsUrl> {
        let urls = text.split(',').map(str::trim).filter(|it| !it.is_empty());
        let urls = urls.map(server).collect::<Result<Vec<_>, _>>()?;
        if urls.is_empty() { Err(InvalidNatsUrl::Malformed) } else { Ok(Self(urls)) }
    }

    /// Returns the URLs for the client.
    pub(super) fn used(&self) -> Vec<String> {
        self.0.iter().map(|it| it.used.clone()).collect()
    }
}

impl fmt::Display for NatsUrls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given: Vec<&str> = self.0.iter().map(|it| it.given.as_str()).collect();
        f.write_str(&given.join(","))
    }
}

/// Parses one URL.
fn server(given: &str) -> Result<ServerUrl, InvalidNatsUrl> {
    let (scheme, rest) = given.split_once("://").ok_or(InvalidNatsUrl::Malformed)?;
    if rest.contains('@') {
        return Err(InvalidNatsUrl::Credentials);
    }
    let (authority, is_plain) = match rest.split_once('?') {
        Some((authority, "tls=off")) => (authority, true),
        Some(_) => return Err(InvalidNatsUrl::Malformed),
        None => (rest, false),
    };
    let authority = authority.trim_end_matches('/');
    let uri: http::Uri = authority.parse().map_err(|_| InvalidNatsUrl::Malformed)?;
    let host = uri.host().filter(|host| !host.is_empty() && uri.path() == authority_path(&uri));
    let host = host.ok_or(InvalidNatsUrl::Malformed)?;
    let used = match scheme {
        "tls" if !is_plain => format!("tls://{authority}"),
        "nats" if is_plain || is_loopback(host) => format!("nats://{authority}"),
        "nats" => format!("tls://{authority}"),
        _ => return Err(InvalidNatsUrl::Malformed),
    };
    Ok(ServerUrl { given: given.to_owned(), used })
}

/// Returns the path that a URI without a path has.
fn authority_path(uri: &http::Uri) -> &'static str {
    if uri.scheme().is_some() { "/" } else { "" }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_is_required_beyond_loopback() {
        for (text, expected) in [
            ("nats://127.0.0.1:4222", "nats://127.0.0.1:4222"),
            ("nats://localhost", "nats://localhost"),
            ("nats://[::1]:4222", "nats://[::1]:4222"),
            ("nats://nats.example.com:4222/", "tls://nats.example.com:4222"),
            ("nats://10.0.0.7:4222?tls=off", "nats://10.0.0.7:4222"),
            ("tls://127.0.0.1:4222", "tls://127.0.0.1:4222"),
            ("nats://a:1, nats://b:2?tls=off,", "tls://a:1,nats://b:2"),
        ] {
            let urls = NatsUrls::parse(text).unwrap();
            assert_eq!(urls.used().join(","), expected, "{text}");
            assert_eq!(NatsUrls::parse(&urls.to_string()), Ok(urls), "{text}");
        }
    }

    #[test]
    fn malformed_urls_are_rejected() {
        for text in [
            "",
            ",",
            "nats.example.com:4222",
            "http://nats.example.com",
            "nats://",
            "nats://a/b",
            "tls://a?tls=off",
            "nats://a?tls=on",
            "nats://a:b:c",
            "nats://a b",
        ] {
            assert_eq!(NatsUrls::parse(text), Err(InvalidNatsUrl::Malformed), "{text}");
        }
        let secret = NatsUrls::parse("nats://a:4222,nats://user:hunter2@b");
        assert_eq!(secret, Err(InvalidNatsUrl::Credentials));
    }
}
