//! Errors and warnings, as Terraform shows them to people.

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
    pub severity: Severity,
    /// Headline, without a full stop.
    pub summary: String,
    /// The problem, the allowed values, and the fix.
    pub detail: String,
    /// Attribute that caused it.
    pub path: Option<Path>,
}

/// Effect of a diagnostic on the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Stops the operation.
    Error,
    /// Does not stop the operation.
    Warning,
}

impl Diagnostic {
    /// Creates an error that belongs to no attribute.
    pub fn error(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        let (summary, detail) = (summary.into(), detail.into());
        Self { severity: Severity::Error, summary, detail, path: None }
    }

    /// Creates a warning that belongs to no attribute.
    pub fn warning(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(summary, detail) }
    }

    /// Returns this diagnostic, attached to an attribute.
    #[must_use]
    pub fn at(mut self, path: impl Into<Path>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Returns whether this is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Returns this diagnostic with its path below `parent`, to report a nested object's diagnostic
    /// from its parent.
    #[must_use]
    pub fn under(mut self, parent: &Path) -> Self {
        let below = self.path.take().unwrap_or_default();
        self.path =
            Some(below.steps().iter().fold(parent.clone(), |path, step| path.then(step.clone())));
        self
    }
}

/// Errors and warnings in the order in which they occurred.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// Creates an empty list.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Appends a diagnostic.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Returns whether the list contains an error.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(Diagnostic::is_error)
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the diagnostics in order.
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
