//! Variables of an export, in place of secrets. Leaves the choice of secrets to `export`.

use rules::Secret;

use super::hcl::{Body, Expression};
use super::names::Names;

/// A secret of the configuration.
pub(super) struct Variable {
    /// Preferred name, which may be in use.
    pub(super) name: String,
    /// Description of the variable.
    pub(super) description: String,
    /// Value, if known.
    pub(super) value: Option<Secret<String>>,
    /// Whether Terraform hides it. False if the provider's schema does not mark it either:
    /// Terraform would plan the difference to the state as a change.
    pub(super) sensitive: bool,
    /// Whether it may be null.
    pub(super) optional: bool,
}

/// All variables in the order of their use.
#[derive(Default)]
pub(super) struct Variables {
    names: Names,
    all: Vec<Variable>,
}

impl Variables {
    /// Adds a variable. Returns its name.
    pub(super) fn add(&mut self, variable: Variable) -> String {
        let name = self.names.unique(&variable.name);
        self.all.push(Variable { name: name.clone(), ..variable });
        name
    }

    /// Returns the number of variables.
    pub(super) const fn count(&self) -> usize {
        self.all.len()
    }

    /// Returns the variable blocks.
    pub(super) fn declared(&self) -> String {
        let mut body = Body::default();
        for variable in &self.all {
            body.block("variable", &[&variable.name], variable.declared());
        }
        body.text()
    }

    /// Returns the known values.
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
