//! Executes a plan step by step. A creation is recorded before and after the call, so that the next
//! run resumes after an interruption at any time.

use std::cell::Cell;
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
}

/// A call that failed.
struct Failed {
    why: Error,
    /// Whether the service certainly did nothing.
    is_refused: bool,
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
        Self { session, record, desired, ids, prints }
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
            Action::Create => self.create(&step.address).await,
            Action::Recreate => {
                self.ids.remove(&step.address);
                self.record.exchange(&step.address, "").await?;
                self.create(&step.address).await
            }
            Action::Adopt | Action::Resume => {
                // The entry may have the ID of a resource that no longer exists.
                if self.ids.contains_key(&step.address) {
                    self.record.exchange(&step.address, &id).await?;
                } else {
                    self.record.put(&step.address, &id).await?;
                }
                self.ids.insert(step.address.clone(), id.clone());
                self.change(step).await.with_context(|| format!("adopted {id}; not changed"))
            }
            Action::Change => self.change(step).await,
            Action::Replace => self.replace(&step.address, &id).await,
            Action::Delete => {
                self.delete(&step.address, &id).await?;
                let removed = self.record.remove(&step.address).await;
                removed.with_context(|| format!("deleted {id}; its entry is still recorded"))?;
                Ok(id)
            }
            Action::Forget => {
                self.record.remove(&step.address).await?;
                Ok(id)
            }
        }
    }

    /// Deletes a resource and creates it again.
    async fn replace(&mut self, address: &Address, id: &str) -> Result<String> {
        // Fails if another configuration owns it.
        self.record.put(address, id).await?;
        self.delete(address, id).await?;
        self.ids.remove(address);
        let half = || format!("deleted {id}; its new creation did not complete");
        self.record.exchange(address, "").await.with_context(half)?;
        self.create(address).await.with_context(half)
    }

    async fn create(&mut self, address: &Address) -> Result<String> {
        let desired = self.find(address)?;
        let calls = calls::of(address.kind);
        let request = json!({ calls.field: self.wire(desired) });
        self.record.put(address, "").await?;
        let answer = match self.call("creating", desired, &calls.create(), &request).await {
            Ok(answer) => answer,
            Err(failed) => return Err(self.not_created(address, failed).await),
        };
        let id = answer[calls.field]["id"].as_str().unwrap_or_default().to_owned();
        let recorded = self.record.put(address, &id).await;
        recorded.with_context(|| format!("created {id}; not recorded"))?;
        self.ids.insert(address.clone(), id.clone());
        Ok(id)
    }

    /// Removes the entry of a creation that the service refused: a later run would take somebody's
    /// resource for the created one. The entry stays if the creation may have happened.
    async fn not_created(&self, address: &Address, failed: Failed) -> Error {
        let Failed { why, is_refused } = failed;
        if !is_refused {
            return why.context("it may have been created; the next run looks for it");
        }
        match self.record.remove(address).await {
            Ok(()) => why,
            Err(error) => why.context(format!("its entry is still recorded ({error:#})")),
        }
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
        let mut request = json!({ calls.field: resource, "updateMask": desired.mask() });
        if let Some(revision) = &step.revision {
            request["revision"] = revision.as_str().into();
        }
        let answer = self.call("changing", desired, &calls.update(), &request).await;
        answer.map_err(|failed| failed.why)?;
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
    ) -> Result<Json, Failed> {
        let code = Cell::new(None);
        let explain = |error: &rpc::Error| {
            code.set(Some(error.code));
            let violations = rpc::field_violations(error);
            let problem = |it: &rpc::FieldViolation| desired.problem(&it.field, &it.description);
            let problems: Vec<_> = violations.iter().map(problem).collect();
            (!problems.is_empty()).then(|| format!("\n{}", Problems(problems)))
        };
        let doing = format!("{doing} {}", desired.address);
        match self.session.call_with(&doing, method, request, explain).await {
            Ok(answer) => {
                print_warnings(desired, &answer);
                Ok(answer)
            }
            Err(why) => Err(Failed { why, is_refused: code.get().is_some_and(is_refusal) }),
        }
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

/// Returns whether the service certainly did nothing after an error of this code.
const fn is_refusal(code: Code) -> bool {
    matches!(
        code,
        Code::InvalidArgument
            | Code::AlreadyExists
            | Code::FailedPrecondition
            | Code::PermissionDenied
            | Code::Unauthenticated
            | Code::NotFound
            | Code::OutOfRange
            | Code::ResourceExhausted
            | Code::Unimplemented
    )
}

/// Prints the warnings of a response with the positions of their fields.
fn print_warnings(desired: &Desired, answer: &Json) {
    for warning in answer["warnings"].as_array().into_iter().flatten() {
        let text = |name: &str| warning[name].as_str().unwrap_or_default();
        let problem = desired.problem(text("field"), &output::one_line(text("message")));
        output::print_stderr(&format!("warning: {problem}"));
    }
}
