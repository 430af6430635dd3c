//! A TLS client that trusts given roots and connects to any address with any server name.

use std::net::SocketAddr;
use std::sync::Arc;

use http::Request;
use http_body_util::Full;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::server::{Reply, read};

/// A TLS client.
#[derive(Clone, Debug)]
pub struct TlsCaller(Arc<ClientConfig>);

impl TlsCaller {
    /// Creates a client with these roots and ALPN protocols.
    pub fn new(roots: RootCertStore, protocols: &[&str]) -> Self {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider supports TLS 1.2 and 1.3")
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|it| it.as_bytes().to_vec()).collect();
        Self(Arc::new(config))
    }

    /// Connects to the server `name` at this address. Returns the handshake error as text.
    pub async fn connect(
        &self,
        address: SocketAddr,
        name: &str,
    ) -> Result<TlsStream<TcpStream>, String> {
        let stream = TcpStream::connect(address).await.map_err(|why| why.to_string())?;
        let name = ServerName::try_from(name.to_owned()).expect("the test's name is valid");
        let connector = TlsConnector::from(Arc::clone(&self.0));
        connector.connect(name, stream).await.map_err(|why| why.to_string())
    }

    /// Returns the certificate that the server sends for `name`.
    pub async fn certificate(
        &self,
        address: SocketAddr,
        name: &str,
    ) -> Result<CertificateDer<'static>, String> {
        let stream = self.connect(address, name).await?;
        let shown = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first());
        Ok(shown.expect("the server sends a certificate").clone().into_owned())
    }

    /// Requests a path from `name` at this address, with the negotiated protocol.
    pub async fn get(&self, address: SocketAddr, name: &str, path: &str) -> Result<Reply, String> {
        let stream = self.connect(address, name).await?;
        let is_h2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        let request =
            Request::get(if is_h2 { format!("https://{name}{path}") } else { path.into() });
        let request = if is_h2 { request } else { request.header("host", name) };
        let request = request.body(Full::<bytes::Bytes>::default());
        let request = request.expect("the test's request is valid");
        let io = TokioIo::new(stream);
        let describe = |why: hyper::Error| why.to_string();
        if is_h2 {
            let executor = TokioExecutor::new();
            let (mut sender, connection) =
                hyper::client::conn::http2::handshake(executor, io).await.map_err(describe)?;
            let connection = tokio::spawn(connection);
            let reply = read(sender.send_request(request).await.map_err(describe)?).await;
            connection.abort();
            return Ok(reply);
        }
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(io).await.map_err(describe)?;
        let connection = tokio::spawn(connection);
        let reply = read(sender.send_request(request).await.map_err(describe)?).await;
        connection.abort();
        Ok(reply)
    }
}
