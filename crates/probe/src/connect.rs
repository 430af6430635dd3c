//! The connector: opens TCP connections to the addresses of a name that the egress policy permits.
//! A name with internal and external addresses is reached by an external one; a name with internal
//! addresses only is blocked. It connects to exactly the address that was permitted, so DNS
//! rebinding has no effect.

use std::io;
use std::net::{IpAddr, SocketAddr};

use domain::check::{Failure, FailureKind};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use crate::egress::Egress;
use crate::limits::{ADDRESSES_TRIED, CONNECT_FALLBACK};

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
        return open(*only).await.map_err(|error| broken(*only, &error));
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
            broken(address, &error)
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

fn broken(address: SocketAddr, error: &io::Error) -> Failure {
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

/// Returns whether `error` means that this machine lacks resources: file handles, buffers, memory
/// or ports.
pub(crate) fn exhausted(error: &io::Error) -> bool {
    use rustix::io::Errno;
    error.raw_os_error().map(Errno::from_raw_os_error).is_some_and(|errno| {
        [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM, Errno::ADDRNOTAVAIL]
            .contains(&errno)
    })
}
