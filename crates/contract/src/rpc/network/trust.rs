//! Certificates that a client trusts: those compiled in, and those of the machine. `SSL_CERT_FILE`
//! and `SSL_CERT_DIR` replace the latter.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, OtherError, RootCertStore,
    SignatureScheme,
};
use rustls_native_certs::{load_certs_from_paths, load_native_certs};

use crate::rpc::UnusableClient;

/// Variable with the file of trusted certificates, in PEM form.
pub(super) const FILE_VARIABLE: &str = "SSL_CERT_FILE";
/// Variable with directories of such files.
pub(super) const FOLDERS_VARIABLE: &str = "SSL_CERT_DIR";

/// Locations of trusted certificates, if not those of the machine.
#[derive(Clone, Debug, Default)]
pub(super) struct Trust {
    file: Option<PathBuf>,
    folders: Vec<PathBuf>,
}

impl Trust {
    pub(super) fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let folders = variable(FOLDERS_VARIABLE).unwrap_or_default();
        let folders = std::env::split_paths(&folders).filter(|path| !path.as_os_str().is_empty());
        Self { file: variable(FILE_VARIABLE).map(PathBuf::from), folders: folders.collect() }
    }

    /// Returns the TLS settings. Reads no files if `reads_files` is false, for a client that
    /// connects without TLS.
    ///
    /// # Errors
    ///
    /// Fails if the file is unreadable or contains no certificate.
    pub(super) fn client_config(&self, reads_files: bool) -> Result<ClientConfig, UnusableClient> {
        let certificates = if reads_files { self.certificates()? } else { Vec::new() };
        let compiled_in = webpki_roots::TLS_SERVER_ROOTS.iter().cloned();
        let mut roots: RootCertStore = compiled_in.collect();
        // A machine may have files that are not certificates. A failed connection reports the
        // missing issuer.
        roots.add_parsable_certificates(certificates.iter().cloned());
        let provider = Arc::new(aws_lc_rs::default_provider());
        let verifier = Verifier::new(roots, certificates, &provider);
        Ok(ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider has the default versions")
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth())
    }

    fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, UnusableClient> {
        if self.file.is_none() && self.folders.is_empty() {
            return Ok(load_native_certs().certs);
        }
        let mut certificates = Vec::new();
        if let Some(file) = &self.file {
            let loaded = load_certs_from_paths(Some(file), None);
            if loaded.certs.is_empty() {
                let why = loaded.errors.first().map(ToString::to_string);
                let why = why
                    .unwrap_or_else(|| format!("no certificate in PEM form in {}", file.display()));
                return Err(UnusableClient::Certificates { variable: FILE_VARIABLE, why });
            }
            certificates.extend(loaded.certs);
        }
        for folder in &self.folders {
            certificates.extend(load_certs_from_paths(None, Some(folder)).certs);
        }
        Ok(certificates)
    }
}

/// Verifier that extends webpki: a server's own certificate may be trusted itself. `openssl req
/// -x509` marks its certificates as authorities, which webpki rejects as servers.
#[derive(Debug)]
struct Verifier {
    webpki: Arc<WebPkiServerVerifier>,
    trusted: Vec<CertificateDer<'static>>,
}

impl Verifier {
    fn new(
        roots: RootCertStore,
        trusted: Vec<CertificateDer<'static>>,
        provider: &Arc<CryptoProvider>,
    ) -> Self {
        let provider = Arc::clone(provider);
        let webpki = WebPkiServerVerifier::builder_with_provider(roots.into(), provider);
        Self { webpki: webpki.build().expect("some roots are compiled in"), trusted }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verified = self.webpki.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match verified {
            // webpki has checked the validity period before it returns this error, but not the
            // name.
            Err(error) if is_authority(&error) && self.trusted.contains(end_entity) => {
                let certificate = ParsedCertificate::try_from(end_entity)?;
                rustls::client::verify_server_name(&certificate, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.webpki.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.webpki.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.webpki.supported_verify_schemes()
    }
}

/// Returns whether the only objection is that the certificate is an authority's.
fn is_authority(error: &rustls::Error) -> bool {
    let rustls::Error::InvalidCertificate(CertificateError::Other(OtherError(why))) = error else {
        return false;
    };
    matches!(why.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}
