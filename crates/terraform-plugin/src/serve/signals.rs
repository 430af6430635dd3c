//! Signals of the system. Ctrl-C reaches the whole process group, but the host handles it and asks
//! the provider to stop. A provider whose host has died shuts down by itself.

use std::io;
#[cfg(unix)]
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::error::ServeError;

/// Interval of checks whether the host is alive.
#[cfg(unix)]
const HOST_CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// Cancels `shutdown` if the system asks for it or the host has died. In debug mode there is no
/// host, and Ctrl-C stops the provider.
pub(super) fn watch(debug: bool, shutdown: &CancellationToken) -> Result<(), ServeError> {
    listen(debug, shutdown).map_err(ServeError::Signals)?;
    #[cfg(unix)]
    if !debug {
        // Read before the handshake, because the host may die right after it.
        let host = std::os::unix::process::parent_id();
        tokio::spawn(wait_for_exit(host, shutdown.clone()));
    }
    Ok(())
}

#[cfg(unix)]
fn listen(debug: bool, shutdown: &CancellationToken) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    // Registered before the handshake, so that no signal is lost.
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

/// Waits until the parent has died: the system then gives the process another parent.
#[cfg(unix)]
async fn wait_for_exit(host: u32, shutdown: CancellationToken) {
    let mut look = tokio::time::interval(HOST_CHECK_INTERVAL);
    while std::os::unix::process::parent_id() == host {
        tokio::select! {
            () = shutdown.cancelled() => return,
            _ = look.tick() => {}
        }
    }
    shutdown.cancel();
}
