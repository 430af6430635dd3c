//! Client certificates of tests, with their keys, in PEM: valid from 2020 to 2090, each issued by itself.
//! `target::Authority` issues those that a server accepts.

/// A certificate.
pub const CERTIFICATE: &str = include_str!("../pem/certificate.pem");
/// The key of [`CERTIFICATE`].
pub const KEY: &str = include_str!("../pem/key.pem");
/// Another certificate.
pub const OTHER_CERTIFICATE: &str = include_str!("../pem/other-certificate.pem");
/// The key of [`OTHER_CERTIFICATE`].
pub const OTHER_KEY: &str = include_str!("../pem/other-key.pem");
