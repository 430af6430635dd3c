//! Host of a request (RFC 9112 §3.2, RFC 9113 §8.3.1): named once and validly. Proxies and caches in front
//! of the server may choose another one of several.

use axum::extract::Request;
use http::header::HOST;
use http::uri::Authority;
use http::{HeaderValue, Version};

/// Returns whether a request names its host as its version requires: HTTP/1.1 in exactly one header,
/// HTTP/2 in a field of its own, which a header may repeat.
pub(super) fn is_named_once(request: &Request) -> bool {
    let mut headers = request.headers().get_all(HOST).iter();
    let (first, second) = (headers.next(), headers.next());
    if second.is_some() {
        return false;
    }
    let Some(host) = first else { return request.version() != Version::HTTP_11 };
    let authority = request.uri().authority().filter(|_| request.version() >= Version::HTTP_2);
    is_valid(host)
        && authority.is_none_or(|it| it.as_str().as_bytes().eq_ignore_ascii_case(host.as_bytes()))
}

/// Returns whether a header is a host with an optional port. It may be empty.
fn is_valid(host: &HeaderValue) -> bool {
    let bytes = host.as_bytes();
    bytes.is_empty()
        || (!bytes.iter().any(|byte| b"@,".contains(byte)) && Authority::try_from(bytes).is_ok())
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn is_accepted(version: Version, uri: &str, hosts: &[&'static str]) -> bool {
        let request = Request::get(uri).version(version);
        let request = hosts.iter().fold(request, |request, host| request.header(HOST, *host));
        is_named_once(&request.body(Body::empty()).unwrap())
    }

    #[test]
    fn http_1_requires_one_valid_host() {
        for (host, expected) in [
            ("a.example", true),
            ("a.example:8080", true),
            ("[2001:db8::1]:80", true),
            ("", true),
            ("a.example, b.example", false),
            ("user@a.example", false),
            ("<script>", false),
            ("a b", false),
            ("a/b", false),
        ] {
            assert_eq!(is_accepted(Version::HTTP_11, "/", &[host]), expected, "{host}");
        }
        assert!(!is_accepted(Version::HTTP_11, "/", &[]));
        assert!(is_accepted(Version::HTTP_10, "/", &[]));
        for version in [Version::HTTP_10, Version::HTTP_11, Version::HTTP_2] {
            assert!(!is_accepted(version, "/", &["a", "a"]), "{version:?}");
        }
    }

    #[test]
    fn http_2_host_equals_its_authority() {
        let uri = "http://a.example:80/";
        for (hosts, expected) in
            [(&[][..], true), (&["A.example:80"], true), (&["b.example"], false), (&[""], false)]
        {
            assert_eq!(is_accepted(Version::HTTP_2, uri, hosts), expected, "{hosts:?}");
        }
        assert!(is_accepted(Version::HTTP_11, uri, &["b.example"]), "the absolute form decides");
    }
}
