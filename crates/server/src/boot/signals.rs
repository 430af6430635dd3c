//! Signals that end a server. They are handled before the start, so that none is lost and the first
//! one stops the server in order. The second one ends it immediately.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Exit code after a second signal, the one that shells report for SIGINT.
const AT_ONCE: i32 = 130;

/// SIGTERM and SIGINT, which no longer end the process by themselves.
#[derive(Debug)]
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Registers the handlers.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Ends the process at the next signal. Acknowledged writes are on disk, as after any other
    /// end.
    pub fn exit_on_next(mut self) {
        tracing::info!(
            "shutting down after requests in flight finish; signal again to stop at once"
        );
        tokio::spawn(async move {
            self.wait().await;
            tracing::warn!("second signal: stopping at once");
            std::process::exit(AT_ONCE);
        });
    }

    /// Waits for a signal. Returns immediately if one came before.
    pub async fn wait(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
