//! TLS for checks: trusts the compiled-in authorities and those of the operator, resumes no
//! sessions, captures the server's certificates even if they are invalid, and presents a client
//! certificate to servers that ask for one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::check::http::ClientAuth;
use domain::check::{Certificate, Failure, FailureKind};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::aws_lc_rs::{self, kx_group};
use rustls::crypto::hash::HashAlgorithm;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    SupportedCipherSuite,
};
use sha2::{Digest, Sha256};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::certificate::Certificates;
use crate::client_certificate::{ClientCertificates, refusal};
use crate::limits::CHAINS_TRUSTED;

/// Time for which a verified chain is not verified again.
const TRUSTED_FOR_MS: i64 = 600_000;
/// Offered protocols, best first.
const ALPN: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// Shared TLS configuration; about 100 KiB with the authorities, so created on first use.
pub(crate) struct Tls {
    config: ClientConfig,
    trust: Arc<WebPkiServerVerifier>,
    trusted: Arc<Trusted>,
    certificates: Arc<Certificates>,
    client_certificates: ClientCertificates,
}

impl Tls {
    /// Creates a configuration that trusts the usual authorities and `extra_roots`.
    pub(crate) fn new(extra_roots: &[CertificateDer<'static>]) -> Self {
        let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        roots.add_parsable_certificates(extra_roots.iter().cloned());
        let mut provider = aws_lc_rs::default_provider();
        // Prefers SHA-256, as browsers do: most processors have instructions for it, unlike for
        // SHA-384, and hashing dominates a handshake after its curves.
        provider.cipher_suites.sort_by_key(needs_sha384);
        // Listed explicitly, because features of other crates change the library's order. With the
        // hybrid group first, a check takes a quarter more time, and checks need no long-term
        // secrecy.
        provider.kx_groups = vec![
            kx_group::X25519,
            kx_group::SECP256R1,
            kx_group::SECP384R1,
            kx_group::X25519MLKEM768,
        ];
        let provider = Arc::new(provider);
        let trust =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
                .build()
                .expect("there are compiled-in authorities and no revocation lists");
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider has suites for TLS 1.2 and 1.3")
            .dangerous()
            .with_custom_certificate_verifier(Arc::clone(&trust) as Arc<dyn ServerCertVerifier>)
            .with_no_client_auth();
        config.resumption = Resumption::disabled();
        config.alpn_protocols = ALPN.map(<[u8]>::to_vec).to_vec();
        Self {
            config,
            trust,
            trusted: Arc::default(),
            certificates: Arc::default(),
            client_certificates: ClientCertificates::default(),
        }
    }

    /// Performs the handshake with the server `host` (a name, or an address without brackets). Sets
    /// `shown` to the server's certificate, even if it is invalid.
    pub(crate) async fn handshake(
        &self,
        host: &str,
        auth: ClientAuth<'_>,
        tcp: TcpStream,
        shown: &mut Option<Certificate>,
    ) -> Result<TlsStream<TcpStream>, Failure> {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| {
            let detail = format!("`{host}` is not a valid name for a certificate");
            Failure::new(FailureKind::TlsFailed, detail)
        })?;
        let recorder = Arc::new(Recorder {
            trust: Arc::clone(&self.trust),
            trusted: Arc::clone(&self.trusted),
            certificates: Arc::clone(&self.certificates),
            refused: Mutex::default(),
        });
        // The large parts of a configuration are behind an `Arc`, so a copy per connection is cheap
        // compared to its handshake.
        let mut config = self.config.clone();
        config
            .dangerous()
            .set_certificate_verifier(Arc::clone(&recorder) as Arc<dyn ServerCertVerifier>);
        if let ClientAuth::Present(identity) = auth {
            config.client_auth_cert_resolver =
                self.client_certificates.resolver(identity).map_err(|why| {
                    let detail = format!("`{}` of the monitor {why}", why.argument());
                    Failure::new(FailureKind::TlsFailed, detail)
                })?;
        }
        let outcome = TlsConnector::from(Arc::new(config)).connect(name, tcp).await;
        match outcome {
            Ok(stream) => {
                let chain = stream.get_ref().1.peer_certificates().unwrap_or_default();
                *shown = self.certificates.read(chain);
                Ok(stream)
            }
            Err(error) => {
                *shown = self.certificates.read(&recorder.take_refused());
                Err(failure((host, auth), &error, shown.as_ref()))
            }
        }
    }
}

/// Cache of chains that were recently verified for a name. The result stays valid until a
/// certificate expires, and verifying signatures is a large part of a handshake. The server's
/// possession of the key is still verified each time.
#[derive(Debug, Default)]
struct Trusted(Mutex<HashMap<[u8; 32], TrustedFor>>);

/// Range in milliseconds since 1970, end exclusive.
#[derive(Clone, Copy, Debug)]
struct TrustedFor {
    from: i64,
    to: i64,
}

impl Trusted {
    /// Returns the key of a chain and a name.
    fn key(
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
    ) -> [u8; 32] {
        let mut hash = Sha256::new();
        for certificate in std::iter::once(leaf).chain(intermediates) {
            hash.update((certificate.len() as u64).to_be_bytes());
            hash.update(certificate);
        }
        hash.update(name.to_str().as_bytes());
        hash.finalize().into()
    }

    fn contains(&self, key: &[u8; 32], now: i64) -> bool {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(key).is_some_and(|trusted| (trusted.from..trusted.to).contains(&now))
    }

    fn store(&self, key: [u8; 32], now: i64, not_after: i64) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= CHAINS_TRUSTED {
            kept.clear();
        }
        kept.insert(key, TrustedFor { from: now, to: not_after.min(now + TRUSTED_FOR_MS) });
    }
}

/// Verifies with the trusted authorities and captures a rejected chain, to report whose certificate
/// expired and when.
#[derive(Debug)]
struct Recorder {
    trust: Arc<WebPkiServerVerifier>,
    trusted: Arc<Trusted>,
    certificates: Arc<Certificates>,
    refused: Mutex<Vec<CertificateDer<'static>>>,
}

impl Recorder {
    fn take_refused(&self) -> Vec<CertificateDer<'static>> {
        std::mem::take(&mut *self.refused.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ServerCertVerifier for Recorder {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let key = Trusted::key(leaf, intermediates, name);
        let now_ms = i64::try_from(now.as_secs()).unwrap_or(i64::MAX).saturating_mul(1_000);
        if self.trusted.contains(&key, now_ms) {
            return Ok(ServerCertVerified::assertion());
        }
        let verified = self.trust.verify_server_cert(leaf, intermediates, name, ocsp, now);
        let chain = || std::iter::once(leaf).chain(intermediates).map(|c| c.clone().into_owned());
        if verified.is_err() {
            *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = chain().collect();
        } else if let Some(read) = self.certificates.read(&chain().collect::<Vec<_>>()) {
            self.trusted.store(key, now_ms, read.chain_not_after.as_millis());
        }
        verified
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.trust.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.trust.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.trust.supported_verify_schemes()
    }
}

fn needs_sha384(suite: &SupportedCipherSuite) -> bool {
    let hash = match suite {
        SupportedCipherSuite::Tls12(suite) => suite.common.hash_provider,
        SupportedCipherSuite::Tls13(suite) => suite.common.hash_provider,
    };
    hash.algorithm() == HashAlgorithm::SHA384
}

fn failure(
    (host, auth): (&str, ClientAuth<'_>),
    error: &std::io::Error,
    shown: Option<&Certificate>,
) -> Failure {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    if let Some(Error::AlertReceived(alert)) = tls
        && let Some(refusal) = refusal(host, *alert, auth)
    {
        return refusal;
    }
    match tls {
        Some(Error::InvalidCertificate(why)) => {
            Failure::new(FailureKind::CertificateInvalid, certificate_error(host, why, shown))
        }
        Some(other) => {
            Failure::new(FailureKind::TlsFailed, format!("no TLS with `{host}`: {other}"))
        }
        None => Failure::new(FailureKind::TlsFailed, format!("no TLS with `{host}`: {error}")),
    }
}

fn certificate_error(host: &str, why: &CertificateError, shown: Option<&Certificate>) -> String {
    use CertificateError as Why;
    let Some(shown) = shown else { return format!("the certificate of `{host}` is bad: {why}") };
    if matches!(why, Why::Expired | Why::ExpiredContext { .. }) {
        return format!("the certificate of `{host}` expired at {}", shown.chain_not_after);
    }
    if matches!(why, Why::NotValidYet | Why::NotValidYetContext { .. }) {
        return format!("the certificate of `{host}` holds only from {}", shown.not_before);
    }
    if let Why::NotValidForNameContext { presented, .. } = why {
        let names: Vec<_> = presented.iter().map(|name| bare(name)).collect();
        return format!("the certificate is not for `{host}` but for {}", names.join(", "));
    }
    if shown.subject == shown.issuer && shown.chain.len() == 1 {
        return format!("the certificate of `{host}` is self-signed and not trusted");
    }
    if matches!(why, Why::UnknownIssuer) {
        let issuer = &shown.issuer;
        return format!("the certificate of `{host}` is from `{issuer}`, which is not trusted");
    }
    format!("the certificate of `{host}` is bad: {why}")
}

/// Extracts the name from the format of the TLS library: `DnsName("mail.example.com")`.
fn bare(presented: &str) -> &str {
    presented.split('"').nth(1).unwrap_or(presented)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verified_chain_is_cached_per_name_until_expiry() {
        let (leaf, other) = (CertificateDer::from(vec![1, 2]), CertificateDer::from(vec![1]));
        let name = |name: &'static str| ServerName::try_from(name).unwrap();
        let key = Trusted::key(&leaf, &[], &name("a.example"));
        let trusted = Trusted::default();
        trusted.store(key, 1_000, 5_000);
        for (now, holds) in [(999, false), (1_000, true), (4_999, true), (5_000, false)] {
            assert_eq!(trusted.contains(&key, now), holds, "{now}");
        }
        trusted.store(key, 1_000, i64::MAX);
        assert!(!trusted.contains(&key, 1_000 + TRUSTED_FOR_MS), "verified again after some time");
        let rest = CertificateDer::from(vec![2]);
        for stranger in [
            Trusted::key(&leaf, &[], &name("b.example")),
            Trusted::key(&other, &[rest], &name("a.example")),
        ] {
            assert!(!trusted.contains(&stranger, 1_000));
        }
    }
}
