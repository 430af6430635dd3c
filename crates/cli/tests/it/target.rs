//! A page that reports each request at once, so that tests wait for requests and not for the clock. It can be
//! broken and repaired.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// A loopback target that returns 200 for everything until the test's process ends, and 503 while it is
/// broken.
pub(crate) struct Target {
    address: SocketAddr,
    visits: Receiver<String>,
    is_broken: Arc<AtomicBool>,
}

impl Target {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, visits) = channel();
        let is_broken = Arc::<AtomicBool>::default();
        let state = Arc::clone(&is_broken);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (sender, state) = (sender.clone(), Arc::clone(&state));
                std::thread::spawn(move || answer(&stream, &sender, &state));
            }
        });
        Self { address, visits, is_broken }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Breaks a healthy target, or repairs a broken one.
    pub(crate) fn flip(&self) {
        self.is_broken.fetch_xor(true, Ordering::SeqCst);
    }

    /// Returns the path of the next request, if it arrives in time.
    pub(crate) fn visit(&self, within: Duration) -> Option<String> {
        self.visits.recv_timeout(within).ok()
    }

    /// Discards the requests so far.
    pub(crate) fn clear(&self) {
        while self.visits.try_recv().is_ok() {}
    }
}

/// Responds to one request. Ignores a client that disconnects.
fn answer(stream: &TcpStream, visits: &Sender<String>, is_broken: &AtomicBool) -> Option<()> {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    lines.find(String::is_empty)?;
    let mut stream = stream;
    let status = if is_broken.load(Ordering::SeqCst) { "503 Broken" } else { "200 OK" };
    write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 3\r\nconnection: close\r\n\r\nok\n")
        .ok()?;
    visits.send(path).ok()
}
