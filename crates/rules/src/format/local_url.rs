//! URLs that only this machine reaches.

/// Beginnings of such URLs.
const LOCAL: [&str; 3] = ["http://localhost:", "http://127.", "http://[::1]:"];

/// Returns whether other machines cannot reach a URL, because it names this one.
pub fn is_local_url(url: &str) -> bool {
    LOCAL.iter().any(|local| url.starts_with(local))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_urls_are_local() {
        for (url, is_local) in [
            ("http://localhost:8080", true),
            ("http://127.0.0.1:8080/rpc", true),
            ("http://[::1]:8080", true),
            ("http://localhost.example.com", false),
            ("https://aloft.example.com", false),
            ("http://10.0.0.7:8080", false),
        ] {
            assert_eq!(is_local_url(url), is_local, "{url}");
        }
    }
}
