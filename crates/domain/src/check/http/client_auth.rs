//! Decides which servers a check presents its client certificate to. `probe` reads it.

use rules::Secret;
use rules::monitor::HttpCheck;
use url::Url;

use super::HttpPlan;

/// A certificate with its private key, both in PEM, as written.
#[derive(Debug)]
pub struct ClientIdentity {
    /// Certificates, that of the client first.
    pub certificate: String,
    pub key: Secret<String>,
}

/// Response to a server that asks for a client certificate.
#[derive(Clone, Copy, Debug)]
pub enum ClientAuth<'a> {
    /// The monitor has no certificate.
    None,
    /// The monitor has one for another origin than this.
    Withheld,
    /// A request of the server itself, such as a webhook, cannot have one.
    Unsupported,
    Present(&'a ClientIdentity),
}

impl ClientIdentity {
    /// Returns the identity of a check that has one.
    pub(super) fn of(check: &HttpCheck) -> Option<Self> {
        let (certificate, key) = check.client_certificate.clone().zip(check.client_key.clone())?;
        Some(Self { certificate, key: key.0 })
    }
}

impl HttpPlan {
    /// Returns what a server at this URL gets if it asks for a client certificate: only the origin of
    /// the monitor's own URL gets it, because a redirect is an answer of the target.
    pub fn client_auth(&self, url: &Url) -> ClientAuth<'_> {
        match &self.client_identity {
            None => ClientAuth::None,
            Some(identity) if url.scheme() == "https" && url.origin() == self.url.origin() => {
                ClientAuth::Present(identity)
            }
            Some(_) => ClientAuth::Withheld,
        }
    }
}

#[cfg(test)]
mod tests {
    use rules::monitor::ClientKey;

    use super::*;

    #[test]
    fn only_the_own_origin_gets_the_certificate() {
        let plan = |url: &str, is_given: bool| {
            let text = |text: &str| is_given.then(|| text.to_owned());
            let client_key = text("key").map(|key| ClientKey(Secret::new(key)));
            let check = HttpCheck {
                client_certificate: text("certificate"),
                client_key,
                ..HttpCheck::new(url)
            };
            HttpPlan::new(&check).unwrap()
        };
        for (own, url, expected) in [
            ("https://ada:pw@shop.example/a", "https://SHOP.example:443/b?c", "present"),
            ("https://shop.example:8443/", "https://shop.example:8443/", "present"),
            ("https://shop.example/", "https://shop.example:8443/", "withheld"),
            ("https://shop.example/", "https://api.shop.example/", "withheld"),
            ("https://shop.example/", "https://shop.example./", "withheld"),
            ("https://shop.example/", "http://shop.example/", "withheld"),
            ("http://shop.example/", "https://shop.example/", "withheld"),
            ("http://shop.example/", "http://shop.example/", "withheld"),
        ] {
            let found = |plan: &HttpPlan| match plan.client_auth(&url.parse().unwrap()) {
                ClientAuth::None => "none",
                ClientAuth::Withheld => "withheld",
                ClientAuth::Unsupported => "unsupported",
                ClientAuth::Present(_) => "present",
            };
            assert_eq!(found(&plan(own, true)), expected, "{own} {url}");
            assert_eq!(found(&plan(own, false)), "none", "{own} {url}");
        }
    }

    #[test]
    fn debug_hides_the_key() {
        let client_key = Some(ClientKey(Secret::new("hunter2".to_owned())));
        let certificate = Some("certificate".to_owned());
        let check = HttpCheck {
            client_certificate: certificate,
            client_key,
            ..HttpCheck::new("https://shop.example/")
        };
        assert!(!format!("{check:?}").contains("hunter2"));
        assert!(!format!("{:?}", HttpPlan::new(&check).unwrap()).contains("hunter2"));
    }
}
