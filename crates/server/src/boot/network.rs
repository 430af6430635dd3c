//! Network settings: reachable addresses, name servers, trusted certificates and source addresses.
//! They come from the configuration, with defaults from this machine.

use std::fs;
use std::net::{IpAddr, UdpSocket};

use super::{BootError, Zones};
use crate::config::Settings;

/// Returns the network settings of checks and messages: allowed addresses, name servers and trusted
/// certificates.
pub fn network(settings: &Settings, zones: Zones) -> Result<probe::Settings, BootError> {
    let nameservers = if settings.nameservers.is_empty() {
        probe::Nameservers::System
    } else {
        probe::Nameservers::Given(settings.nameservers.clone())
    };
    let extra_roots = match &settings.extra_ca_file {
        Some(path) => {
            let unusable = |why: String| BootError::ExtraCa { path: path.clone(), why };
            let pem = fs::read(path).map_err(|error| unusable(error.to_string()))?;
            probe::read_roots(&pem).map_err(|error| unusable(error.to_string()))?
        }
        None => Vec::new(),
    };
    Ok(probe::Settings {
        egress: egress(settings),
        nameservers,
        zones,
        extra_roots,
        concurrency: settings.max_checks_in_flight.unwrap_or_else(probe::concurrency_limit),
        body_memory: settings.check_body_memory,
    })
}

/// Returns the source addresses of checks: the configured ones, else the public addresses of this
/// machine. Behind NAT there are none.
pub(super) fn egress_addresses(settings: &Settings) -> Vec<IpAddr> {
    if !settings.egress_addresses.is_empty() {
        return settings.egress_addresses.clone();
    }
    let is_public =
        |address: &IpAddr| probe::egress::classify(*address).zone == probe::egress::Zone::Public;
    outgoing().filter(is_public).collect()
}

/// Returns the egress policy of checks and channels.
pub(super) fn egress(settings: &Settings) -> probe::Egress {
    probe::Egress::new(settings.allow_private_networks, [])
}

/// Returns the source addresses of this machine, one for each family.
fn outgoing() -> impl Iterator<Item = IpAddr> {
    // Connecting a UDP socket sends nothing, but selects the source address.
    let from = |here: &str, there: &str| {
        let socket = UdpSocket::bind(here).ok()?;
        socket.connect(there).ok()?;
        Some(socket.local_addr().ok()?.ip())
    };
    let found = [("0.0.0.0:0", "1.1.1.1:9"), ("[::]:0", "[2606:4700:4700::1111]:9")]
        .map(|(here, there)| from(here, there));
    found.into_iter().flatten()
}
