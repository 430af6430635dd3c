//! A certificate authority for tests, and certificates it vouches for, or does not.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// A certificate authority that only the tests trust.
#[derive(Debug)]
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate with its key.
#[derive(Debug)]
pub struct Identity {
    pub(super) chain: Vec<CertificateDer<'static>>,
    pub(super) key: PrivateKeyDer<'static>,
}

/// When a certificate holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validity {
    /// From 2020 to 2090.
    Holds,
    /// It ended with 2021.
    Expired,
    /// It begins with 2090.
    NotYet,
}

impl Authority {
    /// A new authority called `name`.
    pub fn new(name: &str) -> Self {
        let mut params = params(&[], name, Validity::Holds);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, key()).expect("the parameters are good");
        Self { issuer }
    }

    /// Its own certificate, in PEM.
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// A certificate for `names` (or addresses) from this authority.
    pub fn issue(&self, names: &[&str], validity: Validity) -> Identity {
        let key = key();
        let name = names.first().copied().unwrap_or("nobody");
        let certificate = params(names, name, validity)
            .signed_by(&key, &self.issuer)
            .expect("the parameters are good");
        Identity { chain: vec![certificate.der().clone()], key: private(&key) }
    }
}

impl Identity {
    /// A certificate for `names` that nobody vouches for.
    pub fn self_signed(names: &[&str]) -> Self {
        let key = key();
        let name = names.first().copied().unwrap_or("nobody");
        let certificate = params(names, name, Validity::Holds)
            .self_signed(&key)
            .expect("the parameters are good");
        Self { chain: vec![certificate.der().clone()], key: private(&key) }
    }
}

fn key() -> KeyPair {
    KeyPair::generate().expect("chance is there")
}

fn private(key: &KeyPair) -> PrivateKeyDer<'static> {
    PrivatePkcs8KeyDer::from(key.serialize_der()).into()
}

fn params(names: &[&str], name: &str, validity: Validity) -> CertificateParams {
    let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).expect("tests give names or addresses");
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    (params.not_before, params.not_after) = match validity {
        Validity::Holds => (date_time_ymd(2020, 1, 1), date_time_ymd(2090, 1, 1)),
        Validity::Expired => (date_time_ymd(2020, 1, 1), date_time_ymd(2022, 1, 1)),
        Validity::NotYet => (date_time_ymd(2090, 1, 1), date_time_ymd(2091, 1, 1)),
    };
    params
}
