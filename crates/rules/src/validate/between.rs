//! The rules between the fields of a resource.

use super::Validator;
use crate::field::Rule;

impl Validator {
    /// Checks the rules between fields. `word` returns the given name of an enumeration field, and
    /// `given` whether a field or block was given.
    pub fn check_rules<'a>(
        &mut self,
        word: impl Fn(&str) -> Option<&'a str>,
        given: impl Fn(&str) -> bool,
    ) {
        for rule in self.rules {
            match *rule {
                Rule::RequiredWhen { field, when, is } if word(when) == Some(is) => {
                    if !given(field) {
                        let allowed = format!("must be given when `{when}` is `{is}`");
                        let _: Option<()> = self.reject_without_value(field, allowed);
                    }
                }
                Rule::RequiredWhen { .. } => {}
                Rule::Together { first, second } => self.check_both(first, second, &given),
                Rule::ExactlyOneBlock { named_by } => {
                    if let Some(kind) = word(named_by) {
                        self.check_one_block(named_by, kind, &given);
                    }
                }
            }
        }
    }

    fn check_both(&mut self, first: &str, second: &str, given: impl Fn(&str) -> bool) {
        let (absent, other) = match (given(first), given(second)) {
            (true, true) | (false, false) => return,
            (true, false) => (second, first),
            (false, true) => (first, second),
        };
        let allowed = format!("must be given with `{other}`");
        let _: Option<()> = self.reject_without_value(absent, allowed);
    }

    fn check_one_block(&mut self, named_by: &str, kind: &str, given: impl Fn(&str) -> bool) {
        for block in self.blocks {
            let allowed = match (block.name == kind, given(block.name)) {
                (true, true) | (false, false) => continue,
                (true, false) => format!("must be given when `{named_by}` is `{kind}`"),
                (false, true) => format!("must not be given when `{named_by}` is `{kind}`"),
            };
            let _: Option<()> = self.reject_without_value(block.name, allowed);
        }
    }
}
