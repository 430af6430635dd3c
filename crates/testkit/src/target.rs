//! Fake targets for checks: real servers on loopback, each on a port of its own, that do as they
//! were told, count who came, and stop when they are dropped.

mod answer;
mod authority;
mod dns;
mod http;
mod tcp;

pub use answer::Answer;
pub use authority::{Authority, Identity, Validity};
pub use dns::{Code, DnsTarget, Reply};
pub use http::{HttpTarget, Protocol, Received};
pub use tcp::TcpTarget;

use tokio::task::JoinHandle;

/// Stops the server's task, and with it all its connections, when it is dropped.
#[derive(Debug)]
struct Running(JoinHandle<()>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}
