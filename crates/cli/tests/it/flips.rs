//! Target pages that are healthy or broken, as the test sets them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Pages of one loopback server until the test's process ends: `/0`, `/1` and so on.
#[derive(Clone)]
pub(crate) struct Flips {
    address: SocketAddr,
    broken: Arc<[AtomicBool]>,
}

impl Flips {
    /// Starts with this number of pages, all healthy.
    pub(crate) fn start(pages: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let broken: Arc<[AtomicBool]> = (0..pages).map(|_| AtomicBool::new(false)).collect();
        let this = Self { address, broken };
        let serving = this.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let serving = serving.clone();
                std::thread::spawn(move || serving.answer(&stream));
            }
        });
        this
    }

    pub(crate) fn url(&self, page: usize) -> String {
        format!("http://{}/{page}", self.address)
    }

    /// Breaks a healthy page or repairs a broken one.
    pub(crate) fn flip(&self, page: usize) {
        self.broken[page].fetch_xor(true, Ordering::SeqCst);
    }

    /// Responds to one request. Ignores a client that disconnects.
    fn answer(&self, stream: &TcpStream) -> Option<()> {
        let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
        let page: usize = lines.next()?.split(' ').nth(1)?.strip_prefix('/')?.parse().ok()?;
        lines.find(String::is_empty)?;
        let status = if self.broken[page].load(Ordering::SeqCst) { "503 Broken" } else { "200 OK" };
        let mut stream = stream;
        let head = "content-length: 0\r\nconnection: close";
        write!(stream, "HTTP/1.1 {status}\r\n{head}\r\n\r\n").ok()
    }
}
