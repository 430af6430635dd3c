//! Fake targets for checks: real servers on loopback, each on its own port. They follow a script,
//! count requests, and stop on drop.

mod answer;
mod authority;
mod dns;
mod http;
mod proxy;
mod tcp;

pub use answer::Answer;
pub use authority::{Authority, Identity, Validity};
pub use dns::{Code, DnsTarget, Reply};
pub use http::{HttpTarget, Protocol, Received};
pub use proxy::HttpProxy;
pub use tcp::TcpTarget;

use tokio::task::JoinHandle;

/// Aborts the server's task and all its connections on drop.
#[derive(Debug)]
struct Running(JoinHandle<()>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}
