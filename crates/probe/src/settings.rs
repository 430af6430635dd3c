//! Settings of a probe: egress policy, nameservers, trusted authorities and concurrency. The caller
//! reads them from flags and files.

use std::net::SocketAddr;

use rules::limits;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::egress::Egress;
use crate::limits::concurrency_limit;

/// Settings of a probe.
#[derive(Clone, Debug)]
pub struct Settings {
    pub egress: Egress,
    /// The operator chooses them, so the egress policy does not apply to them.
    pub nameservers: Nameservers,
    /// Zones with their own nameserver, such as `corp.example`, which is used for the zone and its
    /// subdomains.
    pub zones: Vec<(String, SocketAddr)>,
    /// Certificate authorities trusted in addition to the usual ones; see [`read_roots`].
    pub extra_roots: Vec<CertificateDer<'static>>,
    /// Number of concurrent attempts; others wait.
    pub concurrency: usize,
    /// Memory budget for the bodies of all checks, in bytes. If it is used up, less of a body is
    /// kept.
    pub body_memory: usize,
}

/// Source of the nameservers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nameservers {
    /// From `/etc/resolv.conf`.
    System,
    /// These, in order.
    Given(Vec<SocketAddr>),
}

/// Error for certificate authorities that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum UnusableRoots {
    /// The text contains no certificate.
    #[error("no certificate found; give PEM with `BEGIN CERTIFICATE`")]
    None,
    /// The text is not valid PEM.
    #[error("certificate number {number} is not valid PEM: {why}")]
    Unreadable {
        /// Counted from 1.
        number: usize,
        why: rustls::pki_types::pem::Error,
    },
    /// The certificate is not usable as an authority.
    #[error("certificate number {number} is not a usable authority: {why}")]
    Unusable {
        /// Counted from 1.
        number: usize,
        why: rustls::Error,
    },
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            egress: Egress::default(),
            nameservers: Nameservers::System,
            zones: Vec::new(),
            extra_roots: Vec::new(),
            concurrency: concurrency_limit(),
            body_memory: limits::BODY_MEMORY_BYTES,
        }
    }
}

/// Parses the certificate authorities in a PEM text and checks that each is usable.
pub fn read_roots(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, UnusableRoots> {
    let mut roots = Vec::new();
    for (index, read) in CertificateDer::pem_slice_iter(pem).enumerate() {
        let number = index + 1;
        let root = read.map_err(|why| UnusableRoots::Unreadable { number, why })?;
        RootCertStore::empty()
            .add(root.clone())
            .map_err(|why| UnusableRoots::Unusable { number, why })?;
        roots.push(root);
    }
    if roots.is_empty() { Err(UnusableRoots::None) } else { Ok(roots) }
}
