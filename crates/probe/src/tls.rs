//! TLS of the checks: trust in the compiled-in authorities and the operator's, no resumption, and
//! the certificates a server showed also where they do not hold.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

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
use crate::limits::CHAINS_TRUSTED;

/// How long a chain that was found good is not looked at again.
const TRUSTED_FOR_MS: i64 = 600_000;
/// Protocols offered, best first.
const ALPN: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// What every handshake starts from; about 100 KiB with the authorities, so made on first use.
pub(crate) struct Tls {
    config: ClientConfig,
    trust: Arc<WebPkiServerVerifier>,
    trusted: Arc<Trusted>,
    certificates: Arc<Certificates>,
}

impl Tls {
    /// Trusts the usual authorities and `extra_roots`.
    pub(crate) fn new(extra_roots: &[CertificateDer<'static>]) -> Self {
        let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        roots.add_parsable_certificates(extra_roots.iter().cloned());
        let mut provider = aws_lc_rs::default_provider();
        // As browsers do: SHA-256 has instructions of its own on today's processors, SHA-384 often
        // none, and a handshake is mostly hashing once its curves are done.
        provider.cipher_suites.sort_by_key(needs_sha384);
        // Said here, since other crates' wishes for the same library change its order: with the hybrid
        // group first a check takes a quarter more, and what checks say need not be secret for decades.
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
                .expect("the compiled-in authorities are some, and there are no revocation lists");
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider has suites for TLS 1.2 and 1.3")
            .dangerous()
            .with_custom_certificate_verifier(Arc::clone(&trust) as Arc<dyn ServerCertVerifier>)
            .with_no_client_auth();
        config.resumption = Resumption::disabled();
        config.alpn_protocols = ALPN.map(<[u8]>::to_vec).to_vec();
        Self { config, trust, trusted: Arc::default(), certificates: Arc::default() }
    }

    /// Shakes hands with the server called `host` (a name, or an address without brackets).
    /// `shown` becomes what it showed of itself, also where that does not hold.
    pub(crate) async fn handshake(
        &self,
        host: &str,
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
        // All that is large in a configuration is behind an `Arc`, so a copy for each connection
        // is cheap beside its handshake.
        let mut config = self.config.clone();
        config
            .dangerous()
            .set_certificate_verifier(Arc::clone(&recorder) as Arc<dyn ServerCertVerifier>);
        let outcome = TlsConnector::from(Arc::new(config)).connect(name, tcp).await;
        match outcome {
            Ok(stream) => {
                let chain = stream.get_ref().1.peer_certificates().unwrap_or_default();
                *shown = self.certificates.read(chain);
                Ok(stream)
            }
            Err(error) => {
                *shown = self.certificates.read(&recorder.take_refused());
                Err(failure(host, &error, shown.as_ref()))
            }
        }
    }
}

/// Chains that were found good for a name a while ago. The same chain is as good today, until one of
/// its certificates ends, and its signatures are a good part of a handshake. That the server has
/// the key is verified each time.
#[derive(Debug, Default)]
struct Trusted(Mutex<HashMap<[u8; 32], TrustedFor>>);

/// Milliseconds since 1970, the second one not included.
#[derive(Clone, Copy, Debug)]
struct TrustedFor {
    from: i64,
    to: i64,
}

impl Trusted {
    /// What tells a chain and a name from others.
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

    fn holds(&self, key: &[u8; 32], now: i64) -> bool {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(key).is_some_and(|trusted| (trusted.from..trusted.to).contains(&now))
    }

    fn keep(&self, key: [u8; 32], now: i64, not_after: i64) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= CHAINS_TRUSTED {
            kept.clear();
        }
        kept.insert(key, TrustedFor { from: now, to: not_after.min(now + TRUSTED_FOR_MS) });
    }
}

/// Asks the trusted authorities, and keeps the chain that they refuse: without it nobody could say
/// whose certificate expired, and when.
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
        if self.trusted.holds(&key, now_ms) {
            return Ok(ServerCertVerified::assertion());
        }
        let verified = self.trust.verify_server_cert(leaf, intermediates, name, ocsp, now);
        let chain = || std::iter::once(leaf).chain(intermediates).map(|c| c.clone().into_owned());
        if verified.is_err() {
            *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = chain().collect();
        } else if let Some(read) = self.certificates.read(&chain().collect::<Vec<_>>()) {
            self.trusted.keep(key, now_ms, read.chain_not_after.as_millis());
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

fn failure(host: &str, error: &std::io::Error, shown: Option<&Certificate>) -> Failure {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    match tls {
        Some(Error::InvalidCertificate(why)) => {
            Failure::new(FailureKind::CertificateInvalid, complaint(host, why, shown))
        }
        Some(other) => {
            Failure::new(FailureKind::TlsFailed, format!("no TLS with `{host}`: {other}"))
        }
        None => Failure::new(FailureKind::TlsFailed, format!("no TLS with `{host}`: {error}")),
    }
}

fn complaint(host: &str, why: &CertificateError, shown: Option<&Certificate>) -> String {
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
        return format!(
            "the certificate of `{host}` is signed by itself, which nobody vouches for"
        );
    }
    if matches!(why, Why::UnknownIssuer) {
        let issuer = &shown.issuer;
        return format!("the certificate of `{host}` is from `{issuer}`, which is not trusted");
    }
    format!("the certificate of `{host}` is bad: {why}")
}

/// A name out of what TLS writes around it: `DnsName("mail.example.com")`.
fn bare(presented: &str) -> &str {
    presented.split('"').nth(1).unwrap_or(presented)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_trusted_again_until_it_ends_and_for_its_own_name_only() {
        let (leaf, other) = (CertificateDer::from(vec![1, 2]), CertificateDer::from(vec![1]));
        let name = |name: &'static str| ServerName::try_from(name).unwrap();
        let key = Trusted::key(&leaf, &[], &name("a.example"));
        let trusted = Trusted::default();
        trusted.keep(key, 1_000, 5_000);
        for (now, holds) in [(999, false), (1_000, true), (4_999, true), (5_000, false)] {
            assert_eq!(trusted.holds(&key, now), holds, "{now}");
        }
        trusted.keep(key, 1_000, i64::MAX);
        assert!(!trusted.holds(&key, 1_000 + TRUSTED_FOR_MS), "looked at again once in a while");
        let rest = CertificateDer::from(vec![2]);
        for stranger in [
            Trusted::key(&leaf, &[], &name("b.example")),
            Trusted::key(&other, &[rest], &name("a.example")),
        ] {
            assert!(!trusted.holds(&stranger, 1_000));
        }
    }
}
