//! The signals that ask a server to end: heard from before it starts, so that none is missed and
//! the first ends it in order. Who asks twice wants it at once.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a process ends with that was asked twice: as a shell reports an end by SIGINT.
const AT_ONCE: i32 = 130;

/// SIGTERM and SIGINT, which no longer end the process by themselves.
#[derive(Debug)]
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Hears them from now on.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Ends the process when another one comes. What was answered as stored is on disk, as after
    /// any other end.
    pub(super) fn end_on_the_next(mut self) {
        tracing::info!(
            "shutting down after requests in flight finish; signal again to stop at once"
        );
        tokio::spawn(async move {
            self.heard().await;
            tracing::warn!("second signal: stopping at once");
            std::process::exit(AT_ONCE);
        });
    }

    /// Ends when one of them came, also when it came before.
    pub(super) async fn heard(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
