//! Errors and warnings, as a person at Terraform reads them.

use crate::Path;

/// One error or warning.
///
/// ```
/// use terraform_plugin::Diagnostic;
///
/// let diagnostic = Diagnostic::error("Unknown tag", "`red` is not one of new, old.").at("tags");
/// assert_eq!(diagnostic.path.unwrap().to_string(), "tags");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether it stops the operation.
    pub severity: Severity,
    /// The headline, without a full stop.
    pub summary: String,
    /// What is wrong, what is allowed, and what to do.
    pub detail: String,
    /// The attribute it is about.
    pub path: Option<Path>,
}

/// Whether a diagnostic stops the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// It does.
    Error,
    /// It does not.
    Warning,
}

impl Diagnostic {
    /// An error of the whole.
    pub fn error(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        let (summary, detail) = (summary.into(), detail.into());
        Self { severity: Severity::Error, summary, detail, path: None }
    }

    /// A warning of the whole.
    pub fn warning(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(summary, detail) }
    }

    /// The same, about an attribute.
    #[must_use]
    pub fn at(mut self, path: impl Into<Path>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Whether this is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The same, where it happened below `parent`: to carry a nested object's diagnostic upwards.
    #[must_use]
    pub fn under(mut self, parent: &Path) -> Self {
        let below = self.path.take().unwrap_or_default();
        self.path =
            Some(below.steps().iter().fold(parent.clone(), |path, step| path.then(step.clone())));
        self
    }
}

/// Errors and warnings in the order they were found.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// None yet.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Whether one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(Diagnostic::is_error)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In order.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(diagnostics: I) -> Self {
        Self(diagnostics.into_iter().collect())
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, diagnostics: I) {
        self.0.extend(diagnostics);
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
