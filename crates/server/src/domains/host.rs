//! Reads the host name of a request in the form of the table: in A-labels and lower case, without
//! port and final dot.

use http::header::HOST;
use http::{HeaderMap, HeaderName, Request};
use rules::DomainName;

const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

/// Returns the host name of a request, or `None` for an address or an invalid name. `X-Forwarded-Host`
/// takes precedence if the request came from a `trusted` proxy.
pub(super) fn requested_host<B>(request: &Request<B>, trusted: bool) -> Option<String> {
    let forwarded = trusted.then(|| first(request.headers(), &FORWARDED_HOST)).flatten();
    // HTTP/2 and requests in absolute form have the name in the URI.
    let authority = request.uri().authority().map(http::uri::Authority::as_str);
    let given = forwarded.or(authority).or_else(|| first(request.headers(), &HOST))?;
    name(given)
}

/// Returns the first name in a header. The others belong to proxies on the way.
fn first<'h>(headers: &'h HeaderMap, header: &HeaderName) -> Option<&'h str> {
    let value = headers.get(header)?.to_str().ok()?;
    value.split(',').next().map(str::trim).filter(|value| !value.is_empty())
}

fn name(authority: &str) -> Option<String> {
    let host = match authority.rsplit_once(':') {
        // A final bracket belongs to an IPv6 address.
        Some((host, port)) if !port.ends_with(']') => host,
        _ => authority,
    };
    let is_plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
    if host.bytes().all(is_plain) && !host.ends_with('.') {
        // Nearly all names are in this form. Invalid ones match no entry of the table.
        return (!host.is_empty()).then(|| host.to_owned());
    }
    DomainName::parse(host).ok().map(|name| name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requested(uri: &str, headers: &[(&'static str, &str)], trusted: bool) -> Option<String> {
        let mut request = Request::get(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        requested_host(&request.body(()).unwrap(), trusted)
    }

    #[test]
    fn host_is_normalized_without_port() {
        for (host, expected) in [
            ("status.example.com", Some("status.example.com")),
            ("Status.Example.com:8443", Some("status.example.com")),
            ("status.example.com.", Some("status.example.com")),
            ("xn--bcher-kva.example", Some("xn--bcher-kva.example")),
            ("[2001:db8::7]:443", None),
            ("[2001:db8::7]", None),
            ("", None),
            ("a b", None),
        ] {
            assert_eq!(requested("/", &[("host", host)], false).as_deref(), expected, "{host}");
        }
        assert_eq!(
            requested("http://a.example/x", &[("host", "b.example")], false).unwrap(),
            "a.example"
        );
        assert_eq!(requested("/", &[], false), None);
    }

    // issue 7: "or behind a trusted proxy"
    #[test]
    fn forwarded_host_needs_a_trusted_proxy() {
        let headers = [("host", "inner:8080"), ("x-forwarded-host", "status.example.com, inner")];
        assert_eq!(requested("/", &headers, true).unwrap(), "status.example.com");
        assert_eq!(requested("/", &headers, false).unwrap(), "inner");
        assert_eq!(
            requested("/", &[("host", "a.example"), ("x-forwarded-host", "")], true).unwrap(),
            "a.example"
        );
    }
}
