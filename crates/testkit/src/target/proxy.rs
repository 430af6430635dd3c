//! An HTTP proxy: opens tunnels and passes on requests, all to one target whatever host they name, so that
//! tests can ask for hosts that do not exist. Records the requests that it gets.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::http::acceptor;
use super::{Identity, Protocol, Running};

/// Largest head of a request.
const HEAD_BYTES: usize = 64 * 1024;
const REFUSED: &[u8] =
    b"HTTP/1.1 407 Proxy Authentication Required\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
const UNREACHABLE: &[u8] =
    b"HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// A running proxy. It stops when it is dropped.
#[derive(Debug)]
pub struct HttpProxy {
    address: SocketAddr,
    scheme: &'static str,
    state: Arc<ProxyState>,
    _task: Running,
}

#[derive(Debug)]
struct ProxyState {
    target: SocketAddr,
    /// The value of `proxy-authorization` that it requires.
    authorization: Option<String>,
    requests: Mutex<Vec<String>>,
}

impl HttpProxy {
    /// Starts a proxy to `target` that anybody may use.
    pub async fn start(target: SocketAddr) -> Self {
        Self::serve(target, None, None).await
    }

    /// Starts a proxy to `target` that requires `credentials`, such as `user:password`.
    pub async fn start_for(target: SocketAddr, credentials: &str) -> Self {
        let authorization = format!("Basic {}", BASE64_STANDARD.encode(credentials));
        Self::serve(target, Some(authorization), None).await
    }

    /// Starts a proxy to `target` that is itself reached by HTTPS.
    pub async fn start_tls(target: SocketAddr, identity: Identity) -> Self {
        Self::serve(target, None, Some(acceptor(identity, Protocol::Http1))).await
    }

    async fn serve(
        target: SocketAddr,
        authorization: Option<String>,
        tls: Option<TlsAcceptor>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let address = listener.local_addr().expect("it is bound");
        let scheme = if tls.is_some() { "https" } else { "http" };
        let state = Arc::new(ProxyState { target, authorization, requests: Mutex::default() });
        let shared = Arc::clone(&state);
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((tcp, _)) = listener.accept().await {
                while connections.try_join_next().is_some() {}
                let (tls, state) = (tls.clone(), Arc::clone(&shared));
                connections.spawn(async move {
                    // A client that breaks its connection notices that itself.
                    let _ = match tls {
                        Some(tls) => match tls.accept(tcp).await {
                            Ok(stream) => state.forward(stream).await,
                            Err(error) => Err(error),
                        },
                        None => state.forward(tcp).await,
                    };
                });
            }
        });
        Self { address, scheme, state, _task: Running(task) }
    }

    /// Returns the URL of the proxy.
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// Returns the URL of the proxy with credentials.
    pub fn url_with(&self, credentials: &str) -> String {
        format!("{}://{credentials}@{}", self.scheme, self.address)
    }

    /// Returns the address at which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns method and target of the requests that it got, in order.
    pub fn requests(&self) -> Vec<String> {
        self.state.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ProxyState {
    async fn forward(&self, mut client: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
        let (head, rest) = read_head(&mut client).await?;
        let mut lines = head.split("\r\n");
        let first = lines.next().unwrap_or_default();
        let headers: Vec<&str> = lines.collect();
        let request = first.rsplit_once(' ').map_or(first, |(request, _)| request);
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request.to_owned());
        let given = headers.iter().find_map(|line| value(line, "proxy-authorization"));
        if self.authorization.is_some() && given != self.authorization.as_deref() {
            client.write_all(REFUSED).await?;
            return client.shutdown().await;
        }
        let Ok(mut target) = TcpStream::connect(self.target).await else {
            client.write_all(UNREACHABLE).await?;
            return client.shutdown().await;
        };
        if first.starts_with("CONNECT ") {
            client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
        } else {
            target.write_all(origin_form(first, &headers).as_bytes()).await?;
        }
        target.write_all(&rest).await?;
        copy_bidirectional(&mut client, &mut target).await.map(drop)
    }
}

/// Returns a head as the target expects it. The connection ends with the response, because the next
/// request would have to be rewritten too.
fn origin_form(first: &str, headers: &[&str]) -> String {
    let mut words = first.split(' ');
    let (method, url) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = after_scheme.find('/').map_or("/", |at| &after_scheme[at..]);
    let kept = headers.iter().filter(|line| {
        value(line, "proxy-authorization").is_none() && value(line, "connection").is_none()
    });
    let mut head = format!("{method} {path} HTTP/1.1\r\n");
    for line in kept {
        head.push_str(line);
        head.push_str("\r\n");
    }
    head + "connection: close\r\n\r\n"
}

/// Returns the value of a header line if it is of the header `name`.
fn value<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (known, value) = line.split_once(':')?;
    known.eq_ignore_ascii_case(name).then(|| value.trim())
}

/// Reads a head, and the bytes after it that came with it.
async fn read_head(client: &mut (impl AsyncRead + Unpin)) -> io::Result<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let rest = bytes.split_off(at + 4);
            bytes.truncate(at);
            return Ok((String::from_utf8_lossy(&bytes).into_owned(), rest));
        }
        if bytes.len() > HEAD_BYTES || client.read_buf(&mut bytes).await? == 0 {
            return Err(io::Error::from(io::ErrorKind::InvalidData));
        }
    }
}
