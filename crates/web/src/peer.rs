//! Origin of a request: its peer and its listener, which listeners add to the extensions of each
//! request, and the session that it has shown.

use std::net::{IpAddr, Ipv6Addr};

/// Remote address of the connection.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub IpAddr);

/// The listener that received the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryPoint {
    /// HTTP, with all routes.
    Plain,
    /// HTTPS, with all routes.
    Tls,
    /// HTTP that redirects to HTTPS. It serves the page of a custom domain until the domain has a
    /// certificate.
    Redirecting,
}

/// Mark in the extensions of a response whose request has shown a valid session.
#[derive(Clone, Copy, Debug)]
pub struct ShownSession;

/// Returns the address that limits count for. An IPv6 /64 counts as one address, because each
/// customer has one.
pub fn rate_limit_address(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)))
        }
    }
}
