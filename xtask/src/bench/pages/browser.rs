//! An open browser that listens for live updates: a connection that a thread reads.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{self, Sender};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::super::api::connect;

/// A browser that listens until the service stops.
pub(super) struct Browser(mpsc::Receiver<Instant>);

impl Browser {
    pub(super) fn open(address: SocketAddr, path: &str) -> Result<Self> {
        let mut stream = BufReader::new(connect(address)?);
        let request = format!("GET {path} HTTP/1.1\r\nhost: bench\r\n\r\n");
        stream.get_mut().write_all(request.as_bytes())?;
        let mut line = String::new();
        stream.read_line(&mut line)?;
        ensure!(line.starts_with("HTTP/1.1 200 "), "{path} returned {line}");
        let (sender, messages) = mpsc::channel();
        std::thread::spawn(move || listen(stream, &sender));
        Ok(Self(messages))
    }

    /// Returns the time of the next update after this instant.
    pub(super) fn after(&self, instant: Instant, within: Duration) -> Option<Instant> {
        loop {
            let at = self.0.recv_timeout(within).ok()?;
            if at >= instant {
                return Some(at);
            }
        }
    }
}

/// Reads updates until the connection or the bench ends.
fn listen(stream: BufReader<TcpStream>, events: &Sender<Instant>) -> Option<()> {
    for line in stream.lines() {
        if line.ok()? == "event: changed" {
            events.send(Instant::now()).ok()?;
        }
    }
    None
}
