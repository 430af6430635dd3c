//! A line between two processes on which nothing arrives while it is held. Connections stay open, as in a
//! partition of a network.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

/// A proxy on loopback until the test's process ends.
pub(super) struct Line {
    pub(super) address: SocketAddr,
    state: Arc<LineState>,
}

#[derive(Default)]
struct LineState {
    is_held: Mutex<bool>,
    changed: Condvar,
}

impl Line {
    /// Starts a line to this address.
    pub(super) fn start(far: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::<LineState>::default();
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                shared.wait_until_open();
                let Ok(far) = TcpStream::connect(far) else { continue };
                let (near_end, far_end) = (near.try_clone().unwrap(), far.try_clone().unwrap());
                for (from, to) in [(near, far_end), (far, near_end)] {
                    let state = Arc::clone(&shared);
                    std::thread::spawn(move || forward(from, to, &state));
                }
            }
        });
        Self { address, state }
    }

    /// Lets nothing through.
    pub(super) fn hold(&self) {
        *self.state.is_held.lock().unwrap() = true;
    }

    /// Lets everything through, also what was held.
    pub(super) fn restore(&self) {
        *self.state.is_held.lock().unwrap() = false;
        self.state.changed.notify_all();
    }
}

impl LineState {
    fn wait_until_open(&self) {
        let held = self.is_held.lock().unwrap();
        drop(self.changed.wait_while(held, |is_held| *is_held).unwrap());
    }
}

/// Copies bytes until either end closes.
fn forward(mut from: TcpStream, mut to: TcpStream, state: &LineState) {
    let mut chunk = [0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut chunk) {
        state.wait_until_open();
        if to.write_all(&chunk[..count]).is_err() {
            break;
        }
    }
    // The other end may have closed it already.
    let _ = to.shutdown(std::net::Shutdown::Write);
}
