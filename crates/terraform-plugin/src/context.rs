//! The context of a call: the provider's client, cancellation, and a collector of warnings.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::{Diagnostic, Diagnostics};

/// Context of one call. `C` is the client that the provider's configuration made.
pub struct Context<C> {
    client: Option<Arc<C>>,
    cancelled: CancellationToken,
    found: Arc<Mutex<Diagnostics>>,
    terraform: Option<String>,
}

impl<C> Context<C> {
    pub(crate) fn new(client: Option<Arc<C>>, cancelled: CancellationToken) -> Self {
        Self { client, cancelled, found: Arc::default(), terraform: None }
    }

    /// Returns this context with the version of Terraform.
    pub(crate) fn with_terraform_version(self, version: &str) -> Self {
        let terraform = (!version.is_empty()).then(|| version.to_owned());
        Self { terraform, ..self }
    }

    /// Returns a context that needs no Terraform, for tests of resources.
    pub fn detached(client: C) -> Self {
        Self::new(Some(Arc::new(client)), CancellationToken::new())
    }

    /// Returns the client made by [`crate::Provider::configure`].
    ///
    /// # Errors
    /// Fails if Terraform has not configured the provider. This happens during validation, and
    /// while the provider's own configuration is unknown.
    pub fn client(&self) -> Result<&C, Diagnostic> {
        self.client.as_deref().ok_or_else(|| {
            let detail = "Terraform made this call before it configured the provider.";
            Diagnostic::error("Provider is not configured", detail)
        })
    }

    /// Returns the version of Terraform, such as `1.11.4`. Only available while the provider is
    /// configured, so that a client can send it in its user agent.
    pub fn terraform_version(&self) -> Option<&str> {
        self.terraform.as_deref()
    }

    /// Returns a token that is cancelled when Terraform asks the provider to stop, because a person
    /// pressed Ctrl-C. The framework itself cancels calls that read, plan or validate. It does not
    /// cancel calls that change something: they should finish soon and return what they have
    /// changed.
    pub fn cancelled(&self) -> &CancellationToken {
        &self.cancelled
    }

    /// Adds a warning, or an error next to a result that Terraform records.
    pub fn report(&self, diagnostic: Diagnostic) {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).push(diagnostic);
    }

    /// Returns and removes everything that was reported.
    pub fn take_reported(&self) -> Diagnostics {
        std::mem::take(&mut *self.found.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<C> fmt::Debug for Context<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("configured", &self.client.is_some())
            .finish_non_exhaustive()
    }
}
