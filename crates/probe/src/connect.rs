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
/// the last tried address, and finally to the connected one. `requires_ipv6` is whether the monitor
/// itself requires IPv6. Then the target does not fail because a probe has none.
pub(crate) async fn connect(
    addresses: &[SocketAddr],
    requires_ipv6: bool,
    tried: &mut Option<SocketAddr>,
) -> Result<TcpStream, Failure> {
    if let [only] = addresses {
        *tried = Some(*only);
        let opened = open(*only).await;
        return opened.map_err(|error| broken(addresses, (*only, &error), requires_ipv6, has_ipv6));
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
            broken(addresses, (address, &error), requires_ipv6, has_ipv6)
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

/// Returns the failure of one of `addresses`. Asks whether this machine `has_ipv6` only if its own tables
/// can be the cause.
fn broken(
    addresses: &[SocketAddr],
    (address, error): (SocketAddr, &io::Error),
    requires_ipv6: bool,
    has_ipv6: impl Fn() -> bool,
) -> Failure {
    if addresses.iter().all(SocketAddr::is_ipv6) && lacks_route(error) && !has_ipv6() {
        let start = format!("no connection to {address}:");
        return if requires_ipv6 {
            let detail = format!("{start} this probe has no IPv6");
            Failure::new(FailureKind::ProbeWithoutIpv6, detail)
        } else {
            let why = "the target only has IPv6 addresses, and this probe has no IPv6";
            Failure::new(FailureKind::ConnectionFailed, format!("{start} {why}"))
        };
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

/// Returns whether `error` can mean that this machine has no way to an address of this version. Routes of
/// the types `unreachable` and `prohibit` cause the last two errors, but so do routers on the way.
fn lacks_route(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    let is_of_table = errno.is_some_and(|errno| {
        [Errno::AFNOSUPPORT, Errno::HOSTUNREACH, Errno::ACCESS].contains(&errno)
    });
    is_unreachable(error) || is_of_table
}

/// Returns whether this machine has a route to the Internet by IPv6. Only asks its own tables. Other
/// errors, such as too few file handles, say nothing of routes.
fn has_ipv6() -> bool {
    std::net::UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0))
        .and_then(|socket| socket.connect((PUBLIC_ADDRESS, 53)))
        .map_or_else(|error| !lacks_route(&error), |()| true)
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

    const WITHOUT: fn() -> bool = || false;
    const WITH: fn() -> bool = || true;

    fn addresses() -> [SocketAddr; 2] {
        ["[2001:db8::1]:80", "192.0.2.1:80"].map(|it| it.parse().unwrap())
    }

    fn error(errno: Errno) -> io::Error {
        io::Error::from_raw_os_error(errno.raw_os_error())
    }

    // decision 0083
    #[test]
    fn missing_ipv6_is_the_probes_if_required() {
        use FailureKind::{ConnectionFailed, ConnectionRefused, ProbeWithoutIpv6};
        let [six, four] = addresses();
        for (addresses, errno, requires_ipv6, has_ipv6, expected) in [
            (&[six][..], Errno::NETUNREACH, true, WITHOUT, ProbeWithoutIpv6),
            (&[six], Errno::HOSTUNREACH, true, WITHOUT, ProbeWithoutIpv6),
            (&[six], Errno::ACCESS, true, WITHOUT, ProbeWithoutIpv6),
            (&[six], Errno::ADDRNOTAVAIL, true, WITHOUT, ProbeWithoutIpv6),
            (&[six], Errno::AFNOSUPPORT, true, WITHOUT, ProbeWithoutIpv6),
            (&[six], Errno::NETUNREACH, true, WITH, ConnectionFailed),
            (&[six], Errno::NETUNREACH, false, WITHOUT, ConnectionFailed),
            (&[six], Errno::CONNREFUSED, true, WITHOUT, ConnectionRefused),
            (&[six, four], Errno::NETUNREACH, false, WITHOUT, ConnectionFailed),
            (&[four], Errno::NETUNREACH, false, WITHOUT, ConnectionFailed),
        ] {
            let failed = (addresses[0], &error(errno));
            let failure = broken(addresses, failed, requires_ipv6, has_ipv6);
            assert_eq!(failure.kind, expected, "{addresses:?} {errno} {requires_ipv6}");
        }
    }

    #[test]
    fn failure_names_missing_ipv6_of_the_probe() {
        let [six, four] = addresses();
        let detail = |addresses: &[SocketAddr], has_ipv6: fn() -> bool| {
            let failed = (addresses[0], &error(Errno::NETUNREACH));
            broken(addresses, failed, false, has_ipv6).detail
        };
        assert_eq!(
            detail(&[six], WITHOUT),
            "no connection to [2001:db8::1]:80: the target only has IPv6 addresses, and this probe \
             has no IPv6"
        );
        for (addresses, has_ipv6) in [(&[six][..], WITH), (&[six, four], WITHOUT)] {
            let detail = detail(addresses, has_ipv6);
            assert!(!detail.contains("no IPv6"), "{detail}");
        }
    }
}
