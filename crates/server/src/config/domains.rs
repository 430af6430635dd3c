//! Settings of custom domains, TLS and ACME: targets of domains, listeners and the certificate
//! authority. Parsing fails if a required setting is missing.

use std::net::{IpAddr, SocketAddr};

use rules::DomainName;
use url::Url;

use super::parse::{address, items, missing_setting, optional, read};
use super::{ConfigError, Values};

/// The settings of custom domains, TLS and ACME.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainSettings {
    /// Targets of custom domains; empty accepts none.
    pub hosts: Vec<PageHost>,
    /// Whether `pages_hosts` sets `hosts`, instead of `public_url`.
    pub are_hosts_named: bool,
    /// Name in `public_url`, which cannot be a custom domain; `None` for an IP address.
    pub own: Option<DomainName>,
    /// TLS and certificates; `None` serves only HTTP.
    pub tls: Option<TlsSettings>,
}

/// A target of custom domains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageHost {
    /// Name: domains may be aliases of it or have its addresses.
    Name(DomainName),
    /// IP address.
    Address(IpAddr),
}

/// The settings of TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsSettings {
    /// Address for HTTPS; port 0 picks a free port.
    pub listen: SocketAddr,
    /// Address for HTTP, which answers challenges and redirects other requests to HTTPS.
    pub redirect: Option<SocketAddr>,
    /// Whether this server's own name gets a certificate, because `public_url` begins with https.
    pub covers_own: bool,
    pub acme: AcmeSettings,
}

/// The settings of the ACME server. They exist only if the operator agreed to its terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcmeSettings {
    /// URL of the server's directory.
    pub directory: String,
    /// Address for warnings about certificates.
    pub email: Option<String>,
    /// Challenges that may prove control of a domain.
    pub challenge: ChallengeChoice,
}

/// The challenges that may prove control of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChallengeChoice {
    /// TLS first, then HTTP.
    Any,
    /// File over HTTP on port 80 (RFC 8555 §8.3).
    Http,
    /// TLS handshake on port 443 (RFC 8737).
    TlsAlpn,
}

/// Parses the settings of domains; `public_url` is already parsed.
pub(super) fn domains(
    values: &Values,
    public_url: Option<&str>,
) -> Result<DomainSettings, ConfigError> {
    let mut hosts = read(
        values.get("pages_hosts"),
        "must be names or addresses such as pages.example.com, joined by commas",
        |text| items(text).map(page_host).collect::<Option<Vec<_>>>(),
    )?;
    let public = public_url.and_then(|url| Url::parse(url).ok());
    let host = public.as_ref().and_then(Url::host_str).and_then(page_host);
    let are_hosts_named = !hosts.is_empty();
    if !are_hosts_named {
        hosts.extend(host.clone());
    }
    let own = match host {
        Some(PageHost::Name(name)) => Some(name),
        Some(PageHost::Address(_)) | None => None,
    };
    let covers_own = public.is_some_and(|url| url.scheme() == "https") && own.is_some();
    Ok(DomainSettings { hosts, are_hosts_named, own, tls: tls(values, covers_own)? })
}

fn tls(values: &Values, covers_own: bool) -> Result<Option<TlsSettings>, ConfigError> {
    let listener =
        |name| optional(values.get(name), "must be an address such as 0.0.0.0:443", address);
    let (listen, redirect) = (listener("https_listen")?, listener("http_listen")?);
    let agreed = read(values.get("acme_terms_agreed"), "must be true or false", |text| {
        text.parse::<bool>().ok()
    })?;
    let acme = acme(values)?;
    match (listen, redirect, agreed) {
        (Some(listen), redirect, true) => {
            Ok(Some(TlsSettings { listen, redirect, covers_own, acme }))
        }
        (Some(_), _, false) => Err(missing_setting(values, "acme_terms_agreed", "https_listen")),
        (None, Some(_), _) => Err(missing_setting(values, "https_listen", "http_listen")),
        (None, None, true) => Err(missing_setting(values, "https_listen", "acme_terms_agreed")),
        (None, None, false) => Ok(None),
    }
}

fn acme(values: &Values) -> Result<AcmeSettings, ConfigError> {
    let directory = read(
        values.get("acme_directory"),
        "must be the https URL of an ACME server's directory",
        |text| Url::parse(text).ok().filter(|url| url.scheme() == "https").map(String::from),
    )?;
    let email =
        optional(values.get("acme_email"), "must be an address such as ops@example.com", |text| {
            text.parse::<lettre::Address>().ok().map(|address| address.to_string())
        })?;
    let challenge = read(
        values.get("acme_challenge"),
        "must be any, http-01 or tls-alpn-01",
        |text| match text {
            "any" => Some(ChallengeChoice::Any),
            "http-01" => Some(ChallengeChoice::Http),
            "tls-alpn-01" => Some(ChallengeChoice::TlsAlpn),
            _ => None,
        },
    )?;
    Ok(AcmeSettings { directory, email, challenge })
}

/// Parses a name or an IP address. IPv6 may be in brackets, as in a URL.
fn page_host(text: &str) -> Option<PageHost> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    match bare.parse() {
        Ok(address) => Some(PageHost::Address(address)),
        Err(_) => DomainName::parse(text).ok().map(PageHost::Name),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Layers, Settings};
    use super::*;

    fn parse(pairs: &[(&str, &str)]) -> Result<DomainSettings, String> {
        let mut layers = Layers::default();
        for (name, text) in pairs {
            layers.environment.insert((*name).to_owned(), (*text).to_owned());
        }
        let values = layers.resolve().map_err(|error| error.to_string())?;
        Settings::parse(&values).map(|it| it.domains).map_err(|error| error.to_string())
    }

    fn hosts(pairs: &[(&str, &str)]) -> Vec<String> {
        let shown = |host: PageHost| match host {
            PageHost::Name(name) => name.to_string(),
            PageHost::Address(address) => address.to_string(),
        };
        parse(pairs).unwrap().hosts.into_iter().map(shown).collect()
    }

    #[test]
    fn public_url_host_is_the_default_target() {
        let public = ("public_url", "https://Aloft.example.com:8443/up");
        assert_eq!(hosts(&[public]), ["aloft.example.com"]);
        let named = ("pages_hosts", "Pages.Bücher.example, 192.0.2.7,[2001:db8::7], 2001:db8::8");
        let expected = ["pages.xn--bcher-kva.example", "192.0.2.7", "2001:db8::7", "2001:db8::8"];
        assert_eq!(hosts(&[public, named]), expected);
        assert_eq!(hosts(&[("public_url", "http://192.0.2.7:8080")]), ["192.0.2.7"]);
        assert!(hosts(&[]).is_empty());
        let own = |url| parse(&[("public_url", url)]).unwrap().own.map(|own| own.to_string());
        assert_eq!(own("https://aloft.example.com").as_deref(), Some("aloft.example.com"));
        assert_eq!(own("https://192.0.2.7"), None);
    }

    #[test]
    fn tls_needs_an_address_and_agreed_terms() {
        assert_eq!(parse(&[]).unwrap().tls, None);
        let on = [("https_listen", "0.0.0.0:443"), ("acme_terms_agreed", "true")];
        let tls = parse(&on).unwrap().tls.unwrap();
        assert!(!tls.covers_own && tls.redirect.is_none());
        assert_eq!(tls.acme.directory, "https://acme-v02.api.letsencrypt.org/directory");
        assert_eq!((tls.acme.email, tls.acme.challenge), (None, ChallengeChoice::Any));
        let public = ("public_url", "https://aloft.example.com");
        assert!(parse(&[on[0], on[1], public]).unwrap().tls.unwrap().covers_own);
    }

    #[test]
    fn invalid_or_partial_settings_are_rejected_with_advice() {
        let refusals = [
            &[("pages_hosts", "https://pages.example.com")][..],
            &[("https_listen", "443"), ("acme_terms_agreed", "true")],
            &[("https_listen", "0.0.0.0:443")],
            &[("http_listen", "0.0.0.0:80")],
            &[("acme_terms_agreed", "true")],
            &[("acme_directory", "http://acme.example.com/directory")],
            &[("acme_email", "nobody")],
            &[("acme_challenge", "dns-01")],
        ]
        .map(|pairs| parse(pairs).unwrap_err());
        insta::assert_snapshot!(refusals.join("\n"), @"
        `pages_hosts` must be names or addresses such as pages.example.com, joined by commas, not `https://pages.example.com` (from the environment)
        `https_listen` must be an address such as 0.0.0.0:443, not `443` (from the environment)
        `acme_terms_agreed` must also be set if `https_listen` is (from the environment)
        `https_listen` must also be set if `http_listen` is (from the environment)
        `https_listen` must also be set if `acme_terms_agreed` is (from the environment)
        `acme_directory` must be the https URL of an ACME server's directory, not `http://acme.example.com/directory` (from the environment)
        `acme_email` must be an address such as ops@example.com, not `nobody` (from the environment)
        `acme_challenge` must be any, http-01 or tls-alpn-01, not `dns-01` (from the environment)
        ");
    }
}
