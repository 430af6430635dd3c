//! Client certificates of checks: reads them with their keys, and explains why a server refuses one.
//! Every surface that accepts a monitor reads its certificate here first, so that a check never meets
//! one that it cannot use.

mod refusal;

use std::sync::{Arc, Mutex, PoisonError};

use domain::check::http::ClientIdentity;
use rules::Timestamp;
use rustls::client::ResolvesClientCert;
use rustls::crypto::aws_lc_rs::sign::any_supported_type;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SigningKey, SingleCertAndKey};
use sha2::{Digest, Sha256};
use x509_parser::prelude::{FromDer, X509Certificate};

pub(crate) use self::refusal::refusal;
use crate::certificate::timestamp;
use crate::generations::Generations;
use crate::limits::CLIENT_CERTIFICATES_KEPT;

/// A client certificate with its key, ready to be presented.
#[derive(Debug)]
pub struct ClientCertificate {
    /// Start of its validity.
    pub not_before: Timestamp,
    /// End of its validity.
    pub not_after: Timestamp,
    resolver: Arc<dyn ResolvesClientCert>,
}

/// Error for a certificate or a key that no check can use. No message repeats a part of the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnusableClientCertificate {
    #[error("has no certificate; give PEM with `BEGIN CERTIFICATE`")]
    Absent,
    #[error("has an unreadable certificate, number {number}; export it again as X.509 in PEM")]
    Unreadable { number: usize },
    #[error("must begin with the certificate of `client_key`, which is number {number}")]
    NotFirst { number: usize },
    #[error("must be the key of the certificate `{subject}`, which has another public key")]
    OtherKey { subject: String },
    #[error("must be a readable private key; export it again in PEM")]
    UnreadableKey,
    #[error(
        "must be a supported key: RSA of 2048 to 8192 bits, ECDSA with P-256, P-384 or P-521, or \
         Ed25519"
    )]
    UnsupportedKey,
}

impl UnusableClientCertificate {
    /// Returns the argument of the monitor to correct.
    pub const fn argument(&self) -> &'static str {
        match self {
            Self::Absent | Self::Unreadable { .. } | Self::NotFirst { .. } => "client_certificate",
            Self::OtherKey { .. } | Self::UnreadableKey | Self::UnsupportedKey => "client_key",
        }
    }
}

impl ClientCertificate {
    /// Reads the certificates and the key, both in PEM, and checks that they belong together.
    pub fn read(certificate: &str, key: &str) -> Result<Self, UnusableClientCertificate> {
        let chain = chain(certificate)?;
        let leaf = parsed(&chain, 0)?;
        for index in 1..chain.len() {
            parsed(&chain, index)?;
        }
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes())
            .map_err(|_| UnusableClientCertificate::UnreadableKey)?;
        let key =
            any_supported_type(&key).map_err(|_| UnusableClientCertificate::UnsupportedKey)?;
        require_key_of(&chain, &leaf, &*key)?;
        let validity = leaf.validity();
        let (not_before, not_after) =
            (timestamp(validity.not_before), timestamp(validity.not_after));
        let resolver = Arc::new(SingleCertAndKey::from(CertifiedKey::new(chain, key)));
        Ok(Self { not_before, not_after, resolver })
    }
}

/// The certificates of recent checks. Reading a key takes as long as a handshake, and jobs from a
/// server are read again each time.
#[derive(Debug)]
pub(crate) struct ClientCertificates(Mutex<Generations<Arc<dyn ResolvesClientCert>>>);

impl Default for ClientCertificates {
    fn default() -> Self {
        Self(Mutex::new(Generations::new(CLIENT_CERTIFICATES_KEPT)))
    }
}

impl ClientCertificates {
    /// Returns what presents this identity to a server.
    pub(crate) fn resolver(
        &self,
        identity: &ClientIdentity,
    ) -> Result<Arc<dyn ResolvesClientCert>, UnusableClientCertificate> {
        let key = hash(identity);
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).find(key);
        if let Some(known) = known {
            return Ok(known);
        }
        let read = ClientCertificate::read(&identity.certificate, identity.key.expose())?;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.store(key, Arc::clone(&read.resolver));
        Ok(read.resolver)
    }
}

fn hash(identity: &ClientIdentity) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update((identity.certificate.len() as u64).to_be_bytes());
    hash.update(&identity.certificate);
    hash.update(identity.key.expose());
    hash.finalize().into()
}

/// Decodes the certificates of a text.
fn chain(pem: &str) -> Result<Vec<CertificateDer<'static>>, UnusableClientCertificate> {
    let mut chain = Vec::new();
    for (index, read) in CertificateDer::pem_slice_iter(pem.as_bytes()).enumerate() {
        chain.push(read.map_err(|_| unreadable(index))?);
    }
    if chain.is_empty() { Err(UnusableClientCertificate::Absent) } else { Ok(chain) }
}

fn parsed<'a>(
    chain: &'a [CertificateDer<'static>],
    index: usize,
) -> Result<X509Certificate<'a>, UnusableClientCertificate> {
    let read = X509Certificate::from_der(&chain[index]);
    read.map(|(_, certificate)| certificate).map_err(|_| unreadable(index))
}

const fn unreadable(index: usize) -> UnusableClientCertificate {
    UnusableClientCertificate::Unreadable { number: index + 1 }
}

/// Checks that the first certificate has the public key of this private one. Reads certificates with
/// another library than the checks of servers, because servers accept client certificates of version 1.
fn require_key_of(
    chain: &[CertificateDer<'static>],
    leaf: &X509Certificate<'_>,
    key: &dyn SigningKey,
) -> Result<(), UnusableClientCertificate> {
    let Some(public) = key.public_key() else { return Ok(()) };
    let fits = |certificate: &X509Certificate<'_>| certificate.public_key().raw == public.as_ref();
    if fits(leaf) {
        return Ok(());
    }
    for index in 1..chain.len() {
        if fits(&parsed(chain, index)?) {
            return Err(UnusableClientCertificate::NotFirst { number: index + 1 });
        }
    }
    let subject = crate::certificate::format_name(leaf.subject());
    Err(UnusableClientCertificate::OtherKey { subject })
}
