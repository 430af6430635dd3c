//! Sources of connections: a listener, and connections that another part of the server accepted.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use web::peer::EntryPoint;

/// Number of accepted connections that wait to be handed over.
const HANDED_OVER_WAITING: usize = 64;

/// Sender of connections that another part of the server accepted, with their clients.
pub(super) type HandOver = mpsc::Sender<(TcpStream, SocketAddr)>;

/// Source of connections: a listener, and those that are handed over to it.
pub(super) struct ConnectionSource {
    listener: TcpListener,
    handed_over: mpsc::Receiver<(TcpStream, SocketAddr)>,
    hand_over: HandOver,
}

/// Senders to the sources of a server.
#[derive(Clone)]
pub(super) struct HandOvers {
    pub(super) plain: HandOver,
    pub(super) tls: Option<HandOver>,
    pub(super) redirecting: Option<HandOver>,
}

impl From<TcpListener> for ConnectionSource {
    fn from(listener: TcpListener) -> Self {
        let (hand_over, handed_over) = mpsc::channel(HANDED_OVER_WAITING);
        Self { listener, handed_over, hand_over }
    }
}

impl ConnectionSource {
    /// Waits for the next connection. Cancel safe: dropping the future loses none.
    pub(super) async fn accept(&mut self) -> io::Result<(TcpStream, SocketAddr)> {
        tokio::select! {
            accepted = self.listener.accept() => accepted,
            Some(handed_over) = self.handed_over.recv() => Ok(handed_over),
        }
    }

    /// Returns the sender of connections to this source.
    pub(super) fn hand_over(&self) -> HandOver {
        self.hand_over.clone()
    }
}

impl HandOvers {
    /// Returns the sender to the listener of this kind, if the server has one.
    pub(super) const fn get(&self, entry_point: EntryPoint) -> Option<&HandOver> {
        match entry_point {
            EntryPoint::Plain => Some(&self.plain),
            EntryPoint::Tls => self.tls.as_ref(),
            EntryPoint::Redirecting => self.redirecting.as_ref(),
        }
    }
}
