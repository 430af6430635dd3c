//! Reasons why a server does not start.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use contract::rpc::UnusableClient;
use store::StoreError;

use super::ClockError;
use crate::demo::DemoError;
use crate::pipeline::PipelineError;

/// Error that prevents a server from starting.
#[derive(Debug, thiserror::Error)]
pub enum BootError {
    /// Opening the store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The clock of this machine or of the database server is wrong.
    #[error(transparent)]
    Clock(#[from] ClockError),
    /// The address is in use or not available on this machine.
    #[error("cannot listen on {address}: {why}; choose another with {flag}")]
    Listen {
        address: SocketAddr,
        /// Error of the operating system.
        why: io::Error,
        /// Flag that sets the address.
        flag: &'static str,
    },
    /// Opening the control socket failed.
    #[error("cannot open the control socket in `{}`: {why}", .folder.display())]
    Control {
        folder: PathBuf,
        /// Error of the operating system.
        why: io::Error,
    },
    /// The additional CA certificates for checks cannot be read.
    #[error("`extra_ca_file` `{}` cannot be used: {why}", .path.display())]
    ExtraCa {
        /// File of the certificates.
        path: PathBuf,
        why: String,
    },
    /// The settings of the mail server are unusable.
    #[error("the mail server of `ALOFT_SMTP_URL` cannot be used: {0}")]
    Mail(String),
    /// The receiver of traces cannot be used.
    #[error("the receiver of `otlp_endpoint` cannot be used: {0}")]
    Traces(UnusableClient),
    /// The pipeline failed to start.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    /// Creating the demo failed.
    #[error(transparent)]
    Demo(#[from] DemoError),
}
