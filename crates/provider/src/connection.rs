//! What the provider's configuration makes: a client, or the knowledge that parts of the configuration
//! are only known at apply. And the words of its failures as Terraform shows them.

use terraform_plugin::{Diagnostic, Diagnostics, Path};

use crate::client::{Client, Failure};
use crate::wire;

/// What handlers work with.
pub enum Connection {
    /// The configuration is known.
    Ready(Box<Client>),
    /// These arguments are not known before apply.
    NotYet(Vec<&'static str>),
}

impl Connection {
    /// The client.
    ///
    /// # Errors
    /// While the provider's own configuration is not known.
    pub fn client(&self) -> Result<&Client, Diagnostic> {
        match self {
            Self::Ready(client) => Ok(client),
            Self::NotYet(arguments) => {
                let named: Vec<_> = arguments.iter().map(|name| format!("`{name}`")).collect();
                let detail = format!(
                    "The provider's {} will only be known at apply, so that nothing can be read \
                     now. Apply what it comes from first, with -target.",
                    named.join(" and ")
                );
                Err(Diagnostic::error("Provider is not configured yet", detail))
            }
        }
    }
}

/// What is shown of a failure: one diagnostic a field where the service names fields.
pub fn told(doing: &str, failure: Failure) -> Diagnostics {
    match failure {
        Failure::Refused { fields, .. } => {
            let refusals = fields.iter().map(|violation| {
                let path = wire::path(violation);
                let detail = if path.steps().is_empty() {
                    format!("{}: {}.", violation.field, violation.description)
                } else {
                    format!("`{path}` {}.", violation.description)
                };
                at(Diagnostic::error(doing, detail), path)
            });
            refusals.collect()
        }
        Failure::NotFound(said) => {
            Diagnostic::error(doing, format!("The service says: {said}.")).into()
        }
        Failure::Failed(said) => Diagnostic::error(doing, said).into(),
    }
}

/// The diagnostic at a path, where there is one.
pub fn at(diagnostic: Diagnostic, path: Path) -> Diagnostic {
    if path.steps().is_empty() { diagnostic } else { diagnostic.at(path) }
}
