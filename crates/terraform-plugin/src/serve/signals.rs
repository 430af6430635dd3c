//! What the system says to a provider: a person's Ctrl-C reaches the whole group of processes, and is
//! the host's to answer (it says stop itself). A host that is gone without a word is noticed, so that
//! no provider is left behind.

use std::io;
#[cfg(unix)]
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::error::Error;

/// How often to look whether the host still lives.
#[cfg(unix)]
const LOOK: Duration = Duration::from_secs(2);

/// Ends by `shutdown` when the system asks for it, or the host has gone. Under a debugger there is no
/// host, and Ctrl-C is meant for us.
pub(super) fn watch(debug: bool, shutdown: &CancellationToken) -> Result<(), Error> {
    listen(debug, shutdown).map_err(Error::Signals)?;
    #[cfg(unix)]
    if !debug {
        // Asked before the host hears of us: later it may have gone already.
        let host = std::os::unix::process::parent_id();
        tokio::spawn(until_gone(host, shutdown.clone()));
    }
    Ok(())
}

#[cfg(unix)]
fn listen(debug: bool, shutdown: &CancellationToken) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    // Known to the system before the host hears of us, so that none is lost.
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let shutdown = shutdown.clone();
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = terminate.recv() => break,
                _ = interrupt.recv() => if debug { break },
            }
        }
        shutdown.cancel();
    });
    Ok(())
}

#[cfg(not(unix))]
fn listen(debug: bool, shutdown: &CancellationToken) -> io::Result<()> {
    let shutdown = shutdown.clone();
    tokio::spawn(async move {
        while tokio::signal::ctrl_c().await.is_ok() {
            if debug {
                shutdown.cancel();
            }
        }
    });
    Ok(())
}

/// A process whose parent has ended gets another one.
#[cfg(unix)]
async fn until_gone(host: u32, shutdown: CancellationToken) {
    let mut look = tokio::time::interval(LOOK);
    while std::os::unix::process::parent_id() == host {
        tokio::select! {
            () = shutdown.cancelled() => return,
            _ = look.tick() => {}
        }
    }
    shutdown.cancel();
}
