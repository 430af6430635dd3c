//! The transports for checks, each recording its progress.

pub(crate) mod dns;
pub(crate) mod http;
pub(crate) mod tcp;

use std::sync::OnceLock;

use rustls::pki_types::CertificateDer;

use self::http::header_limit::LargeHeaderHosts;
use crate::egress::Egress;
use crate::memory::Memory;
use crate::resolve::Resolver;
use crate::tls::Tls;

/// State shared by the transports.
pub(crate) struct Network {
    pub(crate) egress: Egress,
    pub(crate) resolver: Resolver,
    pub(crate) large_header_hosts: LargeHeaderHosts,
    /// Memory budget for bodies.
    pub(crate) memory: Memory,
    extra_roots: Vec<CertificateDer<'static>>,
    tls: OnceLock<Tls>,
}

impl Network {
    pub(crate) fn new(
        egress: Egress,
        resolver: Resolver,
        extra_roots: Vec<CertificateDer<'static>>,
        memory: Memory,
    ) -> Self {
        Self {
            egress,
            resolver,
            large_header_hosts: LargeHeaderHosts::default(),
            memory,
            extra_roots,
            tls: OnceLock::new(),
        }
    }

    /// Returns the TLS configuration, created on first use.
    pub(crate) fn tls(&self) -> &Tls {
        self.tls.get_or_init(|| Tls::new(&self.extra_roots))
    }
}
