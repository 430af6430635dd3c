//! Fake targets for checks: real servers on loopback, each on its own port. They follow a script,
//! count requests, and stop on drop.

mod authority;
mod dns;
mod http;
mod proxy;
mod response;
mod tcp;

pub use authority::{Authority, Identity, Validity};
pub use dns::{Code, DnsReply, DnsTarget};
pub use http::{ClientTrust, HttpTarget, Protocol, Received, TlsVersion};
pub use proxy::HttpProxy;
pub use response::ScriptedResponse;
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
