//! Paths to attributes: the position of a diagnostic, or the cause of a replacement.

use std::fmt;

/// The path from the root of a configuration to a part of it.
///
/// ```
/// use terraform_plugin::Path;
///
/// let path = Path::root().name("headers").index(2).name("value");
/// assert_eq!(path.to_string(), "headers[2].value");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Path(Vec<Step>);

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// An attribute or block.
    Name(String),
    /// An element of a list or tuple, counted from zero.
    Index(usize),
    /// An element of a map.
    Key(String),
    /// An element of a set. The protocol cannot address it, so the path sent to Terraform ends
    /// before this step.
    Element,
}

impl Path {
    /// Returns the path of the whole configuration.
    pub const fn root() -> Self {
        Self(Vec::new())
    }

    /// Appends an attribute or block.
    #[must_use]
    pub fn name(&self, name: impl Into<String>) -> Self {
        self.then(Step::Name(name.into()))
    }

    /// Appends an element of a list.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.then(Step::Index(index))
    }

    /// Appends an element of a map.
    #[must_use]
    pub fn key(&self, key: impl Into<String>) -> Self {
        self.then(Step::Key(key.into()))
    }

    /// Appends an unspecified element of a set.
    #[must_use]
    pub fn element(&self) -> Self {
        self.then(Step::Element)
    }

    /// Appends a step.
    #[must_use]
    pub fn then(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    /// Returns the steps from the root.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Returns the longest part of the path that Terraform can address.
    #[must_use]
    pub fn addressable(&self) -> Self {
        let steps = self.0.iter().take_while(|step| **step != Step::Element);
        Self(steps.cloned().collect())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Name(name) => write!(f, "{}{name}", if at == 0 { "" } else { "." })?,
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) => write!(f, "[{key:?}]")?,
                Step::Element => f.write_str("[*]")?,
            }
        }
        Ok(())
    }
}

impl From<&str> for Path {
    fn from(name: &str) -> Self {
        Self::root().name(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_for_terraform_ends_before_set_element() {
        let path = Path::from("rules").element().name("target");
        assert_eq!(path.to_string(), "rules[*].target");
        assert_eq!(path.addressable(), Path::from("rules"));
    }
}
