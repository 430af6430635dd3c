//! A certificate authority for tests, with valid, invalid and self-signed certificates.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// A certificate authority that only tests trust.
#[derive(Debug)]
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    /// Issuers above it, nearest first, without the root.
    chain: Vec<CertificateDer<'static>>,
}

/// A certificate with its key.
#[derive(Debug)]
pub struct Identity {
    pub(super) chain: Vec<CertificateDer<'static>>,
    pub(super) key: PrivateKeyDer<'static>,
}

/// Period of validity of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validity {
    /// From 2020 to 2090.
    Valid,
    /// Until the end of 2021.
    Expired,
    /// From 2090.
    NotYet,
}

impl Authority {
    /// Creates a root authority with this name.
    pub fn new(name: &str) -> Self {
        let issuer = CertifiedIssuer::self_signed(ca_params(name, Validity::Valid), key())
            .expect("the parameters are valid");
        Self { issuer, chain: Vec::new() }
    }

    /// Creates an intermediate authority issued by this one.
    #[must_use]
    pub fn intermediate(&self, name: &str, validity: Validity) -> Self {
        let issuer = CertifiedIssuer::signed_by(ca_params(name, validity), key(), &self.issuer)
            .expect("the parameters are valid");
        let chain = std::iter::once(issuer.der().clone()).chain(self.chain.clone()).collect();
        Self { issuer, chain }
    }

    /// Returns its own certificate as PEM.
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// Returns its own certificate as the only root.
    pub fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone()).expect("the authority is a valid root");
        roots
    }

    /// Issues a certificate for `names` (or addresses).
    pub fn issue(&self, names: &[&str], validity: Validity) -> Identity {
        let key = key();
        let name = names.first().copied().unwrap_or("nobody");
        let certificate = params(names, name, validity)
            .signed_by(&key, &self.issuer)
            .expect("the parameters are valid");
        let chain = std::iter::once(certificate.der().clone()).chain(self.chain.clone());
        Identity { chain: chain.collect(), key: private(&key) }
    }
}

impl Identity {
    /// Creates a self-signed certificate for `names`.
    pub fn self_signed(names: &[&str]) -> Self {
        let key = key();
        let name = names.first().copied().unwrap_or("nobody");
        let certificate = params(names, name, Validity::Valid)
            .self_signed(&key)
            .expect("the parameters are valid");
        Self { chain: vec![certificate.der().clone()], key: private(&key) }
    }

    /// Creates a certificate for `names` that is an authority of its own, as `openssl req -x509` does.
    pub fn self_signed_authority(names: &[&str], validity: Validity) -> Self {
        let key = key();
        let mut params = params(names, names.first().copied().unwrap_or("nobody"), validity);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).expect("the parameters are valid");
        Self { chain: vec![certificate.der().clone()], key: private(&key) }
    }

    /// Returns the certificate and its issuers as PEM.
    pub fn chain_pem(&self) -> String {
        self.chain.iter().map(|certificate| pem("CERTIFICATE", certificate)).collect()
    }

    /// Returns the key as PEM.
    pub fn key_pem(&self) -> String {
        pem("PRIVATE KEY", self.key.secret_der())
    }
}

/// Encodes as RFC 7468 requires: base64 in lines of 64.
fn pem(label: &str, der: &[u8]) -> String {
    let text = BASE64_STANDARD.encode(der);
    let lines: Vec<&str> = text
        .as_bytes()
        .chunks(64)
        .map(|line| std::str::from_utf8(line).expect("base64 is ASCII"))
        .collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

fn key() -> KeyPair {
    KeyPair::generate().expect("randomness is available")
}

fn private(key: &KeyPair) -> PrivateKeyDer<'static> {
    PrivatePkcs8KeyDer::from(key.serialize_der()).into()
}

fn ca_params(name: &str, validity: Validity) -> CertificateParams {
    let mut params = params(&[], name, validity);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
}

fn params(names: &[&str], name: &str, validity: Validity) -> CertificateParams {
    let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).expect("tests pass names or addresses");
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    (params.not_before, params.not_after) = match validity {
        Validity::Valid => (date_time_ymd(2020, 1, 1), date_time_ymd(2090, 1, 1)),
        Validity::Expired => (date_time_ymd(2020, 1, 1), date_time_ymd(2022, 1, 1)),
        Validity::NotYet => (date_time_ymd(2090, 1, 1), date_time_ymd(2091, 1, 1)),
    };
    params
}
