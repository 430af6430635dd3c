//! Reasons why a client cannot be created: its address, its key, or the settings of the network.

/// Error of creating a client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnusableClient {
    /// The base URL is malformed.
    #[error("`{given}` is not a base URL; one looks like http://127.0.0.1:8080/rpc")]
    BaseUrl {
        /// Rejected text.
        given: String,
    },
    /// The key contains characters that a header must not contain.
    #[error("invalid character in the API key; copy it again")]
    Key,
    /// An environment variable does not name a usable proxy. Its value may contain a password.
    #[error(
        "`{variable}` is not the URL of an HTTP proxy; one looks like http://proxy.example.com:3128"
    )]
    Proxy {
        /// Name of the variable.
        variable: &'static str,
    },
    /// An environment variable does not name readable trusted certificates.
    #[error("failed to read the certificates that `{variable}` names: {why}")]
    Certificates {
        /// Name of the variable.
        variable: &'static str,
        /// Cause of the failure.
        why: String,
    },
    /// All trusted certificates of the machine are unreadable.
    #[error(
        "failed to read the certificates that this machine trusts: {why}; make them readable, or \
         set `SSL_CERT_FILE` to a file with the certificates to trust"
    )]
    MachineCertificates {
        /// Cause of the failure.
        why: String,
    },
}
