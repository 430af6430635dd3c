//! Connections to the service, direct or through a proxy. A proxy tunnels `https` and forwards
//! requests of `http`. `proxy` selects the proxy.

use std::error::Error as StdError;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::{HeaderValue, Request, Response, Uri, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tower::Service;

use super::Network;
use super::proxy::Proxy;
use crate::rpc::base_url::base_uri;
use crate::rpc::{Error, UnusableClient};

/// Timeout of one attempt to connect to an address.
const TCP_CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Timeout of name resolution, connection and TLS handshake together.
const ESTABLISHMENT_TIMEOUT: Duration = Duration::from_secs(20);

type BoxError = Box<dyn StdError + Send + Sync>;

/// Transport to one service. Cheap to clone; clones share connections.
#[derive(Clone, Debug)]
pub struct Transport {
    client: Arc<Client<Limited<HttpsConnector<Route>>, Full<Bytes>>>,
    /// Credentials for a proxy that forwards requests.
    proxy_authorization: Option<HeaderValue>,
}

impl Transport {
    /// Creates the transport to a base URL. Connects on the first request.
    ///
    /// # Errors
    ///
    /// Fails if an environment variable has an unusable value.
    pub(in crate::rpc) fn new(base: &Uri, network: &Network) -> Result<Self, UnusableClient> {
        let proxy = network.proxies.proxy_for(base)?;
        let is_https = base.scheme_str() == Some("https");
        let tls = network.trust.client_config(is_https || proxy.is_some())?;
        let proxy_authorization = match &proxy {
            Some(proxy) if !is_https => proxy.authorization().cloned(),
            _ => None,
        };
        let route = match proxy {
            None => Route::Direct(tcp()),
            Some(proxy) => {
                let nearby = HttpsConnectorBuilder::new()
                    .with_tls_config(tls.clone())
                    .https_or_http()
                    .enable_http1()
                    .wrap_connector(tcp());
                if is_https { Route::tunnel(nearby, proxy) } else { Route::Forward(nearby, proxy) }
            }
        };
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_all_versions()
            .wrap_connector(route);
        let client = Client::builder(TokioExecutor::new()).build(Limited(connector));
        Ok(Self { client: Arc::new(client), proxy_authorization })
    }

    /// Creates the transport to a base URL as text, for requests other than calls of the contract. Also
    /// returns the URL.
    ///
    /// # Errors
    ///
    /// Fails if the URL or an environment variable cannot be used.
    pub fn to(base_url: &str, network: &Network) -> Result<(Self, Uri), UnusableClient> {
        let unusable = || UnusableClient::BaseUrl { given: base_url.to_owned() };
        let base = base_uri(base_url).ok_or_else(unusable)?;
        Ok((Self::new(&base, network)?, base))
    }

    /// Sends a request and returns the response with its unread body.
    ///
    /// # Errors
    ///
    /// Returns `unavailable` with its cause if there is no response.
    pub async fn send(
        &self,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, Error> {
        if let Some(value) = &self.proxy_authorization {
            request.headers_mut().insert(header::PROXY_AUTHORIZATION, value.clone());
        }
        let unavailable = |error| Error::unavailable_from_transport("HTTP request failed", error);
        self.client.request(request).await.map_err(unavailable)
    }
}

fn tcp() -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(TCP_CONNECT_TIMEOUT));
    connector.enforce_http(false);
    connector
}

/// Connector with a timeout that covers name resolution, connection and TLS handshake.
#[derive(Clone, Debug)]
struct Limited<C>(C);

impl<C> Service<Uri> for Limited<C>
where
    C: Service<Uri, Error = BoxError>,
    C::Future: Send + 'static,
    C::Response: Send + 'static,
{
    type Response = C::Response;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<C::Response, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.0.call(uri);
        let seconds = ESTABLISHMENT_TIMEOUT.as_secs();
        async move {
            let connected = tokio::time::timeout(ESTABLISHMENT_TIMEOUT, connecting).await;
            connected.unwrap_or_else(|_| Err(format!("no connection within {seconds} s").into()))
        }
        .boxed()
    }
}

/// Connector to the service, without the TLS of the service itself.
#[derive(Clone, Debug)]
enum Route {
    Direct(HttpConnector),
    /// Proxy that receives requests and forwards them.
    Forward(HttpsConnector<HttpConnector>, Proxy),
    /// Proxy that opens a tunnel and forwards bytes.
    Tunnel(Tunnel<HttpsConnector<HttpConnector>>, Proxy),
}

impl Route {
    fn tunnel(nearby: HttpsConnector<HttpConnector>, proxy: Proxy) -> Self {
        let tunnel = Tunnel::new(proxy.uri().clone(), nearby);
        let tunnel = match proxy.authorization() {
            Some(value) => tunnel.with_auth(value.clone()),
            None => tunnel,
        };
        Self::Tunnel(tunnel, proxy)
    }
}

impl Service<Uri> for Route {
    type Response = Stream;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Stream, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        match self {
            Self::Direct(tcp) => tcp.poll_ready(context).map_err(Into::into),
            Self::Forward(nearby, _) => nearby.poll_ready(context),
            Self::Tunnel(tunnel, _) => tunnel.poll_ready(context).map_err(Into::into),
        }
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let stream = |io, is_forwarded| Stream { io, is_forwarded };
        match self {
            Self::Direct(tcp) => {
                let connecting = tcp.call(uri);
                async move { Ok(stream(connecting.await?.into(), false)) }.boxed()
            }
            Self::Forward(nearby, proxy) => {
                let (connecting, proxy) = (nearby.call(proxy.uri().clone()), proxy.clone());
                let connected = async move {
                    let io = connecting.await.map_err(|error| proxy.failure(&*error))?;
                    Ok(stream(io, true))
                };
                connected.boxed()
            }
            Self::Tunnel(tunnel, proxy) => {
                let (connecting, proxy) = (tunnel.call(uri), proxy.clone());
                let connected = async move {
                    let io = connecting.await.map_err(|error| proxy.failure(&error))?;
                    Ok(stream(io, false))
                };
                connected.boxed()
            }
        }
    }
}

/// Connection to the service or to a proxy.
struct Stream {
    io: MaybeHttpsStream<TokioIo<TcpStream>>,
    /// Whether a proxy forwards requests. These contain the full URL.
    is_forwarded: bool,
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        self.io.connected().proxy(self.is_forwarded)
    }
}

impl Read for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl Write for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(context, slices)
    }
}
