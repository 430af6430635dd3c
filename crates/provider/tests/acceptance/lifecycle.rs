//! Each argument of each resource in turn: absent, null, empty, zero, at its bounds, changed and removed. One
//! configuration has a resource for each argument, which takes its values round by round. The plan after each
//! round is empty.

mod component;
mod monitors;
mod notification;
mod page;

use std::fmt::Write as _;

use rules::tables;
use terraform_plugin::harness::PlannedAction;

use crate::world::World;

/// An argument or block and its values: `""` is absent. `{label}` in a value is the name of the resource, for
/// values that must be unique.
pub(crate) struct Argument {
    pub(crate) name: &'static str,
    pub(crate) texts: &'static [&'static str],
}

/// A resource and the values of its arguments.
pub(crate) struct LifecycleCase {
    pub(crate) resource: &'static str,
    pub(crate) arguments: Vec<Argument>,
    /// Other resources of the configuration; `{labels}` is the list of all names.
    pub(crate) support: &'static str,
    /// Arguments that replace the resource.
    pub(crate) replacing: &'static [&'static str],
}

impl LifecycleCase {
    fn rounds(&self) -> usize {
        self.arguments.iter().map(|argument| argument.texts.len()).max().unwrap()
    }

    /// Returns the configuration of a round: every resource has the first value of each argument except its
    /// own.
    fn body(&self, round: usize) -> String {
        let labels = self.arguments.iter().map(|argument| format!("\"{}\"", label(argument)));
        let labels = format!("[{}]", labels.collect::<Vec<_>>().join(", "));
        let mut body = self.support.replace("{labels}", &labels);
        for own in &self.arguments {
            writeln!(body, "resource \"{}\" \"{}\" {{", self.resource, label(own)).unwrap();
            let texts = self.arguments.iter().map(|argument| {
                let round = if argument.name == own.name { round } else { 0 };
                let text = argument.texts[round.min(argument.texts.len() - 1)];
                (argument.name, text.replace("{label}", &label(own)))
            });
            let texts: Vec<_> = texts.collect();
            // A value may include another argument, which is not repeated.
            let brought =
                |name: &str| texts.iter().any(|it| it.1.contains(&format!("\n{name} = ")));
            for (name, text) in texts.iter().filter(|(name, _)| !brought(name)) {
                match text.as_str() {
                    "" => {}
                    block if block.starts_with('\n') => body.push_str(block),
                    value => writeln!(body, "{name} = {value}").unwrap(),
                }
            }
            body.push_str("}\n");
        }
        body
    }

    /// Runs all rounds: apply, plan, import, plan, destroy.
    pub(crate) async fn verify(&self) {
        self.must_have_every_argument();
        let world = World::start().await;
        world.settle(&self.body(0)).await;
        for round in 1..self.rounds() {
            let body = self.body(round);
            let plan = world.plan(&body).await;
            self.must_change_in_place(round, &plan);
            world.apply_planned().await;
            world.must_be_settled().await;
            if round == 1 || round + 1 == self.rounds() {
                let state = world.terraform.state().await.unwrap();
                world.import_all(&body, &state, &self.emptied(round)).await;
            }
        }
        world.destroy().await;
    }

    /// Checks that each argument and block of the table is listed, or part of a value.
    fn must_have_every_argument(&self) {
        let table = tables::RESOURCES.iter().find(|it| it.name == self.resource).unwrap();
        let texts: Vec<&str> = self.arguments.iter().flat_map(|it| it.texts).copied().collect();
        let is_part_of_a_value = |name: &str| {
            let starts = [format!("\n{name} = "), format!("\n{name} {{")];
            texts.iter().any(|text| starts.iter().any(|start| text.contains(start)))
        };
        let is_listed = |name: &str| self.arguments.iter().any(|it| it.name == name);
        let missing: Vec<&str> =
            table.writable().filter(|name| !is_listed(name) && !is_part_of_a_value(name)).collect();
        assert!(missing.is_empty(), "no values of {missing:?} in the case of {}", self.resource);
    }

    fn must_change_in_place(&self, round: usize, plan: &terraform_plugin::harness::PlanOutput) {
        for argument in &self.arguments {
            let change = plan.change(&format!("{}.{}", self.resource, label(argument)));
            let text = |round: usize| argument.texts[round.min(argument.texts.len() - 1)];
            let expected = if same(text(round - 1), text(round)) {
                PlannedAction::Nothing
            } else if self.replacing.contains(&argument.name) {
                PlannedAction::Replace
            } else {
                PlannedAction::Update
            };
            assert_eq!(change.action, expected, "round {round}: {}", plan.summary());
        }
    }

    /// Returns resources with an empty list, which an import cannot know.
    fn emptied(&self, round: usize) -> Vec<String> {
        let text = |argument: &Argument| argument.texts[round.min(argument.texts.len() - 1)];
        let emptied = self.arguments.iter().filter(|argument| text(argument) == "[]");
        emptied.map(|argument| format!("{}.{}", self.resource, label(argument))).collect()
    }
}

/// Returns whether two values are equal to Terraform.
fn same(one: &str, other: &str) -> bool {
    let absent = |text: &str| text.is_empty() || text == "null";
    one == other || (absent(one) && absent(other))
}

/// Returns the name of the resource for an argument.
fn label(argument: &Argument) -> String {
    format!("of-{}", argument.name.replace('_', "-"))
}
