//! Classifies addresses by the registries of special addresses:
//! <https://www.iana.org/assignments/iana-ipv4-special-registry> and
//! <https://www.iana.org/assignments/iana-ipv6-special-registry>.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The zone of an address, and the mapping if it embeds an IPv4 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressClass {
    /// Zone of the address, or of the embedded IPv4 address.
    pub zone: Zone,
    /// Form of the embedding, if any.
    pub mapping: Option<Mapping>,
}

/// Zones of the address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    Public,
    /// Private networks (RFC 1918, unique local addresses, local NAT64).
    Private,
    /// Shared address space of carrier-grade NAT (RFC 6598).
    Shared,
    Loopback,
    LinkLocal,
    /// Metadata services of clouds.
    Metadata,
    Multicast,
    /// The unspecified address, and "this network".
    Unspecified,
    Broadcast,
    /// Reserved for documentation, benchmarks, protocols or future use.
    Reserved,
}

/// Form of an IPv6 address that embeds an IPv4 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// `::ffff:a.b.c.d`, and `::ffff:0:a.b.c.d`.
    Ipv4Mapped,
    /// `::a.b.c.d`.
    Ipv4Compatible,
    /// `64:ff9b::a.b.c.d`, and the local `64:ff9b:1::/48`.
    Nat64,
    /// `2002:aabb:ccdd::`.
    SixToFour,
    /// `2001:0:aabb:ccdd:…`.
    Teredo,
}

/// Addresses at which clouds hand out credentials of the machine: AWS and most others (instance,
/// ECS, EKS), Azure, Alibaba, Oracle, Tencent, Scaleway, and over IPv6 AWS, Google, `OpenStack`,
/// Scaleway.
const METADATA: [IpAddr; 13] = [
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 2)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 23)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 0, 23)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 42, 42)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23)),
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42)),
];

/// Classifies `address`. An address that embeds an IPv4 address has the zone of that one.
pub fn classify(address: IpAddr) -> AddressClass {
    let plain = |zone| AddressClass { zone, mapping: None };
    if METADATA.contains(&address) {
        return plain(Zone::Metadata);
    }
    let v6 = match address {
        IpAddr::V4(v4) => return plain(zone_of_v4(v4)),
        IpAddr::V6(v6) => v6,
    };
    match unmapped(v6) {
        Some((mapping, v4)) => {
            AddressClass { zone: zone_behind(mapping, v6, v4), mapping: Some(mapping) }
        }
        None => plain(zone_of_v6(v6)),
    }
}

/// Extracts the IPv4 address embedded in `address`.
pub(super) fn unmapped(address: Ipv6Addr) -> Option<(Mapping, Ipv4Addr)> {
    let segments = address.segments();
    let last = join(segments[6], segments[7]);
    match segments {
        [0, 0, 0, 0, 0, 0xffff, ..] | [0, 0, 0, 0, 0xffff, 0, ..] => {
            Some((Mapping::Ipv4Mapped, last))
        }
        [0, 0, 0, 0, 0, 0, ..] if u32::from(last) > 1 => Some((Mapping::Ipv4Compatible, last)),
        [0x64, 0xff9b, 0, 0, 0, 0, ..] | [0x64, 0xff9b, 1, ..] => Some((Mapping::Nat64, last)),
        [0x2002, high, low, ..] => Some((Mapping::SixToFour, join(high, low))),
        // The client's address is stored with inverted bits (RFC 4380 §4).
        [0x2001, 0, .., high, low] => Some((Mapping::Teredo, join(!high, !low))),
        _ => None,
    }
}

/// Returns whether a local translator with a prefix of 48, 56 or 64 bits maps `address` to a
/// metadata service. RFC 6052 §2.2 then places the IPv4 address around bits 64 to 71, which are 0.
fn translates_to_metadata(address: Ipv6Addr) -> bool {
    let octets = address.octets();
    [6, 7, 8].into_iter().any(|start| {
        let mut written = (start..).filter(|at| *at != 8).map(|at: usize| octets[at]);
        let mut next = || written.next().expect("at most 13 of 16 octets are read");
        METADATA.contains(&IpAddr::from([next(), next(), next(), next()]))
    })
}

fn zone_behind(mapping: Mapping, address: Ipv6Addr, inner: Ipv4Addr) -> Zone {
    let zone = classify(IpAddr::V4(inner)).zone;
    let [_, _, third, fourth, ..] = address.segments();
    match (mapping, zone) {
        (Mapping::Nat64, _) if third == 1 && translates_to_metadata(address) => Zone::Metadata,
        // The local network controls its translator, so the address counts as private.
        (Mapping::Nat64, Zone::Public) if third == 1 => Zone::Private,
        // Packets reach the embedded server as well as the client.
        (Mapping::Teredo, Zone::Public) => classify(IpAddr::V4(join(third, fourth))).zone,
        (_, zone) => zone,
    }
}

fn zone_of_v4(address: Ipv4Addr) -> Zone {
    match address.octets() {
        [0, ..] => Zone::Unspecified,
        [255, 255, 255, 255] => Zone::Broadcast,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Zone::Private,
        [100, 64..=127, ..] => Zone::Shared,
        [127, ..] => Zone::Loopback,
        [169, 254, ..] => Zone::LinkLocal,
        [224..=239, ..] => Zone::Multicast,
        [192, 0, 0 | 2, _]
        | [192, 88, 99, _]
        | [198, 18 | 19, ..]
        | [198, 51, 100, _]
        | [203, 0, 113, _]
        | [240..=255, ..] => Zone::Reserved,
        _ => Zone::Public,
    }
}

fn zone_of_v6(address: Ipv6Addr) -> Zone {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Zone::Unspecified,
        [0, 0, 0, 0, 0, 0, 0, 1] => Zone::Loopback,
        [0xfe80..=0xfebf, ..] => Zone::LinkLocal,
        [0xfc00..=0xfdff, ..] => Zone::Private,
        [0xff00..=0xffff, ..] => Zone::Multicast,
        // Protocol assignments and documentation.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Zone::Reserved,
        [0x2000..=0x3fff, ..] => Zone::Public,
        _ => Zone::Reserved,
    }
}

fn join(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from((u32::from(high) << 16) | u32::from(low))
}

impl fmt::Display for AddressClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.zone {
            Zone::Public => "public",
            Zone::Private => "private",
            Zone::Shared => "in a provider's shared network",
            Zone::Loopback => "loopback",
            Zone::LinkLocal => "link-local",
            Zone::Metadata => "a metadata service",
            Zone::Multicast => "multicast",
            Zone::Unspecified => "unspecified",
            Zone::Broadcast => "broadcast",
            Zone::Reserved => "reserved",
        })?;
        let Some(mapping) = self.mapping else { return Ok(()) };
        f.write_str(match mapping {
            Mapping::Ipv4Mapped => " (as an IPv4-mapped address)",
            Mapping::Ipv4Compatible => " (as an IPv4-compatible address)",
            Mapping::Nat64 => " (behind NAT64)",
            Mapping::SixToFour => " (behind 6to4)",
            Mapping::Teredo => " (behind Teredo)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_address_has_the_same_zone() {
        // design: §6 "mapped addresses"
        for block in 0..=u16::MAX {
            let v4 = join(block, 0xa9fe);
            let bits = u128::from(u32::from(v4));
            let zone = classify(IpAddr::V4(v4)).zone;
            let wrapped = [
                0xffff_0000_0000 | bits,
                0xffff_0000_0000_0000 | bits,
                bits,
                0x0064_ff9b << 96 | bits,
                0x2002 << 112 | bits << 80,
                0x2001_0000_0808_0808 << 64 | (!bits & 0xffff_ffff),
                0x2001_0000 << 96 | bits << 64 | (!0x0808_0808_u128 & 0xffff_ffff),
            ];
            for address in wrapped.map(Ipv6Addr::from) {
                assert_eq!(classify(IpAddr::V6(address)).zone, zone, "{address} wraps {v4}");
            }
        }
    }

    #[test]
    fn local_translator_is_never_public() {
        let public = "64:ff9b:1::808:808".parse().unwrap();
        assert_eq!(classify(public).zone, Zone::Private);
        let loopback = "64:ff9b:1::7f00:1".parse().unwrap();
        assert_eq!(classify(loopback).zone, Zone::Loopback);
    }
}
