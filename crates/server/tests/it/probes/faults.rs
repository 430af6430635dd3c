//! Faults of tests of probes: targets that answer only once they may, and proxies before the server that hold or
//! cut connections.

use std::net::SocketAddr;

use rules::Region;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::{Agent, Registered, register, wait_for_health};
use crate::pipeline::{PATIENCE, Watched};

/// A server, and a connected probe of `fly-sin` behind a proxy.
pub(super) struct BehindProxy {
    pub(super) watched: Watched,
    pub(super) probe: Registered,
    pub(super) proxy: CutProxy,
    pub(super) agent: Agent,
}

impl BehindProxy {
    pub(super) async fn start() -> Self {
        let watched = Watched::start().await;
        let probe = register(&watched.server, 7, &[Region::FlySin]).await;
        let proxy = CutProxy::start(watched.server.address()).await;
        let agent = Agent::start(&proxy.address, &probe.token);
        wait_for_health(&watched.server, "fly-sin", "healthy").await;
        Self { watched, probe, proxy, agent }
    }
}

/// A target that answers only once it may.
pub(super) struct HeldTarget {
    pub(super) url: String,
    reached: watch::Receiver<bool>,
    released: watch::Sender<bool>,
}

impl HeldTarget {
    pub(super) async fn start() -> Self {
        Self::answering("200 OK").await
    }

    /// Starts a target that answers with this status.
    pub(super) async fn answering(status: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let (reached_sender, reached) = watch::channel(false);
        let (released, release) = watch::channel(false);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (reached, mut release) = (reached_sender.clone(), release.clone());
                tokio::spawn(async move {
                    let mut head = [0; 4_096];
                    let _ = stream.read(&mut head).await;
                    let _ = reached.send(true);
                    let _ = release.wait_for(|it| *it).await;
                    let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
                    let _ = stream.write_all(answer.as_bytes()).await;
                });
            }
        });
        Self { url, reached, released }
    }

    pub(super) async fn wait_until_reached(&self) {
        let mut reached = self.reached.clone();
        tokio::time::timeout(PATIENCE, reached.wait_for(|it| *it)).await.unwrap().unwrap();
    }

    pub(super) fn release(&self) {
        self.released.send(true).unwrap();
    }
}

/// A proxy that can be cut.
pub(super) struct CutProxy {
    pub(super) address: String,
    line: watch::Sender<Line>,
    /// Whether a client has closed a connection that was held.
    pub(super) is_given_up: watch::Receiver<bool>,
}

/// State of the connections of a [`CutProxy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Open,
    /// They stay open, but nothing arrives.
    Held,
    Cut,
}

async fn forward(near: &mut TcpStream, server: SocketAddr) -> std::io::Result<(u64, u64)> {
    let mut far = TcpStream::connect(server).await?;
    tokio::io::copy_bidirectional(near, &mut far).await
}

/// Forwards a connection while the line is open. Sets `gives_up` if its client closes it while it is held.
async fn serve(
    mut near: TcpStream,
    server: SocketAddr,
    mut seen: watch::Receiver<Line>,
    gives_up: watch::Sender<bool>,
) {
    tokio::select! {
        _ = forward(&mut near, server) => {}
        _ = seen.wait_for(|line| *line != Line::Open) => {}
    }
    if *seen.borrow() != Line::Held {
        return;
    }
    let mut sink = tokio::io::sink();
    tokio::select! {
        _ = tokio::io::copy(&mut near, &mut sink) => {
            let _ = gives_up.send(true);
        }
        _ = seen.wait_for(|line| *line != Line::Held) => {}
    }
}

impl CutProxy {
    pub(super) async fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (line, seen) = watch::channel(Line::Open);
        let (gives_up, is_given_up) = watch::channel(false);
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                tokio::spawn(serve(near, server, seen.clone(), gives_up.clone()));
            }
        });
        Self { address, line, is_given_up }
    }

    pub(super) fn cut(&self) {
        self.line.send(Line::Cut).unwrap();
    }

    pub(super) fn hold(&self) {
        self.line.send(Line::Held).unwrap();
    }

    pub(super) fn restore(&self) {
        self.line.send(Line::Open).unwrap();
    }
}
