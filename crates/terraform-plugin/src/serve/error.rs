//! Reasons why a provider cannot be served. Failures of a call are diagnostics instead.

use std::io;

/// A reason, for the host's log or for the person who started the provider.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    /// Without the host's certificate nobody can be authenticated, so the provider refuses to
    /// start.
    #[error("invalid certificate in `PLUGIN_CLIENT_CERT`: {0}")]
    Certificate(#[source] rustls::pki_types::pem::Error),
    /// The provider's own certificate could not be created.
    #[error("failed to create a certificate: {0}")]
    OwnKey(#[source] rcgen::Error),
    #[error("failed to set up TLS: {0}")]
    Tls(#[from] rustls::Error),
    #[error(
        "failed to open a socket (`PLUGIN_UNIX_SOCKET_DIR` or the folder for temporary files): {0}"
    )]
    Listen(#[source] io::Error),
    #[error("invalid port range in `PLUGIN_MIN_PORT` and `PLUGIN_MAX_PORT`: `{low}` to `{high}`")]
    Ports { low: String, high: String },
    #[error("no free port from {low} to {high}, the range of the host")]
    NoPort { low: u16, high: u16 },
    #[error("failed to write to stdout: {0}")]
    Announce(#[source] io::Error),
    #[error("failed to listen for signals: {0}")]
    Signals(#[source] io::Error),
    #[error("the server failed: {0}")]
    Serve(#[source] tonic::transport::Error),
}
