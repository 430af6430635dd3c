//! Checks a schema for mistakes when Terraform requests it. Its author then sees them at the first
//! run, and not when somebody uses the attribute.

use super::{Attribute, Block, Body, Nesting, Presence, Schema, Shape, conform};
use crate::Path;

/// Names that Terraform reserves at the root of resources and data sources.
const RESERVED: [&str; 7] =
    ["connection", "count", "depends_on", "for_each", "lifecycle", "provider", "provisioner"];

impl Schema {
    /// Returns the mistakes of the schema in plain words. Empty if Terraform accepts the schema.
    ///
    /// ```
    /// use terraform_plugin::schema::{Attribute, Schema};
    /// use terraform_plugin::Type;
    ///
    /// let wrong = Schema::new("A disk.").attribute("size", Attribute::required(Type::Number).default(1));
    /// assert_eq!(wrong.faults(), ["`size`: is required, so it cannot have a default"]);
    /// ```
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Faults(Vec::new());
        for name in RESERVED {
            if self.body.attributes.contains_key(name) || self.body.blocks.contains_key(name) {
                faults.add(&Path::from(name), "is reserved by Terraform");
            }
        }
        faults.in_body(&self.body, &Path::root(), false);
        faults.0
    }
}

struct Faults(Vec<String>);

impl Faults {
    fn add(&mut self, path: &Path, fault: &str) {
        self.0.push(format!("`{path}`: {fault}"));
    }

    fn add_if(&mut self, wrong: bool, path: &Path, fault: &str) {
        if wrong {
            self.add(path, fault);
        }
    }

    fn in_body(&mut self, body: &Body, path: &Path, in_set: bool) {
        for (name, attribute) in &body.attributes {
            let at = path.name(name);
            self.name(name, &at);
            self.add_if(body.blocks.contains_key(name), &at, "is an attribute and a block");
            self.attribute(attribute, body, &at, in_set);
        }
        for (name, block) in &body.blocks {
            let at = path.name(name);
            self.name(name, &at);
            self.block(block, &at, in_set);
        }
    }

    fn name(&mut self, name: &str, path: &Path) {
        let valid = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let begins = name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
        let wrong = !begins || !name.bytes().all(valid);
        self.add_if(wrong, path, "must have a name of lower-case letters, digits and underscores");
    }

    fn attribute(&mut self, it: &Attribute, beside: &Body, path: &Path, in_set: bool) {
        let required = it.presence == Presence::Required;
        if it.default.is_some() {
            self.add_if(required, path, "is required, so it cannot have a default");
            let never = it.presence == Presence::Computed;
            self.add_if(never, path, "is set by the provider, so it cannot have a default");
            self.add_if(it.write_only, path, "is write-only, so it cannot have a default");
            self.default(it, path);
        }
        let open = !it.is_computed();
        self.add_if(
            it.use_state_for_unknown && open,
            path,
            "is not computed, so it cannot keep its value",
        );
        self.add_if(it.derived.is_some() && open, path, "is not computed, so it cannot be derived");
        let computed_only = it.write_only && it.default.is_none() && it.is_computed();
        self.add_if(computed_only, path, "is write-only, so the provider cannot set it");
        self.add_if(
            it.write_only && in_set,
            path,
            "is write-only within a set, which Terraform does not allow",
        );
        for source in it.derived.iter().flat_map(|derived| &derived.sources) {
            let there =
                beside.attributes.contains_key(source) || beside.blocks.contains_key(source);
            self.add_if(
                !there,
                path,
                &format!("is derived from `{source}`, which is not in the same body"),
            );
        }
        if let Shape::Nested(nesting, body) = &it.shape {
            self.add_if(!body.blocks.is_empty(), path, "is an attribute, so it cannot have blocks");
            self.in_body(body, path, in_set || *nesting == Nesting::Set);
        }
    }

    fn default(&mut self, it: &Attribute, path: &Path) {
        let Some(default) = it.default.clone() else { return };
        self.add_if(default.has_unknown(), path, "has an unknown default");
        // The default must already have its final form, because plans are compared with states.
        let fits =
            conform::fit_type(&it.ty(), default.clone()).is_ok_and(|fitted| fitted == default);
        self.add_if(!fits, path, &format!("has a default that is not a {}", it.ty()));
    }

    fn block(&mut self, it: &Block, path: &Path, in_set: bool) {
        let most = if it.nesting == Nesting::Single { 1 } else { it.max_items };
        let never = most > 0 && it.min_items > most;
        self.add_if(never, path, "has a minimum above its maximum");
        self.in_body(&it.body, path, in_set || it.nesting == Nesting::Set);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Type, Value};

    #[test]
    fn schema_faults_are_reported_by_attribute() {
        let good = Schema::new("")
            .attribute("id", Attribute::computed(Type::String).use_state_for_unknown())
            .attribute(
                "tags",
                Attribute::optional(Type::set(Type::String)).default(Value::set(["a"])),
            )
            .attribute("pass_wo", Attribute::optional(Type::String).write_only())
            .block("row", Block::list().min_items(1).max_items(2));
        assert_eq!(good.faults(), [""; 0]);
        let text = || Attribute::optional(Type::String);
        let bad = Schema::new("")
            .attribute("count", text())
            .attribute("Name", text())
            .attribute("kept", text().use_state_for_unknown())
            .attribute(
                "list",
                Attribute::optional(Type::list(Type::Bool)).default(Value::set([true])),
            )
            .attribute("far", Attribute::computed(Type::Bool).derive(["sun"], |_| Value::Null))
            .attribute("told_wo", Attribute::optional_computed(Type::String).write_only())
            .attribute("twice", text())
            .block("twice", Block::list().min_items(3).max_items(2))
            .block("some", Block::set().attribute("pass_wo", text().write_only()));
        insta::assert_snapshot!(bad.faults().join("\n"), @r"
        `count`: is reserved by Terraform
        `Name`: must have a name of lower-case letters, digits and underscores
        `far`: is derived from `sun`, which is not in the same body
        `kept`: is not computed, so it cannot keep its value
        `list`: has a default that is not a list(bool)
        `told_wo`: is write-only, so the provider cannot set it
        `twice`: is an attribute and a block
        `some.pass_wo`: is write-only within a set, which Terraform does not allow
        `twice`: has a minimum above its maximum
        ");
    }
}
