//! Variables of an export: what stands in for secrets. Which those are belongs to `export`.

use rules::Secret;

use super::hcl::{Body, Expression};
use super::names::Names;

/// A secret of the configuration.
pub(super) struct Variable {
    /// A name for it, which may be taken.
    pub(super) name: String,
    /// What it is for.
    pub(super) description: String,
    /// The secret, where it is known.
    pub(super) value: Option<Secret<String>>,
    /// Whether Terraform hides it. Not where the provider's schema does not: a mark that the state has
    /// not would be planned as a change.
    pub(super) sensitive: bool,
    /// Whether there may be none.
    pub(super) optional: bool,
}

/// All variables, in the order in which they are used.
#[derive(Default)]
pub(super) struct Variables {
    names: Names,
    all: Vec<Variable>,
}

impl Variables {
    /// Adds one; answers the name that it got.
    pub(super) fn add(&mut self, variable: Variable) -> String {
        let name = self.names.unique(&variable.name);
        self.all.push(Variable { name: name.clone(), ..variable });
        name
    }

    /// How many there are.
    pub(super) const fn count(&self) -> usize {
        self.all.len()
    }

    /// Their blocks.
    pub(super) fn declared(&self) -> String {
        let mut body = Body::default();
        for variable in &self.all {
            body.block("variable", &[&variable.name], variable.declared());
        }
        body.text()
    }

    /// Their values, as far as they are known.
    pub(super) fn values(&self) -> Secret<String> {
        let mut body = Body::default();
        for variable in &self.all {
            if let Some(value) = &variable.value {
                body.set(variable.name.clone(), Expression::Text(value.expose().clone()));
            }
        }
        Secret::new(body.text())
    }
}

impl Variable {
    fn declared(&self) -> Body {
        let mut body = Body::default();
        body.set("description", Expression::Text(self.description.clone()));
        body.set("type", Expression::Word("string".to_owned()));
        if self.sensitive {
            body.set("sensitive", Expression::Bool(true));
        }
        if self.optional {
            body.set("default", Expression::Word("null".to_owned()));
        }
        body
    }
}
