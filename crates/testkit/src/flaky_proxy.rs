//! A proxy in front of a test's PostgreSQL. A test can cut its connections, as a broken network
//! does, or stall them, as a machine that hangs does, and restore them. It can also cut one side
//! only, or garble the responses.

use std::net::SocketAddr;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, split};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// Maximum number of bytes copied at a time.
const CHUNK: usize = 16 * 1024;
/// Byte that begins no message of PostgreSQL.
const NONSENSE: u8 = b'?';

/// A proxy. It stops with the test.
#[derive(Debug)]
pub struct FlakyProxy {
    near: SocketAddr,
    database: String,
    state: watch::Sender<ProxyMode>,
    task: AbortHandle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProxyMode {
    Forwarding,
    Silent,
    Garbled,
    HalfCut,
    Cut,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Request,
    Response,
}

impl FlakyProxy {
    /// Starts a proxy for the database at this address, which comes from `postgres::database`.
    pub async fn start(address: &str) -> Self {
        let (name, rest) = address
            .strip_prefix("postgres:///")
            .and_then(|rest| rest.split_once('?'))
            .expect("addresses of test databases have this form");
        let folder = rest.split_once("host=").expect("addresses of test databases name a folder").1;
        let socket = format!("{folder}/.s.PGSQL.5432");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let near = listener.local_addr().expect("it is bound");
        let (state, seen) = watch::channel(ProxyMode::Forwarding);
        let task = tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                if matches!(*seen.borrow(), ProxyMode::Cut | ProxyMode::HalfCut) {
                    continue;
                }
                let far =
                    UnixStream::connect(&socket).await.expect("the database server is running");
                tokio::spawn(forward_both(near, far, seen.clone()));
            }
        });
        Self { near, database: name.to_owned(), state, task: task.abort_handle() }
    }

    /// Returns the address of the database through the proxy.
    pub fn address(&self) -> String {
        format!("postgres://aloft@{}/{}?sslmode=disable", self.near, self.database)
    }

    /// Closes every connection, and each new one.
    pub fn cut(&self) {
        self.state.send_replace(ProxyMode::Cut);
    }

    /// Closes every connection, and each new one, without the knowledge of the database: its
    /// sessions stay open until [`Self::cut`].
    pub fn cut_half(&self) {
        self.state.send_replace(ProxyMode::HalfCut);
    }

    /// Replaces all responses by nonsense, without closing connections.
    pub fn garble(&self) {
        self.state.send_replace(ProxyMode::Garbled);
    }

    /// Stops all transfers without closing connections.
    pub fn silence(&self) {
        self.state.send_replace(ProxyMode::Silent);
    }

    /// Accepts new connections again, and resumes stalled ones.
    pub fn restore(&self) {
        self.state.send_replace(ProxyMode::Forwarding);
    }
}

impl Drop for FlakyProxy {
    fn drop(&mut self) {
        self.state.send_replace(ProxyMode::Cut);
        self.task.abort();
    }
}

async fn forward_both(near: TcpStream, far: UnixStream, mut state: watch::Receiver<ProxyMode>) {
    let (mut from_far, mut to_far) = split(far);
    let (from_near, to_near) = split(near);
    let mut cut = state.clone();
    tokio::select! {
        () = forward(from_near, &mut to_far, state.clone(), Direction::Request) => {}
        () = forward(&mut from_far, to_near, state.clone(), Direction::Response) => {}
        _ = cut.wait_for(|it| matches!(it, ProxyMode::Cut | ProxyMode::HalfCut)) => {}
    }
    if *state.borrow() == ProxyMode::HalfCut {
        // An error means that the test ended.
        let _ = state.wait_for(|it| *it == ProxyMode::Cut).await;
    }
}

async fn forward(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut state: watch::Receiver<ProxyMode>,
    direction: Direction,
) {
    let mut chunk = vec![0; CHUNK];
    loop {
        let Ok(count @ 1..) = from.read(&mut chunk).await else { return };
        let Ok(mode) = state.wait_for(|it| *it != ProxyMode::Silent).await.map(|it| *it) else {
            return;
        };
        if (mode, direction) == (ProxyMode::Garbled, Direction::Response) {
            chunk[..count].fill(NONSENSE);
        }
        if to.write_all(&chunk[..count]).await.is_err() {
            return;
        }
    }
}
