//! The connector: opens TCP connections to the addresses of a name that the egress policy permits.
//! A name with internal and external addresses is reached by an external one; a name with internal
//! addresses only is blocked. It connects to exactly the address that was permitted, so DNS
//! rebinding has no effect.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use domain::check::{Failure, FailureKind};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use crate::egress::Egress;
use crate::limits::{ADDRESSES_TRIED, CONNECT_FALLBACK};

/// A public address: a name server of the root.
const PUBLIC_ADDRESS: Ipv6Addr = Ipv6Addr::new(0x2001, 0x503, 0xba3e, 0, 0, 0, 2, 0x30);

/// Returns the `addresses` that `egress` permits, with `port`, or the reason why there is none.
pub(crate) fn permitted(
    egress: &Egress,
    name: &str,
    addresses: &[IpAddr],
    port: u16,
) -> Result<Vec<SocketAddr>, Failure> {
    let mut refusal = None;
    let mut open = Vec::with_capacity(addresses.len().min(ADDRESSES_TRIED));
    for address in addresses {
        match egress.permit(*address) {
            Ok(()) if open.len() < ADDRESSES_TRIED => open.push(SocketAddr::new(*address, port)),
            Ok(()) => {}
            Err(why) => refusal = refusal.or(Some(why)),
        }
    }
    match refusal {
        Some(why) if open.is_empty() => {
            let detail = format!("`{name}` is blocked: {why}");
            Err(Failure::new(FailureKind::AddressRefused, detail))
        }
        _ => Ok(open),
    }
}

/// Connects to the first of `addresses` that accepts. Tries them in order and starts the next
/// attempt after a failure or a quarter of a second (a simple form of RFC 8305). Sets `tried` to
/// the last tried address, and finally to the connected one.
pub(crate) async fn connect(
    addresses: &[SocketAddr],
    tried: &mut Option<SocketAddr>,
) -> Result<TcpStream, Failure> {
    if let [only] = addresses {
        *tried = Some(*only);
        return open(*only).await.map_err(|error| broken(addresses, *only, &error));
    }
    let mut untried = addresses.iter().copied();
    let mut running = FuturesUnordered::new();
    let mut failure: Option<(SocketAddr, io::Error)> = None;
    loop {
        let next = untried.next();
        if let Some(address) = next {
            *tried = Some(address);
            running.push(async move { (address, open(address).await) });
        }
        let ended = match next {
            Some(_) => timeout(CONNECT_FALLBACK, running.next()).await.ok(),
            None => Some(running.next().await),
        };
        match ended {
            Some(Some((address, Ok(stream)))) => {
                *tried = Some(address);
                return Ok(stream);
            }
            // A missing route of this machine is less informative than the error of a peer.
            Some(Some((address, Err(error))))
                if failure.as_ref().is_none_or(|(_, earlier)| is_unreachable(earlier)) =>
            {
                failure = Some((address, error));
            }
            Some(Some(_)) | None => {}
            Some(None) => break,
        }
    }
    Err(match failure {
        Some((address, error)) => {
            *tried = Some(address);
            broken(addresses, address, &error)
        }
        None => Failure::new(FailureKind::NameUnresolved, "no address to connect to"),
    })
}

async fn open(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Requests are sent in one piece and latencies are measured, so Nagle's delay would only hurt.
    socket.set_nodelay(true)?;
    socket.connect(address).await
}

fn is_unreachable(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NetworkUnreachable | io::ErrorKind::AddrNotAvailable)
}

/// Returns the failure of the last of `addresses`.
fn broken(addresses: &[SocketAddr], address: SocketAddr, error: &io::Error) -> Failure {
    if addresses.iter().all(SocketAddr::is_ipv6) && lacks_route(error) && !has_ipv6() {
        let detail = format!("no connection to {address}: this probe has no IPv6");
        return Failure::new(FailureKind::ProbeWithoutIpv6, detail);
    }
    if exhausted(error) {
        let detail = format!("no connection to {address}: this probe is out of resources: {error}");
        return Failure::new(FailureKind::ProbeExhausted, detail);
    }
    if error.kind() == io::ErrorKind::ConnectionRefused {
        let detail = format!("connection to {address} refused");
        return Failure::new(FailureKind::ConnectionRefused, detail);
    }
    Failure::new(FailureKind::ConnectionFailed, format!("no connection to {address}: {error}"))
}

/// Returns whether `error` means that this machine has no way to an address of this version.
fn lacks_route(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    is_unreachable(error) || errno == Some(Errno::AFNOSUPPORT)
}

/// Returns whether this machine has a route to the Internet by IPv6. Only asks its own tables.
fn has_ipv6() -> bool {
    std::net::UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0))
        .and_then(|socket| socket.connect((PUBLIC_ADDRESS, 53)))
        .is_ok()
}

/// Returns whether `error` means that this machine lacks resources: file handles, buffers, memory
/// or ports.
pub(crate) fn exhausted(error: &io::Error) -> bool {
    use rustix::io::Errno;
    error.raw_os_error().map(Errno::from_raw_os_error).is_some_and(|errno| {
        [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM, Errno::ADDRNOTAVAIL]
            .contains(&errno)
    })
}

#[cfg(test)]
mod tests {
    use rustix::io::Errno;

    use super::*;

    // decision 0083
    #[test]
    fn missing_route_is_the_probes_for_ipv6_only() {
        let [six, four] = ["[2001:db8::1]:80", "192.0.2.1:80"].map(|it| it.parse().unwrap());
        let unreachable = io::Error::from_raw_os_error(Errno::NETUNREACH.raw_os_error());
        let refused = io::Error::from_raw_os_error(Errno::CONNREFUSED.raw_os_error());
        let kind = |addresses: &[SocketAddr], error| broken(addresses, addresses[0], error).kind;
        let own =
            if has_ipv6() { FailureKind::ConnectionFailed } else { FailureKind::ProbeWithoutIpv6 };
        assert_eq!(kind(&[six], &unreachable), own);
        assert_eq!(kind(&[six, four], &unreachable), FailureKind::ConnectionFailed);
        assert_eq!(kind(&[four], &unreachable), FailureKind::ConnectionFailed);
        assert_eq!(kind(&[six], &refused), FailureKind::ConnectionRefused);
    }
}
