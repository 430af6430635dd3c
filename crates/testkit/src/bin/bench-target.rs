//! The target of `cargo xtask bench`, on loopback. It answers every HTTP request with 200 and a
//! small body: in plain text, over TLS, and in plain text after a second. It answers every DNS
//! question with one address. It uses little CPU, because it shares two cores with the service. It
//! prints the four ports (plain, TLS, slow, DNS) and its certificate, then serves until it is
//! killed.
#![expect(clippy::print_stdout, reason = "the bench reads the addresses from stdout")]

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};
use tokio_rustls::TlsAcceptor;

/// Size of the read buffer. The service's requests fit. Longer requests get a response too.
const REQUEST_BYTES: usize = 2_048;
/// Length of the accept queue. The service opens thousands of connections a second.
const BACKLOG: u32 = 4_096;
const BODY_BYTES: usize = 64;
/// Delay of the slow target.
const SLOW: Duration = Duration::from_secs(1);
/// Lengths of a DNS header, and of the type and class after the name in a question.
const DNS_HEADER: usize = 12;
const DNS_AFTER_NAME: usize = 4;

fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(serve())
}

async fn serve() -> anyhow::Result<()> {
    let (plain, secure, slow) = (listen()?, listen()?, listen()?);
    let dns = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let made =
        rcgen::generate_simple_self_signed(vec!["localhost".to_owned(), "127.0.0.1".to_owned()])?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)?;
    config.send_tls13_tickets = 0;
    let port = |listener: &TcpListener| listener.local_addr().map(|address| address.port());
    let dns_port = dns.local_addr()?.port();
    println!("{} {} {} {dns_port}", port(&plain)?, port(&secure)?, port(&slow)?);
    println!("{}", made.cert.pem().trim_end());
    tokio::join!(
        serve_plain(plain, Duration::ZERO),
        serve_secure(secure, TlsAcceptor::from(Arc::new(config))),
        serve_plain(slow, SLOW),
        serve_dns(dns),
    );
    Ok(())
}

fn listen() -> anyhow::Result<TcpListener> {
    let socket = tokio::net::TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
    Ok(socket.listen(BACKLOG)?)
}

async fn serve_plain(listener: TcpListener, pause: Duration) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        tokio::spawn(respond(stream, pause));
    }
}

async fn serve_secure(listener: TcpListener, acceptor: TlsAcceptor) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            if let Ok(stream) = acceptor.accept(stream).await {
                respond(stream, Duration::ZERO).await;
            }
        });
    }
}

async fn respond(mut stream: impl AsyncRead + AsyncWrite + Unpin, pause: Duration) {
    let mut request = [0_u8; REQUEST_BYTES];
    if !matches!(stream.read(&mut request).await, Ok(length) if length > 0) {
        return;
    }
    if !pause.is_zero() {
        tokio::time::sleep(pause).await;
    }
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 64\r\nconnection: close\r\n\r\n";
    let mut answer = Vec::with_capacity(head.len() + BODY_BYTES);
    answer.extend_from_slice(head.as_bytes());
    answer.resize(head.len() + BODY_BYTES, b'.');
    // The service counts clients that disconnect.
    let _ = stream.write_all(&answer).await;
    let _ = stream.shutdown().await;
}

async fn serve_dns(socket: UdpSocket) {
    let mut question = [0_u8; REQUEST_BYTES];
    loop {
        let Ok((length, from)) = socket.recv_from(&mut question).await else { continue };
        if let Some(reply) = address_for(&question[..length]) {
            // The service counts missing responses.
            let _ = socket.send_to(&reply, from).await;
        }
    }
}

/// Returns the response to a message with one question: 127.0.0.1, whatever the name.
fn address_for(message: &[u8]) -> Option<Vec<u8>> {
    let mut end = DNS_HEADER;
    while *message.get(end)? != 0 {
        end += 1 + usize::from(message[end]);
    }
    let question = message.get(DNS_HEADER..=end + DNS_AFTER_NAME)?;
    let mut reply = Vec::with_capacity(message.len() + 16);
    reply.extend_from_slice(&message[..2]);
    // Response, recursion available. One question, one answer, no other records.
    reply.extend_from_slice(&[0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
    reply.extend_from_slice(question);
    // Name of the question, type A, class IN, TTL 60 s, length 4.
    reply.extend_from_slice(&[0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]);
    Some(reply)
}
