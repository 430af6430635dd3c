//! Parses certificate chains and caches the result, because targets present the same chain at every
//! check.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use domain::check::Certificate;
use rules::Timestamp;
use rustls::pki_types::CertificateDer;
use sha2::{Digest, Sha256};
use x509_parser::prelude::{ASN1Time, FromDer, X509Certificate, X509Name};

use crate::limits::{CERTIFICATE_NAME_CHARS, CERTIFICATES_KEPT, CERTIFICATES_NAMED};

/// A cache of parsed chains.
#[derive(Debug, Default)]
pub(crate) struct Certificates {
    cache: Mutex<Generations>,
}

/// Two generations: accessed entries move to the young one. When it is full, it replaces the old
/// one. This approximates least-recently-used eviction without tracking the order of use.
#[derive(Debug, Default)]
struct Generations {
    young: HashMap<[u8; 32], Arc<Certificate>>,
    old: HashMap<[u8; 32], Arc<Certificate>>,
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
        let known = self.cache.lock().unwrap_or_else(PoisonError::into_inner).find(key);
        if let Some(known) = known {
            return Some((*known).clone());
        }
        let read = parse(chain)?;
        let mut kept = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        kept.store(key, Arc::new(read.clone()));
        Some(read)
    }
}

impl Generations {
    fn find(&mut self, key: [u8; 32]) -> Option<Arc<Certificate>> {
        if let Some(known) = self.young.get(&key) {
            return Some(Arc::clone(known));
        }
        let known = self.old.remove(&key)?;
        self.store(key, Arc::clone(&known));
        Some(known)
    }

    fn store(&mut self, key: [u8; 32], certificate: Arc<Certificate>) {
        if self.young.len() >= CERTIFICATES_KEPT {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, certificate);
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
fn format_name(name: &X509Name<'_>) -> String {
    let mut text = name.to_string();
    if let Some((end, _)) = text.char_indices().nth(CERTIFICATE_NAME_CHARS) {
        text.truncate(end);
    }
    text
}

fn timestamp(time: ASN1Time) -> Timestamp {
    Timestamp::from_millis(time.timestamp().saturating_mul(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> [u8; 32] {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&number.to_be_bytes());
        key
    }

    #[test]
    fn used_chains_outlive_unused_ones() {
        let certificate = Arc::new(Certificate {
            subject: String::new(),
            issuer: String::new(),
            not_before: Timestamp::default(),
            not_after: Timestamp::default(),
            chain_not_after: Timestamp::default(),
            chain: Vec::new(),
            fingerprint: String::new(),
        });
        let mut kept = Generations::default();
        for number in 0..10 * CERTIFICATES_KEPT {
            kept.store(key(number), Arc::clone(&certificate));
            assert!(kept.find(key(0)).is_some(), "used again after {number} others");
        }
        assert!(kept.find(key(1)).is_none());
        assert!(kept.young.len() + kept.old.len() <= 2 * CERTIFICATES_KEPT);
    }
}
