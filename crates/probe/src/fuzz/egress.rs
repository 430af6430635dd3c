//! The fuzz target `egress`: no form of an address may reach what the plain address may not. Uses
//! the standard library as an independent definition of special addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv6Net};

use crate::egress::{Egress, Zone, classify};

/// Checks an address (the first 16 bytes; the last four also as IPv4) with an allowed network (16
/// bytes, and one for its prefix length).
///
/// # Panics
///
/// If a permitted address embeds a blocked IPv4 one, if permitting more blocks something, or if a
/// metadata service is permitted.
pub fn egress(input: &[u8]) {
    let mut bytes = [0; 33];
    let length = input.len().min(bytes.len());
    bytes[..length].copy_from_slice(&input[..length]);
    let (address, rest) = bytes.split_first_chunk::<16>().expect("the input has 33 bytes");
    let (network, prefix) = rest.split_first_chunk::<16>().expect("17 bytes remain");
    let v6 = Ipv6Addr::from(*address);
    let v4 = Ipv4Addr::from(u128::from(v6) as u32);
    a_wrapped_address_goes_no_further(v4);
    let network = Ipv6Net::new(Ipv6Addr::from(*network), prefix[0] % 129);
    let network = network.expect("the prefix length is at most 128");
    for address in [IpAddr::V4(v4), IpAddr::V6(v6)] {
        permitted_means_public(address);
        opening_opens(address, IpNet::V6(network));
    }
}

/// Returns all IPv6 forms that embed this address, with a public Teredo server.
fn wrapped(v4: Ipv4Addr) -> [Ipv6Addr; 7] {
    let bits = u128::from(u32::from(v4));
    [
        0xffff_0000_0000 | bits,
        0xffff_0000_0000_0000 | bits,
        0x0064_ff9b << 96 | bits,
        0x0064_ff9b_0001 << 80 | bits,
        0x2002 << 112 | bits << 80,
        0x2001_0000_0808_0808 << 64 | (!bits & 0xffff_ffff),
        0x2001_0000 << 96 | bits << 64 | (!0x0808_0808_u128 & 0xffff_ffff),
    ]
    .map(Ipv6Addr::from)
}

fn a_wrapped_address_goes_no_further(v4: Ipv4Addr) {
    let default = Egress::default();
    let plain = default.permit(IpAddr::V4(v4)).is_ok();
    assert!(!plain || !is_special(v4), "{v4} is permitted");
    for v6 in wrapped(v4) {
        let permitted = default.permit(IpAddr::V6(v6)).is_ok();
        assert!(!permitted || plain, "{v6} is permitted and embeds {v4}");
    }
}

/// Returns whether the standard library considers the address special.
fn is_special(v4: Ipv4Addr) -> bool {
    let [first, second, ..] = v4.octets();
    v4.is_private()
        || v4.is_loopback()
        || v4.is_link_local()
        || v4.is_multicast()
        || v4.is_broadcast()
        || v4.is_documentation()
        || first == 0
        || first >= 240
        || (first == 100 && (64..128).contains(&second))
}

fn permitted_means_public(address: IpAddr) {
    if Egress::default().permit(address).is_err() {
        return;
    }
    assert_eq!(classify(address).zone, Zone::Public, "{address}");
    if let IpAddr::V6(v6) = address {
        let special = v6.is_loopback()
            || v6.is_unspecified()
            || v6.is_multicast()
            || v6.is_unique_local()
            || v6.is_unicast_link_local();
        assert!(!special, "{v6} is permitted");
        let inside = v6.to_ipv4();
        assert!(!inside.is_some_and(is_special), "{v6} is permitted");
    }
}

/// Checks that permitting more never blocks an address, that metadata services stay blocked, and
/// that a network permits only its own addresses.
fn opening_opens(address: IpAddr, network: IpNet) {
    let everything: [IpNet; 2] =
        ["0.0.0.0/0", "::/0"].map(|it| it.parse().expect("the network is valid"));
    let least = Egress::default().permit(address);
    let private = Egress::new(true, []).permit(address);
    let allowed = Egress::new(false, [network]).permit(address);
    let most = Egress::new(true, everything).permit(address);
    let metadata = classify(address).zone == Zone::Metadata;
    assert_eq!(most.is_err(), metadata, "{address}");
    for more in [private, allowed] {
        assert!(least.is_err() || more.is_ok(), "{address} is blocked by permitting more");
        assert!(more.is_err() || most.is_ok(), "{address} is blocked by permitting everything");
    }
    if allowed.is_ok() && least.is_err() {
        assert!(network.contains(&address), "{address} is permitted by {network}");
    }
}
