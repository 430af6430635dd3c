//! Why a provider cannot be served at all. What goes wrong in a call is a diagnostic instead.

use std::io;

/// A reason, for the host's log or for the person who started us.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Without it nobody could be let in, and letting everybody in is not a way out.
    #[error("`PLUGIN_CLIENT_CERT` holds no certificate: {0}")]
    Certificate(#[source] rustls::pki_types::pem::Error),
    /// The certificate of this process.
    #[error("cannot make a certificate: {0}")]
    OwnKey(#[source] rcgen::Error),
    /// The library refuses how it is set up.
    #[error("cannot set up TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// No socket.
    #[error(
        "cannot open a socket (`PLUGIN_UNIX_SOCKET_DIR` or the folder for temporary files): {0}"
    )]
    Listen(#[source] io::Error),
    /// The host's range is no range.
    #[error("`PLUGIN_MIN_PORT` and `PLUGIN_MAX_PORT` are no range of ports: `{low}` to `{high}`")]
    Ports { low: String, high: String },
    /// Every port of the range is taken.
    #[error("no port is free from {low} to {high}, the range that the host gave")]
    NoPort { low: u16, high: u16 },
    /// Nobody reads what we say.
    #[error("cannot write to stdout: {0}")]
    Announce(#[source] io::Error),
    /// The system does not tell us about signals.
    #[error("cannot listen to signals: {0}")]
    Signals(#[source] io::Error),
    /// The server itself.
    #[error("the server ended: {0}")]
    Serve(#[source] tonic::transport::Error),
}
