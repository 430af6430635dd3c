//! Both ends of an alert: a page that breaks, and a receiver. Each records the time at which a
//! request was complete.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

/// A page that is healthy or broken, until this process ends.
pub(in crate::bench) struct FlippingPage {
    address: SocketAddr,
    broken: Arc<AtomicBool>,
    visited: Arc<Mutex<Option<Instant>>>,
}

/// A receiver of messages, until this process ends.
pub(super) struct Receiver {
    address: SocketAddr,
    deliveries: mpsc::Receiver<Instant>,
}

impl FlippingPage {
    pub(in crate::bench) fn start() -> Result<Self> {
        let broken = Arc::new(AtomicBool::new(false));
        let visited = Arc::new(Mutex::new(None));
        let (state, visits) = (Arc::clone(&broken), Arc::clone(&visited));
        let address = serve(move |stream| {
            while read(stream).is_some() {
                *visits.lock().expect("code that holds this lock does not panic") =
                    Some(Instant::now());
                let status = if state.load(Ordering::SeqCst) { 503 } else { 200 };
                answer(stream, status)?;
            }
            Some(())
        })?;
        Ok(Self { address, broken, visited })
    }

    pub(in crate::bench) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub(in crate::bench) fn break_down(&self) {
        self.broken.store(true, Ordering::SeqCst);
    }

    pub(in crate::bench) fn recover(&self) {
        self.broken.store(false, Ordering::SeqCst);
    }

    /// Returns the time of the last request.
    pub(in crate::bench) fn last_visit(&self) -> Option<Instant> {
        *self.visited.lock().expect("code that holds this lock does not panic")
    }
}

impl Receiver {
    /// Starts a receiver that responds, or one that `hangs`.
    pub(super) fn start(hangs: bool) -> Result<Self> {
        let (sender, deliveries) = mpsc::channel();
        let address = serve(move |stream| receive(stream, hangs, &sender))?;
        Ok(Self { address, deliveries })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Returns the time at which the next message was complete.
    pub(super) fn next(&self, within: Duration) -> Option<Instant> {
        self.deliveries.recv_timeout(within).ok()
    }
}

fn receive(stream: &TcpStream, hangs: bool, deliveries: &Sender<Instant>) -> Option<()> {
    while read(stream).is_some() {
        if hangs {
            // Wait until the sender disconnects.
            let _ = stream.take(1).read(&mut [0]);
            return None;
        }
        deliveries.send(Instant::now()).ok()?;
        answer(stream, 200)?;
    }
    Some(())
}

/// Serves each connection in its own thread.
fn serve(
    exchange: impl Fn(&TcpStream) -> Option<()> + Clone + Send + 'static,
) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().map_while(std::io::Result::ok) {
            let exchange = exchange.clone();
            // A client that disconnects ends its thread.
            thread::spawn(move || stream.set_nodelay(true).ok().and_then(|()| exchange(&stream)));
        }
    });
    Ok(address)
}

/// Reads one request.
fn read(stream: &TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    reader.read_exact(&mut vec![0; length]).ok()
}

fn answer(mut stream: &TcpStream, status: u16) -> Option<()> {
    write!(stream, "HTTP/1.1 {status} Bench\r\ncontent-length: 0\r\n\r\n").ok()
}
