//! Listeners of a server: plain text, TLS, and plain text that redirects to TLS. All addresses are
//! bound before anything starts, so that an address in use prevents the start.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use ipnet::IpNet;
use rustls::ServerConfig;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::BootError;
use super::listen::{self, Serving};
use crate::config::Settings;
use crate::connection::ConnectionLimits;
use crate::domains::EntryPoint;

/// Timeout of a TLS handshake.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(10);

/// Addresses of a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addresses {
    /// Address for plain text.
    pub(super) plain: SocketAddr,
    /// Address for TLS.
    pub(super) tls: Option<SocketAddr>,
    /// Address for plain text that redirects to TLS.
    pub(super) redirecting: Option<SocketAddr>,
}

/// Bound listeners.
pub(super) struct Listeners {
    plain: TcpListener,
    tls: Option<TcpListener>,
    redirecting: Option<TcpListener>,
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
        let Self { plain, tls, redirecting } = self;
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
    pub(super) async fn bind(settings: &Settings) -> Result<Self, BootError> {
        let tls = settings.domains.tls.as_ref();
        let (plain, plain_at) = bind(settings.listen, "--listen").await?;
        let (tls, redirecting) = (tls.map(|tls| tls.listen), tls.and_then(|tls| tls.redirect));
        let tls = match tls {
            Some(address) => Some(bind(address, "--https-listen").await?),
            None => None,
        };
        let redirecting = match redirecting {
            Some(address) => Some(bind(address, "--http-listen").await?),
            None => None,
        };
        let at = |bound: &Option<(TcpListener, SocketAddr)>| bound.as_ref().map(|bound| bound.1);
        let addresses = Addresses { plain: plain_at, tls: at(&tls), redirecting: at(&redirecting) };
        let (tls, redirecting) = (tls.map(|bound| bound.0), redirecting.map(|bound| bound.0));
        Ok(Self { plain, tls, redirecting, addresses })
    }

    /// Serves on all listeners until `stop` is cancelled. Each has its share of the connection
    /// limit, so that the public listeners leave room for API callers. `config` has the TLS
    /// settings.
    pub(super) async fn serve(
        self,
        router: Router,
        config: Arc<ServerConfig>,
        (connections_max, proxies): (usize, Vec<IpNet>),
        stop: CancellationToken,
    ) {
        let count = 1 + usize::from(self.tls.is_some()) + usize::from(self.redirecting.is_some());
        let connections_max = (connections_max / count).max(1);
        let serving = |entrance, acceptor| Serving {
            router: router.clone(),
            entry_point: entrance,
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

async fn bind(
    address: SocketAddr,
    flag: &'static str,
) -> Result<(TcpListener, SocketAddr), BootError> {
    let refused = |why: io::Error| BootError::Listen { address, why, flag };
    let listener = TcpListener::bind(address).await.map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    Ok((listener, address))
}
