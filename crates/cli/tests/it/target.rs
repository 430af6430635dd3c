//! A page that reports each request at once, so that tests wait for requests and not for the clock.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// A loopback target that returns 200 for everything until the test's process ends.
pub(crate) struct Target {
    address: SocketAddr,
    visits: Receiver<String>,
}

impl Target {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, visits) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let sender = sender.clone();
                std::thread::spawn(move || answer(&stream, &sender));
            }
        });
        Self { address, visits }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
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
fn answer(stream: &TcpStream, visits: &Sender<String>) -> Option<()> {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    lines.find(String::is_empty)?;
    let mut stream = stream;
    stream
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\nconnection: close\r\n\r\nok\n")
        .ok()?;
    visits.send(path).ok()
}
