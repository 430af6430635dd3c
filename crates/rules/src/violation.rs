//! Violations of rules in an input, by field, in actionable words.

use std::fmt;

/// A field that violates a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Path of the field in the specification's names, such as `headers[2].key`.
    pub field: String,
    /// The given value, shortened; `None` if absent or a secret.
    pub given: Option<String>,
    /// The rule as the end of a sentence: `must be one of 30s, 1m, 5m, 10m, 30m, 1h`.
    pub allowed: String,
}

impl Violation {
    /// Maximum length of a repeated value, in characters.
    const GIVEN_SHOWN: usize = 64;

    /// Creates a violation of `field` that shows the shortened value.
    pub fn new(
        field: impl Into<String>,
        given: impl fmt::Display,
        allowed: impl Into<String>,
    ) -> Self {
        let given = given.to_string();
        // Escapes control characters, which could otherwise reach logs and terminals.
        let mut shown = String::new();
        for character in given.chars().take(Self::GIVEN_SHOWN) {
            if character.is_control() {
                shown.extend(character.escape_default());
            } else {
                shown.push(character);
            }
        }
        if given.chars().nth(Self::GIVEN_SHOWN).is_some() {
            shown.push('…');
        }
        Self { field: field.into(), given: Some(shown), allowed: allowed.into() }
    }

    /// Creates a violation of a field whose value is absent or must not be repeated.
    pub fn without_value(field: impl Into<String>, allowed: impl Into<String>) -> Self {
        Self { field: field.into(), given: None, allowed: allowed.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.given {
            Some(given) => write!(f, "`{}` {} (given: `{}`)", self.field, self.allowed, given),
            None => write!(f, "`{}` {}", self.field, self.allowed),
        }
    }
}

/// All violations of one input; never empty when returned as an error.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Violations(pub Vec<Violation>);

impl Violations {
    /// Prepends `prefix.` to the path of every violation.
    #[must_use]
    pub fn under(mut self, prefix: &str) -> Self {
        for violation in &mut self.0 {
            violation.field = format!("{prefix}.{}", violation.field);
        }
        self
    }
}

impl From<Violation> for Violations {
    fn from(violation: Violation) -> Self {
        Self(vec![violation])
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, violation) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            violation.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Violations {}
