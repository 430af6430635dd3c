//! Executes a plan step by step. A creation is recorded before and after the call, so that the next
//! run resumes after an interruption at any time.

use std::collections::HashMap;

use anyhow::{Context as _, Error, Result, anyhow};
use configuration::{Action, Address, Configuration, Current, Desired, Plan, Problems, Step};
use contract::rpc::{self, Code};
use rules::counted;
use serde_json::{Value as Json, json};

use super::calls;
use super::record::Record;
use crate::output;
use crate::session::Session;

/// Executes the steps of a plan.
pub(super) struct Executor<'a> {
    session: &'a Session<'a>,
    record: &'a Record<'a>,
    desired: HashMap<&'a Address, &'a Desired>,
    /// IDs of the resources of the configuration.
    ids: HashMap<Address, String>,
    /// Whether each step is printed.
    prints: bool,
    /// Whether the configuration has no resources.
    is_empty: bool,
}

/// Result of an execution.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Number of completed steps.
    pub(super) steps: usize,
    /// Completed steps for programs.
    pub(super) json: Vec<Json>,
    pub(super) failure: Option<Error>,
}

impl Outcome {
    /// Fails if a step failed. Lists the steps that were not done.
    pub(super) fn result(self, plan: &Plan) -> Result<()> {
        let Some(failure) = self.failure else { return Ok(()) };
        let (done, all) = (self.steps, plan.steps.len());
        let mut rest = plan.steps.iter().skip(done);
        let at = rest.next().map(|step| step.address.to_string());
        let at = at.unwrap_or_else(|| "the record".to_owned());
        let rest: Vec<String> =
            rest.map(|step| format!("{} {}", step.action.as_str(), step.address)).collect();
        let rest = if rest.is_empty() { String::new() } else { format!(": {}", rest.join(", ")) };
        Err(anyhow!(
            "{failure:#}\nstopped at {at}: {done} of {} done, {} not attempted{rest}; correct the \
             cause and run the same command again, which continues",
            counted(all, "step"),
            all.saturating_sub(done + 1),
        ))
    }
}

impl<'a> Executor<'a> {
    pub(super) fn new(
        session: &'a Session<'a>,
        record: &'a Record<'a>,
        configuration: &'a Configuration,
        current: &Current,
        prints: bool,
    ) -> Self {
        let desired = configuration.resources.iter().map(|it| (&it.address, it)).collect();
        let recorded = current.recorded.iter().filter(|it| !it.id.is_empty());
        let ids = recorded.map(|it| (it.address.clone(), it.id.clone())).collect();
        let is_empty = configuration.resources.is_empty();
        Self { session, record, desired, ids, prints, is_empty }
    }

    /// Executes the steps until one fails.
    pub(super) async fn run(&mut self, plan: &Plan) -> Outcome {
        let mut outcome = Outcome::default();
        if let Err(failure) = self.rename(plan).await {
            outcome.failure = Some(failure);
            return outcome;
        }
        for step in &plan.steps {
            let id = match Box::pin(self.step(step)).await {
                Ok(id) => id,
                Err(failure) => {
                    outcome.failure = Some(failure);
                    return outcome;
                }
            };
            let what = step.action.past();
            if self.prints {
                output::print_text(&format!("{} {what} ({id})", step.address));
            }
            outcome.steps += 1;
            let (kind, key) = (step.address.kind.name(), &step.address.key);
            let action = step.action.as_str();
            outcome.json.push(json!({ "action": action, "kind": kind, "key": key, "id": id }));
        }
        if self.is_empty && plan.kept.is_empty() {
            outcome.failure = self.record.delete().await.err();
        }
        outcome
    }

    async fn rename(&mut self, plan: &Plan) -> Result<()> {
        self.record.rename(&plan.renamed).await?;
        for renamed in &plan.renamed {
            self.ids.insert(renamed.to.clone(), renamed.id.clone());
            if self.prints {
                output::print_text(&format!("{} renamed to `{}`", renamed.from, renamed.to.key));
            }
        }
        Ok(())
    }

    /// Executes a step. Returns the ID of the resource.
    async fn step(&mut self, step: &Step) -> Result<String> {
        let id = step.id.clone().unwrap_or_default();
        match step.action {
            Action::Create | Action::Recreate => self.create(&step.address).await,
            Action::Adopt | Action::Resume => {
                self.record.put(&step.address, &id).await?;
                self.ids.insert(step.address.clone(), id);
                self.change(step).await
            }
            Action::Change => self.change(step).await,
            Action::Replace => {
                self.delete(&step.address, &id).await?;
                self.create(&step.address).await
            }
            Action::Delete => {
                self.delete(&step.address, &id).await?;
                self.record.remove(&step.address).await?;
                Ok(id)
            }
            Action::Forget => {
                self.record.remove(&step.address).await?;
                Ok(id)
            }
        }
    }

    async fn create(&mut self, address: &Address) -> Result<String> {
        let desired = self.find(address)?;
        let calls = calls::of(address.kind);
        self.ids.remove(address);
        let request = json!({ calls.field: self.wire(desired) });
        self.record.put(address, "").await?;
        let answer = self.call("creating", desired, &calls.create(), &request).await?;
        let id = answer[calls.field]["id"].as_str().unwrap_or_default().to_owned();
        self.ids.insert(address.clone(), id.clone());
        self.record.put(address, &id).await?;
        Ok(id)
    }

    async fn change(&self, step: &Step) -> Result<String> {
        let id = step.id.clone().unwrap_or_default();
        if step.changes.is_empty() {
            return Ok(id);
        }
        let desired = self.find(&step.address)?;
        let calls = calls::of(step.address.kind);
        let mut resource = self.wire(desired);
        resource["id"] = id.as_str().into();
        if let Some(revision) = &step.revision {
            resource["revision"] = revision.as_str().into();
        }
        let request = json!({ calls.field: resource, "updateMask": desired.mask() });
        self.call("changing", desired, &calls.update(), &request).await?;
        Ok(id)
    }

    /// Deletes a resource. Succeeds if it does not exist.
    async fn delete(&self, address: &Address, id: &str) -> Result<()> {
        let method = calls::of(address.kind).delete();
        match self.session.try_call(&method, &json!({ "id": id })).await {
            Ok(_) => Ok(()),
            Err(error) if error.code == Code::NotFound => Ok(()),
            Err(error) => Err(self.session.failure(&format!("deleting {address}"), &error)),
        }
    }

    /// Calls a method for a resource. Violations get their positions in the files.
    async fn call(
        &self,
        doing: &str,
        desired: &Desired,
        method: &str,
        request: &Json,
    ) -> Result<Json> {
        let explain = |error: &rpc::Error| {
            let violations = rpc::field_violations(error);
            let problem = |it: &rpc::FieldViolation| desired.problem(&it.field, &it.description);
            let problems: Vec<_> = violations.iter().map(problem).collect();
            (!problems.is_empty()).then(|| format!("\n{}", Problems(problems)))
        };
        let doing = format!("{doing} {}", desired.address);
        let answer = self.session.call_with(&doing, method, request, explain).await?;
        print_warnings(desired, &answer);
        Ok(answer)
    }

    fn find(&self, address: &Address) -> Result<&'a Desired> {
        let found = self.desired.get(address).copied();
        found.with_context(|| format!("{address} is not in the files"))
    }

    fn wire(&self, desired: &Desired) -> Json {
        // Earlier steps have created what it refers to.
        desired.wire(|address| self.ids.get(address).cloned().unwrap_or_default())
    }
}

/// Prints the warnings of a response with the positions of their fields.
fn print_warnings(desired: &Desired, answer: &Json) {
    for warning in answer["warnings"].as_array().into_iter().flatten() {
        let text = |name: &str| warning[name].as_str().unwrap_or_default();
        let problem = desired.problem(text("field"), &output::one_line(text("message")));
        output::print_stderr(&format!("warning: {problem}"));
    }
}
