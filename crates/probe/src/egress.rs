//! egress: decides which addresses may be connected to (design §6). Pure: the connector calls it
//! after every DNS lookup and at every redirect. So neither a name nor a special form of an address
//! can reach the internal network.

mod address_class;

use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;

pub use address_class::{AddressClass, Mapping, Zone, classify};

/// Networks that are permitted besides the public internet.
#[derive(Clone, Debug, Default)]
pub struct Egress {
    private_networks: bool,
    allowed: Arc<[IpNet]>,
}

/// Reason why an address is blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Private and loopback networks are blocked by the configuration.
    #[error("address {0} is {1}; `--allow-private-networks` opens private and loopback networks")]
    Closed(IpAddr, AddressClass),
    /// Always blocked, because it hands out credentials of the machine.
    #[error("address {0} is a metadata service of a cloud, which checks may never reach")]
    Metadata(IpAddr),
    /// Not an address of an internet host.
    #[error("address {0} is {1}, which checks may never reach")]
    Unreachable(IpAddr, AddressClass),
}

impl Egress {
    /// Permits the public internet, `allowed` networks, and with `private_networks` also every
    /// private and loopback network (but not link-local). Metadata services are always blocked.
    pub fn new(private_networks: bool, allowed: impl Into<Arc<[IpNet]>>) -> Self {
        Self { private_networks, allowed: allowed.into() }
    }

    /// Checks whether `address` may be connected to.
    pub fn permit(&self, address: IpAddr) -> Result<(), Refusal> {
        let class = classify(address);
        match class.zone {
            Zone::Metadata => Err(Refusal::Metadata(address)),
            Zone::Public => Ok(()),
            _ if self.allows(address) => Ok(()),
            Zone::Private | Zone::Shared | Zone::Loopback if self.private_networks => Ok(()),
            Zone::Private | Zone::Shared | Zone::Loopback => Err(Refusal::Closed(address, class)),
            Zone::LinkLocal
            | Zone::Multicast
            | Zone::Unspecified
            | Zone::Broadcast
            | Zone::Reserved => Err(Refusal::Unreachable(address, class)),
        }
    }

    /// Checks the allowed networks. An address that embeds an IPv4 address counts as that one, so
    /// `::/0` permits no address of `10.0.0.0/8`.
    fn allows(&self, address: IpAddr) -> bool {
        let meant = match address {
            IpAddr::V4(_) => address,
            IpAddr::V6(v6) => address_class::unmapped(v6).map_or(address, |(_, v4)| IpAddr::V4(v4)),
        };
        self.allowed.iter().any(|network| network.contains(&meant))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permitted(egress: &Egress, address: &str) -> bool {
        egress.permit(address.parse().unwrap()).is_ok()
    }

    #[test]
    fn only_public_internet_is_permitted_by_default() {
        // design: §6
        let egress = Egress::default();
        for open in ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"] {
            assert!(permitted(&egress, open), "{open}");
        }
        let closed = [
            "0.0.0.0",
            "10.0.0.1",
            "100.64.0.1",
            "127.0.0.1",
            "169.254.0.1",
            "172.16.0.1",
            "192.168.0.1",
            "192.0.2.1",
            "198.18.0.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "2001:db8::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:0:10.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::8.8.8.8",
            "2002:a00:1::",
            "2001:0:a00:1::",
            "2001:0:808:808::f5ff:fffe",
        ];
        for closed in closed {
            assert!(!permitted(&egress, closed), "{closed}");
        }
    }

    #[test]
    fn private_networks_flag_permits_only_private_and_loopback() {
        // design: §6
        let egress = Egress::new(true, []);
        for open in ["10.0.0.1", "100.64.0.1", "127.0.0.1", "::1", "fd12::1", "::ffff:10.0.0.1"] {
            assert!(permitted(&egress, open), "{open}");
        }
        for closed in ["169.254.0.1", "fe80::1", "0.0.0.0", "224.0.0.1", "192.0.2.1", "240.0.0.1"] {
            assert!(!permitted(&egress, closed), "{closed}");
        }
    }

    #[test]
    fn metadata_services_are_always_blocked() {
        // design: §6
        let egress = Egress::new(true, ["0.0.0.0/0".parse().unwrap(), "::/0".parse().unwrap()]);
        let metadata = [
            "169.254.169.254",
            "169.254.170.2",
            "169.254.170.23",
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
            "fd00:ec2::254",
            "fd00:ec2::23",
            "fd20:ce::254",
            "::ffff:169.254.169.254",
            "::169.254.169.254",
            "64:ff9b::169.254.169.254",
            "64:ff9b:1::169.254.169.254",
            "64:ff9b:1:a9fe:a9:fe00::",
            "64:ff9b:1:a9:fe:a9fe::",
            "64:ff9b:1:0:a9:fea9:fe00:0",
            "64:ff9b:1:a9fe:a9:fe08:808:808",
            "169.254.0.23",
            "169.254.42.42",
            "fd00:42::42",
            "fe80::a9fe:a9fe",
            "2002:a9fe:a9fe::1",
        ];
        for address in metadata {
            let address: IpAddr = address.parse().unwrap();
            assert_eq!(egress.permit(address), Err(Refusal::Metadata(address)));
        }
    }

    #[test]
    fn allowed_network_permits_only_its_addresses() {
        let egress = Egress::new(false, ["127.0.0.2/32".parse().unwrap()]);
        assert!(permitted(&egress, "127.0.0.2") && permitted(&egress, "::ffff:127.0.0.2"));
        assert!(!permitted(&egress, "127.0.0.1") && !permitted(&egress, "::1"));
        let wide = Egress::new(false, ["::/0".parse().unwrap()]);
        assert!(!permitted(&wide, "::ffff:10.0.0.1"));
    }

    #[test]
    fn refusal_shows_address_and_way_out() {
        let refused = |address: &str| {
            Egress::default().permit(address.parse().unwrap()).unwrap_err().to_string()
        };
        insta::assert_snapshot!(
            ["10.0.0.1", "::ffff:127.0.0.1", "169.254.169.254", "224.0.0.1"].map(refused).join("\n"),
            @"
        address 10.0.0.1 is private; `--allow-private-networks` opens private and loopback networks
        address ::ffff:127.0.0.1 is loopback (as an IPv4-mapped address); `--allow-private-networks` opens private and loopback networks
        address 169.254.169.254 is a metadata service of a cloud, which checks may never reach
        address 224.0.0.1 is multicast, which checks may never reach
        "
        );
    }
}
