//! What a handler gets besides its request: the provider's client, cancellation, and a place for
//! warnings.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::{Diagnostic, Diagnostics};

/// The surroundings of one call of Terraform. `C` is what the provider's configuration made.
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

    /// The same for a call in which Terraform says its version.
    pub(crate) fn of_terraform(self, version: &str) -> Self {
        let terraform = (!version.is_empty()).then(|| version.to_owned());
        Self { terraform, ..self }
    }

    /// A context outside of Terraform: for tests of resources.
    pub fn detached(client: C) -> Self {
        Self::new(Some(Arc::new(client)), CancellationToken::new())
    }

    /// What [`crate::Provider::configure`] made.
    ///
    /// # Errors
    /// When Terraform did not configure the provider: for checks of configurations, and where the
    /// provider's own configuration is not known yet.
    pub fn client(&self) -> Result<&C, Diagnostic> {
        self.client.as_deref().ok_or_else(|| {
            let detail = "Terraform asked for this before it configured the provider.";
            Diagnostic::error("Provider is not configured", detail)
        })
    }

    /// The version of Terraform, as `1.11.4`, while the provider is configured: for the name by which
    /// a client introduces itself. No other call has it.
    pub fn terraform_version(&self) -> Option<&str> {
        self.terraform.as_deref()
    }

    /// Fires when Terraform wants the provider to stop: a person pressed Ctrl-C. What reads, plans
    /// or checks is given up by the framework then. What changes something in the world is not: it
    /// should come to an end soon, and say what it made.
    pub fn cancelled(&self) -> &CancellationToken {
        &self.cancelled
    }

    /// Adds a warning, or an error beside a result that is kept.
    pub fn report(&self, diagnostic: Diagnostic) {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).push(diagnostic);
    }

    /// All that was reported, taken out.
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
