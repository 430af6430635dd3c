//! The target of `cargo xtask bench`: answers every request with 200 and a small body, plain and
//! TLS, on loopback. It is made to take little of the two cores it shares with the service. Prints
//! its two addresses and its certificate, then serves until it is ended.
#![expect(clippy::print_stdout, reason = "the bench reads the addresses from there")]

use std::net::Ipv4Addr;
use std::sync::Arc;

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// Requests of the service fit into this; what is longer is answered all the same.
const REQUEST_BYTES: usize = 2_048;
/// Connections that wait to be accepted; the service opens thousands a second.
const BACKLOG: u32 = 4_096;
const BODY_BYTES: usize = 64;

fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(serve())
}

async fn serve() -> anyhow::Result<()> {
    let plain = listen()?;
    let secure = listen()?;
    let made =
        rcgen::generate_simple_self_signed(vec!["localhost".to_owned(), "127.0.0.1".to_owned()])?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)?;
    config.send_tls13_tickets = 0;
    println!("{} {}", plain.local_addr()?.port(), secure.local_addr()?.port());
    println!("{}", made.cert.pem().trim_end());
    tokio::join!(serve_plain(plain), serve_secure(secure, TlsAcceptor::from(Arc::new(config))));
    Ok(())
}

fn listen() -> anyhow::Result<TcpListener> {
    let socket = tokio::net::TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
    Ok(socket.listen(BACKLOG)?)
}

async fn serve_plain(listener: TcpListener) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        tokio::spawn(answer(stream));
    }
}

async fn serve_secure(listener: TcpListener, acceptor: TlsAcceptor) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            if let Ok(stream) = acceptor.accept(stream).await {
                answer(stream).await;
            }
        });
    }
}

async fn answer(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    let mut request = [0_u8; REQUEST_BYTES];
    if !matches!(stream.read(&mut request).await, Ok(length) if length > 0) {
        return;
    }
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 64\r\nconnection: close\r\n\r\n";
    let mut answer = Vec::with_capacity(head.len() + BODY_BYTES);
    answer.extend_from_slice(head.as_bytes());
    answer.resize(head.len() + BODY_BYTES, b'.');
    // A client that went away is counted by the service, not here.
    let _ = stream.write_all(&answer).await;
    let _ = stream.shutdown().await;
}
