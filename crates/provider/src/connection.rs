//! The configured client, or the arguments of the provider that are unknown until apply. Also turns failures
//! of calls into diagnostics.

use terraform_plugin::{Diagnostic, Diagnostics, Path};

use crate::client::{Client, Failure};
use crate::wire;

/// The state of the provider's configuration.
pub enum Connection {
    Ready(Box<Client>),
    /// These arguments are unknown until apply.
    Unconfigured(Vec<&'static str>),
}

impl Connection {
    /// Returns the client.
    ///
    /// # Errors
    /// The provider's own configuration is unknown.
    pub fn client(&self) -> Result<&Client, Diagnostic> {
        match self {
            Self::Ready(client) => Ok(client),
            Self::Unconfigured(arguments) => {
                let named: Vec<_> = arguments.iter().map(|name| format!("`{name}`")).collect();
                let detail = format!(
                    "The provider's {} is unknown until apply, so nothing can be read now. Apply \
                     its source first, with -target.",
                    named.join(" and ")
                );
                Err(Diagnostic::error("Provider is not configured yet", detail))
            }
        }
    }
}

/// Returns the diagnostics of a failure: one for each field that the service names, or else one.
pub fn to_diagnostics(doing: &str, failure: Failure) -> Diagnostics {
    match failure {
        Failure::Rejected { fields, .. } => {
            let refusals = fields.iter().map(|violation| {
                let path = wire::violation_path(violation);
                let detail = if path.steps().is_empty() {
                    format!("{}: {}.", violation.field, violation.description)
                } else {
                    format!("`{path}` {}.", violation.description)
                };
                at(Diagnostic::error(doing, detail), path)
            });
            refusals.collect()
        }
        Failure::NotFound(message) => {
            Diagnostic::error(doing, format!("The service returned: {message}.")).into()
        }
        Failure::Failed(message) => Diagnostic::error(doing, message).into(),
    }
}

/// Returns the diagnostic at a path, unless the path is the root.
pub fn at(diagnostic: Diagnostic, path: Path) -> Diagnostic {
    if path.steps().is_empty() { diagnostic } else { diagnostic.at(path) }
}
