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
}

impl<C> Context<C> {
    pub(crate) fn new(client: Option<Arc<C>>, cancelled: CancellationToken) -> Self {
        Self { client, cancelled, found: Arc::default() }
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
