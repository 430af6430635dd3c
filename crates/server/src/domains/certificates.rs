//! Certificates in memory, by server name, for TLS handshakes. Also holds the active ACME
//! challenges.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rcgen::{CertificateParams, CustomExtension, KeyPair};
use rules::{DomainName, Secret, Timestamp};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs::{self, sign::any_supported_type};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use x509_parser::extensions::ParsedExtension;
use x509_parser::parse_x509_certificate;

/// ALPN protocol of TLS challenges (RFC 8737 §6.2).
pub(crate) const ACME_TLS: &[u8] = b"acme-tls/1";
/// Supported ALPN protocols, best first.
const PROTOCOLS: [&[u8]; 3] = [b"h2", b"http/1.1", ACME_TLS];

/// Error: a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unusable {
    /// The certificate or its key is invalid.
    #[error("the certificate of `{domain}` cannot be used: {why}")]
    Certificate {
        domain: String,
        /// The defect, for people.
        why: String,
    },
}

/// All certificates and active challenges.
#[derive(Debug, Default)]
pub(crate) struct Certificates(RwLock<CertificateSet>);

#[derive(Debug, Default)]
struct CertificateSet {
    /// Certificates by name, in A-labels.
    issued: HashMap<String, Arc<CertifiedKey>>,
    /// Certificates of TLS challenges, by name.
    tls_challenges: HashMap<String, Arc<CertifiedKey>>,
    /// Responses to HTTP challenges, by token.
    http_challenges: HashMap<String, String>,
}

/// A published challenge, which is removed on drop.
#[derive(Debug)]
pub(super) struct ChallengeGuard<'c> {
    certificates: &'c Certificates,
    /// Key of its entry in one of the maps.
    key: ChallengeKey,
}

#[derive(Debug)]
enum ChallengeKey {
    Tls(String),
    Http(String),
}

impl Certificates {
    /// Returns the TLS configuration: rustls with aws-lc-rs, TLS 1.2 and 1.3.
    pub(crate) fn tls(self: &Arc<Self>) -> Arc<ServerConfig> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider has suites of TLS 1.2 and 1.3")
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(self) as Arc<dyn ResolvesServerCert>);
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
        Arc::new(config)
    }

    /// Uses this certificate from now on.
    pub(super) fn insert(
        &self,
        domain: &DomainName,
        chain: &str,
        key: &Secret<String>,
    ) -> Result<(), Unusable> {
        let certified = Arc::new(certified(domain, chain, key)?);
        self.write().issued.insert(domain.to_string(), certified);
        Ok(())
    }

    /// Removes the certificate of this name.
    pub(super) fn remove(&self, domain: &DomainName) {
        self.write().issued.remove(domain.as_str());
    }

    /// Returns whether this name has a certificate.
    pub(super) fn has(&self, domain: &str) -> bool {
        self.read().issued.contains_key(domain)
    }

    /// Publishes the response to the HTTP challenge with this token.
    pub(super) fn publish_http_challenge(&self, token: &str, answer: &str) -> ChallengeGuard<'_> {
        self.write().http_challenges.insert(token.to_owned(), answer.to_owned());
        ChallengeGuard { certificates: self, key: ChallengeKey::Http(token.to_owned()) }
    }

    /// Returns the response to the HTTP challenge with this token.
    pub(super) fn http_challenge(&self, token: &str) -> Option<String> {
        self.read().http_challenges.get(token).cloned()
    }

    /// Publishes a TLS challenge for this name: the digest of the key authorization in a self-signed
    /// certificate (RFC 8737 §3).
    pub(super) fn publish_tls_challenge(
        &self,
        domain: &DomainName,
        digest: &[u8],
    ) -> Result<ChallengeGuard<'_>, Unusable> {
        let unusable = |why: String| Unusable::Certificate { domain: domain.to_string(), why };
        let key = KeyPair::generate().map_err(|why| unusable(why.to_string()))?;
        let mut params = CertificateParams::new([domain.to_string()])
            .map_err(|why| unusable(why.to_string()))?;
        params.custom_extensions = vec![CustomExtension::new_acme_identifier(digest)];
        let certificate = params.self_signed(&key).map_err(|why| unusable(why.to_string()))?;
        let private = PrivatePkcs8KeyDer::from(key.serialize_der());
        let signing = any_supported_type(&PrivateKeyDer::from(private))
            .map_err(|why| unusable(why.to_string()))?;
        let certified = CertifiedKey::new(vec![certificate.der().clone()], signing);
        self.write().tls_challenges.insert(domain.to_string(), Arc::new(certified));
        Ok(ChallengeGuard { certificates: self, key: ChallengeKey::Tls(domain.to_string()) })
    }

    fn read(&self) -> RwLockReadGuard<'_, CertificateSet> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, CertificateSet> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ResolvesServerCert for Certificates {
    /// Returns the certificate of the requested name. Without one the handshake fails.
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let name = hello.server_name()?.trim_end_matches('.').to_ascii_lowercase();
        let held = self.read();
        let mut protocols = hello.alpn().into_iter().flatten();
        if protocols.any(|protocol| protocol == ACME_TLS) {
            return held.tls_challenges.get(&name).cloned();
        }
        held.issued.get(&name).cloned()
    }
}

impl Drop for ChallengeGuard<'_> {
    fn drop(&mut self) {
        let mut held = self.certificates.write();
        match &self.key {
            ChallengeKey::Tls(domain) => held.tls_challenges.remove(domain).map(drop),
            ChallengeKey::Http(token) => held.http_challenges.remove(token).map(drop),
        };
    }
}

/// Returns the validity of a certificate, the first of `chain`.
pub(super) fn lifetime(
    domain: &DomainName,
    chain: &str,
) -> Result<(Timestamp, Timestamp), Unusable> {
    let unusable = |why: String| Unusable::Certificate { domain: domain.to_string(), why };
    let first = CertificateDer::from_pem_slice(chain.as_bytes())
        .map_err(|why| unusable(why.to_string()))?;
    let (_, certificate) =
        parse_x509_certificate(&first).map_err(|why| unusable(why.to_string()))?;
    let validity = certificate.validity();
    let instant = |at: x509_parser::time::ASN1Time| Timestamp::from_millis(at.timestamp() * 1_000);
    Ok((instant(validity.not_before), instant(validity.not_after)))
}

/// The identification of a certificate by its authority.
pub(super) struct CertificateId {
    /// Identifier of the key that signed it.
    pub(super) authority: Vec<u8>,
    /// Encoded serial number.
    pub(super) serial: Vec<u8>,
}

/// Returns the identification of a certificate, the first of `chain` (RFC 9773 §4.1).
pub(super) fn certificate_id(domain: &DomainName, chain: &str) -> Result<CertificateId, Unusable> {
    let unusable = |why: String| Unusable::Certificate { domain: domain.to_string(), why };
    let first = CertificateDer::from_pem_slice(chain.as_bytes())
        .map_err(|why| unusable(why.to_string()))?;
    let (_, certificate) =
        parse_x509_certificate(&first).map_err(|why| unusable(why.to_string()))?;
    let mut extensions = certificate.iter_extensions();
    let authority = extensions.find_map(|extension| {
        let ParsedExtension::AuthorityKeyIdentifier(it) = extension.parsed_extension() else {
            return None;
        };
        it.key_identifier.as_ref()
    });
    let authority =
        authority.ok_or_else(|| unusable("it does not name the key that signed it".into()))?;
    Ok(CertificateId { authority: authority.0.to_vec(), serial: certificate.raw_serial().to_vec() })
}

fn certified(
    domain: &DomainName,
    chain: &str,
    key: &Secret<String>,
) -> Result<CertifiedKey, Unusable> {
    let unusable = |why: String| Unusable::Certificate { domain: domain.to_string(), why };
    let chain = CertificateDer::pem_slice_iter(chain.as_bytes())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|why| unusable(why.to_string()))?;
    let key = PrivateKeyDer::from_pem_slice(key.expose().as_bytes())
        .map_err(|why| unusable(why.to_string()))?;
    let signing = any_supported_type(&key).map_err(|why| unusable(why.to_string()))?;
    let certified = CertifiedKey::new(chain, signing);
    certified.keys_match().map_err(|why| unusable(why.to_string()))?;
    Ok(certified)
}

#[cfg(test)]
mod tests {
    use testkit::target::{Authority, Validity};

    use super::*;

    fn domain(text: &str) -> DomainName {
        DomainName::parse(text).unwrap()
    }

    #[test]
    fn certificate_is_served_until_removed() {
        let authority = Authority::new("authority");
        let (ours, theirs) = (domain("a.example"), domain("b.example"));
        let [a, b] =
            ["a.example", "b.example"].map(|name| authority.issue(&[name], Validity::Valid));
        let certificates = Certificates::default();
        let key = Secret::new(a.key_pem());
        certificates.insert(&ours, &a.chain_pem(), &key).unwrap();
        assert!(certificates.has("a.example") && !certificates.has("b.example"));
        assert!(certificates.insert(&theirs, &b.chain_pem(), &key).is_err());
        assert!(certificates.insert(&theirs, "", &key).is_err());
        certificates.remove(&ours);
        assert!(!certificates.has("a.example"));
        let (from, until) = lifetime(&ours, &a.chain_pem()).unwrap();
        assert_eq!(from.to_string(), "2020-01-01T00:00:00.000Z");
        assert_eq!(until.to_string(), "2090-01-01T00:00:00.000Z");
    }

    #[test]
    fn challenge_is_served_until_its_guard_drops() {
        let certificates = Certificates::default();
        let shown = certificates.publish_http_challenge("token", "token.thumbprint");
        assert_eq!(certificates.http_challenge("token").as_deref(), Some("token.thumbprint"));
        drop(shown);
        assert_eq!(certificates.http_challenge("token"), None);
        let name = domain("a.example");
        let shown = certificates.publish_tls_challenge(&name, &[7; 32]).unwrap();
        assert!(certificates.read().tls_challenges.contains_key("a.example"));
        assert!(!certificates.has("a.example"));
        drop(shown);
        assert!(certificates.read().tls_challenges.is_empty());
    }
}
