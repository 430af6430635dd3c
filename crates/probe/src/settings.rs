//! How a probe is set up: what it may reach, whom it asks for names, whom it trusts, how much it
//! does at a time. Reading these from flags and files belongs to whoever starts the probe.

use std::net::SocketAddr;

use rules::limits;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::egress::Egress;
use crate::limits::concurrency_limit;

/// How a probe is set up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What may be reached.
    pub egress: Egress,
    /// Whom to ask for names. These are the operator's, so the egress policy does not hold for them.
    pub nameservers: Nameservers,
    /// Zones that have a name server of their own, such as `corp.example`: the names at or below
    /// one are asked for there.
    pub zones: Vec<(String, SocketAddr)>,
    /// Certificate authorities trusted besides the usual ones; see [`read_roots`].
    pub extra_roots: Vec<CertificateDer<'static>>,
    /// Attempts that run at a time; the others wait.
    pub concurrency: usize,
    /// Bytes of memory that the bodies of all checks share; where none are left, less of a body is kept.
    pub body_memory: usize,
}

/// Whom to ask for names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nameservers {
    /// Those of `/etc/resolv.conf`.
    System,
    /// These, in order.
    Given(Vec<SocketAddr>),
}

/// A certificate authority that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum UnusableRoots {
    /// The text holds none.
    #[error("no certificate found; give PEM with `BEGIN CERTIFICATE`")]
    None,
    /// The text is no PEM.
    #[error("certificate number {number} is no PEM: {why}")]
    Unreadable {
        /// Counted from 1.
        number: usize,
        /// What PEM's reader says.
        why: rustls::pki_types::pem::Error,
    },
    /// It is PEM, and no certificate of an authority.
    #[error("certificate number {number} is of no authority: {why}")]
    Unusable {
        /// Counted from 1.
        number: usize,
        /// What TLS says.
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

/// The certificate authorities in a PEM text, each found usable.
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
