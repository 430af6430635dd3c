//! An HTTP target with responses by path. HTTP/1 responses are sent byte by byte as scripted.
//! HTTP/2 responses support status, headers, body and delay.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http_body_util::{BodyExt, Collected, Full};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::crypto::aws_lc_rs;
use rustls::server::{WantsServerCert, WebPkiClientVerifier};
use rustls::{ConfigBuilder, ServerConfig, SupportedProtocolVersion};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::response::Step;
use super::{Authority, Identity, Running, ScriptedResponse};

/// Maximum size of a request's head.
const HEAD_BYTES: usize = 64 * 1024;

/// A running HTTP server.
#[derive(Debug)]
pub struct HttpTarget {
    address: SocketAddr,
    scheme: &'static str,
    stage: Arc<Stage>,
    _task: Running,
}

/// Protocols of a TLS server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1 only.
    Http1,
    /// HTTP/2 if the client offers it.
    Http2,
}

/// Client certificates that a TLS server requires.
#[derive(Clone, Copy, Debug)]
pub struct ClientTrust<'a> {
    /// Issuer of the certificates.
    pub authority: &'a Authority,
    /// The only version that the server speaks.
    pub version: TlsVersion,
}

/// A version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsVersion {
    /// In which a server refuses a client certificate within the handshake.
    V12,
    /// In which it does so afterwards.
    V13,
}

impl TlsVersion {
    const fn supported(self) -> &'static SupportedProtocolVersion {
        match self {
            Self::V12 => &rustls::version::TLS12,
            Self::V13 => &rustls::version::TLS13,
        }
    }
}

/// A received request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    pub method: String,
    /// Path and query. Over HTTP/2, the whole URI.
    pub target: String,
    /// `HTTP/1.1` or `HTTP/2.0`.
    pub version: String,
    /// Header lines in order, names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Received {
    /// Returns the first value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

#[derive(Debug, Default)]
struct Stage {
    answers: Mutex<HashMap<String, Vec<ScriptedResponse>>>,
    /// Responder that replaces the scripted responses.
    actor: Option<Actor>,
    received: Mutex<Vec<Received>>,
}

/// A function that computes the response to each request.
struct Actor(Box<dyn Fn(&Received) -> ScriptedResponse + Send + Sync>);

impl fmt::Debug for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Actor")
    }
}

impl HttpTarget {
    /// Starts plain HTTP/1.1 on 127.0.0.1.
    pub async fn start() -> Self {
        Self::start_at("127.0.0.1:0").await
    }

    /// Starts plain HTTP/1.1 at a loopback address. Port 0 selects a free one.
    pub async fn start_at(address: &str) -> Self {
        Self::serve(address, None, None).await
    }

    /// Starts plain HTTP/1.1 on 127.0.0.1 with `answer` as the responder to all requests.
    pub async fn start_with(
        answer: impl Fn(&Received) -> ScriptedResponse + Send + Sync + 'static,
    ) -> Self {
        Self::serve("127.0.0.1:0", None, Some(Actor(Box::new(answer)))).await
    }

    /// Starts HTTPS on 127.0.0.1 with the certificate `identity`.
    pub async fn start_tls(identity: Identity, protocol: Protocol) -> Self {
        Self::serve("127.0.0.1:0", Some(acceptor(identity, protocol)), None).await
    }

    /// Starts HTTPS on 127.0.0.1 that requires client certificates of this trust.
    pub async fn start_mutual_tls(
        identity: Identity,
        protocol: Protocol,
        clients: ClientTrust<'_>,
    ) -> Self {
        let tls = mutual_acceptor(identity, protocol, clients);
        Self::serve("127.0.0.1:0", Some(tls), None).await
    }

    async fn serve(address: &str, tls: Option<TlsAcceptor>, actor: Option<Actor>) -> Self {
        let listener = TcpListener::bind(address).await.expect("loopback has a free port");
        let address = listener.local_addr().expect("the socket is bound");
        let scheme = if tls.is_some() { "https" } else { "http" };
        let stage = Arc::new(Stage { actor, ..Stage::default() });
        let shared = Arc::clone(&stage);
        let task = tokio::spawn(async move {
            // Dropped with the task, which closes all connections.
            let mut connections = JoinSet::new();
            while let Ok((tcp, _)) = listener.accept().await {
                while connections.try_join_next().is_some() {}
                connections.spawn(connection(tcp, tls.clone(), Arc::clone(&shared)));
            }
        });
        Self { address, scheme, stage, _task: Running(task) }
    }

    /// Sets the response for `path` (with its query).
    pub fn on(&self, path: &str, answer: ScriptedResponse) -> &Self {
        self.on_each(path, vec![answer])
    }

    /// Sets a sequence of responses for `path`. The last one repeats.
    pub fn on_each(&self, path: &str, answers: Vec<ScriptedResponse>) -> &Self {
        lock(&self.stage.answers).insert(path.to_owned(), answers);
        self
    }

    /// Returns the URL of `path` with the target's address.
    pub fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.address)
    }

    /// Returns the URL of `path` with a host name.
    pub fn url_as(&self, name: &str, path: &str) -> String {
        format!("{}://{name}:{}{path}", self.scheme, self.address.port())
    }

    /// Returns its address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the number of received requests.
    pub fn hits(&self) -> usize {
        lock(&self.stage.received).len()
    }

    /// Returns the received requests in order.
    pub fn received(&self) -> Vec<Received> {
        lock(&self.stage.received).clone()
    }
}

/// Creates the TLS side of a server that is `identity`.
pub(super) fn acceptor(identity: Identity, protocol: Protocol) -> TlsAcceptor {
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider supports TLS 1.2 and 1.3")
        .with_no_client_auth();
    serving(config, identity, protocol)
}

/// Creates the TLS side of a server that requires client certificates.
fn mutual_acceptor(
    identity: Identity,
    protocol: Protocol,
    clients: ClientTrust<'_>,
) -> TlsAcceptor {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let roots = Arc::new(clients.authority.roots());
    let verifier = WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(&provider));
    let config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[clients.version.supported()])
        .expect("the provider supports the version")
        .with_client_cert_verifier(verifier.build().expect("there is a root"));
    serving(config, identity, protocol)
}

fn serving(
    config: ConfigBuilder<ServerConfig, WantsServerCert>,
    identity: Identity,
    protocol: Protocol,
) -> TlsAcceptor {
    let mut config = config
        .with_single_cert(identity.chain, identity.key)
        .expect("key and certificate belong together");
    config.alpn_protocols = match protocol {
        Protocol::Http1 => vec![b"http/1.1".to_vec()],
        Protocol::Http2 => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
    };
    TlsAcceptor::from(Arc::new(config))
}

impl Stage {
    /// Records a request and returns its response.
    fn answer(&self, received: Received) -> ScriptedResponse {
        if let Some(Actor(answer)) = &self.actor {
            let answer = answer(&received);
            lock(&self.received).push(received);
            return answer;
        }
        let path = match received.target.split_once("://") {
            Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]),
            None => &received.target,
        };
        let mut answers = lock(&self.answers);
        let answer = match answers.get_mut(path) {
            Some(left) if left.len() > 1 => left.remove(0),
            Some(left) => left.first().cloned().unwrap_or_else(|| ScriptedResponse::status(404)),
            None => ScriptedResponse::status(404).body("no scripted response"),
        };
        lock(&self.received).push(received);
        answer
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Serves one connection. Clients see its errors.
async fn connection(tcp: TcpStream, tls: Option<TlsAcceptor>, stage: Arc<Stage>) {
    let Some(tls) = tls else {
        let _ = http1(tcp, &stage).await;
        return;
    };
    let Ok(stream) = tls.accept(tcp).await else { return };
    if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
        http2(stream, stage).await;
    } else {
        let _ = http1(stream, &stage).await;
    }
}

/// A connection that can be reset.
trait Breakable: AsyncRead + AsyncWrite + Unpin {
    fn breaks(&self);
}

async fn http1(mut stream: impl Breakable, stage: &Stage) -> io::Result<()> {
    let Some(received) = read_request(&mut stream).await? else {
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n").await?;
        return stream.shutdown().await;
    };
    let method = received.method.clone();
    for step in stage.answer(received).steps(&method) {
        match step {
            Step::Send(bytes) => {
                stream.write_all(&bytes).await?;
                stream.flush().await?;
            }
            Step::SendForever(bytes) => loop {
                stream.write_all(&bytes).await?;
            },
            Step::Wait(delay) => tokio::time::sleep(delay).await,
            Step::Hang => std::future::pending().await,
            Step::Reset => {
                stream.breaks();
                return Ok(());
            }
        }
    }
    stream.shutdown().await
}

async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Received>> {
    let mut bytes: Vec<u8> = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        // Bytes that do not begin with a method are not HTTP. Waiting for the end of a head would
        // never finish.
        let foreign = bytes.first().is_some_and(|first| !first.is_ascii_uppercase());
        if foreign || bytes.len() > HEAD_BYTES || stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or_default().splitn(3, ' ').map(str::to_owned);
    let mut received = Received {
        method: first.next().unwrap_or_default(),
        target: first.next().unwrap_or_default(),
        version: first.next().unwrap_or_default(),
        headers: lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect(),
        body: String::new(),
    };
    let length = received.header("content-length").and_then(|l| l.parse().ok()).unwrap_or(0);
    let mut body = bytes.split_off(end + 4);
    while body.len() < length {
        if stream.read_buf(&mut body).await? == 0 {
            break;
        }
    }
    received.body = String::from_utf8_lossy(&body).into_owned();
    Ok(Some(received))
}

async fn http2(stream: TlsStream<TcpStream>, stage: Arc<Stage>) {
    let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
        let stage = Arc::clone(&stage);
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
            let received = Received {
                method: head.method.to_string(),
                target: head.uri.to_string(),
                version: format!("{:?}", head.version),
                headers: head
                    .headers
                    .iter()
                    .map(|(name, value)| {
                        (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
                    })
                    .collect(),
                body: String::from_utf8_lossy(&body).into_owned(),
            };
            let answer = stage.answer(received);
            tokio::time::sleep(answer.before).await;
            let mut reply = http::Response::builder().status(answer.status);
            for (name, value) in &answer.headers {
                reply = reply.header(name, value);
            }
            let reply =
                reply.body(Full::<Bytes>::new(answer.body)).expect("tests use valid headers");
            Ok::<_, Infallible>(reply)
        }
    });
    let _ = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

impl Breakable for TcpStream {
    fn breaks(&self) {
        self.set_zero_linger().expect("the socket is open");
    }
}

impl Breakable for TlsStream<TcpStream> {
    fn breaks(&self) {
        self.get_ref().0.breaks();
    }
}
