//! Certificates that a client trusts: those compiled in, and those of the machine. `SSL_CERT_FILE`
//! and `SSL_CERT_DIR` replace the latter.

use std::error::Error as StdError;
use std::io;
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
use rustls_native_certs::{CertificateResult, load_certs_from_paths, load_native_certs};

use crate::rpc::{Error, UnusableClient};

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
    /// Fails if the file is unreadable or contains no certificate, if a folder is unreadable and no
    /// other has a certificate, and if all files of the machine are unreadable.
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
            return machine_certificates(load_native_certs(), default_certificates);
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
        let mut failure = None;
        for folder in &self.folders {
            let loaded = load_certs_from_paths(None, Some(folder));
            certificates.extend(loaded.certs);
            failure = failure.or_else(|| loaded.errors.first().map(ToString::to_string));
        }
        match failure.filter(|_| certificates.is_empty()) {
            Some(why) => Err(UnusableClient::Certificates { variable: FOLDERS_VARIABLE, why }),
            None => Ok(certificates),
        }
    }
}

/// Returns the certificates of the machine. `native` reads the variables itself and takes an empty
/// one as the name of a file, so `defaults` replaces a result without certificates.
fn machine_certificates(
    native: CertificateResult,
    defaults: impl FnOnce() -> CertificateResult,
) -> Result<Vec<CertificateDer<'static>>, UnusableClient> {
    if !native.certs.is_empty() {
        return Ok(native.certs);
    }
    let defaults = defaults();
    match defaults.errors.first() {
        Some(error) if defaults.certs.is_empty() => {
            Err(UnusableClient::MachineCertificates { why: error.to_string() })
        }
        _ => Ok(defaults.certs),
    }
}

/// Loads the certificates of the places where systems have them.
fn default_certificates() -> CertificateResult {
    let places = openssl_probe::probe();
    let folders = places.cert_dir.iter().map(|folder| (None, Some(folder.as_path())));
    let file = places.cert_file.as_deref();
    let paths = std::iter::once((file, None)).chain(folders);
    let mut loaded = CertificateResult::default();
    for (file, folder) in paths {
        let found: CertificateResult = load_certs_from_paths(file, folder);
        loaded.certs.extend(found.certs);
        loaded.errors.extend(found.errors);
    }
    loaded
}

/// Returns whether a call failed because the server's certificate is an authority's own, as
/// `openssl req -x509` makes it, and is not trusted.
pub fn is_self_signed(error: &Error) -> bool {
    let mut cause = error.source();
    while let Some(it) = cause {
        if tls_error(it).is_some_and(is_authority) {
            return true;
        }
        cause = it.source();
    }
    false
}

/// Returns the error of TLS that I/O errors wrap. It is no source of theirs.
fn tls_error<'a>(mut error: &'a (dyn StdError + 'static)) -> Option<&'a rustls::Error> {
    while let Some(wrapper) = error.downcast_ref::<io::Error>() {
        error = wrapper.get_ref()?;
    }
    error.downcast_ref()
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

#[cfg(test)]
mod tests {
    use rustls::pki_types::pem::PemObject as _;

    use super::*;

    fn loaded(certs: &[&[u8]]) -> CertificateResult {
        let mut loaded = CertificateResult::default();
        loaded.certs = certs.iter().map(|der| CertificateDer::from(der.to_vec())).collect();
        loaded
    }

    fn failed(path: &str) -> CertificateResult {
        let failed = load_certs_from_paths(Some(path.as_ref()), None);
        assert!(!failed.errors.is_empty());
        failed
    }

    // `SSL_CERT_FILE=""` makes the library read a file without a name.
    #[test]
    fn empty_variable_keeps_the_machines_certificates() {
        let found = machine_certificates(failed(""), || loaded(&[b"machine"])).unwrap();
        assert_eq!(found, loaded(&[b"machine"]).certs);
        let found = machine_certificates(loaded(&[b"native"]), || failed("/missing")).unwrap();
        assert_eq!(found, loaded(&[b"native"]).certs);
        let none = machine_certificates(loaded(&[]), || loaded(&[])).unwrap();
        assert_eq!(none, []);
    }

    #[test]
    fn unreadable_certificates_of_the_machine_are_reported() {
        let refused = machine_certificates(failed("/missing"), || failed("/missing"));
        insta::assert_snapshot!(refused.unwrap_err(), @"failed to read the certificates that this machine trusts: failed to read PEM from file: No such file or directory (os error 2) at '/missing'; make them readable, or set `SSL_CERT_FILE` to a file with the certificates to trust");
    }

    #[test]
    fn default_places_yield_certificates_if_they_have_any() {
        let place = openssl_probe::probe().cert_file;
        let expected = place.map_or(0, |file| CertificateDer::pem_file_iter(file).unwrap().count());
        assert!(default_certificates().certs.len() >= expected);
    }

    #[test]
    fn missing_folder_is_refused_unless_another_has_certificates() {
        let missing = Trust { file: None, folders: vec!["/missing".into()] };
        insta::assert_snapshot!(missing.certificates().unwrap_err(), @"failed to read the certificates that `SSL_CERT_DIR` names: opening directory: No such file or directory (os error 2) at '/missing'");
    }
}
