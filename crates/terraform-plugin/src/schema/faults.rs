//! What is wrong with a schema itself: found when the provider is asked for it, so that an author
//! sees it at the first run, and not when a person happens to use the attribute.

use super::{Attribute, Block, Body, Nesting, Presence, Schema, Shape, conform};
use crate::Path;

/// Names that Terraform keeps for itself at the root of resources and data sources.
const RESERVED: [&str; 7] =
    ["connection", "count", "depends_on", "for_each", "lifecycle", "provider", "provisioner"];

impl Schema {
    /// What is wrong with it, in plain words: nothing for a schema that Terraform takes.
    ///
    /// ```
    /// use terraform_plugin::schema::{Attribute, Schema};
    /// use terraform_plugin::Type;
    ///
    /// let wrong = Schema::new("A disk.").attribute("size", Attribute::required(Type::Number).default(1));
    /// assert_eq!(wrong.faults(), ["`size`: is required, so that it has no use for a default"]);
    /// ```
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Faults(Vec::new());
        for name in RESERVED {
            if self.body.attributes.contains_key(name) || self.body.blocks.contains_key(name) {
                faults.add(&Path::from(name), "is a name that Terraform keeps for itself");
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
            self.add_if(required, path, "is required, so that it has no use for a default");
            let never = it.presence == Presence::Computed;
            self.add_if(never, path, "is the provider's to say, so that a default would never be");
            self.add_if(it.write_only, path, "is write-only, so that no default could be kept");
            self.default(it, path);
        }
        let open = !it.is_computed();
        self.add_if(it.keep && open, path, "is not computed, so that there is nothing to keep");
        self.add_if(
            it.derived.is_some() && open,
            path,
            "is not computed, so that it is not derived",
        );
        let said = it.write_only && it.default.is_none() && it.is_computed();
        self.add_if(said, path, "is write-only, so that the provider cannot say it");
        self.add_if(
            it.write_only && in_set,
            path,
            "is write-only, which elements of sets cannot be",
        );
        for source in it.derived.iter().flat_map(|derived| &derived.sources) {
            let there =
                beside.attributes.contains_key(source) || beside.blocks.contains_key(source);
            self.add_if(
                !there,
                path,
                &format!("is derived from `{source}`, which is not beside it"),
            );
        }
        if let Shape::Nested(nesting, body) = &it.shape {
            self.add_if(
                !body.blocks.is_empty(),
                path,
                "is an attribute, so that it holds no blocks",
            );
            self.in_body(body, path, in_set || *nesting == Nesting::Set);
        }
    }

    fn default(&mut self, it: &Attribute, path: &Path) {
        let Some(default) = it.default.clone() else { return };
        self.add_if(default.has_unknown(), path, "has a default that is unknown");
        // The default must be what it would become, for plans are compared with states.
        let fits =
            conform::fit_type(&it.ty(), default.clone()).is_ok_and(|fitted| fitted == default);
        self.add_if(!fits, path, &format!("has a default that is no {}", it.ty()));
    }

    fn block(&mut self, it: &Block, path: &Path, in_set: bool) {
        let most = if it.nesting == Nesting::Single { 1 } else { it.max_items };
        let never = most > 0 && it.min_items > most;
        self.add_if(never, path, "must be there more often than it may");
        self.in_body(&it.body, path, in_set || it.nesting == Nesting::Set);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Type, Value};

    #[test]
    fn each_fault_is_named_and_a_good_schema_has_none() {
        let good = Schema::new("")
            .attribute("id", Attribute::computed(Type::String).keep())
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
            .attribute("kept", text().keep())
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
        `count`: is a name that Terraform keeps for itself
        `Name`: must have a name of lower-case letters, digits and underscores
        `far`: is derived from `sun`, which is not beside it
        `kept`: is not computed, so that there is nothing to keep
        `list`: has a default that is no list(bool)
        `told_wo`: is write-only, so that the provider cannot say it
        `twice`: is an attribute and a block
        `some.pass_wo`: is write-only, which elements of sets cannot be
        `twice`: must be there more often than it may
        ");
    }
}
