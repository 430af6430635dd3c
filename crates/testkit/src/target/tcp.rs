//! TCP targets: one that accepts connections and sends nothing, one that refuses them, and one that
//! leaves them waiting.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::net::{TcpListener, TcpSocket, TcpStream};

use super::Running;

/// A port with a fixed behaviour.
#[derive(Debug)]
pub struct TcpTarget {
    address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    _kept: PortGuard,
}

/// Value that keeps the port in its state.
#[derive(Debug)]
enum PortGuard {
    Accepting { _task: Running },
    Refusing { _socket: TcpSocket },
    Full { _listener: TcpListener, _queue: Vec<TcpStream> },
}

impl TcpTarget {
    /// Accepts every connection, keeps it open and sends nothing.
    pub async fn accepting() -> Self {
        Self::accepting_at("127.0.0.1:0").await
    }

    /// Accepts every connection at another loopback address.
    pub async fn accepting_at(address: &str) -> Self {
        let listener = TcpListener::bind(address).await.expect("loopback has a free port");
        let address = listener.local_addr().expect("the socket is bound");
        let taken = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&taken);
        let task = tokio::spawn(async move {
            let mut kept = Vec::new();
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                kept.push(stream);
            }
        });
        Self { address, accepted: taken, _kept: PortGuard::Accepting { _task: Running(task) } }
    }

    /// Refuses every connection: the port is bound, but nothing listens.
    pub fn refusing() -> Self {
        let socket = TcpSocket::new_v4().expect("file descriptors are available");
        socket.bind(([127, 0, 0, 1], 0).into()).expect("loopback has a free port");
        let address = socket.local_addr().expect("the socket is bound");
        Self { address, accepted: Arc::default(), _kept: PortGuard::Refusing { _socket: socket } }
    }

    /// Leaves every connection waiting, because its queue is full.
    pub async fn full() -> Self {
        const QUEUE: u32 = 1;
        let socket = TcpSocket::new_v4().expect("file descriptors are available");
        socket.bind(([127, 0, 0, 1], 0).into()).expect("loopback has a free port");
        let listener = socket.listen(QUEUE).expect("the socket is bound");
        let address = listener.local_addr().expect("the socket is bound");
        let mut queue = Vec::new();
        // Linux accepts one connection more than the queue's length.
        for _ in 0..=QUEUE {
            queue.push(TcpStream::connect(address).await.expect("the queue has room"));
        }
        let kept = PortGuard::Full { _listener: listener, _queue: queue };
        Self { address, accepted: Arc::default(), _kept: kept }
    }

    /// Returns its address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the number of accepted connections.
    pub fn taken(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}
