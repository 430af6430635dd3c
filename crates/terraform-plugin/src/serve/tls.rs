//! Mutual TLS as hosts require it (`AutoMTLS`). The provider creates a certificate for its process
//! and sends it in the handshake. The host has passed its own certificate, and all other clients
//! are rejected.
//!
//! The host's certificate is a self-signed CA with a P-521 key, so normal chain validation rejects
//! it. It is compared byte by byte instead. The signature in the TLS handshake still proves that
//! the client has its key.

use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, ServerConfig, SignatureScheme,
};
use tokio_rustls::TlsAcceptor;

use super::error::ServeError;

/// Host name that hosts expect in the certificate.
const NAME: &str = "localhost";
/// Protocol of gRPC. Hosts reject connections without it.
const ALPN: &[u8] = b"h2";

/// TLS acceptor, and the certificate to send to the host.
#[derive(Clone)]
pub(super) struct Tls {
    pub(super) acceptor: TlsAcceptor,
    pub(super) certificate: CertificateDer<'static>,
}

impl Tls {
    /// Creates the TLS setup for a host with this certificate as PEM.
    pub(super) fn for_host(pem: &str) -> Result<Self, ServeError> {
        let pinned =
            CertificateDer::from_pem_slice(pem.as_bytes()).map_err(ServeError::Certificate)?;
        let provider = Arc::new(aws_lc_rs::default_provider());
        let own =
            rcgen::generate_simple_self_signed([NAME.to_owned()]).map_err(ServeError::OwnKey)?;
        let certificate = own.cert.der().clone();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
        let verifier = Arc::new(Pinned { certificate: pinned, provider: Arc::clone(&provider) });
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(verifier)
            .with_single_cert(vec![certificate.clone()], key)?;
        config.alpn_protocols = vec![ALPN.to_vec()];
        // A process serves one connection, so nobody would use session tickets.
        config.send_tls13_tickets = 0;
        Ok(Self { acceptor: TlsAcceptor::from(Arc::new(config)), certificate })
    }
}

/// Accepts only clients that present one certificate and have its key.
#[derive(Debug)]
struct Pinned {
    certificate: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        shown: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        if *shown == self.certificate {
            return Ok(ClientCertVerified::assertion());
        }
        Err(CertificateError::ApplicationVerificationFailure.into())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests;
