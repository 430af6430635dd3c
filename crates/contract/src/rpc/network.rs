//! Network settings of a client: proxies and trusted certificates. Uses the same variables as
//! Terraform and other Go programs. Calls belong to `client`.

mod bypass;
mod proxy;
mod transport;
mod trust;

use self::proxy::Proxies;
pub use self::proxy::{ProxyFailure, proxy_failure};
pub use self::transport::Transport;
use self::trust::Trust;
pub use self::trust::is_self_signed;
use crate::rpc::UnusableClient;

/// Proxies and trusted certificates. The default uses no proxy and the machine's trusted
/// certificates.
#[derive(Clone, Debug, Default)]
pub struct Network {
    proxies: Proxies,
    trust: Trust,
}

impl Network {
    /// Reads `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` in upper and lower case, `SSL_CERT_FILE`
    /// and `SSL_CERT_DIR`. `variable` returns the value of a variable. An empty value counts as not
    /// set.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        Self { proxies: Proxies::from_variables(set), trust: Trust::from_variables(set) }
    }

    /// Returns the TLS settings of a client of another protocol, with the trusted certificates.
    ///
    /// # Errors
    ///
    /// Fails if an environment variable has an unusable value.
    pub fn client_config(&self) -> Result<rustls::ClientConfig, UnusableClient> {
        self.trust.client_config(true)
    }
}
