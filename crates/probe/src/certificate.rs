//! Parses certificate chains and caches the result, because targets present the same chain at every
//! check.

use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use domain::check::Certificate;
use rules::Timestamp;
use rustls::pki_types::CertificateDer;
use sha2::{Digest, Sha256};
use x509_parser::prelude::{ASN1Time, FromDer, X509Certificate, X509Name};

use crate::generations::Generations;
use crate::limits::{CERTIFICATE_NAME_CHARS, CERTIFICATES_KEPT, CERTIFICATES_NAMED};

/// A cache of parsed chains.
#[derive(Debug)]
pub(crate) struct Certificates(Mutex<Generations<Arc<Certificate>>>);

impl Default for Certificates {
    fn default() -> Self {
        Self(Mutex::new(Generations::new(CERTIFICATES_KEPT)))
    }
}

impl Certificates {
    /// Parses `chain` (leaf first), or returns `None` if the leaf cannot be parsed.
    pub(crate) fn read(&self, chain: &[CertificateDer<'_>]) -> Option<Certificate> {
        if chain.is_empty() {
            return None;
        }
        let mut hash = Sha256::new();
        for certificate in chain {
            hash.update(certificate);
        }
        let key: [u8; 32] = hash.finalize().into();
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).find(key);
        if let Some(known) = known {
            return Some((*known).clone());
        }
        let read = parse(chain)?;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.store(key, Arc::new(read.clone()));
        Some(read)
    }
}

fn parse(chain: &[CertificateDer<'_>]) -> Option<Certificate> {
    let leaf_der = chain.first()?;
    let (_, leaf) = X509Certificate::from_der(leaf_der).ok()?;
    let mut subjects = Vec::with_capacity(chain.len().min(CERTIFICATES_NAMED));
    let mut first_end = timestamp(leaf.validity().not_after);
    for der in chain {
        let Ok((_, certificate)) = X509Certificate::from_der(der) else { continue };
        first_end = first_end.min(timestamp(certificate.validity().not_after));
        if subjects.len() < CERTIFICATES_NAMED {
            subjects.push(format_name(certificate.subject()));
        }
    }
    let mut fingerprint = String::with_capacity(64);
    for byte in Sha256::digest(leaf_der) {
        write!(fingerprint, "{byte:02x}").expect("writing to a string cannot fail");
    }
    Some(Certificate {
        subject: format_name(leaf.subject()),
        issuer: format_name(leaf.issuer()),
        not_before: timestamp(leaf.validity().not_before),
        not_after: timestamp(leaf.validity().not_after),
        chain_not_after: first_end,
        chain: subjects,
        fingerprint,
    })
}

/// Formats a name, cut to a reasonable length.
pub(crate) fn format_name(name: &X509Name<'_>) -> String {
    let mut text = name.to_string();
    if let Some((end, _)) = text.char_indices().nth(CERTIFICATE_NAME_CHARS) {
        text.truncate(end);
    }
    text
}

/// Converts a time of a certificate.
pub(crate) fn timestamp(time: ASN1Time) -> Timestamp {
    Timestamp::from_millis(time.timestamp().saturating_mul(1000))
}
