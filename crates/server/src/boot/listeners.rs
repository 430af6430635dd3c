//! Listeners of a server: plain text, TLS, and plain text that redirects to TLS (`domains` has the
//! exception). All addresses are bound before anything starts, so that an address in use prevents
//! the start.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpSocket};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use web::peer::EntryPoint;
use web::proxies::TrustedProxies;

use super::BootError;
use super::listen::{self, Serving};
use super::source::{ConnectionSource, HandOvers};
use crate::config::Settings;
use crate::connection::ConnectionLimits;

/// Timeout of a TLS handshake.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(10);

/// Number of new connections that wait to be accepted. The kernel drops more, and their clients
/// repeat the handshake only after a second. The kernel's own limit is usually the same.
const BACKLOG: u32 = 4_096;

/// Addresses of a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addresses {
    /// Address for plain text.
    pub(super) plain: SocketAddr,
    /// Address for TLS.
    pub(super) tls: Option<SocketAddr>,
    /// Address for plain text that redirects to TLS.
    pub(super) redirecting: Option<SocketAddr>,
    /// Address for connections that standbys pass on.
    pub(super) replica: Option<SocketAddr>,
}

/// Bound listeners.
pub(super) struct Listeners {
    plain: ConnectionSource,
    tls: Option<ConnectionSource>,
    redirecting: Option<ConnectionSource>,
    /// Listener for connections that standbys pass on.
    replica: Option<TcpListener>,
    pub(super) addresses: Addresses,
}

impl Addresses {
    /// Returns the URL of the server for a browser on this machine.
    pub(super) fn local_url(&self) -> String {
        if self.plain.ip().is_unspecified() {
            return format!("http://localhost:{}", self.plain.port());
        }
        format!("http://{}", self.plain)
    }

    /// Logs the addresses of the server.
    pub(super) fn log(&self) {
        let Self { plain, tls, redirecting, replica } = self;
        if let Some(replica) = replica {
            tracing::info!(server.address = %replica, "taking connections of standbys at {replica}");
        }
        tracing::info!(server.address = %plain, "answering on http://{plain}");
        if let Some(tls) = tls {
            tracing::info!(server.address = %tls, "answering on https://{tls}");
        }
        if let Some(redirecting) = redirecting {
            tracing::info!(server.address = %redirecting, "sending from http://{redirecting} to https");
        }
    }
}

impl Listeners {
    /// Binds the addresses of the settings.
    pub(super) fn bind(settings: &Settings) -> Result<Self, BootError> {
        let tls = settings.domains.tls.as_ref();
        let (plain, plain_at) = bind(settings.listen, "--listen")?;
        let (tls, redirecting) = (tls.map(|tls| tls.listen), tls.and_then(|tls| tls.redirect));
        let bound = |address: Option<SocketAddr>, flag| {
            address.map(|address| bind(address, flag)).transpose().map(Option::unzip)
        };
        let (tls, tls_at) = bound(tls, "--https-listen")?;
        let (redirecting, redirecting_at) = bound(redirecting, "--http-listen")?;
        let (replica, replica_at) = bound(settings.replica_address, "--replica-address")?;
        let addresses = Addresses {
            plain: plain_at,
            tls: tls_at,
            redirecting: redirecting_at,
            replica: replica_at,
        };
        let (tls, redirecting) = (tls.map(Into::into), redirecting.map(Into::into));
        Ok(Self { plain: plain.into(), tls, redirecting, replica, addresses })
    }

    /// Returns the sources of connections from clients.
    pub(super) fn sources(&mut self) -> Vec<(EntryPoint, &mut ConnectionSource)> {
        let tls = self.tls.as_mut().map(|it| (EntryPoint::Tls, it));
        let redirecting = self.redirecting.as_mut().map(|it| (EntryPoint::Redirecting, it));
        [(EntryPoint::Plain, &mut self.plain)].into_iter().chain(tls).chain(redirecting).collect()
    }

    /// Returns the senders to these listeners.
    pub(super) fn hand_overs(&self) -> HandOvers {
        HandOvers {
            plain: self.plain.hand_over(),
            tls: self.tls.as_ref().map(ConnectionSource::hand_over),
            redirecting: self.redirecting.as_ref().map(ConnectionSource::hand_over),
        }
    }

    /// Returns the listener for connections that standbys pass on, once.
    pub(super) const fn take_replica(&mut self) -> Option<TcpListener> {
        self.replica.take()
    }

    /// Serves on all listeners until `stop` is cancelled. Each has its share of the connection
    /// limit, so that the public listeners leave room for API callers. `config` has the TLS
    /// settings.
    pub(super) async fn serve(
        self,
        router: Router,
        config: Arc<ServerConfig>,
        (connections_max, proxies): (usize, TrustedProxies),
        stop: CancellationToken,
    ) {
        let count = 1 + usize::from(self.tls.is_some()) + usize::from(self.redirecting.is_some());
        let connections_max = (connections_max / count).max(1);
        let serving = |entry_point, acceptor| Serving {
            router: router.clone(),
            entry_point,
            acceptor,
            handshake_within: HANDSHAKE_WITHIN,
            limits: ConnectionLimits::new(connections_max, proxies.clone()),
        };
        let plain = listen::serve(self.plain, serving(EntryPoint::Plain, None), stop.clone());
        let acceptor = Some(TlsAcceptor::from(config));
        let tls = self.tls.map(|listener| {
            listen::serve(listener, serving(EntryPoint::Tls, acceptor), stop.clone())
        });
        let redirecting = self.redirecting.map(|listener| {
            listen::serve(listener, serving(EntryPoint::Redirecting, None), stop.clone())
        });
        tokio::join!(plain, run_optional(tls), run_optional(redirecting));
    }
}

async fn run_optional(serving: Option<impl Future<Output = ()>>) {
    if let Some(serving) = serving {
        serving.await;
    }
}

fn bind(address: SocketAddr, flag: &'static str) -> Result<(TcpListener, SocketAddr), BootError> {
    let refused = |why: io::Error| BootError::Listen { address, why, flag };
    let listener = listen(address).map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    Ok((listener, address))
}

/// Listens with a long backlog. Restarts may use the address immediately.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use super::*;

    // The kernel dropped new connections when 128 waited.
    #[tokio::test]
    async fn many_connections_wait_to_be_accepted() {
        let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = listener.local_addr().unwrap();
        let connect = |_| TcpStream::connect_timeout(&address, HANDSHAKE_WITHIN);
        let waiting: Vec<_> = (0..300).map_while(|number| connect(number).ok()).collect();
        assert_eq!(waiting.len(), 300);
    }
}
