//! A TCP target: one that takes connections and says nothing, one that refuses them, one that lets
//! them wait.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::net::{TcpListener, TcpSocket, TcpStream};

use super::Running;

/// A port, and what happens to who connects to it.
#[derive(Debug)]
pub struct TcpTarget {
    address: SocketAddr,
    taken: Arc<AtomicUsize>,
    _kept: Kept,
}

/// What keeps the port as it is.
#[derive(Debug)]
enum Kept {
    Accepting { _task: Running },
    Refusing { _socket: TcpSocket },
    Full { _listener: TcpListener, _queue: Vec<TcpStream> },
}

impl TcpTarget {
    /// Takes every connection, keeps it and says nothing.
    pub async fn accepting() -> Self {
        Self::accepting_at("127.0.0.1:0").await
    }

    /// The same at another address of loopback.
    pub async fn accepting_at(address: &str) -> Self {
        let listener = TcpListener::bind(address).await.expect("loopback has a free port");
        let address = listener.local_addr().expect("it is bound");
        let taken = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&taken);
        let task = tokio::spawn(async move {
            let mut kept = Vec::new();
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                kept.push(stream);
            }
        });
        Self { address, taken, _kept: Kept::Accepting { _task: Running(task) } }
    }

    /// Refuses every connection: the port is held, and nobody listens.
    pub fn refusing() -> Self {
        let socket = TcpSocket::new_v4().expect("there are file handles");
        socket.bind(([127, 0, 0, 1], 0).into()).expect("loopback has a free port");
        let address = socket.local_addr().expect("it is bound");
        Self { address, taken: Arc::default(), _kept: Kept::Refusing { _socket: socket } }
    }

    /// Lets every connection wait for ever: its queue is full.
    pub async fn full() -> Self {
        const QUEUE: u32 = 1;
        let socket = TcpSocket::new_v4().expect("there are file handles");
        socket.bind(([127, 0, 0, 1], 0).into()).expect("loopback has a free port");
        let listener = socket.listen(QUEUE).expect("it is bound");
        let address = listener.local_addr().expect("it is bound");
        let mut queue = Vec::new();
        // Linux lets one more in than the queue is said to hold.
        for _ in 0..=QUEUE {
            queue.push(TcpStream::connect(address).await.expect("the queue has room"));
        }
        let kept = Kept::Full { _listener: listener, _queue: queue };
        Self { address, taken: Arc::default(), _kept: kept }
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many connections it took.
    pub fn taken(&self) -> usize {
        self.taken.load(Ordering::SeqCst)
    }
}
